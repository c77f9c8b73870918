"""Terms in a lesson's handout: definitions get anchors, and the first use on a later slide leads there."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from bs4 import NavigableString, PageElement, Tag

from mha_lib.classroom.lesson.glossary import Definition, definitions_in, first_of_each, glossary
from mha_lib.classroom.lesson.reading import Lesson
from mha_lib.classroom.lesson.terms import in_lower_case, uses_of
from offline_notebook import AddressOf

HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
UNDEFINED = [*HEADINGS, "details", "table"]  # bold text in these defines nothing
UNLINKED = [*HEADINGS, "a", "code", "dfn", "figure", "pre", "summary"]


def link_terms(page: Tag, lesson: Lesson, address_of: AddressOf) -> None:
    """Link the terms of a lesson, and those of the lessons before it in the folder that have a page.

    In the page, cells still have ``data-cell``. The page of a notebook that is no lesson stays as it is.
    """
    if (identity := lesson.identity) is None:
        return
    before = sorted(file for file in lesson.folder.glob("*.ipynb") if file.stem < lesson.name)
    pages = {file.stem: address_of(PurePosixPath(file.name)) for file in before}
    others = glossary(file for file in before if pages[file.stem])
    terms = first_of_each([*others, *definitions_in(lesson)])
    mine = terms[len(others) :]
    links = {one.term: f"{pages[one.lesson]}#{one.anchor}" for one in others if one.lesson in pages}
    sentences = {one.term: one.text for one in terms}
    for slide in page.select(".slide"):
        link_uses(slide, sentences, links, identity.language)
        links |= {one.term: f"#{one.anchor}" for one in mine if mark_definition(slide, one)}


def mark_definition(slide: Tag, definition: Definition) -> bool:
    """Give a definition its anchor; returns whether it is on the slide."""
    for bold in slide.select(f'[data-cell="{definition.cell}"] strong'):
        is_it = in_lower_case(" ".join(bold.get_text().split())) == definition.term
        if is_it and not bold.find_parent(UNDEFINED):
            bold.name, bold["id"] = "dfn", definition.anchor
            return True
    return False


def link_uses(slide: Tag, sentences: Mapping[str, str], links: Mapping[str, str], language: str) -> None:
    """Link the first use of each term that has a link; on pointing at it, its sentence shows."""
    left = dict(links)
    for text in slide.find_all(string=True):
        if not text.find_parent(is_unlinked):
            pieces: list[PageElement] = []
            end = 0
            for start, stop, term in uses_of(list(sentences), str(text), language):
                if href := left.pop(term, None):
                    link = Tag(name="a", attrs={"class": "term", "href": href, "title": sentences[term]})
                    link.string = text[start:stop]
                    pieces += [NavigableString(text[end:start]), link]
                    end = stop
            if pieces:
                text.replace_with(*pieces, NavigableString(text[end:]))


def is_unlinked(element: Tag) -> bool:
    is_class = not {"formula", "outputs"}.isdisjoint(element.get_attribute_list("class"))
    return is_class or element.name in UNLINKED
