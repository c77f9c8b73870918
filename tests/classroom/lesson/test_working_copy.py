import json

import pytest

from mha_lib.classroom.lesson import (
    CourseError,
    find_lesson,
    list_lessons,
    make_deck_copy,
    make_working_copy,
    working_copy,
)

OUTPUT = {"output_type": "stream", "name": "stdout", "text": "1"}


def write_lesson(file, *sources, outputs=()):
    ran: dict = {"outputs": list(outputs), "execution_count": None, "metadata": {}}
    cells = [
        {"cell_type": "code", "source": source, "id": f"c{number}"} | ran
        for number, source in enumerate(sources)
    ]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


def sources(file):
    return ["".join(cell["source"]) for cell in json.loads(file.read_text())["cells"]]


def texts(folder):
    """The sources of every notebook in the folder, by the name of its file."""
    return {file.stem: sources(file) for file in folder.glob("*.ipynb")}


def add_cell(lesson, source, kind="code", **metadata):
    notebook = json.loads(lesson.read_text())
    added = {"source": source, "cell_type": kind, "metadata": metadata, "id": f"c{len(notebook['cells'])}"}
    notebook["cells"].append(notebook["cells"][0] | added)
    lesson.write_text(json.dumps(notebook))


@pytest.fixture
def root(tmp_path):
    write_lesson(tmp_path / "notebooks/en/01_one.ipynb", "1")
    write_lesson(tmp_path / "notebooks/en/03_three.ipynb", "3")
    (tmp_path / "notebooks/en/course.css").write_text("a {}")
    return tmp_path


@pytest.fixture
def work(root):
    return make_working_copy(root, "en")[0]


def test_first_use_copies_every_file_but_those_for_authors_and_those_that_the_copies_carry(root):
    for name in ("glossary.json", "taiwan.json", "course.json", "numbers.csv"):
        (root / "notebooks/en" / name).write_text("{}")
    lessons = {"01_one.ipynb", "03_three.ipynb", "numbers.csv"}
    for work, messages in (make_working_copy(root, "en"), present(root)):
        assert messages == []
        assert {file.name for file in work.glob("[!.]*")} == lessons


OPENED = {"jp-MarkdownHeadingCollapsed": False, "jupyter": {"source_hidden": True}}


def test_others_on_the_machine_cannot_read_the_copies(root):
    make_working_copy(root, "en")
    assert (root / "work").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("left", [{"outputs": [OUTPUT]}, {"metadata": OPENED}], ids=["run", "opened"])
def test_a_lesson_that_was_only_run_or_opened_stays_until_a_new_edition_replaces_it(root, work, left):
    lesson = work / "01_one.ipynb"
    notebook = json.loads(lesson.read_text())
    notebook["cells"][0] |= left
    lesson.write_text(json.dumps(notebook))
    make_working_copy(root, "en")
    assert json.loads(lesson.read_text()) == notebook
    write_lesson(root / "notebooks/en/01_one.ipynb", "1 + 1")
    assert make_working_copy(root, "en")[1] == []
    assert sources(lesson) == ["1 + 1"]


def test_a_changed_lesson_stays_and_each_new_edition_is_laid_beside_it_once(root, work):
    write_lesson(work / "03_three.ipynb", "my answer")
    laid = {"03_three": ["my answer"], "01_one": ["1"]}
    for edition, beside in (("second", "03_three.new"), ("third", "03_three.new2")):
        write_lesson(root / "notebooks/en/03_three.ipynb", edition)
        (message,) = make_working_copy(root, "en")[1]
        assert f"{beside}.ipynb" in message
        laid |= {beside: [edition]}
        assert make_working_copy(root, "en")[1] == []
        assert texts(work) == laid


@pytest.mark.parametrize("damage", ["not json", "[1]"])
def test_lost_record_of_editions_overwrites_nothing(root, work, damage):
    write_lesson(work / "03_three.ipynb", "my answer")
    (work / ".editions.json").write_text(damage)
    make_working_copy(root, "en")
    assert sources(work / "03_three.ipynb") == ["my answer"]


