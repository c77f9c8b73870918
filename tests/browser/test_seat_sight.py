"""In JupyterLab a student sees what was asked for, keeps a figure as it was set, and can use the keyboard."""

import re

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell
from playwright.sync_api import expect

from mha_lib.classroom.lesson import make_working_copy
from tests.browser.new_lesson import ANYWIDGET, new_lesson
from tests.browser.seats import STUB, WORDS, Seat, cell, text
from tests.browser.waiting import becomes, box_of, each_of, until

IMPORTS = "from mha_lib.classroom import begin_lesson, check\nbegin_lesson('08', 'en')"
TALL = "\n\n".join(["A long text."] * 40)
FIGURE = """from IPython.display import HTML
HTML('<input type="range" class="mha-control"><div class="mha-figure" style="height: 400px"></div>')"""
LINES = ["A lesson", "import", "A live figure", "anywidget", "Optional", r"1 \+ 1", "Exercise"]
LINES += ["your answer", "check.masked_softmax", "Guess", "HTML", "Why"]  # a piece of each cell


@pytest.fixture(scope="module")
def course(serve, tmp_path_factory):
    cells = [
        text("title", "# A lesson"),
        cell("imports", IMPORTS, "skip", ["setup"], jupyter={"source_hidden": True}),
        text("live", "## A live figure"),
        cell("figure", ANYWIDGET, "fragment"),
        text("more", "## Optional: more", "subslide"),
        cell("show-more", "1 + 1", "fragment"),
        text("more-notes", "Optional, 2 min.", "notes"),
        text("exercise", "## Exercise"),
        cell("answer", STUB, "fragment", ["exercise"]),
        cell("check", "check.masked_softmax(mine)", "fragment", ["shows-check"], checks="masked_softmax"),
        cell("asks", f"## *Guess: how much?*\n\n{TALL}", "slide", ["guess"], new_markdown_cell),
        cell("result", FIGURE, "fragment"),
        cell("asks-why", "Why.", "skip", ["why"], new_markdown_cell),
    ]
    folder = tmp_path_factory.mktemp("course")
    (folder / "notebooks" / "en").mkdir(parents=True)
    made = new_lesson(cells, title="A lesson", summary="Sight")
    made.metadata["mha"]["lesson"] = "08_lesson"
    nbformat.write(made, folder / "notebooks" / "en" / "08_lesson.ipynb")
    return serve(folder)


@pytest.fixture
def seat(page, course, tmp_path):
    copies, _ = make_working_copy(course.folder, "en")
    own = course.folder / tmp_path.name  # a path of its own has a kernel of its own
    copies.rename(own)
    return Seat(page, course, f"{tmp_path.name}/08_lesson.ipynb").open()


def press(seat, name, key="Shift+Enter"):
    """Make the cell the active one, and press the key."""
    seat.cell(name).locator(".jp-InputPrompt, .jp-MarkdownOutput").first.click()
    seat.page.keyboard.press(key)


@pytest.mark.ci
@pytest.mark.parametrize(
    "size", [(1366, 768), (1024, 700), (911, 512)], ids=str
)  # the last is 150 % of the first
def test_a_verdict_and_a_result_with_its_controls_stay_in_sight(seat, size):
    seat.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    press(seat, "answer")
    seat.expect_active("check")
    seat.page.keyboard.press("Shift+Enter")
    seat.expect_active("asks")  # whose text is taller than the window
    expect(seat.output("check")).to_contain_text("○ masked_softmax")
    expect(seat.output("check")).to_be_in_viewport(ratio=1)
    press(seat, "asks")
    seat.guess("asks").fill("3")
    seat.page.keyboard.press("Enter")
    expect(seat.page.locator(".mha-control")).to_be_in_viewport(ratio=1)
    seat.expect_active("asks-why")
    if size[1] > 600:
        expect(seat.page.locator(".mha-figure")).to_be_in_viewport(ratio=1)


