"""Lessons define a term before they use it, on a slide, in both languages."""

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from mha_lib.classroom.lesson.glossary import bold_in, definitions_in, used_before_defined
from mha_lib.classroom.lesson.grammar import has_role
from mha_lib.classroom.lesson.slides import read_lesson, source
from mha_lib.classroom.lesson.terms import bold_terms
from tests.lessons import ENGLISH, TRANSLATED, english_of, name_of

each_lesson = pytest.mark.parametrize("lesson", ENGLISH + TRANSLATED, ids=name_of)


def bold_in_whys(notebook):
    """The bold terms in whys."""
    whys = [cell for cell in notebook["cells"] if has_role(cell, "why")]
    return [f"{cell['id']}: {term}" for cell in whys for term, _ in bold_terms(source(cell))]


def early_uses(notebook, folder):
    """The terms that a lesson uses before it defines them itself."""
    defined_in = {one.term: [one.cell] for one in definitions_in(notebook, folder)}
    language = notebook["metadata"]["mha"]["language"]
    return [f"{cell}: {term}" for cell, term in used_before_defined(notebook["cells"], defined_in, language)]


def differently_defined(english, translated):
    """The cells in which the two languages have different numbers of bold terms."""
    some, others = ([one.where for one in bold_in(each["cells"], "")] for each in (english, translated))
    return sorted({cell for _, cell, _ in {*some} ^ {*others}})


@each_lesson
def test_a_why_defines_no_term(lesson):
    assert bold_in_whys(read_lesson(lesson)) == []


@each_lesson
def test_no_term_is_used_on_a_slide_before_its_definition(lesson):
    assert early_uses(read_lesson(lesson), lesson.parent) == []


@pytest.mark.parametrize("lesson", TRANSLATED, ids=name_of)
def test_a_translation_defines_its_terms_in_the_same_cells(lesson):
    assert differently_defined(read_lesson(english_of(lesson)), read_lesson(lesson)) == []


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
    "## Two KEYS": ["here: key"],
    "| keys |\n|---|": ["here: key"],
    "![A key](../../img/key.svg) `key` $key$ monkey": [],
}


@pytest.mark.parametrize("text", BEFORE)
def test_the_check_finds_uses_before_the_definition_alone(tmp_path, text):
    after = [("two", "slide", "A key is this: a **key** is found."), ("last", "why", "A key.")]
    open_text = small(("objectives", "slide", "Keys"), ("here", "slide", text), *after)
    assert early_uses(open_text, tmp_path) == BEFORE[text]
    in_why = small(("one", "slide", "One"), ("note", "notes", "a key"), ("here", "why", text), *after)
    assert early_uses(in_why, tmp_path) == BEFORE[text]
    unseen = small(("one", "slide", "One"), ("here", "skip", text), *after)
    assert early_uses(unseen, tmp_path) == []


def test_the_check_finds_bold_text_in_whys_and_cells_that_differ():
    some = small(("one", "slide", "A **key**, a **query**."), ("why", "why", "Is it **so**?"))
    other = small(("one", "slide", "A **key**."), ("why", "why", "It is so."))
    assert [bold_in_whys(some), bold_in_whys(other)] == [["why: so"], []]
    assert [differently_defined(some, other), differently_defined(some, some)] == [["one"], []]
