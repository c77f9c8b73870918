"""The field above a lesson in JupyterLab: it goes to a step by its address, and runs what that step needs."""

import re
import shutil

import nbformat
import pytest
from nbformat import NotebookNode
from playwright.sync_api import Locator, Page, expect

from mha_lib.classroom.lesson import make_working_copy
from mha_lib.classroom.lesson.files import write_whole
from mha_lib.classroom.pages.page import CLASSROOM
from tests.browser.new_lesson import new_lesson
from tests.browser.seats import STUB, WORDS, Seat, cell, text
from tests.browser.waiting import expect_idle


def lesson(name: str) -> NotebookNode:
    """A lesson of seven steps, the third an exercise, and an optional one after the fourth."""
    cells = [
        text("title", f"# Lesson {name}"),
        cell("base", "# Helper: a number\nbase = 40", "skip", ("setup",)),
        text("first", "## First"),
        cell("unused", "unused = 1", "fragment"),
        cell("two", "two = 2", "fragment"),
        text("second", "## Exercise"),
        cell("answer", STUB, "fragment", ("exercise",)),
        text("third", "## Third"),
        cell("sum", "total = base + two", "fragment"),
        text("more", "## Optional: more", "subslide"),
        cell("show-more", "total + 1", "fragment"),
        text("more-notes", "Optional, 2 min.", "notes"),
        text("fourth", "## Fourth"),
        cell("show", "print('total is', total)", "fragment"),
        text("fifth", "## Fifth"),
        cell("wrong", "wrong = 1 / 0", "fragment"),
        text("sixth", "## Sixth"),
        cell("needs-wrong", "wrong + 1", "fragment"),
    ]
    made = new_lesson(cells, title=f"Lesson {name}", summary="Steps")
    made.metadata["mha"]["lesson"] = name
    return made


