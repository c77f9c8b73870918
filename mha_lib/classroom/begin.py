"""The call with which a lesson begins."""

from mha_lib.classroom.exercises import names_by_lesson
from mha_lib.classroom.exercises.asserts import show_passed_asserts
from mha_lib.classroom.exercises.kept import kept_states
from mha_lib.classroom.lesson.cells import shell_here, show_text
from mha_lib.classroom.lesson.chinese import SIMPLIFIED
from mha_lib.classroom.lesson.language import language_here, words_here
from mha_lib.classroom.lesson.outputs import report_metadata
from mha_lib.classroom.pictures.plots import write_chinese
from mha_lib.classroom.pictures.theme import follow_the_theme


def begin_lesson() -> None:
    """From now on cells tick the asserts that pass, and show figures in the theme of the page.

    In a Chinese lesson figures can also write Chinese. A student reads which exercises earlier sessions have
    solved. A second call changes nothing, and neither does a call outside IPython.
    """
    if shell := shell_here():
        follow_the_theme(shell)
        show_passed_asserts(shell)
        if language_here().split("-")[0] == SIMPLIFIED:
            write_chinese()
        show_solved()


def show_solved() -> None:
    """Show of each lesson how many exercises are solved, if this student has checked any."""
    states = kept_states()
    lines = [
        words_here()["begin"]["kept"].format(
            lesson=lesson.split("_")[0],
            solved=sum(states.get(name) == "solved" for name in names),
            all=len(names),
        )
        for lesson, names in names_by_lesson().items()
        if states.keys() & set(names)
    ]
    if lines:
        show_text("\n".join(lines), report_metadata(states))
