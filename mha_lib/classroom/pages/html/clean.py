"""Make a page self-contained: draw its formulas, embed its pictures, remove what a browser would fetch.

Other modules turn the notebook's cells into HTML and close each piece (``tree.closed``) before this pass.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path

from bs4 import NavigableString, PageElement, Tag

from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.pages.html.formulas import Formulas, Refusal
from mha_lib.classroom.pages.html.markdown import CALLOUT, DIAGRAM, FORMULA
from mha_lib.classroom.pages.html.pictures import read_picture
from mha_lib.classroom.pages.html.tree import Verbatim, parse
from mha_lib.classroom.pages.html.ways_out import close_ways_out

# Elements that may not stand within a paragraph: a browser ends the paragraph where one of these begins.
BLOCKS = re.compile(
    "address|article|aside|blockquote|center|details|div|dl|fieldset|figure|footer|form|h[1-6]|header|hr|main|nav"
    "|ol|p|pre|section|table|ul"
)
FETCHED = ("script", "link", "iframe", "video", "audio", "object", "embed", "source", "track")
EMBEDDING = ("iframe", "object", "embed")
UNSEEN = ("script", "link", "source", "track")  # these show nothing, so no link takes their place
ADDRESSES = ("src", "href", "data", "srcset")  # the attributes that name what is fetched
# Text that touches a formula: browsers may break a line between the two, so both go into one element.
BEFORE = re.compile(r"[(\[{“‘„«]{1,3}$")
AFTER = re.compile(r"[^\s/–—\u00ad\u2e80-\U0010ffff-]{1,12}|[，。、；：！？）」』]+")
# Elements that may load a picture from another site. The element stays; its address is removed.
SHOWN_FROM_ELSEWHERE = "input[src], image, use, feImage, [poster], [background]"
ITS_ADDRESSES = ("src", "href", "xlink:href", "poster", "background")
LONGEST_QUOTE = 200  # characters of a formula or an address in a message
# The buttons of matplotlib's animations have their signs from a font in the network.
SIGNS = {
    "minus": "−",
    "plus": "+",
    "flip-horizontal": "◀",  # before "play", for this button is both
    "play": "▶",
    "pause": "‖",
    "step-backward": "◁",
    "step-forward": "▷",
    "fast-backward": "|◁",
    "fast-forward": "▷|",
}
WITHIN = ("data:", "#")  # the start of an address that lies in the page itself


class Cleaner:
    """Cleans a page, or several pieces of one page, which share the commands that their formulas define."""

    def __init__(self, folder: Path, language: str, complain: Callable[[str], object]):
        self.folder = folder  # where the notebook lies
        self.language = language
        self.complain = complain
        self.words = words_in(language)["rendering"]
        self.formulas = Formulas()

    def clean(self, html: str) -> Tag:
        return self.clean_tree(parse(html))

    def clean_tree(self, page: Tag) -> Tag:
        self.set_formulas(page.select(f"[{FORMULA}]"))
        for drawing in page.select(f"[{DIAGRAM}]"):
            self.say_diagram(drawing)
        for element in page.find_all(EMBEDDING):
            self.show_embedded(element)
        for title in page.select(f"[{CALLOUT}]"):
            self.name_callout(title)
        for picture in page.find_all("img"):
            self.inline(picture)
        for element in page.find_all(FETCHED):
            self.leave_out(element)
        for element in page.select(SHOWN_FROM_ELSEWHERE):
            for name, address in fetched_by(element, ITS_ADDRESSES).items():
                self.report("left_out", element, address)
                del element[name]
        close_ways_out(page, self.report)
        for name, sign in SIGNS.items():
            for icon in page.select(f".fa-{name}:empty"):
                icon.string = sign
        mend_paragraphs(page)
        for paragraph in page.find_all("p"):
            make_figure(paragraph)
        return page

    def set_formulas(self, elements: Sequence[Tag]) -> None:
        """Replace the TeX in each element by its formula. TeX that cannot be set stays, and is reported."""
        formulas = [(element.get_text().strip(), element.name == "div") for element in elements]
        for element, (tex, _), found in zip(elements, formulas, self.formulas.set(formulas), strict=True):
            if isinstance(found, Refusal):
                self.leave_as_tex(element, tex, found)
            else:
                show_formula(element, found)

    def leave_as_tex(self, element: Tag, tex: str, why: Refusal) -> None:
        reason = self.words[why.sentence].format(about=why.about) if why.sentence else why.about
        short = in_one_line(tex)
        short = short if len(short) <= LONGEST_QUOTE else f"{short[:LONGEST_QUOTE]}…"
        self.complain(self.words["formula_left"].format(tex=short, reason=in_one_line(reason)))
        said = Tag(name="span", attrs={"class": "reason"})
        said.string = self.words["not_set"].format(reason=in_one_line(reason)[:LONGEST_QUOTE])
        code = Tag(name="code", attrs={"class": "tex"})
        code.extend(list(element.contents))
        element.extend([code, said])
        if element.name == "div":
            element.name, element.attrs = "p", {}
        else:
            element.unwrap()

    def say_diagram(self, drawing: Tag) -> None:
        """Add a note below code that Jupyter would draw as a diagram: the page shows the code instead."""
        kind = str(drawing.attrs.pop(DIAGRAM))
        self.complain(self.words["diagram_left"].format(kind=kind))
        note = Tag(name="p", attrs={"class": "note"})
        note.string = self.words["diagram"].format(kind=kind)
        drawing.insert_after(note)

    def name_callout(self, title: Tag) -> None:
        """Give a callout without a title the name of its kind."""
        kind = str(title.attrs.pop(CALLOUT))
        if is_blank(title):
            title.string = self.words["callouts"][kind]

    def inline(self, image: Tag) -> None:
        """Replace a picture's address by its data."""
        address, alt = str(image.get("src") or first_of(image)), str(image.get("alt") or "")
        if not address:  # a script will set it
            return
        picture = read_picture(address, self.folder, self.language)
        if picture is None:
            # A broken data: address may be very long.
            short = address if len(address) < LONGEST_QUOTE else f"{address[:50]}…"
            self.complain(self.words["picture_left_out"].format(address=short))
            image.replace_with(link_to(address, alt or short, "missing"))
            return
        kinds = [*image.get_attribute_list("class"), None if picture.knows_dark_pages else "paper"]
        image.attrs |= {"class": " ".join(filter(None, kinds)), "src": picture.address_in_html, "alt": alt}
        image.attrs.pop("srcset", None)
        width = str(image.get("width") or "")
        natural = int(width) if width.isdecimal() else picture.width
        if natural:
            image.attrs.setdefault("width", str(natural))
            image.attrs.setdefault("style", f"--natural:{natural}")

    def show_embedded(self, element: Tag) -> None:
        """Replace a frame that holds its content in its address: a picture by a picture, all else, which the
        page may not load, by a link that saves it."""
        address = str(element.get("src") or element.get("data") or "").strip()
        if not address.startswith("data:"):
            return
        kind = re.split("[;,]", address.removeprefix("data:"), maxsplit=1)[0] or "text/plain"
        if kind.startswith("image/"):
            alt = element.get_text().strip() or element.get("title") or ""
            size = {"width": element["width"]} if element.get("width") else {}
            element.replace_with(Tag(name="img", attrs={"src": address, "alt": alt, **size}))
            return
        self.complain(self.words["embedded_left"].format(element=element.name, type=kind))
        link = link_to(address, self.words["embedded"].format(type=kind))
        link["download"] = ""
        element.replace_with(link)

    def leave_out(self, element: Tag) -> None:
        """Remove an element that would fetch something. A link replaces it if readers would have seen it."""
        sources = [] if element.decomposed else [element, *element.find_all("source")]
        addresses = [address for source in sources for address in fetched_by(source, ADDRESSES).values()]
        if addresses:
            self.report("left_out", element, addresses[0])
            if element.name not in UNSEEN:
                element.insert_before(link_to(addresses[0], addresses[0]))
            element.decompose()

    def report(self, sentence: str, element: Tag, address: str) -> None:
        about = {"element": element.name, "address": in_one_line(address)[:LONGEST_QUOTE]}
        self.complain(self.words[sentence].format(**about))


