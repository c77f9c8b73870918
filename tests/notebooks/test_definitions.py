"""Lessons define a term before they use it, on a slide, in both languages."""

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from mha_lib.classroom.lesson.glossary import bold_in, definitions_in, used_before_defined
from mha_lib.classroom.lesson.slides import read_lesson
from tests.lessons import ENGLISH, TRANSLATED, english_of, name_of

each_lesson = pytest.mark.parametrize("lesson", ENGLISH + TRANSLATED, ids=name_of)


def early_uses(notebook, folder):
    """The terms that a lesson uses before it defines them itself."""
    defined_in = {one.term: [one.cell] for one in definitions_in(notebook, folder)}
    language = notebook["metadata"]["mha"]["language"]
    return [f"{cell}: {term}" for cell, term in used_before_defined(notebook["cells"], defined_in, language)]


@each_lesson
def test_no_term_is_used_on_a_slide_before_its_definition(lesson):
    assert early_uses(read_lesson(lesson), lesson.parent) == []


@pytest.mark.parametrize("lesson", TRANSLATED, ids=name_of)
def test_a_translation_defines_its_terms_in_the_same_cells(lesson):
    each = (read_lesson(english_of(lesson)), read_lesson(lesson))
    english, translated = ([one.where for one in bold_in(notebook["cells"], "")] for notebook in each)
    assert english == translated


def small(*cells):
    """A lesson of cells: id, slide type, text; a why has the type "why"."""
    made = [
        new_markdown_cell(
            text,
            id=name,
            metadata={
                "slideshow": {"slide_type": "skip" if kind == "why" else kind},
                "tags": ["why"] if kind == "why" else [],
            },
        )
        for name, kind, text in cells
    ]
    return new_notebook(cells=made, metadata={"mha": {"lesson": "01_x", "language": "en"}})


BEFORE = {
    "A key is found.": ["here: key"],
    "| keys |\n|---|": ["here: key"],
    "![A key](../../img/key.svg) `key` $key$ monkey": [],
}


@pytest.mark.parametrize("text", BEFORE)
def test_the_check_finds_uses_before_the_definition_alone(tmp_path, text):
    after = [("two", "slide", "A key is this: a **key** is found."), ("last", "why", "A key.")]
    open_text = small(("objectives", "slide", "Keys"), ("here", "slide", text), *after)
    assert early_uses(open_text, tmp_path) == BEFORE[text]
    unseen = small(("one", "slide", "One"), ("note", "notes", "a key"), ("here", "skip", text), *after)
    assert early_uses(unseen, tmp_path) == []
