"""The lessons of the course: finding and reading them, their languages, and their working copies."""
# ruff: noqa: F401  (this file only gathers names for other rooms)

from mha_lib.classroom.lesson.language import is_installed
from mha_lib.classroom.lesson.lessons import (
    CourseError,
    find_lesson,
    find_notebook,
    find_root,
    hands_out_solutions,
    in_one_line,
    language_in,
    list_languages,
    list_lessons,
    version,
)
from mha_lib.classroom.lesson.prepare import prepare_lessons
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.lesson.stripped import write_stripped
from mha_lib.classroom.lesson.working_copy import (
    make_deck_copy,
    make_working_copy,
    remember_language,
    remembered_language,
)