@pytest.mark.parametrize("broken", ["", '{"cells": [{"source": "1"}]}'])
def test_a_broken_lesson_is_said_and_the_good_one_laid_beside_it_once(root, work, broken):
    (work / "03_three.ipynb").write_text(broken)
    for _ in range(3):
        (message,) = make_working_copy(root, "en")[1]
        assert "work/en/03_three.ipynb can't be read" in message
        assert "03_three.new.ipynb" in message
        assert (work / "03_three.ipynb").read_text() == broken
        assert sorted(work.glob("03_three.new*")) == [work / "03_three.new.ipynb"]
        assert sources(work / "03_three.new.ipynb")[0] == "3"
        write_lesson(work / "03_three.new.ipynb", "3", "my answer, meanwhile")
    write_lesson(root / "notebooks/en/03_three.ipynb", "3, second edition")
    assert "03_three.new2.ipynb" in make_working_copy(root, "en")[1][0]
    (work / "03_three.ipynb").unlink()
    assert make_working_copy(root, "en")[1] == []
    assert sources(work / "03_three.ipynb") == ["3, second edition"]


def test_settings_that_cannot_be_read_are_one_line(root):
    (root / "notebooks/en/course.json").write_text("[]")
    with pytest.raises(CourseError, match=r"^\S*notebooks/en/course.json\S* [^\n]+$"):
        make_working_copy(root, "en")


def test_students_get_no_notes_and_instructors_do(root):
    add_cell(root / "notebooks/en/01_one.ipynb", "2 min.", slideshow={"slide_type": "notes"})
    assert sources(make_working_copy(root, "en")[0] / "01_one.ipynb") == ["1"]
    assert sources(present(root, lesson="01_one.ipynb")[0] / "01_one.ipynb") == ["1", "2 min."]


def test_optional_parts_with_code_are_folded_for_students_but_for_the_exercises(root):
    file = root / "notebooks/en/01_one.ipynb"
    for name, kind, notes, *its_tags in (
        ("core", "slide", "1 min."),
        ("optional", "subslide", "Optional, 1 min."),
        ("# words alone", "subslide", "Optional, 1 min."),
        ("answer-here", "slide", "Optional, 1 min.", "exercise"),
        ("among-them", "subslide", "Optional, 1 min."),
        ("last", "slide", "Optional, 1 min."),
    ):
        written = "markdown" if name.startswith("#") else "code"
        add_cell(file, name, written, slideshow={"slide_type": kind}, tags=its_tags)
        add_cell(file, notes, slideshow={"slide_type": "notes"})
    copy = make_working_copy(root, "en")[0] / "01_one.ipynb"
    deck = present(root, lesson="01_one.ipynb")[0] / "01_one.ipynb"
    for lesson, folded in ((copy, ["optional", "last"]), (deck, [])):
        found = json.loads(lesson.read_text())["cells"]
        assert [
            "".join(cell["source"]) for cell in found if cell["metadata"].get(working_copy.FOLDED)
        ] == folded


def choose(root, language, solutions):
    file = root / "notebooks" / language / "course.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"solutions": solutions}))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_where_one_language_hands_out_no_solutions_no_copy_has_them_and_no_answer_is_lost(root, language):
    for name in ("en/01_one", "en/03_three", "zh/01_one"):
        write_lesson(root / f"notebooks/{name}.ipynb", "1")
        add_cell(root / f"notebooks/{name}.ipynb", "solution", tags=["solution"])
    choose(root, "en", "folded")
    work = make_working_copy(root, "en")[0]
    assert sources(work / "01_one.ipynb") == ["1", "solution"]
    mine = ["my answer", "solution"]
    write_lesson(work / "03_three.ipynb", *mine)
    choose(root, language, "none")
    work, messages = make_working_copy(root, "en")
    assert texts(work) == {"01_one": ["1"], "03_three": mine, "03_three.new": ["1"]}
    assert len(messages) == 1
    assert sources(present(root, lesson="01_one.ipynb")[0] / "01_one.ipynb") == ["1", "solution"]


