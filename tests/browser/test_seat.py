"""A lesson in JupyterLab, as a student works in it."""

import re
import shutil
import threading

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell
from playwright.sync_api import Locator, Route, expect

from mha_lib.classroom.lesson import make_working_copy
from mha_lib.classroom.lesson.language import words_in
from tests.browser.decks import slow_down
from tests.browser.lecture import saves
from tests.browser.new_lesson import new_lesson
from tests.browser.seats import STUB, WORDS, Seat, cell, text
from tests.browser.waiting import saved_when, until

IMPORTS = "from mha_lib.classroom import begin_lesson, check, tick\nbegin_lesson('07', {!r})"
RIGHT = "def mine(scores, mask):\n    return scores.masked_fill(~mask, -float('inf')).softmax(-1)"
WAITS = "import pathlib, time\nwhile not pathlib.Path('go-on').exists(): time.sleep(0.1)"
FOLDED = {"source_hidden": True}


def lesson(language="en"):
    """A lesson with a core path of 12 minutes in five steps; in three of them there is something to do."""
    cells = [
        text("title", "# A lesson"),
        text("title-notes", "1 min.", "notes"),
        cell("imports", IMPORTS.format(language), "skip", ["setup"]),
        cell("helpers", "helper = 40", "skip", ["setup"]),
        cell("folded", "# Helper: a number\nfolded = 1", "skip", ["setup"], jupyter=FOLDED),
        text("first", "## First"),
        cell("add", "helper + 2", "fragment"),
        cell("add-check", "# Check\ntick(helper == 40, 'ticked')", "fragment", jupyter=FOLDED),
        text("first-notes", "3 min.", "notes"),
        text("second", "## Optional: second", "subslide"),
        cell("more", "helper + 3", "fragment"),
        text("second-notes", "Optional, 2 min.", "notes"),
        text("third", "## Optional: third", "subslide"),
        cell("still-more", "helper + 4", "fragment"),
        text("third-notes", "Optional, 2 min.", "notes"),
        text("before", "## Before the guess"),
        text("before-notes", "2 min.", "notes"),
        cell("asks", "## *Guess: how much?*", "slide", ["guess"], new_markdown_cell),
        cell("result", "helper + 5", "fragment"),
        cell("says", "It is 45.", "fragment", make=new_markdown_cell),
        cell("asks-why", "Why: 40 + 5.", "skip", ["why"], new_markdown_cell),
        text("asks-notes", "3 min.", "notes"),
        text("exercise", "## Exercise"),
        cell("answer", STUB, "fragment", ["exercise"]),
        cell("check", "check.masked_softmax(mine)", "fragment", ["shows-check"], checks="masked_softmax"),
        text("exercise-notes", "3 min.", "notes"),
        cell(
            "solution",
            f"{RIGHT.replace('mine', 'a_solution')}\ncheck.masked_softmax(a_solution)",
            "skip",
            ["solution"],
        ),
    ]
    return new_lesson(cells, language, title="A lesson", summary="What a lesson is")


