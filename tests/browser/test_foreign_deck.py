"""The deck of a notebook that is no lesson: long slides, wide tables, outputs, colours, odd names."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from playwright.sync_api import Page, expect

from mha_lib.classroom.lesson.language import words_in
from tests.browser.conftest import Watch
from tests.browser.decks import expect_light, go_to
from tests.browser.foreign import COLOURS, CONTRAST, SUM
from tests.browser.lecture import expect_inside, reload, saves, turn
from tests.browser.new_lesson import current, open_deck, press, status_of
from tests.browser.pages import new_page
from tests.browser.waiting import act, box_of, each_of, measure, until

WORDS = words_in("en")["deck"]
NAME = "50% of #1 é.ipynb"
LIST = "\n".join(f"- point {number} of a list that does not fit" for number in range(40))
TABLE = "\n".join("|".join(row) for row in ([f"column {n}" for n in range(24)], ["---"] * 24, ["0.12"] * 24))
WIDGETS = """from IPython.display import display
from ipywidgets import Button, IntProgress

button, bar = Button(description="0"), IntProgress(value=5, max=10)
button.on_click(lambda _: setattr(button, "description", "pressed"))
display(button, bar)"""
SLIDES = [
    ("slide", "# Of somebody else"),
    ("slide", f"## Long\n\n{LIST}"),
    ("fragment", "The last step"),
    ("slide", f"## Wide\n\n$${SUM}$$\n\n{TABLE}"),
    ("slide", f"## Fenced\n\n```python\nprint(1)\n```\n\n    indented\n\nhttps://example.org/{'path/' * 60}"),
    ("slide", "## Widgets"),
    ("-", WIDGETS),
    ("slide", f"## Colours\n\n{COLOURS}\n\n<font color='#222222'>five</font>\n\n#### Six"),
    ("slide", "## Crowded"),
    ("-", "import printed"),
    ("-", "import failed"),
    ("-", "import drawn"),
]
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="300"><path d="M 0 0 L 400 300"/></svg>'
OUTPUTS = [  # of the last three
    [new_output("stream", text="a line\n" * 60)],
    [new_output("error", ename="ValueError", evalue="no", traceback=["ValueError: no"])],
    [new_output("display_data", {"image/svg+xml": DRAWING})] * 3,
]
SEEN = """(part) => {
    const { top, bottom } = part.getBoundingClientRect();
    return top >= 0 && bottom <= document.querySelector("#deck-foot").getBoundingClientRect().top;
}"""


def made(cells: list[tuple[str, str]], **metadata: object) -> nbformat.NotebookNode:
    """A notebook as others have them: without an identity, or ids that anybody chose."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    make = {True: new_code_cell, False: new_markdown_cell}
    return new_notebook(
        cells=[
            make["import" in source](source, metadata={"slideshow": {"slide_type": kind}} if kind else {})
            for kind, source in cells
        ],
        metadata={"kernelspec": kernel, **metadata},
    )


@pytest.fixture(scope="module")
def opened(browser, jupyter):
    """The deck of these slides, which nobody has trusted."""
    notebook = made(SLIDES, rise={"theme": "simple"})
    for cell, outputs in zip(notebook.cells[-3:], OUTPUTS, strict=True):
        cell.outputs = outputs
    nbformat.write(notebook, jupyter.folder / NAME)
    watch = Watch()
    with new_page(browser) as page:
        watch.attach(page)
        address = jupyter.address("rise", NAME.replace("%", "%25").replace("#", "%23"))
        open_deck(page, address)
        assert watch.requests_beyond(jupyter.url) == []
        yield page


def test_a_long_slide_scrolls_to_its_end_before_the_deck_turns(deck: Page) -> None:
    go_to(deck, "slide-1-0")
    more = deck.locator("#deck-foot b[data-more]")
    expect(more).to_have_attribute("data-more", WORDS["foot"]["more"])
    size = measure(current(deck).locator("li").first, "(part) => getComputedStyle(part).fontSize")
    assert float(size.removesuffix("px")) >= 18
    for point in (0, 20, 39):
        line = current(deck).locator("li").nth(point)
        while not measure(line, SEEN):
            press(deck, "PageDown")
    step = current(deck).locator(".fragment .jp-MarkdownOutput p")
    press(deck, "PageDown")
    expect(current(deck).locator(".fragment.visible")).to_have_count(1)
    until(step, SEEN)
    expect(more).to_have_attribute("data-more", "")
    turn(deck, "PageDown", "slide-2-0")
    go_to(deck, "slide-1-0")
    act(deck, "() => document.querySelector('.present > .present').scrollTo(0, 0)")
    deck.mouse.move(600, 300)
    deck.mouse.wheel(0, 200)
    until(current(deck), "(slide) => slide.scrollTop > 0")