@pytest.fixture(scope="module")
def course(serve, tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    (folder / "notebooks" / "en").mkdir(parents=True)
    for name in ("03_lesson", "04_lesson"):
        nbformat.write(lesson(name), folder / "notebooks" / "en" / f"{name}.ipynb")
    return serve(folder)


def expect_at(page: Page, heading: str) -> None:
    active = page.locator(".jp-NotebookPanel:visible .jp-Cell.jp-mod-active")
    expect(active).to_contain_text(heading)
    expect(active).to_be_in_viewport()


class Lesson(Seat):
    @property
    def field(self) -> Locator:
        return self.page.locator(".jp-NotebookPanel:visible").get_by_role("textbox", name=WORDS["address"])

    def go(self, address: str) -> None:
        self.field.fill(address)
        self.field.press("Enter")

    def expect_at(self, heading: str) -> None:
        expect_at(self.page, heading)
        expect(self.field).to_have_value("")  # it is free for the next address

    def expect_refused(self, typed: str, sentence: str, **gaps: str) -> None:
        self.go(typed)
        expect(self.page.get_by_role("alert")).to_contain_text(WORDS[sentence].format(typed=typed, **gaps))
        expect(self.field).to_have_value(typed)

    def prompt(self, name: str) -> Locator:
        return self.cell(name).locator(".jp-InputPrompt")


@pytest.fixture
def seat(page, course, tmp_path):
    copies, _ = make_working_copy(course.folder, "en")
    own = shutil.copytree(copies, course.folder / tmp_path.name)  # a path of its own has a kernel of its own
    course.trust(own / "04_lesson.ipynb")
    return Lesson(page, course, f"{tmp_path.name}/03_lesson.ipynb").open()


def test_an_address_runs_what_its_step_needs_once_and_no_answer(seat):
    seat.write("answer", "def mine(scores, mask):\n    return 'my answer'")
    seat.go("3.5")
    seat.expect_at("Fourth")
    expect(seat.prompt("sum")).to_have_text("[3]:")  # after the setup and `two`
    for name in ("unused", "answer", "show"):
        expect(seat.prompt(name)).to_have_text("[ ]:")
    expect(seat.cell("answer")).to_contain_text("my answer")
    seat.page.keyboard.press("Shift+Enter")
    seat.page.keyboard.press("Shift+Enter")
    expect(seat.cell("show").locator(".jp-OutputArea-output")).to_have_text("total is 42")
    seat.go("3.1")  # the way back
    seat.expect_at("Lesson 03")
    seat.write("two", "two = 3")
    seat.go("3.5")
    seat.expect_at("Fourth")
    expect(seat.prompt("two")).to_have_text("[5]:")
    expect(seat.prompt("base")).to_have_text("[1]:")


def test_an_address_may_be_typed_in_other_ways_and_opens_what_is_folded(seat):
    seat.expect_refused("3.77", "no_step", address="3.77", first="3.1", last="3.7")
    seat.expect_refused("three", "no_address", address="3.7")
    seat.expect_refused("5.1", "no_lesson", address="5.1", lesson="5")
    for typed in ("5", " ３．０５ "):
        seat.go("3.1")
        seat.expect_at("Lesson 03")
        seat.go(typed)
        seat.expect_at("Fourth")
    expect(seat.cell("show-more")).to_be_hidden()
    seat.go("3.4.1")
    seat.expect_at("Optional: more")
    expect(seat.cell("show-more")).to_be_visible()
    seat.go("4.5")
    seat.expect_at("Fourth")
    expect(seat.page.locator(".lm-TabBar-tab.jp-mod-current").get_by_text("04_lesson.ipynb")).to_be_visible()
    seat.go("3.3")  # the other way, to a lesson that is open
    seat.expect_at("Exercise")


def test_a_needed_cell_comes_back_if_it_was_deleted_and_is_named_each_time_it_fails(seat):
    seat.cell("two").locator(".jp-InputPrompt").click()
    seat.page.keyboard.press("d")
    seat.page.keyboard.press("d")
    two = seat.page.locator(".jp-Cell", has_text="two = 2")
    expect(two).to_have_count(0)
    seat.go("3.5")
    seat.expect_at("Fourth")
    expect(two.locator(".jp-InputPrompt")).to_have_text("[2]:")
    for _ in range(2):
        seat.go("3.7")
        expect(seat.page.get_by_role("alert")).to_contain_text("ZeroDivisionError")
        expect(seat.field).to_have_value("3.7")
        expect_idle(seat.page)
    expect(seat.prompt("needs-wrong")).to_have_text("[ ]:")


@pytest.mark.ci
def test_a_handout_on_the_server_and_the_notebook_lead_to_each_other(page, course):
    make_working_copy(course.folder, "en")
    seat = Lesson(page, course, "work/en/03_lesson.ipynb").open()
    seat.cell("third").click()

    handout = course.folder / "build" / "handouts" / "en" / "03_lesson.html"
    seat.choose_in_menu("handout")
    expect(page.get_by_role("alert")).to_contain_text("build/handouts/en/03_lesson.html")
    addresses = "".join(f'<p class="address" id="3.{step}">3.{step}</p>' for step in range(1, 8))
    script = (CLASSROOM / "pages" / "handout" / "address.js").read_text()
    write_whole(handout, f"<!doctype html>{addresses}<script>{script}</script>")
    with page.context.expect_page() as opened:
        seat.choose_in_menu("handout")
    expect(opened.value).to_have_url(re.compile(r"/files/build/handouts/en/03_lesson\.html.*#3\.4$"))
    opened.value.get_by_role("link", name="3.5").click()
    expect_at(opened.value, "Fourth")
    linked = Lesson(opened.value, course, "work/en/03_lesson.ipynb")
    run = opened.value.get_by_role("button", name=WORDS["run_needed"].format(count=3, address="3.5"))
    expect(run).to_be_visible()
    expect_idle(opened.value)
    expect(linked.prompt("two")).to_have_text("[ ]:")  # a link runs nothing
    run.click()
    expect(linked.prompt("two")).to_have_text("[2]:")
    expect(run).to_be_hidden()
    linked.expect_at("Fourth")
