"""A figure in steps: the deck shows one after the other, other pages have a slider, and paper shows all."""

import re
from pathlib import Path

import pytest
from nbformat.v4 import new_markdown_cell
from playwright.sync_api import Locator, Page, expect

from mha_lib.classroom.pages.handout import HandoutExporter
from tests.browser.conftest import JupyterServer
from tests.browser.new_lesson import cell, lay_lesson, new_lesson, press
from tests.browser.waiting import act, expect_idle, picture_of
from tests.lessons import ROOT

STEPS = 4
CELLS = [
    cell("slide", new_markdown_cell, "# Steps", "title"),
    cell("slide", new_markdown_cell, "## The flow\n\n![The flow](img/multi_head_flow.svg)", "flow"),
]
CELLS[1].metadata["steps"] = STEPS


def expect_step(image: Locator, number: int) -> bytes:
    """See that the figure is shown up to this step, and return its picture."""
    expect(image).to_have_attribute("src", re.compile(f"#step-{number}$"))
    return picture_of(image)


def test_a_key_shows_the_next_step_of_a_figure_and_back_the_one_before(deck: Page) -> None:
    image = deck.locator(".present > .present img")
    seen = []
    for number in range(1, STEPS + 1):
        press(deck, "ArrowRight")
        seen.append(expect_step(image, number))
    assert len(set(seen)) == STEPS, "each step shows more"
    for number in range(STEPS - 1, 0, -1):
        press(deck, "ArrowLeft")
        assert expect_step(image, number) == seen[number - 1]


def expect_slider(image: Locator, slider: Locator) -> None:
    slider.focus()  # the ring of its focus is on the pictures, too
    whole = picture_of(image)
    slider.press("Home")
    first = expect_step(image, 1)
    assert first != whole
    slider.press("End")
    assert expect_step(image, STEPS) == whole


@pytest.mark.ci
def test_a_slider_in_jupyterlab_goes_through_the_steps(page: Page, jupyter: JupyterServer):
    lay_lesson(jupyter, "lab_steps.ipynb", CELLS)
    page.goto(jupyter.address("lab", "lab_steps.ipynb"))
    expect_idle(page)  # a server that ends while a kernel starts waits for it in vain
    expect_slider(page.get_by_alt_text("The flow"), page.get_by_label("Steps of the figure"))


def test_a_slider_in_a_handout_goes_through_the_steps_and_paper_shows_all(page: Page, tmp_path: Path):
    without = cell("fragment", new_markdown_cell, "No figure.", "none")
    without.metadata["steps"] = STEPS
    source, _ = HandoutExporter().from_notebook_node(
        new_lesson([without, *CELLS]), resources={"metadata": {"path": str(ROOT), "name": "steps"}}
    )
    (tmp_path / "steps.html").write_text(source, encoding="utf-8")
    page.goto((tmp_path / "steps.html").as_uri())
    image, slider = page.get_by_alt_text("The flow"), page.get_by_label("Steps of the figure")
    expect_slider(image, slider)
    slider.press("Home")
    page.emulate_media(media="print")
    act(page, "() => dispatchEvent(new Event('beforeprint'))")
    expect(slider).to_be_hidden()
    expect_step(image, STEPS)
