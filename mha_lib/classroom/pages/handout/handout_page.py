"""One notebook as one page: its cells become HTML, the page is cleaned, and a template frames it.

A slide's outputs, ticks and texts after its guess have the class ``result``; ``reading.js`` hides them
until the reader asks for them.
"""

import html
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from nbformat import NotebookNode

from mha_lib.classroom.exercises import find_exercises
from mha_lib.classroom.exercises.hints import MISSES, hint_in
from mha_lib.classroom.exercises.small import Small
from mha_lib.classroom.lesson.grammar import has_role
from mha_lib.classroom.lesson.language import ENGLISH, TAG, has_words, words_in
from mha_lib.classroom.lesson.outputs import CHECK, is_hint, is_progress
from mha_lib.classroom.lesson.reading import Lesson
from mha_lib.classroom.lesson.slides import (
    STARTS,
    addresses_of,
    slide_type,
)
from mha_lib.classroom.pages import page
from mha_lib.classroom.pages.cleaner import cleaner_for
from mha_lib.classroom.pages.handout.notebook import (
    asks_to,
    cells_for,
    count_skipped,
    describe,
    is_on_the_page,
    lines_of_ticks,
    only_ticks,
    without_open_exercises,
)
from mha_lib.classroom.pages.handout.terms import link_terms
from offline_notebook import (
    WIDGETS_SCRIPT,
    AddressOf,
    Outputs,
    add_anchors,
    code_block,
    entry,
    inside,
    lead_links,
    mend_anchors,
    parse,
    terminal,
)

STYLES = [f"pages/handout/{name}.css" for name in ("code", "handout", "others", "paper")]
OWN_SCRIPTS = [f"pages/handout/{name}.js" for name in ("handout", "reading", "small", "address", "answers")]
SCRIPTS = [str(WIDGETS_SCRIPT), "jupyter/shared/figures.js", *OWN_SCRIPTS]
# Begins an element that reading.js hides.
RESULT = re.compile(r'class="(?:cell|outputs|code) [^"]*result|<span class="result"')
# Behind such an output code folds, as in the deck (fold.js).
SHOWS_MORE_THAN_CODE = re.compile(r"<(?:img|table)\b|data-widget=")
# The widgets' own programs run, without asking the network for anything.
POLICY = {
    "script-src": "'unsafe-inline' blob: data:",
    **page.OWN_STYLES,
    "img-src": "data: blob:",
    "font-src": "data:",
    "connect-src": "data: blob:",
}


@dataclass
class Opening:
    """The live picture with which a page opens, below its question, and the slide that it is from."""

    widget: str
    html: Markup
    address: str


