"""The call with which a lesson begins."""

from mha_lib.classroom.course.chinese import SIMPLIFIED
from mha_lib.classroom.course.language import language_here
from mha_lib.classroom.live.asserts import show_passed_asserts
from mha_lib.classroom.live.cells import shell_here
from mha_lib.classroom.live.plots import write_chinese
from mha_lib.classroom.live.theme import follow_the_theme


def begin_lesson() -> None:
    """From now on cells tick the asserts that pass, and show figures in the theme of the page.

    In a Chinese lesson figures can also write Chinese. A second call changes nothing, and neither does a call
    outside IPython.
    """
    if shell := shell_here():
        follow_the_theme(shell)
        show_passed_asserts(shell)
        if language_here().split("-")[0] == SIMPLIFIED:
            write_chinese()