def test_an_unknown_choice_of_solutions_hands_out_nothing_and_says_what_there_is(root):
    choose(root, "en", "None")
    with pytest.raises(CourseError, match=r'course\.json: "solutions" must be "folded" or "none", got'):
        make_working_copy(root, "en")
    assert not list(root.glob("work/en/*.ipynb"))


@pytest.mark.parametrize("begins", ["", "\ufeff"], ids=["plain", "with a byte order mark"])
def test_a_lesson_of_an_older_format_without_ids_is_stripped_too(root, begins):
    lesson = root / "notebooks/en/01_one.ipynb"
    write_lesson(lesson, "x = 1")
    add_cell(lesson, "Three minutes.", "markdown", slideshow={"slide_type": "notes"})
    add_cell(lesson, "y = x + 1", slideshow={"slide_type": "slide"})
    add_cell(lesson, "y = x + 2", tags=["solution"])
    old = json.loads(lesson.read_text()) | {"nbformat_minor": 4}
    for cell in old["cells"]:
        del cell["id"]
    lesson.write_text(begins + json.dumps(old), encoding="utf-8")
    (root / "notebooks/en/course.json").write_text(f'{begins}{{"solutions": "none"}}', encoding="utf-8")
    work, messages = make_working_copy(root, "en")
    assert (sources(work / lesson.name), messages) == (["x = 1", "y = x + 1"], [])
    assert "x + 2" not in (work / lesson.name).read_text()


def present(root, begins_afresh=lambda file: False, lesson="03_three.ipynb"):
    return make_deck_copy(root, "en", lesson, begins_afresh)


@pytest.fixture
def deck(root):
    """The deck of lesson 03 after it was presented once."""
    return present(root)[0] / "03_three.ipynb"


def refuse_to_ask(file):
    raise AssertionError(f"nobody has changed {file}")


def test_a_deck_has_no_outputs_of_its_author_and_is_as_fresh_as_on_the_first_day(root):
    write_lesson(root / "notebooks/en/03_three.ipynb", "3", outputs=[OUTPUT])
    deck = present(root)[0] / "03_three.ipynb"
    first_day = deck.read_bytes()
    assert json.loads(first_day)["cells"][0]["outputs"] == []
    write_lesson(deck, "3", outputs=[OUTPUT])
    assert present(root, refuse_to_ask) == (deck.parent, [])
    assert deck.read_bytes() == first_day


def test_a_deck_on_show_is_left_alone(root, deck):
    write_lesson(deck, "3", outputs=[OUTPUT])
    on_show = deck.read_bytes()
    assert present(root, refuse_to_ask, lesson="01_one.ipynb") == (deck.parent, [])
    assert deck.read_bytes() == on_show


CHANGES = {
    "source": lambda notebook: notebook["cells"][0].update(source="my own slide"),
    "type": lambda notebook: notebook["cells"][0]["metadata"].update(slideshow={"slide_type": "skip"}),
    "theme": lambda notebook: notebook["metadata"].update(rise={"theme": "black"}),
}


@pytest.fixture(params=[*CHANGES.values()], ids=[*CHANGES])
def changed(request, deck):
    """The content of the deck after a change, without the outputs with which it lies there."""
    notebook = json.loads(deck.read_text())
    request.param(notebook)
    notebook["cells"][0] |= {"outputs": [OUTPUT], "execution_count": 1}
    deck.write_text(json.dumps(notebook))
    notebook["cells"][0] |= {"outputs": [], "execution_count": None}
    return notebook


def test_a_deck_that_the_instructor_changed_is_presented_with_the_changes_and_without_outputs(
    root, deck, changed
):
    write_lesson(root / "notebooks/en/03_three.ipynb", "3, second edition")
    for _ in range(2):
        (message,) = present(root)[1]
        assert "work/deck-en/03_three.ipynb has your changes" in message
        assert json.loads(deck.read_text()) == changed
    deck.unlink()
    assert present(root)[1] == []
    assert sources(deck) == ["3, second edition"]


