"""On a core slide of a lesson's third edition one thing is seen, large; its code is folded behind it."""

from pathlib import Path

import pytest
from playwright.sync_api import Page

from mha_lib.classroom.lesson.grammar import has_role
from mha_lib.classroom.lesson.slides import read_lesson, read_slides
from tests.browser.conftest import JupyterServer
from tests.browser.decks import begin, go_to, run_deck
from tests.browser.new_lesson import open_deck
from tests.browser.waiting import measure
from tests.lessons import ENGLISH, ROOT, THIRD_EDITION, TRANSLATED, name_of

pytestmark = pytest.mark.ci

LESSONS = [lesson for lesson in ENGLISH + TRANSLATED if lesson.stem in THIRD_EDITION]
LISTS = {"title", "objectives", "learnt"}  # slides of words
MOST_WITH_CODE = 1 / 3  # of the core slides
# Of the slide that is shown: how much of its stage the largest thing takes, and whether code is open on it.
# The stage reaches from the words above the thing to the foot.
SEEN = """() => {
    const section = document.querySelector(".present > .present");
    const box = (node) => node.getBoundingClientRect();
    const isShown = (node) => box(node).height > 0;
    const kinds = ".mha-explorer, img, table, .MathJax[display=true], .cm-editor";
    const seen = [...section.querySelectorAll(kinds)].filter(isShown);
    const area = (node) => box(node).width * box(node).height;
    const thing = seen.sort((a, b) => area(b) - area(a))[0];
    if (!thing) return { share: 0, hasCode: false };
    const words = [...section.querySelectorAll("h1, h2, .jp-MarkdownOutput > p")];
    const ends = words.map((node) => box(node).bottom);
    const above = ends.filter((end) => end <= box(thing).top + 2);
    const stage = (innerHeight - 46 - Math.max(0, ...above)) * (innerWidth - 96);
    return { share: area(thing) / stage, hasCode: seen.some((node) => node.matches(".cm-editor")) };
}"""


@pytest.mark.parametrize("lesson", LESSONS, ids=name_of)
def test_a_core_slide_shows_one_thing_large_and_few_show_code(
    page: Page, jupyter: JupyterServer, lesson: Path
) -> None:
    open_deck(page, jupyter.address("rise", lesson.relative_to(ROOT).as_posix()))
    run_deck(begin(page))
    slides = read_slides(read_lesson(lesson)["cells"])
    column, row, small, with_code = -1, 0, {}, []
    shown = 0
    for slide in slides:
        column, row = (column, row + 1) if slide.starts == "subslide" else (column + 1, 0)
        names = {cell["id"] for cell in slide.cells}
        asks = any(has_role(cell, "exercise") for cell in slide.cells)
        if slide.is_optional or asks or names & LISTS:
            continue
        shown += 1
        go_to(page, f"slide-{column}-{row}")
        seen = measure(page, SEEN)
        if seen["hasCode"]:
            with_code.append(slide.title)
        elif seen["share"] < 0.5:
            small[slide.title] = round(seen["share"], 2)
    assert small == {}
    assert len(with_code) <= MOST_WITH_CODE * shown, with_code
