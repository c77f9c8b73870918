"""Every lesson is a good deck: run in RISE, walked by keyboard, every slide and fragment looked at."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Page, expect

from tests.browser.new_lesson import POSITION, current, new_lesson, open_deck, status_of
from tests.lessons import ENGLISH, ROOT, TRANSLATED, in_whole_runs, name_of

if TYPE_CHECKING:
    from tests.browser.conftest import JupyterServer, Watch
    from tests.conftest import LayTranslator

SAMPLE = TRANSLATED[2]  # the others are the same code beside shorter texts
each_lesson = pytest.mark.parametrize(
    "lesson",
    [
        ENGLISH[0],
        *(pytest.param(lesson, marks=pytest.mark.ci) for lesson in (*ENGLISH[1:], SAMPLE)),
        *in_whole_runs(lesson for lesson in TRANSLATED if lesson != SAMPLE),
    ],
    ids=name_of,
)
FAULTS_OF_SLIDE, FAULTS_OF_LAYOUT, FAULTS_OF_EXPLORER = (
    (Path(__file__).parent / f"{name}.js").read_text(encoding="utf-8")
    for name in ("deck_walk", "deck_layout", "explorer_walk")
)
STEP = f"() => ({POSITION})().join('+')"
STEPS = """() => {
    const highlights = [...document.querySelectorAll(".slides [data-highlight]")];
    const lines = highlights.flatMap((cell) => [...cell.dataset.highlight.split("|"), "all"]);
    return document.querySelectorAll(".slides > section > section, .slides .fragment").length + lines.length;
}"""
CAN_GO_DOWN = "Boolean(document.querySelector('.present > .present').nextElementSibling)"
LOADED = """() => {
    const slide = document.querySelector("section.present > section.present");
    const widgets = [...slide.querySelectorAll("[data-mime-type*='widget-view']")];
    return (
        [...slide.querySelectorAll("img")].every((image) => image.complete) &&
        !widgets.some((widget) => widget.textContent.includes("Loading widget"))
    );
}"""
DRAWN = """async () => {
    await document.fonts.ready;
    for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
}"""
# Harmless errors in the console that RISE 0.43 makes with any notebook, with their causes.
HARMLESS = {
    r"Canceled future for (kernel_info|comm_info)_request": "it was asked of a kernel that was just replaced",
}
WINDOWS = [(1280, 720), (1024, 600), (1024, 768), (1920, 1080), (3440, 1440)]
Faults = dict[str, list[str]]  # by place: a step such as "slide-3-0+1", or "console" and the like


def run_deck(page: Page, address: str) -> list[str]:
    """Open the deck and run all of it; returns the cells that failed."""
    open_deck(page, address)
    status = status_of(page)
    page.keyboard.press("Escape")  # clears the status, so that the next one comes from the run
    expect(status).to_have_attribute("class", "")
    page.keyboard.press("Shift+R")
    expect(status).to_have_class(re.compile("done|failed"), timeout=600_000)
    expect(page.locator("#slide-0-0")).to_be_visible()
    return re.findall("^slide .*", status.inner_text(), re.MULTILINE)


def walk(page: Page, every_setting: bool = False) -> Faults:
    """Go from the first slide to the last; returns the faults of each step.

    Explorers are tried at the ends of their sliders, or at every setting.
    """
    steps = page.evaluate(STEPS)
    expect(page.locator("#deck-foot b").last).to_have_text(re.compile("1 / [0-9]+$"))
    faults: Faults = {}
    for _ in range(steps):
        step = page.evaluate(STEP)
        faults[step] = faults_of_step(page) + page.evaluate(FAULTS_OF_EXPLORER, every_setting)
        key = "ArrowDown" if page.evaluate(CAN_GO_DOWN) else "ArrowRight"
        page.keyboard.press(key)
        if len(faults) < steps:
            page.wait_for_function(f"step => ({STEP})() !== step", arg=step)
    return faults


def faults_of_step(page: Page) -> list[str]:
    """The faults of the slide as it stands, once it is loaded and drawn."""
    page.wait_for_function(LOADED)
    page.evaluate(DRAWN)
    faults: list[str] = page.evaluate(FAULTS_OF_SLIDE) + page.evaluate(FAULTS_OF_LAYOUT)
    return faults


def faults_around(watch: Watch, address: str) -> Faults:
    """Errors in the console, and requests to other servers than the deck's own."""
    errors = [error for error in watch.errors if not any(re.search(known, error) for known in HARMLESS)]
    return {"console": errors, "network": watch.requests_beyond(address.split("/rise/")[0])}


def faults_of(page: Page, watch: Watch, address: str) -> Faults:
    faults = {"running": run_deck(page, address)} | walk(page) | faults_around(watch, address)
    return {place: found for place, found in faults.items() if found}


def report(faults: Faults) -> str:
    return "\n".join(f"{place}: {fault}" for place, found in faults.items() for fault in found)


