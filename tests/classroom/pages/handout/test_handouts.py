"""Handouts of all lessons: read, run afresh, written and listed; a failure is one line."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_notebook

from mha_lib.classroom.lesson.files import write_whole
from mha_lib.classroom.pages import execution
from mha_lib.classroom.pages.handout import write_handouts
from mha_lib.classroom.pages.handout.index import write_index
from tests.classroom.pages.handout.cells import code, text
from tests.offline_notebook.pages import read
from tests.waiting import eventually


class Course:
    """A folder of lessons, and one for their handouts."""

    def __init__(self, folder):
        self.root = folder
        self.notebooks = folder / "notebooks"
        self.handouts = folder / "build" / "handouts"

    def lesson(self, name, *cells, language="en", **metadata):
        notebook = new_notebook(cells=list(cells), metadata=metadata)
        return self.broken_lesson(name, nbformat.writes(notebook), language)

    def broken_lesson(self, name, content, language="en"):
        path = self.notebooks / language / name
        write_whole(path, content)
        return path

    def page(self, lesson, content="a page"):
        """As if the lesson's handout had been written before."""
        path = self.handouts / lesson.parent.name / f"{lesson.stem}.html"
        write_whole(path, content)
        return path

    def index(self, audience="student"):
        return write_index(self.root, self.handouts, audience).read_text(encoding="utf-8")


@pytest.fixture
def course(tmp_path):
    return Course(tmp_path)


def test_lessons_are_read_run_afresh_and_listed(course, capsys):
    good = course.lesson(
        "01_good.ipynb",
        text("# Good & one"),
        code("print(6 * 7)"),
        code("answer = 'sec' + 'ret'\nprint(answer)", tags=["solution"]),
        code("print(globals().get('answer'))"),
    )
    before = good.read_bytes()
    assert write_handouts(course.root, [good]) == 0
    page = (course.handouts / "en" / "01_good.html").read_text()
    assert "42</pre>" in page
    assert "secret" not in page, "a solution may not even run"
    assert good.read_bytes() == before
    ran = nbformat.read(course.root / "build" / "executed" / "en" / "01_good.ipynb", as_version=4)
    assert [cell.outputs[0].text for cell in ran.cells[1:]] == ["42\n", "None\n"]
    index = (course.handouts / "index.html").read_text()
    assert 'href="en/01_good.html">Good &amp; one</a>' in index
    assert str(course.handouts / "en" / "01_good.html") in capsys.readouterr().out

    assert write_handouts(course.root, [good], "instructor") == 0
    instructors = course.handouts.with_name("handouts-instructor")
    assert "secret</pre>" in (instructors / "en" / "01_good.html").read_text()
    assert (course.handouts / "en" / "01_good.html").read_text() == page, "the students' file stays theirs"


def test_a_kernel_imports_no_file_beside_a_lesson_when_it_starts(course):
    lesson = course.lesson("01_one.ipynb", code("print(6 * 7)"))
    lesson.with_name("ipykernel_launcher.py").write_text("open('has-run', 'w')\nimport ipykernel.kernelapp")
    assert write_handouts(course.root, [lesson]) == 0
    assert not lesson.with_name("has-run").exists()
    assert "42</pre>" in (course.handouts / "en" / "01_one.html").read_text()


