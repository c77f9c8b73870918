import json

import pytest

from mha_lib.classroom.lessons import CourseError, find_lesson, find_root, list_lessons, make_working_copy


def write_lesson(file, *sources, outputs=()):
    cells = [
        {
            "cell_type": "code",
            "source": source,
            "outputs": list(outputs),
            "execution_count": None,
            "metadata": {},
        }
        for source in sources
    ]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


def sources(file):
    return ["".join(cell["source"]) for cell in json.loads(file.read_text())["cells"]]


@pytest.fixture
def root(tmp_path):
    write_lesson(tmp_path / "notebooks/en/01_one.ipynb", "1")
    write_lesson(tmp_path / "notebooks/en/03_three.ipynb", "3")
    (tmp_path / "notebooks/en/course.css").write_text("a {}")
    return tmp_path


def test_first_use_copies_every_file(root):
    work, messages = make_working_copy(root, "en")
    assert messages == []
    assert sorted(file.name for file in work.glob("[!.]*")) == [
        "01_one.ipynb",
        "03_three.ipynb",
        "course.css",
    ]


def test_new_edition_replaces_a_lesson_that_was_only_run(root):
    work, _ = make_working_copy(root, "en")
    write_lesson(
        work / "01_one.ipynb", "1", outputs=[{"output_type": "stream", "name": "stdout", "text": "1"}]
    )
    write_lesson(root / "notebooks/en/01_one.ipynb", "1 + 1")
    assert make_working_copy(root, "en")[1] == []
    assert sources(work / "01_one.ipynb") == ["1 + 1"]


def test_outputs_stay_while_there_is_no_new_edition(root):
    work, _ = make_working_copy(root, "en")
    write_lesson(
        work / "01_one.ipynb", "1", outputs=[{"output_type": "stream", "name": "stdout", "text": "1"}]
    )
    run = (work / "01_one.ipynb").read_bytes()
    make_working_copy(root, "en")
    assert (work / "01_one.ipynb").read_bytes() == run


def test_changed_lesson_stays_and_the_new_edition_is_laid_beside_once(root):
    work, _ = make_working_copy(root, "en")
    write_lesson(work / "03_three.ipynb", "my answer")
    write_lesson(root / "notebooks/en/03_three.ipynb", "3, second edition")
    _, messages = make_working_copy(root, "en")
    assert len(messages) == 1
    assert "03_three.new.ipynb" in messages[0]
    assert sources(work / "03_three.ipynb") == ["my answer"]
    assert sources(work / "03_three.new.ipynb") == ["3, second edition"]
    assert make_working_copy(root, "en")[1] == []


def test_third_edition_overwrites_neither_the_lesson_nor_the_one_beside_it(root):
    work, _ = make_working_copy(root, "en")
    write_lesson(work / "03_three.ipynb", "my answer")
    for edition in ("second", "third"):
        write_lesson(root / "notebooks/en/03_three.ipynb", edition)
        make_working_copy(root, "en")
    assert sources(work / "03_three.ipynb") == ["my answer"]
    assert sources(work / "03_three.new.ipynb") == ["second"]
    assert sources(work / "03_three.new2.ipynb") == ["third"]


@pytest.mark.parametrize("damage", ["", "not json", "[]"])
def test_lost_record_of_editions_overwrites_nothing(root, damage):
    work, _ = make_working_copy(root, "en")
    write_lesson(work / "03_three.ipynb", "my answer")
    (work / ".editions.json").write_text(damage)
    make_working_copy(root, "en")
    assert sources(work / "03_three.ipynb") == ["my answer"]


def test_half_written_notebook_of_a_student_is_kept(root):
    work, _ = make_working_copy(root, "en")
    (work / "03_three.ipynb").write_text('{"cells": [')
    write_lesson(root / "notebooks/en/03_three.ipynb", "second edition")
    make_working_copy(root, "en")
    assert (work / "03_three.ipynb").read_text() == '{"cells": ['


def test_deleted_lesson_comes_back(root):
    work, _ = make_working_copy(root, "en")
    (work / "01_one.ipynb").unlink()
    make_working_copy(root, "en")
    assert sources(work / "01_one.ipynb") == ["1"]


@pytest.mark.parametrize("name", ["3", "03", "03_three", "03_three.ipynb", "notebooks/en/03_three.ipynb"])
def test_lesson_is_found_by_number_name_and_path(root, name, monkeypatch):
    monkeypatch.chdir(root)
    assert find_lesson(name, list_lessons(root, "en")).name == "03_three.ipynb"


@pytest.mark.parametrize("name", ["7", "three", "elsewhere/09_nine.ipynb", ""])
def test_unknown_lesson_lists_the_known_ones(root, name):
    with pytest.raises(CourseError, match="01_one, 03_three"):
        find_lesson(name, list_lessons(root, "en"))


def test_unknown_language_lists_the_known_ones(root):
    with pytest.raises(CourseError, match="'xx'; there are: en"):
        make_working_copy(root, "xx")


def test_root_is_found_from_a_folder_inside(root):
    (root / "work/en").mkdir(parents=True)
    assert find_root(root / "work/en") == root