def show_formula(element: Tag, mathml: str) -> None:
    """Put the formula into its element. A formula that only defines commands is removed with its element."""
    element.attrs = {"class": "formula"}
    element.clear()
    element.append(Verbatim(mathml))
    if mathml and element.name == "span":
        keep_together(element)
    if not mathml:
        element.decompose()


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


def fetched_by(element: Tag, names: Iterable[str]) -> dict[str, str]:
    """The addresses outside of the page that these attributes of an element have."""
    found = {name: str(element.get(name) or "").strip() for name in names}
    return {name: address for name, address in found.items() if address and not address.startswith(WITHIN)}


def first_of(image: Tag) -> str:
    """The first address in an image's ``srcset``."""
    return next(iter(str(image.get("srcset") or "").split()), "").rstrip(",")


def link_to(address: str, text: str, kind: str | None = None) -> Tag:
    link = Tag(name="a", attrs={"class": kind, "href": address} if kind else {"href": address})
    link.string = text
    return link


def mend_paragraphs(page: Tag) -> None:
    """Make paragraphs of what stands loose after a block that began in a paragraph.

    A browser ends the paragraph where such a block begins, and reads its end as an empty paragraph.
    """
    for parent in {id(end.parent): end.parent for end in page.find_all(is_stray_end)}.values():
        start: Tag | None = None  # the last paragraph
        since: list[PageElement] = []  # the nodes after it
        for node in list(parent.contents if parent else []):
            if is_stray_end(node):
                if start:
                    make_paragraphs(since, start)
                node.decompose()
                since = []
            elif isinstance(node, Tag) and node.name == "p":
                start, since = node, []
            else:
                since.append(node)


def is_stray_end(node: PageElement) -> bool:
    return isinstance(node, Tag) and node.name == "p" and not node.attrs and is_blank(node)


def make_paragraphs(nodes: list[PageElement], start: Tag) -> None:
    """Put the nodes between blocks into paragraphs like the one that they began in."""
    for is_block, group in groupby(nodes, key=is_a_block):
        loose = list(group)
        if not is_block and any(str(node).strip() for node in loose):
            paragraph = Tag(name="p", attrs={k: v for k, v in start.attrs.items() if k != "id"})
            loose[0].insert_before(paragraph)
            paragraph.extend(loose)
    if is_blank(start):
        start.extract()


def is_a_block(node: PageElement) -> bool:
    return isinstance(node, Tag) and BLOCKS.fullmatch(node.name) is not None


def is_blank(element: Tag) -> bool:
    """Whether an element holds nothing but spaces and line ends."""
    return not any(isinstance(child, Tag) or str(child).strip(" \n\t") for child in element.contents)


def make_figure(paragraph: Tag) -> None:
    """Turn a paragraph that holds nothing but a picture into a figure."""
    content = [child for child in paragraph.contents if str(child).strip()]
    if len(content) == 1 and isinstance(content[0], Tag) and content[0].name == "img":
        paragraph.name, paragraph.attrs = "figure", {"class": "picture"}