class HandoutPage:
    """One notebook, for one audience, as a page that a template can frame."""

    def __init__(
        self,
        lesson: Lesson,
        audience: str,
        complain: Callable[[str], object],
        address_of: AddressOf,
        ran: NotebookNode | None = None,
    ):
        """``ran``: the notebook with its outputs, where the lesson has run for this page."""
        self.notebook = notebook = lesson.copy() if ran is None else ran
        self.audience = audience
        self.complain = complain
        self.language = lesson.language
        if not has_words(self.language):
            complain(words_in(ENGLISH)["language"]["unknown"].format(language=self.language))
        words = words_in(self.language)
        self.words = words["handout"]
        self.addresses = addresses_of(lesson.slides, lesson.identity)
        self.small = small_exercises(notebook, words)
        code = notebook.metadata.get("language_info", {})
        self.programming_language = (
            entry(str, code, "pygments_lexer") or entry(str, code, "name") or "ipython3"
        )
        self.description = describe(lesson, audience)
        self.cleaner = cleaner_for(lesson.folder, self.language, complain)
        self.outputs = Outputs(notebook.metadata, self.cleaner, is_print=lambda metadata: CHECK in metadata)
        self.body = parse(self.cells())
        self.opening = self.open_with_picture()
        lead_links(self.body, address_of, self.words, complain)
        self.cleaner.clean_tree(self.body)
        if count := count_skipped(lesson):
            complain(self.words["skipped"].format(count=count))
        if count := self.outputs.widgets.not_stored:
            complain(self.words["not_stored"].format(count=count))
        link_terms(self.body, lesson, address_of)
        self.headings = add_anchors(self.body, self.words["link"], lowered_in="subslide")
        mend_anchors(self.body, self.words, complain)

    def render(
        self, template: str = "pages/handout/handout.html", styles: Iterable[str] = (), **more: Any
    ) -> str:
        """The whole page; a template that extends the handout's may take ``more``."""
        return page.render(
            template,
            language=self.language if TAG.fullmatch(self.language) else ENGLISH,
            title=self.description.title,
            description=self.description.summary,
            policy=POLICY,
            styles=[*STYLES, *styles],
            more_style=self.cleaner.formulas.style(),
            scripts=SCRIPTS,
            spoken={**self.words, "small": self.small, "misses": MISSES},
            widgets=self.outputs.widgets.data(),
            handout=self,
            older=page.read("pages/handout/older.js"),
            body=Markup(inside(self.body)),
            **more,
        )

    @property
    def says_title(self) -> bool:
        return any(one.level == 1 or one.words == self.description.title for one in self.headings)

    def open_with_picture(self) -> Opening | None:
        """Show the first live picture below the title, too, with the guess that the lesson asks of it."""
        guess = entry(str, self.notebook.metadata, "guess")
        title = self.body.select_one(".cell")
        number = self.body.select_one(".address:has(~ .cell [data-widget])")
        picture = self.body.select_one(".address ~ .cell [data-widget]")
        if not (guess and title and number and picture):
            return None
        widget = str(picture["data-widget"])
        opening = self.cleaner.markdown(guess) + self.outputs.widgets.live(widget, "")
        address = number.get_text()
        link = f'<a href="#{address}">{address}</a>'
        title.insert_after(
            *parse(
                f'<div class="cell guess opening" data-cell="opening">\n{opening}</div>\n'
                f'<details class="answer"><summary>{self.words["show_result"]}</summary></details>\n'
                f'<div class="cell result"><p>{self.words["comes_to_it"].format(address=link)}</p></div>\n'
            ).contents
        )
        return Opening(widget, Markup(opening), address)

    def cells(self) -> str:
        sections: list[list[NotebookNode]] = [[]]
        for cell in self.shown_cells():
            if slide_type(cell) in STARTS and sections[-1]:
                sections.append([])
            sections[-1].append(cell)
        return "".join(map(self.section, filter(None, sections)))

    def shown_cells(self) -> list[NotebookNode]:
        cells = [cell for cell in cells_for(self.audience, self.notebook) if is_on_the_page(cell)]
        return without_open_exercises(cells, answered_here=self.small)

    def section(self, cells: list[NotebookNode]) -> str:
        """The cells of a slide."""
        name = str(cells[0].get("id", ""))
        address = html.escape(self.addresses.get(name, ""))
        content = f'<p class="address" id="{address}">{address}</p>\n' if address else ""
        results, is_result = "", False
        for cell in cells:
            if is_result:
                results += self.cell(cell, is_result)
            else:
                content += self.cell(cell, is_result)
            is_result = is_result or has_role(cell, "guess")
        if address and any(map(self.waits_for_code, cells)):
            results += f'<p class="where">{self.words["answered_in"].format(address=address)}</p>\n'
        if RESULT.search(results):  # it is folded where no script asks for a guess
            content += f'<details class="answer"><summary>{self.words["show_result"]}</summary></details>\n'
        return f'<section class="slide">\n{content}{results}</section>\n'

    def waits_for_code(self, cell: NotebookNode) -> bool:
        """Whether a cell asks for an answer that only a kernel can judge."""
        return cell.cell_type == "code" and has_role(cell, "exercise") and cell.get("id") not in self.small

    def cell(self, cell: NotebookNode, is_result: bool) -> str:
        if cell.cell_type == "code":
            content = self.code_cell(cell, is_result)
        else:
            content = getattr(self, f"{cell.cell_type}_cell")(cell)
        if not content:
            return ""
        kinds = ["cell"]
        if has_role(cell, "guess"):
            kinds.append("guess")
        if is_result and (cell.cell_type != "code" or only_ticks(cell)) and slide_type(cell) != "notes":
            kinds.append("result")
        if slide_type(cell) == "notes":
            kinds.append("notes")
            content = f'<p class="label">{self.words["notes"]}</p>\n{content}'
        elif has_role(cell, "exercise"):
            kinds.append("exercise")
        if slide_type(cell) == "subslide":
            kinds.append("subslide")
        if has_role(cell, "why"):
            kinds.append("why")
            content = content.replace("<details>", "<details open>", 1)  # folded in the notebook
        if asks_to(cell, "hide-cell"):
            content = folded("cell", self.words["hidden"], content)
        if has_role(cell, "solution"):
            content = folded("solution", self.words["solution"], content)
        name = html.escape(str(cell.get("id", "cell")))
        steps = f' data-steps="{count:d}"' if (count := entry(int, cell.metadata, "steps")) else ""
        return f'<div class="{" ".join(kinds)}" data-cell="{name}"{steps}>\n{content}</div>\n'

    def markdown_cell(self, cell: NotebookNode) -> str:
        return self.cleaner.markdown(cell.source, cell.get("attachments"))

    def raw_cell(self, cell: NotebookNode) -> str:
        """Its text, as JupyterLab shows it; settings for a converter are left out."""
        return "" if cell.source.startswith("---\n") else terminal(cell.source, "raw")

    def code_cell(self, cell: NotebookNode, is_result: bool) -> str:
        if cell.get("id") in self.small:
            return f'<div class="small"></div>\n{self.hint(cell)}'  # small.js asks there for the answer
        ticks = lines_of_ticks(cell.source) if is_result else set()
        has_code = cell.source.strip() and not asks_to(cell, "remove-input")
        code = code_block(cell.source, self.programming_language, ticks) if has_code else ""
        cell.outputs = [output for output in cell.outputs if not is_progress(output) and not is_hint(output)]
        outputs = "" if asks_to(cell, "remove-output") else self.outputs.of(cell)
        is_hidden = asks_to(cell, "hide-output") or entry(bool, cell.metadata, "jupyter", "outputs_hidden")
        if outputs and is_hidden:
            outputs = folded("output", self.words["output"], outputs)
        is_behind = SHOWS_MORE_THAN_CODE.search(outputs) and not has_role(cell, "about_code")
        is_hidden = asks_to(cell, "hide-input") or entry(bool, cell.metadata, "jupyter", "source_hidden")
        is_folded = is_behind or is_hidden
        if code and is_folded and not has_role(cell, "solution"):
            code = folded("code", first_comment(cell.source) or self.words["code"], code)
        kind = "outputs result" if is_result else "outputs"
        return code + (f'<div class="{kind}">\n{outputs}</div>\n' if outputs else "")

    def hint(self, cell: NotebookNode) -> str:
        """The hint to a small exercise, which small.js shows after the second miss."""
        exercise = next(each for each in find_exercises() if each.name == cell.metadata["checks"])
        hint = hint_in(self.notebook, exercise)
        if hint is None:
            return ""
        summary = html.escape(words_in(self.language)["checks"]["hint"].format(address=hint.address))
        said = self.cleaner.markdown(hint.text)
        return f'<details class="hint" hidden><summary>{summary}</summary>\n{said}</details>\n'


def small_exercises(notebook: NotebookNode, words: Mapping[str, Any]) -> dict[str, Any]:
    """What the page needs for each small exercise that asks for a number, by the id of its cell."""
    names = {str(cell.get("id")): entry(str, cell.metadata, "checks") for cell in notebook.cells}
    known = {each.name: each for each in find_exercises() if isinstance(each, Small)}
    found = {cell: known[name].in_page(words) for cell, name in names.items() if name in known}
    return {cell: exercise for cell, exercise in found.items() if exercise}


def first_comment(code: str) -> str:
    """The comment with which code begins: a folded cell is known by it, as in JupyterLab; "" without one."""
    line, *_ = code.split("\n", 1)
    return line.removeprefix("#").strip() if line.startswith("#") else ""


def folded(kind: str, label: str, content: str) -> str:
    summary = f"<summary>{html.escape(label)}</summary>"
    return f'<details class="fold fold-{kind}">{summary}\n{content}</details>\n'