@each_lesson
def test_lesson_is_a_good_deck(
    page: Page, watch: Watch, jupyter: JupyterServer, lesson: Path, lay_translator: LayTranslator
) -> None:
    lay_translator(lesson, jupyter.folder)
    faults = faults_of(page, watch, jupyter.address("rise", lesson.relative_to(ROOT).as_posix()))
    assert not faults, f"{lesson.name}\n{report(faults)}"


@each_lesson
def test_a_lesson_opens_with_an_empty_console(
    page: Page, watch: Watch, jupyter: JupyterServer, lesson: Path
) -> None:
    missing: list[str] = []
    page.on("response", lambda response: missing.append(response.url) if response.status >= 400 else None)
    open_deck(page, jupyter.address("rise", lesson.relative_to(ROOT).as_posix()))
    page.wait_for_load_state("networkidle")
    assert not [*missing, *watch.errors]


@pytest.mark.whole
@pytest.mark.parametrize("size", WINDOWS, ids=lambda size: "{}x{}".format(*size))
@each_lesson
def test_lesson_is_a_good_deck_in_every_window_light_and_dark(
    page: Page, jupyter: JupyterServer, lesson: Path, size: tuple[int, int], lay_translator: LayTranslator
) -> None:
    lay_translator(lesson, jupyter.folder)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    run_deck(page, jupyter.address("rise", lesson.relative_to(ROOT).as_posix()))
    faults = {f"light {step}": found for step, found in walk(page, every_setting=True).items() if found}
    page.evaluate("location.hash = '#/slide-0-0'")
    expect(current(page)).to_have_id("slide-0-0")
    page.keyboard.press("d")
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    faults |= {f"dark {step}": found for step, found in walk(page).items() if found}
    assert not faults, f"{lesson.name}\n{report(faults)}"


WIDE_DRAWING = "<svg xmlns=%22http://www.w3.org/2000/svg%22 width=%223000%22 height=%22300%22/>"
BAD_SLIDES = {  # the fault: the cell that has it, and the sentence of the walk
    "too long": (new_markdown_cell("\n".join(f"- line {n}" for n in range(40))), "px too low: line 0"),
    "too wide": (new_code_cell("HTML('<p style=\"width: 3000px\">wide</p>')"), "cut off by 1"),
    "an error": (new_code_cell("1 / 0"), "error output: .*Zero"),
    "a raw dollar": (new_markdown_cell("It costs $5."), r"a raw \$: It costs"),
    "no picture": (new_markdown_cell("![a picture](missing.png)"), "a broken image: .*missing.png"),
    "a dead widget": (new_code_cell("print('interactive(children=(IntSlider(')"), "a widget as text: inter"),
    "small type": (
        new_code_cell("HTML('<p style=\"font-size: 14px\">small</p>')"),
        "smaller than 18 px: .*small",
    ),
    "small letters": (
        new_code_cell(f"HTML('<img src=\"data:image/svg+xml,{WIDE_DRAWING}\">')"),
        r"a still with letters of \d\.\d px",
    ),
    "a long line": (
        new_code_cell(f"numbers = [{', '.join(map(str, range(60)))}]"),
        "code is wrapped: numbers",
    ),
    "a broken heading": (
        new_code_cell("HTML('<table><th style=\"word-break: break-all; width: 1em\">位置编码</table>')"),
        "a heading is broken: 位置编码",
    ),
    "the console": (new_code_cell("Javascript('console.error(\"oh no\")')"), "console.*oh no"),
    "the network": (new_code_cell("HTML('<img src=\"http://localhost:9/far.png\">')"), "network.*9/far.png"),
}


def bad_lesson() -> NotebookNode:
    setup = new_code_cell("from IPython.display import HTML, Javascript")
    cells = [setup, *(cell for cell, _ in BAD_SLIDES.values())]
    for cell in cells:
        cell.metadata["slideshow"] = {"slide_type": "slide"}
    return new_lesson(cells)


def test_the_walk_finds_what_is_wrong_with_a_deck(page: Page, watch: Watch, jupyter: JupyterServer) -> None:
    nbformat.write(bad_lesson(), jupyter.folder / "notebooks" / "en" / "bad.ipynb")
    faults = faults_of(page, watch, jupyter.address("rise", "notebooks/en/bad.ipynb"))
    in_place = len(BAD_SLIDES) - 2  # the last two are not faults of a slide
    places = [f"slide-{number}-0+0" for number in range(1, in_place + 1)] + ["console", "network"]
    for (kind, (_, said)), place in zip(BAD_SLIDES.items(), places, strict=True):
        assert re.search(said, f"{place} {faults.get(place)}", re.DOTALL), f"{kind} was not found: {faults}"
    assert "slide-0-0+0" not in faults, "nothing is wrong with the first slide"
    assert faults["running"][0].startswith("slide 4 ")
