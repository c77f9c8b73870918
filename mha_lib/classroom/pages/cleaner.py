"""Gives ``offline_notebook`` the course's sentences, its figures and the colours of its formulas."""

from collections.abc import Callable
from pathlib import Path

from mha_lib.classroom import look
from mha_lib.classroom.lesson.figures import read_figure
from mha_lib.classroom.lesson.language import (
    course_of,
    is_installed,
    language_named_by,
    source_folder,
    source_root,
    words_in,
)
from offline_notebook import Cleaner, Pictures

# The colours of Q, K, V and O change their shade with the theme: the page's style sheet defines both.
THEMED = {colour: f"var(--{letter})" for letter, colour in look.LIGHT.items()}


def cleaner_for(folder: Path, language: str, complain: Callable[[str], object]) -> Cleaner:
    """Cleans the cells of a notebook that lies in the folder; what it says is in the language."""
    words = words_in(language)
    sentences = words["rendering"] | words["handout"]
    return Cleaner(sentences, pictures_of(folder, language).read, complain, THEMED)


def pictures_of(folder: Path, language: str) -> Pictures:
    """Pictures in the folder, and for a lesson also the course's ``img/``.

    A figure has its words in the language if they are translated (``lesson/figures.py``).
    """
    course = course_of(folder)
    if course and is_installed(course) and folder.parent == course / "build":
        # From there ../../img/ leads to the package's figures.
        folder = source_folder(course, language_named_by(folder))
    others = [source_root(course) / "img"] if course else []
    return Pictures(folder, others, lambda file: read_figure(file, language))