def test_whatever_stops_a_lesson_is_one_line_and_the_others_and_the_index_are_written(
    course, capfd, monkeypatch
):
    replace = os.replace

    def replace_on_a_disk_that_is_full_for_one(beside, path):
        if "05_full" in path.name:
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(beside, path)

    kernel = {"name": "julia-0.1", "display_name": "Julia", "language": "julia"}
    lessons = [
        course.lesson("01_kernel.ipynb", code("1"), kernelspec=kernel),
        course.lesson("02_dead.ipynb", code("import os; os._exit(1)")),
        course.lesson("05_full.ipynb", text("# Full")),
        course.lesson("08_failing.ipynb", code("fine = 1"), code("1 / 0", id="fails")),
        course.broken_lesson("09_broken.ipynb", "no json"),
        course.lesson("12_good.ipynb", text("# Good"), kernelspec=kernel),  # which words don't need
    ]
    old = course.page(lessons[3], "old")
    monkeypatch.setattr(os, "replace", replace_on_a_disk_that_is_full_for_one)
    assert write_handouts(course.root, lessons) == 1
    said = capfd.readouterr()
    wanted = [
        "01_kernel.ipynb: its kernel julia-0.1 is not installed; there are: python3",
        "02_dead.ipynb: the kernel died",
        f"{course.handouts / 'en' / '05_full.html'}: No space left on device",
        "08_failing.ipynb, cell fails: ZeroDivisionError: division by zero",
        "09_broken.ipynb is not a notebook",
    ]
    for line, part in zip(said.err.splitlines(), wanted, strict=True):
        assert part in line
    assert "12_good.html" in said.out
    assert "Good</a>" in (course.handouts / "index.html").read_text()
    assert old.read_text() == "old"
    names = {path.name for path in old.parent.iterdir()}
    assert names == {"08_failing.html", "12_good.html"}
    assert not list(course.handouts.rglob("*.part"))


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent in another way")
def test_ctrl_c_ends_in_one_line_and_leaves_the_old_files_whole(course):
    endless = "open('begun-{}', 'w').close()\nwhile True: pass"
    lessons = [course.lesson(f"0{i}_endless.ipynb", code(endless.format(i))) for i in (1, 2)]
    old = [course.page(lesson, "old") for lesson in lessons]
    run = subprocess.Popen(
        [sys.executable, "-m", "mha_lib.classroom", "handouts"],
        cwd=course.notebooks,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[4])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # where the tests' own is ignored
    )
    begun = [lesson.with_name(f"begun-{i}") for i, lesson in enumerate(lessons, 1)]
    wanted = begun[: execution.CORES]
    eventually(
        lambda: run.poll() is not None or all(mark.exists() for mark in wanted), "lessons that have begun"
    )
    run.send_signal(signal.SIGINT)
    out, error = run.communicate()
    assert error == "stopped by Ctrl-C; what was whole before is whole now\n"
    assert run.returncode == 130
    assert out.splitlines() == [f"{course.handouts / 'index.html'}"]
    assert [page.read_text() for page in old] == ["old", "old"]
    assert not list(course.handouts.rglob("*.part"))


def test_what_the_exporter_warns_of_is_said(course, capsys):
    lesson = course.lesson("01_long.ipynb", text("# Long\n\n![lost](nowhere.png)"))
    assert write_handouts(course.root, [lesson]) == 0
    warning = "01_long: picture left out, it is not beside the notebook: nowhere.png\n"
    assert capsys.readouterr().err == warning


# ---- the index ----


def test_the_index_takes_title_number_and_summary_from_the_notebooks(course):
    course.page(course.lesson("03_three.ipynb", text("# One $x^2$ & `more`")))
    course.page(course.lesson("04_four.ipynb", text("# A"), summary="How `many` heads for $x$ < *two*?"))
    course.page(course.lesson("plain.ipynb", code("1 + 1")))
    index = course.index()
    for part in (
        '<span class="number" aria-hidden="true">3</span>',
        '<a class="title" href="en/03_three.html">One x^2 &amp; more</a>',
        "<p>How many heads for x &lt; two?</p>",
        '<a class="title" href="en/plain.html">plain</a>',
    ):
        assert part in index


def test_the_index_lists_what_is_written_and_no_lesson_that_is_gone_and_one_that_broke_by_its_name(course):
    course.lesson("01_one.ipynb", text("# One"))
    assert "No lesson has been written yet." in course.index()
    gone = course.lesson("02_two.ipynb", text("# Two"))
    course.page(gone)
    gone.unlink()
    course.page(course.broken_lesson("03_broken.ipynb", "no json"))
    listed = read(course.index()).select("a.title")
    assert [(link["href"], link.get_text()) for link in listed] == [("en/03_broken.html", "03_broken")]


def test_the_students_index_says_nothing_from_notes_and_solutions(course):
    cells = [text("# Secret of the notes", slide="notes"), text("# Open\n\nWords.")]
    course.page(course.lesson("01_one.ipynb", *cells))
    assert "Secret" not in course.index()
    assert "Secret of the notes" in course.index(audience="instructor")