@pytest.mark.usefixtures("changed")
def test_a_deck_that_begins_afresh_sets_the_changes_aside(root, deck):
    mine, aside = deck.read_bytes(), deck.with_name("03_three.mine.ipynb")
    asked = []
    (message,) = present(root, lambda file: asked.append(file) or True)[1]
    assert asked == [deck]
    assert sources(deck) == ["3"]
    assert aside.read_bytes() == mine
    assert "03_three.mine.ipynb" in message
    assert present(root, refuse_to_ask)[1] == []
    assert aside.read_bytes() == mine


WITHOUT_METADATA = json.dumps({"cells": [{"cell_type": "code", "source": "3", "outputs": [OUTPUT]}]})


@pytest.mark.parametrize("damaged", ['{"cells": [', WITHOUT_METADATA])
def test_a_damaged_deck_is_set_aside_and_the_lesson_presented_without_outputs(root, deck, damaged):
    deck.write_text(damaged)
    (message,) = present(root, refuse_to_ask)[1]
    assert "03_three.mine.ipynb" in message
    assert deck.with_name("03_three.mine.ipynb").read_text() == damaged
    assert sources(deck) == ["3"]
    assert "output_type" not in deck.read_text()


CELL: dict = {"cell_type": "code", "metadata": {}, "source": "1"}
ODD_CELLS = [CELL | {"source": 3}, CELL | {"metadata": {"slideshow": "notes"}}]
ODD_CELLS += [CELL | {"metadata": {"tags": "solution"}}]
NO_NOTEBOOKS: list = [{}, [], {"cells": {}, "metadata": {}}]
NO_NOTEBOOKS += [{"cells": [cell], "metadata": {}} for cell in ODD_CELLS]


@pytest.mark.parametrize("content", ['{"cells": [', *map(json.dumps, NO_NOTEBOOKS)])
def test_a_lesson_that_is_no_notebook_is_in_no_copy_and_a_line_says_so(root, work, content):
    """Nobody could tell its notes and solutions from the rest."""
    (root / "notebooks/en/01_one.ipynb").write_text(content)
    write_lesson(root / "notebooks/en/03_three.ipynb", "3 + 3")
    work, (message,) = make_working_copy(root, "en")
    assert "01_one.ipynb is not a notebook" in message
    assert texts(work) == {"01_one": ["1"], "03_three": ["3 + 3"]}, "the copy of before stays"
    assert sources(present(root)[0] / "03_three.ipynb") == ["3 + 3"]
    with pytest.raises(CourseError, match="is not a notebook"):
        present(root, lesson="01_one.ipynb")


def test_a_language_with_figure_words_has_figures_of_its_own_beside_its_lessons(root):
    write_lesson(root / "notebooks/zh/01_one.ipynb", "![a figure](../../img/a.svg)")
    (root / "img/words").mkdir(parents=True)
    (root / "img/a.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"><text>keys</text></svg>')
    assert not (make_working_copy(root, "zh")[0] / "img").exists()
    (root / "img/words/zh.json").write_text(json.dumps({"a.svg": {"keys": "键"}}))
    for work, messages in (make_working_copy(root, "zh"), make_deck_copy(root, "zh", "01_one.ipynb")):
        assert sources(work / "01_one.ipynb") == ["![a figure](img/a.svg)"]
        assert "键" in (work / "img/a.svg").read_text()
        assert messages == []


@pytest.mark.parametrize("name", ["3", "03", "03_three", "notebooks/en/03_three.ipynb"])
def test_lesson_is_found_by_number_name_and_path(root, name, monkeypatch):
    monkeypatch.chdir(root)
    assert find_lesson(name, list_lessons(root, "en")).name == "03_three.ipynb"
