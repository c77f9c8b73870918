import codecs
import importlib.metadata
import io
import json
import re
import shutil
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from mha_lib.classroom import __main__ as command_line
from tests.printed import last_line


@pytest.fixture
def served(monkeypatch, tmp_path):
    """The addresses that would be served, with no server; the working copy is a temporary one."""
    (tmp_path / "notebooks").symlink_to(command_line.course.find_root() / "notebooks")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))  # which keeps what is trusted
    addresses = []

    def serve(root, view, lesson, *_):
        addresses.append(f"/{view}/{lesson.relative_to(root).as_posix()}")
        return 0

    monkeypatch.setattr(command_line, "serve", serve)
    return addresses


@pytest.mark.parametrize(
    ("arguments", "address", "is_copied"),
    [
        (["lab"], "/lab/tree/work/en/", True),
        (["lab", "--edit"], "/lab/tree/notebooks/en/", False),
        (["present"], "/rise/work/deck-en/03_multi_head_attention.ipynb", True),
    ],
)
def test_a_command_opens_copies_of_the_lessons_or_where_asked_the_lessons_themselves(
    served, tmp_path, arguments, address, is_copied
):
    assert command_line.main(arguments) == 0
    assert served[0].startswith(address)
    assert (tmp_path / "work").exists() == is_copied


def test_the_language_that_was_asked_for_last_is_opened_again(served, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("LC_ALL", "zh_TW.UTF-8")
    for arguments, language in (
        (["lab"], "zh-Hant"),  # that of the machine
        (["--language", "zh", "lab"], "zh"),
        (["present", "03"], "zh"),
        (["--language", "en", "present"], "en"),
        (["lab"], "en"),
        (["present", "--language=zh", "03"], "zh"),
    ):
        assert command_line.main(arguments) == 0
        assert re.search(rf"/work/(deck-)?{language}/", served[-1]), arguments
    (tmp_path / "work" / ".language").write_text("tlh")
    command_line.main(["lab"])
    assert "/work/zh-Hant/" in served[-1], "a language that the course no longer has"
    assert command_line.main(["present", "99", "--language", "zh"]) == 2
    assert "没有 '99' 这一课" in capsys.readouterr().err


def test_any_notebook_is_presented_as_it_lies_there_and_its_handout_is_written_beside_it(
    served, tmp_path, capsys
):
    file = tmp_path / "mine" / "50% #1.ipynb"
    file.parent.mkdir()
    ran = new_code_cell("1 / 0  # it does not run again", outputs=[new_output("stream", text="stored")])
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Mine"), ran]), file)
    file.write_bytes(codecs.BOM_UTF8 + file.read_bytes())
    before = file.read_bytes()
    assert command_line.main(["present", "mine/50% #1.ipynb"]) == 0
    assert served == ["/rise/50% #1.ipynb"]
    assert command_line.main(["handouts", "mine/50% #1.ipynb"]) == 0
    page = file.with_suffix(".html")
    assert capsys.readouterr().out.startswith(str(page))
    assert "stored" in page.read_text(encoding="utf-8")
    assert file.read_bytes() == before
    assert not {"work", "build"} & {made.name for made in tmp_path.iterdir()}
    (tmp_path / "broken.ipynb").write_text("[]")
    assert command_line.main(["handouts", "mine/50% #1.ipynb", "broken.ipynb"]) == 1
    assert "broken.ipynb" in last_line(capsys)
    (tmp_path / "broken.ipynb").write_bytes("# 权重".encode("gbk"))
    assert command_line.main(["present", "broken.ipynb"]) == 2
    assert "save it anew from Jupyter, which writes JSON in UTF-8" in last_line(capsys)
    assert len(served) == 1


def test_a_running_order_is_written_for_the_lessons_that_are_named(served, tmp_path, capsys):
    assert command_line.main(["notes", "03", "--output", "elsewhere"]) == 0
    files = [file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*.html")]
    assert files == ["elsewhere/en/03_multi_head_attention.html"]
    assert not (tmp_path / "build").exists()


class Terminal(io.StringIO):
    def isatty(self):
        return True


CHANGED = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def own_part(deck):
    """A deck without what it carries of the course, which each `present` renews."""
    notebook = json.loads(deck.read_text())
    assert "--course" in notebook["metadata"].pop("mha_page")["style"]
    return notebook


def test_present_asks_what_becomes_of_an_instructors_changes(served, tmp_path, monkeypatch):
    command_line.main(["present", "01"])
    lesson = tmp_path / "work/deck-en/01_single_head_attention.ipynb"
    edition = lesson.read_bytes()
    lesson.write_text(json.dumps(CHANGED))
    for answer in (Terminal("\n"), Terminal("what?\n"), Terminal(""), io.StringIO("a\n")):
        monkeypatch.setattr("sys.stdin", answer)
        assert command_line.main(["present", "01"]) == 0
        assert own_part(lesson) == CHANGED
    monkeypatch.setattr("sys.stdin", Terminal("a\n"))
    assert command_line.main(["present", "01"]) == 0
    assert lesson.read_bytes() == edition
    assert own_part(lesson.with_suffix(".mine.ipynb")) == CHANGED
    assert len(served) == 6


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        *((["handouts", name], f"no lesson {name!r}; there are: ") for name in ("99", "²", "../03")),
        *((["--language", language, "lab"], "there are: ") for language in ("", "../en", "zz")),
        (["notes", "--", "03", "--pdf"], "goes to Jupyter, which this does not start: 03 --pdf"),
    ],
)
def test_what_a_command_cannot_take_is_one_line_and_a_failure(served, tmp_path, capsys, arguments, reason):
    assert command_line.main(arguments) == 2
    assert reason in last_line(capsys)
    assert served == []
    assert not (tmp_path / "build").exists()