def test_a_wide_table_keeps_all_its_columns(deck: Page) -> None:
    go_to(deck, "slide-2-0")
    expect(current(deck).locator("td")).to_have_count(24)
    expect_inside(deck, ".present > .present :is(td, th)", (0, 0, 1280, 720))
    assert box_of(current(deck).locator("td").last)["height"] < 30, "a number stays in one line"
    expect_inside(deck, ".present > .present mjx-math :is(mjx-mi, mjx-mn)", (0, 0, 1280, 720))


def test_fenced_code_can_be_read_from_the_last_row(deck: Page) -> None:
    go_to(deck, "slide-3-0")
    sizes = measure(
        deck,
        """() => [...document.querySelectorAll(".present > .present pre code")]
            .map((code) => Number.parseFloat(getComputedStyle(code).fontSize))""",
    )
    assert len(sizes) == 2
    assert min(sizes) >= 18
    expect_inside(deck, ".present > .present a", (0, 0, 1280, 720))


def test_the_line_about_trust_covers_no_heading(deck: Page) -> None:
    line = box_of(deck.locator(".mha-withheld"))
    for slide in ("slide-1-0", "slide-3-0"):
        go_to(deck, slide)
        assert box_of(current(deck).locator("h2"))["y"] >= line["y"] + line["height"]


def test_the_left_edge_of_an_output_takes_the_mouse_and_a_bar_of_progress_is_seen(deck: Page) -> None:
    go_to(deck, "slide-4-0")
    current(deck).locator(".jp-CodeCell .cm-content").click()
    press(deck, "Control+Enter")
    button = current(deck).locator(".jupyter-button")
    box = box_of(button)
    deck.mouse.click(box["x"] + 4, box["y"] + box["height"] / 2)
    expect(button).to_have_text("pressed")
    bar = box_of(current(deck).locator(".progress-bar"))
    assert bar["width"] > 50
    assert bar["height"] > 5


def test_what_an_author_has_coloured_or_drawn_is_seen_in_the_dark(deck: Page) -> None:
    press(deck, "d")
    expect_light(deck, False)
    go_to(deck, "slide-5-0")
    coloured = each_of(current(deck).locator("[style*=color], div[style] code, font, h4"))
    assert len(coloured) == 6
    assert min(measure(part, CONTRAST) for part in coloured) > 4.5
    go_to(deck, "slide-6-0")
    grounds = measure(deck, "() => [...document.images].map((one) => getComputedStyle(one).backgroundColor)")
    assert grounds == ["rgb(255, 255, 255)"] * 3


def test_nothing_of_a_crowded_slide_is_lost(deck: Page) -> None:
    go_to(deck, "slide-6-0")
    drawings = current(deck).locator("img")
    for part in (current(deck).locator(".deck-error"), *each_of(drawings)):
        while not measure(part, SEEN):
            press(deck, "PageDown")
            expect(deck.locator("#slide-6-0")).to_be_visible()
    assert min(box_of(drawing)["height"] for drawing in each_of(drawings)) >= 200


def test_a_kernel_that_is_not_there_is_said_at_the_foot(page: Page, jupyter) -> None:
    file: Path = jupyter.folder / "r.ipynb"
    nbformat.write(made(SLIDES[:1], kernelspec={"name": "ir", "display_name": "R", "language": "R"}), file)
    open_deck(page, jupyter.address("rise", file.name))
    expect(status_of(page)).to_contain_text("Select Kernel")


def test_the_button_in_jupyterlab_opens_a_deck_whatever_its_name(page: Page, jupyter) -> None:
    nbformat.write(made(SLIDES[:1]), jupyter.folder / NAME)
    page.goto(jupyter.address("lab", ""))
    expect_lab = page.locator("#jp-main-dock-panel")
    expect(expect_lab).to_be_visible()
    address = f"{jupyter.url}/rise/{NAME}?activeCellIndex=0"  # as RISE writes it
    with page.expect_popup() as popup:
        act(page, "(address) => { window.open(address); }", address)
    expect(popup.value.locator("body")).to_have_attribute("data-deck", "ready")


def test_a_notebook_without_slides_is_cut_at_its_headings_and_stays_as_it_is(page: Page, jupyter) -> None:
    file: Path = jupyter.folder / "plain.ipynb"
    plain = [
        ("", "# One"),
        ("", "words"),
        ("", "## Two"),
        ("", "import math"),
        ("", "no heading"),
        ("", "### Three"),
        ("", "---\n## Four"),
        ("", '<a id="five"></a>\n\n## Five'),
        ("", "Six\n---\nwords"),
        ("", "<h2>Seven</h2>"),
        ("", "| no |\n|---|\n\nheading"),
    ]
    nbformat.write(made(plain), file)
    open_deck(page, jupyter.address("rise", file.name))
    expect(status_of(page)).to_contain_text(WORDS["cut"])
    expect(page.locator("#deck-foot b").last).to_have_text("1 / 7")
    go_to(page, "slide-1-0")
    expect(current(page)).to_contain_text("no heading")
    with page.expect_response(lambda answer: saves(answer.request)):
        press(page, "Control+s")
    assert "slideshow" not in file.read_text()
    reload(page)
    expect(page.locator("#deck-foot b").last).to_have_text("2 / 7")
