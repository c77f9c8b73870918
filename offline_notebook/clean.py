"""The cells of one notebook on their way to one page: inert HTML, formulas drawn, pictures embedded."""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from bs4 import NavigableString, PageElement, Tag

from offline_notebook.formulas import Formulas, Refusal
from offline_notebook.markdown import FORMULA, to_html, with_formulas
from offline_notebook.pictures import Picture
from offline_notebook.sanitise import Attachments, is_data, sanitised
from offline_notebook.tree import Verbatim, parse

# Text that touches a formula: browsers may break a line between the two, so both go into one element.
BEFORE = re.compile(r"[(\[{“‘„«]{1,3}$")
AFTER = re.compile(r"[^\s/–—\u00ad\u2e80-\U0010ffff-]{1,12}|[，。、；：！？）」』]+")
LONGEST_QUOTE = 200  # characters of a formula or an address in a message


class Cleaner:
    """Cleans the pieces of one page. They share the commands that their formulas define."""

    def __init__(
        self,
        sentences: Mapping[str, str],
        read_picture: Callable[[str], Picture | None],
        complain: Callable[[str], object],
        colours: Mapping[str, str] | None = None,
    ):
        """``sentences``: what is said to readers and authors (README.md lists their names).

        ``read_picture`` finds the picture at an address, ``complain`` is told what is missing in the page,
        and ``colours`` are those in formulas that a page writes in another way: "#0067A5" -> "var(--q)".
        """
        self.sentences = sentences
        self.read_picture = read_picture
        self.complain = complain
        self.formulas = Formulas(colours or {})

    def markdown(self, source: str, attachments: Attachments | None = None) -> str:
        return to_html(source, attachments, report=self.say_missing)

    def html(self, source: str) -> str:
        content, missing = sanitised(source)
        if missing:
            self.say_missing(missing)
        return with_formulas(content)

    def say_missing(self, elements: list[str]) -> None:
        self.complain(self.sentences["left_out"].format(elements=shortened(", ".join(elements))))

    def clean(self, html: str) -> Tag:
        return self.clean_tree(parse(html))

    def clean_tree(self, page: Tag) -> Tag:
        """The same tree with its formulas drawn and its pictures embedded."""
        self.set_formulas(page.select(f"[{FORMULA}]"))
        for picture in page.find_all("img"):
            self.inline(picture)
        for paragraph in page.find_all("p"):
            mend_paragraph(paragraph)
        for heading in page.select("th:empty"):  # it is over nothing, and a screen reader would say it
            heading.name = "td"
        return page

    def set_formulas(self, elements: Sequence[Tag]) -> None:
        """Replace the TeX in each element by its formula. TeX that cannot be set stays, and is reported."""
        formulas = [(element.get_text().strip(), element[FORMULA] == "display") for element in elements]
        for element, (tex, is_displayed), found in zip(
            elements, formulas, self.formulas.set(formulas), strict=True
        ):
            if is_displayed and (paragraph := only_holding(element)):
                paragraph.unwrap()
                element.name = "div"
            if isinstance(found, Refusal):
                self.leave_as_tex(element, tex, found)
            else:
                show_formula(element, found, is_displayed)

    def leave_as_tex(self, element: Tag, tex: str, why: Refusal) -> None:
        reason = self.sentences[why.sentence].format(about=why.about) if why.sentence else why.about
        self.complain(self.sentences["formula_left"].format(tex=shortened(tex), reason=in_one_line(reason)))
        said = Tag(name="span", attrs={"class": "reason"})
        said.string = self.sentences["not_set"].format(reason=shortened(reason))
        code = Tag(name="code", attrs={"class": "tex"})
        code.extend(list(element.contents))
        element.extend([code, said])
        if element.name == "div":
            element.name, element.attrs = "p", {}
        else:
            element.unwrap()

    def inline(self, image: Tag) -> None:
        """Replace a picture's address by its data, or the picture by a link where it cannot be read."""
        address, alt = str(image.get("src") or ""), str(image.get("alt") or "")
        picture = self.read_picture(address)
        if picture is None:
            short = address if len(address) < LONGEST_QUOTE else f"{address[:50]}…"  # broken data may be long
            self.complain(self.sentences["picture_left_out"].format(address=short))
            link = Tag(name="a", attrs={"class": "missing"} | ({} if is_data(address) else {"href": address}))
            link.string = alt or short
            image.replace_with(link)
            return
        kinds = [*image.get_attribute_list("class"), None if picture.knows_dark_pages else "paper"]
        image.attrs |= {"class": " ".join(filter(None, kinds)), "src": picture.address_in_html, "alt": alt}
        width = str(image.get("width") or "")
        natural = int(width) if re.fullmatch(r"\d{1,5}", width) else picture.width
        if natural:
            image.attrs.setdefault("width", str(natural))
            image.attrs.setdefault("style", f"--natural:{natural}")


def show_formula(element: Tag, mathml: str, is_displayed: bool) -> None:
    """Put the formula into its element. A formula that only defines commands is removed with its element."""
    element.attrs = {"class": "formula display" if is_displayed and element.name == "span" else "formula"}
    element.clear()
    element.append(Verbatim(mathml))
    if not mathml:
        element.decompose()
    elif not is_displayed:
        keep_together(element)


def keep_together(formula: Tag) -> None:
    """Move text that touches the formula into its element, in which no line breaks."""
    before, after = formula.previous_sibling, formula.next_sibling
    if type(before) is NavigableString and (found := BEFORE.search(before)):
        before.replace_with(NavigableString(before[: found.start()]))
        formula.insert(0, NavigableString(found[0]))
    if type(after) is NavigableString and (found := AFTER.match(after)):
        after.replace_with(NavigableString(after[found.end() :]))
        formula.append(NavigableString(found[0]))


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def shortened(text: str) -> str:
    text = in_one_line(text)
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def only_holding(element: Tag) -> Tag | None:
    """The paragraph that holds this element and nothing else."""
    parent = element.parent
    beside = any(map(is_content, [*islice(element.previous_siblings, 2), *islice(element.next_siblings, 2)]))
    return parent if parent and parent.name == "p" and not beside else None


def content_of(paragraph: Tag) -> list[PageElement]:
    return list(filter(is_content, paragraph.contents))


def is_content(node: PageElement) -> bool:
    return isinstance(node, Tag) or str(node).strip(" \n\t") != ""


def mend_paragraph(paragraph: Tag) -> None:
    """Turn a paragraph that holds nothing but a picture into a figure, and remove an empty one: it is what
    is left of a paragraph in which a block began."""
    content = content_of(paragraph)
    if not content:
        paragraph.decompose()
    elif len(content) == 1 and isinstance(content[0], Tag) and content[0].name == "img":
        paragraph.name, paragraph.attrs = "figure", {"class": "picture"}