@pytest.mark.ci
def test_a_figure_keeps_its_state_and_the_walk_goes_on_until_its_code_changes(seat):
    def expect_ran(name, count):
        expect(seat.cell(name).locator(".jp-InputPrompt")).to_have_text(f"[{count}]:")

    seat.set_up()
    press(seat, "figure", "Control+Enter")
    slider, square = map(seat.page.locator, (".noUi-handle, .jupyter-widgets input", "canvas[data-size]"))
    expect(square).to_have_attribute("data-size", "10")
    slider.first.focus()
    seat.page.keyboard.press("ArrowRight")
    expect(square).to_have_attribute("data-size", "22")
    for name in ("exercise", "answer", "check"):
        seat.page.keyboard.press("Shift+Enter")
        seat.expect_active(name)
    expect_ran("answer", 3)
    expect_ran("figure", 2)
    expect(square).to_have_attribute("data-size", "22")
    seat.write("figure", ANYWIDGET.replace("IntSlider(10", "IntSlider(20"))
    seat.page.keyboard.press("Shift+Enter")
    expect_ran("figure", 4)


@pytest.mark.ci
def test_the_keyboard_goes_on_where_a_click_has_shown_hidden_cells(seat):
    seat.page.get_by_text("cell hidden").click()
    seat.expect_active("more")
    seat.page.keyboard.press("Shift+Enter")
    seat.expect_active("show-more")


@pytest.mark.ci
def test_an_empty_field_takes_the_guess_that_comes_late_and_go_on_does_what_the_keys_do(seat):
    go_on = seat.progress.get_by_role("button", name=WORDS["go_on"])
    expect(go_on).to_have_attribute("title", re.compile("Shift\\+Enter"))
    press(seat, "asks")
    seat.page.keyboard.press("Shift+Enter")
    expect(seat.guess("asks")).to_have_attribute("placeholder", WORDS["no_guess_yet"])
    seat.page.keyboard.type("dd")  # which deletes a cell where no field has the focus
    expect(seat.guess("asks")).to_have_value("dd")
    expect(seat.cell("result").locator(".jp-InputPrompt")).to_have_text("[ ]:")
    press(seat, "figure", "Escape")
    go_on.click()
    seat.expect_active("exercise")
    expect(seat.page.locator("canvas[data-size]")).to_be_visible()


@pytest.mark.ci
def test_what_was_deleted_counts_as_left_and_comes_back(seat):
    total = WORDS["steps"].format(done=0, steps=4)
    expect(seat.progress).to_contain_text(total)
    for name in ("check", "answer", "exercise"):
        press(seat, name, "Escape")
        seat.page.keyboard.press("d")
        seat.page.keyboard.press("d")
    expect(seat.page.get_by_text("# your answer")).to_have_count(0)
    expect(seat.progress).to_contain_text(total)
    seat.choose_in_menu("bring_back")
    expect(seat.page.get_by_text("# your answer")).to_be_visible()
    expect(seat.page.locator(".jp-Notebook .jp-Cell")).to_have_text([re.compile(line) for line in LINES])


@pytest.mark.ci
def test_a_copy_that_has_lost_its_ids_gets_no_cell_a_second_time_and_still_counts(seat):
    notebook = nbformat.read(seat.file, 4)
    for number, each in enumerate(notebook.cells):
        each.id = f"other-{number}"
    notebook.cells[7].source += "\n    # changed"
    nbformat.write(notebook, seat.file)
    seat.open().set_up()
    expect(seat.page.locator(".jp-Notebook .jp-Cell")).to_have_count(len(notebook.cells))
    press(seat, "other-3")
    expect(seat.progress).to_contain_text(WORDS["steps"].format(done=2, steps=4))


@pytest.mark.ci
def test_each_title_has_its_number_and_the_line_above_is_whole_at_150_percent(seat):
    title = "(cell) => getComputedStyle(cell.querySelector('h2'), '::before').content"
    assert until(seat.cell("live"), title) == '"8.2"'
    seat.page.set_viewport_size({"width": 911, "height": 512})
    press(seat, "figure")
    right = box_of(seat.page.locator(".jp-NotebookPanel"))
    for each in ("span", "button", "input"):
        for shown in each_of(seat.progress.locator(f"{each}:visible")):
            becomes(shown, "(one) => one.scrollWidth <= one.clientWidth + 1", True)
            box = box_of(shown)
            assert box["x"] + box["width"] <= right["x"] + right["width"]
