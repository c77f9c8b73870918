"""Every lesson is a good deck: run in RISE, walked by keyboard, every slide and fragment looked at."""

import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from playwright.sync_api import Page, expect

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("*/*.ipynb"))
FAULTS_OF_SLIDE = (Path(__file__).parent / "deck_walk.js").read_text(encoding="utf-8")
STEP = "[location.hash, document.querySelectorAll('.present > .present .fragment.visible').length].join('+')"
# Console errors that RISE 0.43 makes with any notebook, and why each does no harm.
HARMLESS = {
    r"Refused to apply style from .*\.css": "RISE asks for <notebook>.css, which a lesson need not have",
    r"RangeError: Maximum call stack": "two copies of the toolbar's kit; a deck hides the toolbar",
    r"Canceled future for (kernel_info|comm_info)_request": "asked of a kernel that was just replaced",
}


def walk(page: Page, watch, address: str) -> dict[str, list[str]]:
    """Run the deck and look at it step by step; returns the faults of each step, and of the whole."""
    page.goto(address)
    status = page.locator("#deck-foot output")
    expect(status).to_be_attached(timeout=60_000)
    page.keyboard.press("Shift+R")
    expect(status).to_have_class("busy")
    expect(status).not_to_have_class("busy", timeout=300_000)
    expect(page.locator("#slide-0-0")).to_be_visible()
    summary = status.inner_text()
    steps = page.locator(".slides > section > section, .slides .fragment").count()
    faults = {}
    for _ in range(steps):
        step = page.evaluate(STEP)
        page.wait_for_function(
            "[...document.querySelectorAll('.present img')].every((image) => image.complete)"
        )
        faults[step] = page.evaluate(FAULTS_OF_SLIDE)
        page.keyboard.press("Space")
        if len(faults) < steps:
            page.wait_for_function(f"step => {STEP} !== step", arg=step)
    server = address.split("/rise/")[0]
    faults["running"] = re.findall("^slide .*", summary, re.MULTILINE)
    faults["console"] = [
        error for error in watch.errors if not any(re.search(known, error) for known in HARMLESS)
    ]
    faults["network"] = watch.requests_beyond(server)
    return {place: found for place, found in faults.items() if found}


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: f"{lesson.parent.name}/{lesson.stem}")
def test_lesson_is_a_good_deck(page, watch, jupyter, lesson):
    faults = walk(page, watch, jupyter.address("rise", lesson.relative_to(ROOT).as_posix()))
    report = "\n".join(f"{place}: {fault}" for place, found in faults.items() for fault in found)
    assert not faults, f"{lesson.name}\n{report}"


BAD_SLIDES = {  # what is wrong with it: the cell, and what the walk says
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
    "the console": (new_code_cell("Javascript('console.error(\"oh no\")')"), "console.*oh no"),
    "the network": (new_code_cell("HTML('<img src=\"http://localhost:9/far.png\">')"), "network.*9/far.png"),
}


def test_the_walk_finds_what_is_wrong_with_a_deck(page, watch, jupyter):
    setup = new_code_cell("from IPython.display import HTML, Javascript")
    cells = [setup, *(cell for cell, _ in BAD_SLIDES.values())]
    for cell in cells:
        cell.metadata["slideshow"] = {"slide_type": "slide"}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    bad = new_notebook(cells=cells, metadata={"rise": {"theme": "white"}, "kernelspec": kernel})
    nbformat.write(bad, jupyter.folder / "notebooks" / "en" / "bad.ipynb")
    faults = walk(page, watch, jupyter.address("rise", "notebooks/en/bad.ipynb"))
    places = [f"#/slide-{number}-0+0" for number in range(1, len(cells) - 2)] + ["console", "network"]
    for (kind, (_, said)), place in zip(BAD_SLIDES.items(), places, strict=True):
        assert re.search(said, f"{place} {faults.get(place)}", re.DOTALL), f"{kind} was not found: {faults}"
    assert "#/slide-0-0+0" not in faults, "nothing is wrong with the first slide"
    assert faults["running"][0].startswith("slide 4 ")