def test_missing_rise_is_one_line_and_a_failure(served, capsys, monkeypatch):
    def version(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert command_line.main(["present"]) == 2
    assert "not installed" in last_line(capsys)


def test_served_lab_greets_the_class_without_news(monkeypatch, tmp_path):
    from jupyter_server.services.config.manager import ConfigManager
    from jupyterlab.labapp import LabApp

    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")
    monkeypatch.setattr(LabApp, "launch_instance", lambda arguments: None)
    options = Namespace(port=None, no_browser=True, language="en", extra=[])
    command_line.serve(tmp_path, "lab", tmp_path, [], options)
    settings = ConfigManager(config_dir_name="labconfig").get("default_setting_overrides")
    assert settings["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
    assert settings["jupyterlab-rise:plugin"]["auto_select"] == "none"


COMMANDS = ["lab", "present", "handouts", "notes", "slides"]
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("command", "folder"), [("lab", "work"), ("slides", "build")])
def test_a_course_that_cannot_be_written_to_is_one_line(
    served, tmp_path, capsys, monkeypatch, command, folder
):
    monkeypatch.setattr("mha_lib.classroom.pages.slides.pdf_decks.require_browser", lambda: "a browser")
    (tmp_path / folder).write_text("a file where a folder must be")
    assert command_line.main([command]) == 2
    line = last_line(capsys)
    assert f"{command}: {tmp_path / folder}" in line
    assert line.endswith(("Not a directory", "File exists"))
    assert served == []


def test_without_the_classrooms_packages_each_command_says_what_to_install():
    missing = ("jupyterlab", "nbconvert", "playwright.sync_api")
    program = f"""
import sys
sys.modules |= dict.fromkeys({missing})
from mha_lib.classroom import __main__ as command_line
command_line.check_rise = lambda: None
command_line.course.make_working_copy = command_line.course.make_deck_copy = lambda root, language, *_: (
    root / "notebooks" / language, [])
sys.exit([command_line.main([command]) for command in {COMMANDS}] != [2] * {len(COMMANDS)})
"""
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    lines = run.stderr.splitlines()
    assert run.returncode == 0, run.stderr
    assert [line.split(":")[0] for line in lines] == COMMANDS
    for line in lines:
        assert "pip install -e '.[" in line


def test_ctrl_c_is_one_line(served, monkeypatch, capsys):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line, "serve", interrupted)
    assert command_line.main(["lab"]) == 130
    assert last_line(capsys).startswith("lab: stopped by Ctrl-C")


def test_what_stands_after_two_dashes_goes_to_jupyter(monkeypatch, served):
    handed_over = []
    monkeypatch.setattr(command_line, "serve", lambda *arguments: handed_over.append(arguments[-1].extra))
    command_line.main(["lab", "--", "--ip=0.0.0.0", "--"])
    command_line.main(["present", "--"])
    assert handed_over == [["--ip=0.0.0.0", "--"], []]


def test_a_terminal_that_knows_no_such_letters_shows_them_in_another_way(tmp_path, monkeypatch):
    root = tmp_path / "中"
    shutil.copytree(command_line.course.find_root() / "notebooks", root / "notebooks")
    monkeypatch.chdir(root)
    monkeypatch.delenv("HOME", raising=False)
    terminal = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(terminal, encoding="ascii", write_through=True))
    assert command_line.main(["notes"]) == 0
    assert rb"\u4e2d" in terminal.getvalue()


def test_translations_lists_what_is_out_of_step_and_mends_what_it_can(monkeypatch, tmp_path, capsys):
    def write(language, *cells):
        folder = tmp_path / "notebooks" / language
        folder.mkdir(parents=True, exist_ok=True)
        made = [{"id": name, "cell_type": "markdown", "metadata": {}, "source": text} for name, text in cells]
        whole = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        (folder / "01_heads.ipynb").write_text(json.dumps(whole))

    def listed(*arguments):
        status = command_line.main(["translations", *arguments])
        return status, capsys.readouterr().out.splitlines()

    monkeypatch.chdir(tmp_path)
    write("en", ("title", "# Heads"), ("end", "The end."))
    assert listed() == (0, ["Cells out of step: 0"])
    write("zh", ("title", "# 注意力头"))
    status, lines = listed()
    assert status == 1
    assert [line.split(": ")[1] for line in lines[:-1]] == ["title", "end"]
    assert "missing" in lines[1]
    status, lines = listed("--update", "--done", "title")
    assert (status, len(lines)) == (1, 2), "the new cell has come, in English"
    assert listed("1", "--done", "end") == (0, ["Cells out of step: 0"])
