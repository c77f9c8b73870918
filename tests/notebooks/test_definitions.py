"""Lessons define a term before they use it, on a slide, in both languages."""

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from mha_lib.classroom.lesson.glossary import bold_in, definitions_in, used_before_defined
from mha_lib.classroom.lesson.reading import Lesson, read_lesson
from tests.lessons import ENGLISH, TRANSLATED, english_of, name_of

each_lesson = pytest.mark.parametrize("lesson", ENGLISH + TRANSLATED, ids=name_of)


def early_uses(lesson):
    """The terms that a lesson uses before it defines them itself."""
    defined_in = {one.term: [one.cell] for one in definitions_in(lesson)}
    found = used_before_defined(lesson.cells, defined_in, lesson.language)
    return [f"{cell}: {term}" for cell, term in found]


@each_lesson
def test_no_term_is_used_on_a_slide_before_its_definition(lesson):
    assert early_uses(read_lesson(lesson)) == []


@pytest.mark.parametrize("lesson", TRANSLATED, ids=name_of)
def test_a_translation_defines_its_terms_in_the_same_cells(lesson):
    each = (read_lesson(english_of(lesson)), read_lesson(lesson))
    english, translated = ([one.where for one in bold_in(lesson.slides, "")] for lesson in each)
    assert english == translated


CELLS = {  # the type of each cell, and its text
    "objectives": ("slide", "Keys"),
    "text": ("slide", "A key is found."),
    "table": ("fragment", "| keys |\n|---|"),
    "unread": ("fragment", "![A key](../../img/key.svg) `key` $key$ monkey"),
    "note": ("notes", "a key"),
    "helper": ("skip", "A key is found."),
    "defines": ("slide", "A key is this: a **key** is found."),
}


def test_the_check_finds_uses_before_the_definition_alone(tmp_path):
    cells = [
        new_markdown_cell(text, id=name, metadata={"slideshow": {"slide_type": kind}})
        for name, (kind, text) in CELLS.items()
    ]
    notebook = new_notebook(cells=cells, metadata={"mha": {"lesson": "01_x", "language": "en"}})
    assert early_uses(Lesson(tmp_path / "01_x.ipynb", notebook)) == ["text: key", "table: key"]
