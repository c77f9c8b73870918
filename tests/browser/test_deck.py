"""Every lesson is a good deck: run in RISE, walked by keyboard, every slide and fragment looked at."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Page

from tests.browser.conftest import JupyterServer, Watch
from tests.browser.decks import faults_of, report, run_deck, walk
from tests.browser.new_lesson import cell, lay_lesson, open_deck
from tests.lessons import ENGLISH, ROOT, TRANSLATED, name_of


def cases():
    """Each lesson in each language. In CI in English, but in the others where test_walks.py has it so."""
    for number, lesson in enumerate([*ENGLISH, *TRANSLATED]):
        place, language = number % len(ENGLISH), number // len(ENGLISH)
        is_sample = (language > 0) == (place % 3 == 2)
        mark = pytest.mark.ci if is_sample else pytest.mark.whole
        yield pytest.param(lesson, marks=mark, id=name_of(lesson))


each_lesson = pytest.mark.parametrize("lesson", list(cases()))
WINDOWS = [(1024, 600), (1024, 768), (1920, 1080), (3440, 1440)]


@each_lesson
def test_lesson_is_a_good_deck(page, watch, jupyter, lesson, share_trainings):
    share_trainings(jupyter.folder)
    faults = faults_of(page, watch, jupyter.address("rise", lesson.relative_to(ROOT).as_posix()))
    assert not faults, f"{lesson.name}\n{report(faults)}"


@pytest.mark.whole
@pytest.mark.parametrize("size", WINDOWS, ids="{0[0]}x{0[1]}".format)
@each_lesson
def test_lesson_is_a_good_deck_in_every_window(page, jupyter, lesson, size, share_trainings):
    share_trainings(jupyter.folder)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    open_deck(page, jupyter.address("rise", lesson.relative_to(ROOT).as_posix()))
    run_deck(page)
    faults = walk(page)
    assert not any(faults.values()), f"{lesson.name}\n{report(faults)}"


WIDE_DRAWING = "<svg xmlns=%22http://www.w3.org/2000/svg%22 width=%223000%22 height=%22300%22/>"
LINES = "\n".join(f"- line {n}" for n in range(40))
BAD_SLIDES = {  # the fault: the source of the cell that has it, and the sentence of the walk
    "too long": (LINES, "px too low: line 0"),
    "too wide": ("HTML('<p style=\"width: 3000px\">wide</p>')", "cut off by 1"),
    "an error": ("1 / 0", "error output: .*Zero"),
    "a raw dollar": ("It costs $5.", r"a raw \$: It costs"),
    "no picture": ("![a picture](missing.png)", "a broken image: .*missing.png"),
    "a dead widget": ("print('interactive(children=(IntSlider(')", "a widget as text: inter"),
    "small type": ("HTML('<p style=\"font-size: 14px\">small</p>')", "smaller than 18 px: .*small"),
    "small letters": (
        f"HTML('<img src=\"data:image/svg+xml,{WIDE_DRAWING}\">')",
        r"a still with letters of \d\.\d px",
    ),
    "a long line": (f"numbers = [{', '.join(map(str, range(60)))}]", "code is wrapped: numbers"),
    "the answers": (f"<details><summary>Too long</summary>\n\n{LINES}\n\n</details>", "px too low: Too long"),
    "the console": ("Javascript('console.error(\"oh no\")')", "console.*oh no"),
    "the network": ("HTML('<img src=\"http://localhost:9/far.png\">')", "network.*9/far.png"),
}
TEXTS = ("too long", "a raw dollar", "no picture", "the answers")


@pytest.mark.ci
def test_the_walk_finds_what_is_wrong_with_a_deck(page: Page, watch: Watch, jupyter: JupyterServer) -> None:
    cells = [cell("slide", new_code_cell, "from IPython.display import HTML, Javascript", "setup")]
    for number, (kind, (source, _)) in enumerate(BAD_SLIDES.items()):
        make = new_markdown_cell if kind in TEXTS else new_code_cell
        cells.append(cell("slide", make, source, f"bad-{number}"))
    faults = faults_of(page, watch, lay_lesson(jupyter, "notebooks/en/bad.ipynb", cells))
    elsewhere = ["console", "network"]  # the last two are not faults of a step
    places = [f"slide-{number}-0+0" for number in range(1, len(BAD_SLIDES) - 1)] + elsewhere
    for (kind, (_, said)), place in zip(BAD_SLIDES.items(), places, strict=True):
        assert re.search(said, f"{place} {faults.get(place)}", re.DOTALL), f"{kind} was not found: {faults}"
    assert "slide-0-0+0" not in faults, "nothing is wrong with the first slide"
    assert faults["running"][0].startswith("slide 4: ")
    assert "404" in faults["opening"][0], "the picture is missed at once"
