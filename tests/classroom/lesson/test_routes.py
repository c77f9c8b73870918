"""Routes through the course: the notebook that is made of one, and the sentences on mistakes."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest

from mha_lib.classroom.lesson import CourseError, list_languages, make_working_copy
from mha_lib.classroom.lesson.grammar import Identity, has_role
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.lesson.routes import find_route, list_routes, make_route
from mha_lib.classroom.lesson.slides import STEP, addresses_of, core_minutes, is_notes, source
from tests.lessons import ROOT, copy_course

ROUTES = [(language, name) for language in list_languages(ROOT) for name in list_routes(ROOT, language)]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return copy_course(tmp_path_factory.mktemp("course"))


def with_route(course: Path, **changes: object) -> Path:
    """Let the English course have the route "mine", and no other."""
    file = course / "notebooks" / "en" / "course.json"
    route = {"title": "Mine", "minutes": 45, "steps": ["01 which-words soft-dictionary"]} | changes
    file.write_text(json.dumps({"routes": {"mine": {k: v for k, v in route.items() if v is not None}}}))
    return course


@pytest.fixture
def own_course(course, tmp_path):
    shutil.copytree(course / "notebooks", tmp_path / "notebooks")
    shutil.copytree(course / "img", tmp_path / "img")
    return tmp_path


def address_in(course: Path, number: str) -> dict[str, str]:
    """The addresses of the steps of an English lesson."""
    lesson = read_lesson(next(course.glob(f"notebooks/en/{number}_*.ipynb")))
    return addresses_of(lesson.slides, lesson.identity)


@pytest.mark.parametrize(("language", "name"), ROUTES)
def test_a_route_of_the_course_defines_its_terms_and_holds_its_minutes(course, language, name):
    file, doubts = make_route(course, language, name)
    assert doubts == []
    minutes = find_route(course, language, name).minutes
    assert minutes * 0.85 < core_minutes(read_lesson(file).slides) < minutes


@pytest.mark.parametrize(("language", "name"), ROUTES)
def test_a_route_of_the_course_begins_with_a_question_and_ends_with_what_was_learnt(course, language, name):
    first, *_, last = read_lesson(make_route(course, language, name)[0]).slides[1:]
    asks = "\n".join(source(cell) for cell in first.cells if cell["cell_type"] == "markdown")
    assert re.search("[?？]", asks), asks
    assert last.cells[0]["id"] == "learnt"
    assert last.notes


@pytest.mark.parametrize(("language", "name"), ROUTES)
def test_no_note_of_a_route_speaks_of_a_lesson_or_a_lecture_that_the_class_has_not_had(
    course, language, name
):
    cells = read_lesson(make_route(course, language, name)[0]).cells
    lessons = {cell["id"][:2] for cell in cells}
    for cell in filter(is_notes, cells):
        named = re.findall(r"\b[Ll]essons? (\d)|第 ?(\d) ?[课課]", source(cell))
        assert {f"0{''.join(number)}" for number in named} <= lessons, cell["id"]
        assert not re.search(
            r"\bobjectives\b|学习目标|學習目標|上次课|上节课|last (lecture|week)", source(cell)
        )


def test_all_languages_have_the_same_routes(course):
    steps = {
        language: {
            name: [(lesson.name, its) for lesson, its in find_route(course, language, name).steps]
            for name in list_routes(course, language)
        }
        for language in list_languages(course)
    }
    assert [*steps["en"]] == ["45", "60", "90", "180", "real-45"]
    assert all(each == steps["en"] for each in steps.values())


def test_the_notebook_of_a_route_has_the_cells_of_its_steps_and_those_that_they_need(own_course):
    with_route(own_course, steps=["01 which-words mixture-by-hand", "03 bound flow", "01 cost"])
    file, _ = make_route(own_course, "en", "mine")
    nbformat.validate(nbformat.read(file, as_version=4))
    route = read_lesson(file)
    assert route.identity == Identity("route_mine", "en")
    shown = {slide.cells[0]["id"]: slide for slide in route.slides}
    assert list(shown) == ["title", "01-which-words", "01-mixture-by-hand", "03-bound", "03-flow", "01-cost"]
    addresses = [slide.cells[0]["metadata"].get(STEP) for slide in shown.values()]
    named = {"01": address_in(own_course, "01"), "03": address_in(own_course, "03")}
    assert [each and each["address"] for each in addresses] == [
        None,
        *(named[step[:2]][step[3:]] for step in list(shown)[1:]),
    ]
    hidden = {cell["id"] for cell in route.cells if cell["metadata"].get("jupyter", {}).get("source_hidden")}
    assert {"01-imports", "01-nine-scores", "01-nine-weights", "03-imports", "03-draw-shadows"} <= hidden
    assert not {"01-one-head", "03-museum"} & {cell["id"] for cell in route.cells}
    parts = [cell["source"].split("\n")[-1] for cell in route.cells if "-part-" in cell["id"]]
    assert parts == ['begin_part("01")', 'begin_part("03")', 'begin_part("01")']
    lesson = {
        cell["id"]: cell
        for cell in read_lesson(own_course / "notebooks/en/03_multi_head_attention.ipynb").cells
    }
    for cell in shown["03-bound"].cells:
        assert cell["source"] == lesson[cell["id"].removeprefix("03-")]["source"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_route_takes_steps_in_its_own_order_and_optional_ones_into_its_core(own_course, language):
    with_route(own_course, steps=["03 flow bound", "01 length-zero"])
    if language != "en":
        shutil.copy(own_course / "notebooks/en/course.json", own_course / "notebooks" / language)
    file, _ = make_route(own_course, language, "mine")
    slides = read_lesson(file).slides
    assert [slide.cells[0]["id"] for slide in slides] == ["title", "03-flow", "03-bound", "01-length-zero"]
    assert {slide.starts for slide in slides} == {"slide"}
    assert not any(slide.is_optional for slide in slides)
    assert slides[-1].title == {"en": "And a length of 0?", "zh": "长度为 0 呢？"}[language]


def test_students_get_a_copy_of_a_route_that_was_made(own_course):
    with_route(own_course, steps=["03 one-head-answers turn-bound"])
    make_route(own_course, "en", "mine")
    work, messages = make_working_copy(own_course, "en")
    assert messages == []
    copy = read_lesson(work / "route_mine.ipynb")
    steps = [cell["metadata"][STEP] for cell in copy.cells if STEP in cell["metadata"]]
    addresses = address_in(own_course, "03")
    assert [(each.get("address"), each["minutes"]) for each in steps] == [
        ("", 0.5),
        (addresses["one-head-answers"], 1.5),
        (addresses["turn-bound"], 1),
    ]
    assert [cell["metadata"]["checks"] for cell in copy.cells if has_role(cell, "check")] == [
        "most_explained"
    ]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no such step": ({"steps": ["01 which-words nowhere"]}, "lesson 01 has no step nowhere; it has: title"),
    "no such lesson": ({"steps": ["77 which-words"]}, "no lesson '77'; there are: 01_single"),
    "a lesson alone": ({"steps": ["01"]}, "routes: mine: steps: '01' can't be used"),
    "twice": ({"steps": ["01 flow", "01 flow"]}, "routes: mine: steps: '01 flow': flow can't be used"),
    "too late": (
        {"steps": ["01 mixture-by-hand scores-by-hand"]},
        "lesson 01: step scores-by-hand comes too late in the route",
    ),
    "no list": ({"steps": "01 flow"}, "routes: mine: steps: '01 flow' can't be used"),
    "no steps": ({"steps": None}, "routes: mine: steps: '' can't be used"),
    "no text": ({"steps": [1]}, "routes: mine: steps: 1 can't be used"),
    "no title": ({"title": " "}, "routes: mine: title: ' ' can't be used"),
    "no number": ({"minutes": "45"}, "routes: mine: minutes: '45' can't be used"),
    "after a word": ({"after": "01"}, "routes: mine: after: '01' can't be used"),
    "no time": ({"minutes": 0}, "routes: mine: minutes: 0 can't be used"),
    "true": ({"minutes": True}, "routes: mine: minutes: True can't be used"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_mistake_in_a_route_is_a_sentence_that_names_the_entry(own_course, case):
    changes, said = WRONG[case]
    with pytest.raises(CourseError) as error:
        make_route(with_route(own_course, **changes), "en", "mine")
    assert said in error.value.said_in("en")


def test_a_route_that_is_not_there_names_those_that_are(course, own_course):
    with pytest.raises(CourseError, match="no route '12'; there are: 45, 60, 90, 180, real-45"):
        make_route(course, "en", "12")
    (own_course / "notebooks/en/course.json").write_text('{"routes": [1]}')
    with pytest.raises(CourseError, match="the entry routes can't be used"):
        make_route(own_course, "en", "12")


def test_the_terms_of_lessons_that_a_route_comes_after_are_known(own_course):
    steps = ["01 flow", "03 bound"]
    _, doubts = make_route(with_route(own_course, steps=steps), "en", "mine")
    _, fewer = make_route(with_route(own_course, steps=steps, after=["01"]), "en", "mine")
    assert {doubt for doubt in doubts if "defined in 01-" not in doubt} == {*fewer} < {*doubts}


def test_doubts_name_terms_and_minutes(own_course):
    with_route(own_course, minutes=3.15, steps=["01 which-words flow"])
    _, (*terms, minutes) = make_route(own_course, "en", "mine")
    assert sorted(terms) == [
        '01-flow uses "key" before it is defined; it is defined in 01-soft-dictionary',
        '01-flow uses "query" before it is defined; it is defined in 01-soft-dictionary',
        '01-flow uses "score" before it is defined; it is defined in 01-hard-and-soft',
        '01-flow uses "softmax" before it is defined; it is defined in 01-hard-and-soft',
        '01-flow uses "value" before it is defined; it is defined in 01-soft-dictionary',
        '01-flow uses "weight" before it is defined; it is defined in 01-soft-dictionary',
    ]
    assert minutes == "the steps take 3 minutes; 2.8 of 3.15 leave time for questions"
