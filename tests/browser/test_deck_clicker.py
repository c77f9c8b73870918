"""A clicker walks the core path of every lesson over a slow network, today and the day after."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Serve, Watch
from tests.browser.decks import (
    STEP,
    Faults,
    each_lesson,
    each_size,
    faults_around,
    faults_of_step,
    report,
    run_deck,
    slow_down,
)
from tests.browser.new_lesson import open_deck
from tests.browser.waiting import measure, until
from tests.conftest import LayTranslator
from tests.lessons import ROOT, copy_course

LATENCY = 200  # milliseconds
IS_AT_THE_END = """() => {
    const slides = [...document.querySelectorAll(".slides > section > section")];
    const here = slides.findIndex((slide) => slide.matches(".present > .present"));
    const isCore = (slide) => !slide.hasAttribute("data-optional");
    return !slides[here].querySelector(".fragment:not(.visible)") && !slides.slice(here + 1).some(isCore);
}"""
UNWANTED = """() => [".jp-Dialog", "aside.notes", ".reveal-skip"].filter((selector) =>
    [...document.querySelectorAll(selector)].some((node) => node.checkVisibility()))"""


def walk_core(page: Page) -> Faults:
    """Press PageDown until the core path ends; returns the faults of each step."""
    faults: Faults = {}
    while True:
        step, found = faults_of_step(page)
        faults[step] = found + measure(page, UNWANTED)
        if measure(page, IS_AT_THE_END):
            return faults
        page.keyboard.press("PageDown")
        until(page, f"step => ({STEP})() !== step", step)


@pytest.mark.whole
@each_size
@each_lesson
def test_nothing_interrupts_the_core_path_of_a_lesson(
    page: Page,
    watch: Watch,
    serve: Serve,
    tmp_path: Path,
    lesson: Path,
    size: tuple[int, int],
    lay_translator: LayTranslator,
) -> None:
    lay_translator(lesson, copy_course(tmp_path))
    page.set_viewport_size({"width": size[0], "height": size[1]})
    slow_down(page, LATENCY)
    path = lesson.relative_to(ROOT).as_posix()
    address = serve(tmp_path).address("rise", path)
    open_deck(page, address)
    faults = {"running": run_deck(page)} | walk_core(page)
    faults |= faults_around(watch, address)

    next_day = serve(tmp_path).address("rise", path)  # another server, with the outputs of the day before
    open_deck(page, next_day)
    expect(page.locator("#slide-0-0")).to_be_visible()
    faults |= {f"the next day {step}": found for step, found in walk_core(page).items()}
    assert not any(faults.values()), f"{lesson.name}\n{report(faults)}"