@pytest.fixture(scope="module")
def course(serve, tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    for language in ("en", "zh"):
        (folder / "notebooks" / language).mkdir(parents=True)
        nbformat.write(lesson(language), folder / "notebooks" / language / "07_lesson.ipynb")
    return serve(folder)


@pytest.fixture
def seat(page, course):
    """A fresh copy, as on the first day, without the kernel of an earlier test."""
    sessions, headers = f"{course.url}/api/sessions", {"Authorization": f"token {course.token}"}
    for session in page.request.get(sessions, headers=headers).json():
        page.request.delete(f"{sessions}/{session['id']}", headers=headers)
    shutil.rmtree(course.folder / "work", ignore_errors=True)
    for language in ("en", "zh"):
        make_working_copy(course.folder, language)
    return Seat(page, course)


def explanation(cell: Locator) -> Locator:
    return cell.locator(".mha-explains")


@pytest.mark.ci
def test_a_missing_name_names_what_brings_it_and_a_check_whether_its_answer_failed_or_was_changed(seat):
    seat.open()
    checked = seat.run("check")
    expect(explanation(checked)).to_contain_text(WORDS["setup_missing"])
    seat.set_up_button.click()
    explanation(checked).get_by_text(WORDS["run_setup"]).click()  # counts, although the setup runs already
    expect(explanation(checked)).to_contain_text(WORDS["cell_missing"])  # of `mine`, the answer
    explanation(checked).get_by_text(WORDS["run_cell"]).click()
    output = checked.locator(".jp-OutputArea-output")
    expect(output).to_contain_text("○ masked_softmax")
    expect(explanation(checked)).to_have_count(0)

    seat.write("answer", "nobody_defines_this")
    seat.run("answer")
    expect(seat.output("answer")).to_contain_text("NameError")
    expect(explanation(seat.cell("answer"))).to_have_count(0)
    seat.restart()
    seat.set_up()
    seat.write("answer", STUB.replace(":", ""))
    seat.run("answer")
    expect(seat.output("answer")).to_contain_text("SyntaxError")  # which drops what waits
    seat.run("check")
    expect(explanation(checked)).to_have_text(WORDS["answer_failed"])

    seat.write("answer", STUB)
    seat.run("answer")
    seat.run("check")
    expect(output).to_contain_text("○ masked_softmax")
    expect(explanation(checked)).to_have_count(0)
    seat.write("answer", RIGHT)
    seat.run("check")
    expect(explanation(checked)).to_contain_text(WORDS["answer_changed"])
    expect(output).to_contain_text("○ masked_softmax")  # the earlier answer
    explanation(checked).get_by_text(WORDS["run_cell"]).click()
    expect(output).to_contain_text("✓ masked_softmax")
    expect(explanation(checked)).to_have_count(0)


@pytest.mark.ci
def test_the_button_runs_the_setup_also_a_cell_that_was_deleted_and_says_what_failed(seat):
    seat.open()
    helpers = seat.cell("helpers")
    seat.write("helpers", f"{WAITS}\nhelper = 1 / 0")
    failed = seat.notice("ZeroDivisionError: division by zero")
    seat.set_up_button.click()
    seat.cell("add").locator(".cm-content").click()
    seat.go_on.touch()
    expect(failed).to_have_count(1)
    seat.expect_active("add")  # whoever writes in another cell goes on there
    seat.write("imports", "import no_such_course")
    seat.set_up_button.click()
    expect(seat.notice(WORDS["own_import"])).to_be_visible()
    expect(seat.notice(WORDS["wrong_kernel"])).to_have_count(0)
    seat.write("imports", IMPORTS.format("en"))
    seat.write("add", "import sys; sys.modules['mha_lib.classroom'] = None")  # there is no course
    seat.run("add")
    seat.set_up_button.click()
    expect(seat.notice(WORDS["wrong_kernel"])).to_be_visible()
    seat.restart()
    seat.write("add", "helper + 2")
    helpers.locator(".jp-InputPrompt").click()
    for _ in range(2):
        seat.page.keyboard.press("d")
    expect(seat.page.get_by_text("helper = 1 / 0")).to_have_count(0)
    seat.set_up()
    expect(failed).to_have_count(0)
    expect(helpers.locator(".cm-content")).to_have_text("helper = 40")
    expect(seat.run("add").locator(".jp-OutputArea-output")).to_have_text("42")
    seat.restart()
    expect(seat.set_up_button).to_be_visible()


@pytest.mark.ci
def test_the_line_above_the_lesson_tells_where_the_student_is_and_survives_restarts(seat):
    def expect_progress(done, minutes, solved):
        expect(seat.progress).to_contain_text(WORDS["steps"].format(done=done, steps=5))
        expect(seat.progress).to_contain_text(WORDS["exercises"].format(solved=solved, exercises=1))
        if minutes:
            expect(seat.progress).to_contain_text(WORDS["minutes"].format(minutes=minutes))

    seat.open().set_up()
    expect(seat.progress).to_contain_text(WORDS["how_to_go_on"])
    solution = seat.run("solution").locator(".jp-OutputArea-output")
    expect(solution).to_contain_text("masked_softmax")  # which the course has solved, not the student
    seat.cell("add").locator(".cm-content").click()
    seat.page.keyboard.press("Shift+Enter")  # the check below it runs along
    expect_progress(3, 6, 0)
    go_on = seat.progress.get_by_text(WORDS["go_on"])
    go_on.click()
    seat.expect_active("asks")
    seat.write("answer", RIGHT)
    seat.run("answer")
    seat.run("check")
    expect_progress(4, 3, 1)
    for name in ("solution", "asks"):  # the last cell, and then what is left
        go_on.click()
        seat.expect_active(name)
    seat.guess("asks").fill("45")
    seat.guess("asks").press("Enter")
    expect_progress(5, 0, 1)
    seat.save()
    seat.open()
    expect_progress(5, 0, 1)

    # what is solved stays solved, in a fresh copy too
    seat.write("answer", STUB)
    seat.run("answer")
    expect(seat.run("check").locator(".jp-OutputArea-output")).to_contain_text("○ masked_softmax")
    expect_progress(5, 0, 1)
    seat.save()
    notebook = nbformat.read(seat.file, 4)
    for each in notebook.cells:
        if each.cell_type == "code":
            each.outputs, each.execution_count = [], None
    nbformat.write(notebook, seat.file)
    seat.open().set_up()
    seat.cell("add").locator(".cm-content").click()
    seat.page.keyboard.press("Shift+Enter")
    expect_progress(3, 6, 1)


@pytest.mark.ci
def test_a_cell_comes_back_as_the_lesson_has_it_and_the_students_own_by_undo(seat):
    seat.open()
    editor = seat.cell("add").locator(".cm-content")
    seat.write("add", "broken(")
    seat.choose("add", "give_back")
    expect(editor).to_have_text("helper + 2")
    editor.click()
    seat.page.keyboard.press("Control+z")
    expect(editor).to_have_text("broken(")

    # an answer is asked about first
    dialog, answer = seat.page.locator(".jp-Dialog"), seat.cell("answer").locator(".cm-content")
    seat.write("answer", "def mine(scores, mask): return 1")
    seat.choose("answer", "give_back")
    dialog.get_by_text(WORDS["keep"]).click()
    expect(answer).to_have_text("def mine(scores, mask): return 1")
    seat.choose("answer", "give_back")
    dialog.get_by_text(WORDS["take"]).click()
    expect(answer).to_contain_text("# your answer")

    # a cell that became text by a key is code again
    seat.choose_in_menu("show_optional")
    seat.cell("more").locator(".jp-InputPrompt").click()
    seat.page.keyboard.press("m")
    expect(seat.cell("more")).to_have_class(re.compile("jp-MarkdownCell"))
    seat.choose("more", "give_back")
    expect(seat.cell("more")).to_have_class(re.compile("jp-CodeCell"))
    seat.choose("more", "give_back")
    expect(seat.page.get_by_text(WORDS["not_changed"]).first).to_be_visible()

    # the whole lesson begins afresh, and the former one stays beside it
    seat.write("add", "mine = 1")
    seat.guess("asks").fill("my guess")
    seat.choose_in_menu("fresh")
    seat.page.get_by_role("dialog").get_by_text(WORDS["fresh_begin"]).click()
    expect(editor).to_have_text("helper + 2")
    expect(seat.guess("asks")).to_have_value("")
    expect(seat.notice("07_lesson-Copy1.ipynb")).to_be_visible()
    former = str(nbformat.read(seat.file.with_name("07_lesson-Copy1.ipynb"), 4))
    assert "mine = 1" in former
    assert "my guess" in former


@pytest.mark.ci
def test_a_copy_that_was_renamed_and_moved_is_still_a_copy_and_any_other_lesson_has_no_original(seat, course):
    copy = Seat(seat.page, course, "homework/mine of 07.ipynb")
    copy.file.parent.mkdir()
    shutil.move(course.folder / "work/zh/07_lesson.ipynb", copy.file)
    copy.words = words_in("zh")["seat"]
    copy.open().set_up()
    expect(copy.progress).to_contain_text(copy.words["steps"].format(done=0, steps=5))
    copy.write("add", "broken(")
    copy.choose("add", "give_back")
    expect(copy.cell("add").locator(".cm-content")).to_have_text("helper + 2")
    copy.run("answer")
    verdict = copy.run("check").locator(".jp-OutputArea-output")
    expect(verdict).to_have_text(
        "○ 掩蔽 softmax（masked_softmax）：" + words_in("zh")["checks"]["returns_nothing"]
    )

    outside = Seat(seat.page, course, "outside.ipynb")  # no copy that the course has made
    nbformat.write(lesson(), outside.file)
    outside.open()
    outside.choose("add", "give_back")
    expect(seat.page.get_by_text(WORDS["no_original"]).first).to_be_visible()


def test_helpers_and_optional_parts_are_folded_until_a_command_a_click_or_a_search_opens_them(seat):
    hidden = seat.page.get_by_text("cell hidden")
    before = seat.file.read_bytes()
    folded, named = (seat.cell("folded").locator(part) for part in (".cm-content", ".jp-Placeholder"))
    seat.open()
    until(seat.page, "() => !document.querySelector('.lm-TabBar-tab.jp-mod-dirty')")
    assert seat.file.read_bytes() == before, "opening changes nothing"
    expect(named).to_contain_text("# Helper: a number")
    expect(folded).to_be_hidden()
    named.get_by_text("# Helper").click()
    expect(folded).to_contain_text("folded = 1")
    expect(seat.cell("second")).to_be_visible()
    expect(hidden).to_have_count(2)
    expect(seat.cell("more")).to_be_hidden()
    seat.choose_in_menu("show_optional")
    expect(hidden).to_have_count(0)
    expect(seat.cell("more")).to_be_visible()
    expect(seat.cell("still-more")).to_be_visible()

    seat.open()  # nothing was saved
    hidden.first.click()
    expect(seat.cell("more")).to_be_visible()
    expect(hidden).to_have_count(1)
    seat.cell("more").locator(".jp-InputPrompt").click()
    seat.page.keyboard.press("Control+f")
    seat.page.keyboard.type("helper + 4")
    expect(seat.page.locator(".jp-DocumentSearch-index-counter")).to_have_text("1/1")
    seat.page.keyboard.press("Enter")
    expect(seat.cell("still-more")).to_be_visible()


@pytest.mark.ci
def test_a_lesson_that_cannot_be_saved_or_is_open_twice_says_what_to_do(seat):
    seat.open()
    expect(seat.notice(WORDS["open_twice"])).to_have_count(0)

    def refuse(route: Route) -> None:
        route.fulfill(status=500, json={"message": "disk full"}) if saves(
            route.request
        ) else route.continue_()

    seat.page.route("**/api/contents/**", refuse)
    seat.write("add", "my_answer = 1")
    seat.page.keyboard.press("Control+s")
    seat.page.get_by_role("dialog").get_by_text("Close").click()
    expect(seat.notice(WORDS["not_saved"])).to_be_visible()
    seat.page.unroute("**/api/contents/**")
    seat.page.keyboard.press("Control+s")
    expect(seat.notice(WORDS["not_saved"])).to_have_count(0)
    saved_when(seat.file, lambda notebook: "my_answer = 1" in str(notebook), "the answer")
    second = Seat(seat.page.context.new_page(), seat.course)
    second.page.goto(seat.address + "&reset")
    for each in (second, seat):
        each.page.bring_to_front()
        expect(each.notice(WORDS["open_twice"])).to_be_visible()


def test_a_save_waits_for_the_one_before_it_and_nobody_is_asked_which_of_them_to_lose(seat):
    seat.open()
    slow_down(seat.page, latency=1000)  # so that the second save is asked for while the first is on its way
    seat.write("add", "my_answer = 1")
    with seat.page.expect_request(saves):
        seat.page.keyboard.press("Control+s")
    seat.write("add", "my_answer = 2")
    seat.page.get_by_role("menuitem", name="File", exact=True).click()
    seat.page.get_by_text("Save All", exact=True).click()  # saves as JupyterLab does every two minutes
    saved_when(seat.file, lambda notebook: "my_answer = 2" in str(notebook), "the second answer")
    expect(seat.page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.ci
@pytest.mark.parametrize("state", ["busy", "idle"])
def test_a_page_that_was_closed_in_a_training_finds_it_running_and_says_when_it_is_done(seat, state):
    """Also where the server says idle: the kernel answers nothing."""

    def say(route):
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace('"busy"', f'"{state}"'))

    seat.open()
    seat.write("add", WAITS)
    expect(seat.run("add").locator(".jp-InputArea-prompt")).to_have_text("[*]:")
    seat.save()
    seat.page.route("**/api/sessions?*", say)
    seat.page.goto(seat.address + "&reset")
    expect(seat.notice(WORDS["busy"])).to_be_visible()
    seat.go_on.touch()
    expect(seat.notice(WORDS["no_longer_busy"])).to_be_visible()


def test_shift_enter_walks_the_core_path_and_sets_up_by_itself(seat):
    seat.open()
    seat.cell("title").click()
    for name in ("first", "add", "before", "asks"):  # past helpers, checks and folded optional parts
        seat.page.keyboard.press("Shift+Enter")
        seat.expect_active(name)
    expect(seat.output("add")).to_have_text("42")  # the setup has run
    seat.choose_in_menu("show_optional")
    expect(seat.output("add-check")).to_contain_text("✓ ticked")  # folded, and below its cell
    expect(seat.output("more")).to_have_count(0)
    seat.page.keyboard.press("Escape")
    seat.cell("asks").click()
    seat.page.keyboard.press("Shift+Enter")
    expect(seat.guess("asks")).to_be_focused()
    seat.page.keyboard.press("Escape")
    seat.restart()
    seat.page.keyboard.press("Shift+Enter")
    for _ in range(2):
        seat.page.keyboard.press("Enter")  # without a guess: the result all the same, if it is pressed again
    expect(seat.output("result")).to_have_text("45")
    seat.expect_active("says")
    expect(seat.page.get_by_text(WORDS["is_set_up"])).to_be_visible()


@pytest.mark.ci
def test_who_walks_on_while_cells_wait_loses_no_step_and_no_letter(seat):
    seat.open()
    seat.write("helpers", f"{WAITS}\nhelper = 40")
    seat.cell("add").locator(".cm-content").click()
    seat.page.keyboard.press("Shift+Enter")  # it waits for the setup
    seat.write("answer", "mine = 4")
    seat.go_on.touch()
    expect(seat.output("add")).to_have_text("42")
    seat.page.keyboard.type("5")
    expect(seat.cell("answer").locator(".cm-content")).to_have_text("mine = 45")

    seat.go_on.unlink()
    seat.write("add", f"{WAITS}\n1 / 0")
    for _ in range(3):
        seat.page.keyboard.press("Shift+Enter")  # to the place for a guess
    seat.guess("asks").fill("45")
    seat.guess("asks").press("Enter")
    expect(seat.cell("result").locator(".jp-InputPrompt")).to_have_text("[*]:")
    seat.go_on.touch()
    expect(seat.output("add")).to_contain_text("ZeroDivisionError")
    expect(seat.output("result")).to_have_text("45")  # the kernel has dropped what waited behind the error


@pytest.mark.ci
def test_a_step_that_comes_after_the_setup_runs_behind_one_that_has_waited_for_it(seat):
    """The kernel's answer, which cells have run, is slow for the step that came first."""
    held, holds = [], threading.Event()

    def hold(route):
        def answer(message):
            if holds.is_set() and b"history_reply" in message:
                held.append((route, message))
            else:
                route.send(message)

        route.connect_to_server().on_message(answer)

    seat.page.route_web_socket(re.compile("/channels"), hold)
    seat.open()
    seat.write("helpers", f"{WAITS}\nhelper = 40")
    seat.cell("add").locator(".cm-content").click()
    seat.page.keyboard.press("Shift+Enter")
    expect(seat.cell("helpers").locator(".jp-InputPrompt")).to_have_text("[*]:")
    holds.set()
    seat.write("answer", "mine = helper")
    seat.page.keyboard.press("Shift+Enter")
    seat.go_on.touch()
    expect(seat.page.get_by_text(WORDS["is_set_up"])).to_be_visible()
    seat.write("add", "mine + 1")
    seat.page.keyboard.press("Shift+Enter")
    expect(seat.run("check").locator(".jp-OutputArea-output")).to_contain_text("NameError")  # no step has run
    while held:
        route, message = held.pop(0)
        route.send(message)
    expect(seat.output("add")).to_have_text("41")


@pytest.mark.ci
def test_a_guess_is_kept_in_the_copy_and_its_result_waits_unless_it_is_an_error(seat, course):
    seat.open()
    expect(seat.run("result").locator(".jp-OutputArea-output")).to_contain_text("NameError")
    seat.run_all()
    expect(seat.cell("still-more")).to_be_hidden()  # it has run with all others
    for waits in (seat.output("result"), seat.cell("says").locator("p"), seat.cell("asks-why").locator("p")):
        expect(waits).to_be_hidden()
    expect(seat.cell("result").locator(".cm-content")).to_be_visible()  # the code can be read
    seat.guess("asks").press_sequentially("aa dd 44")  # JupyterLab's own keys in these letters do nothing
    seat.page.keyboard.press("Escape")
    seat.choose_in_menu("show_optional")
    expect(seat.output("still-more")).to_have_text("44")
    seat.save()
    seat.restart()

    moved = Seat(seat.page, course, "renamed.ipynb")
    shutil.move(seat.file, moved.file)
    moved.open()
    expect(moved.cell("still-more")).to_be_visible()  # it stays open
    expect(moved.guess("asks")).to_have_value("aa dd 44")
    expect(moved.output("result")).to_be_hidden()
    show = moved.cell("asks").get_by_role("button", name=WORDS["show_result"])
    show.click()
    expect(moved.output("result")).to_have_text("45")
    expect(moved.cell("says").locator("p")).to_be_visible()
    expect(show).to_be_hidden()
    moved.save()
    moved.open()
    expect(moved.output("result")).to_have_text("45")
    assert "aa dd 44" not in (seat.file.parent / "progress.jsonl").read_text(encoding="utf-8")
