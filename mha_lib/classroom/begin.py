"""The calls with which a lesson begins, and a lesson's part of a route."""

from types import ModuleType
from typing import Any

from mha_lib.classroom.exercises import names_by_lesson
from mha_lib.classroom.exercises.progress import Record, progress_in
from mha_lib.classroom.lesson.chinese import is_chinese
from mha_lib.classroom.lesson.language import RUNNING, speak, words_here
from mha_lib.classroom.lesson.needs import lesson_in_route
from mha_lib.classroom.lesson.shell import shell_here, show_text
from mha_lib.classroom.pictures.plots import write_chinese
from mha_lib.classroom.pictures.theme import follow_the_theme

PARTS = "mha_parts"  # of IPython's shell: the modules in which the cells of lessons run, by number


def begin_lesson(lesson: str, language: str) -> None:
    """From now on cells show figures in the theme of the page.

    ``lesson`` is the number of the lesson, such as ``"03"``, and ``language`` the one that the software
    speaks, such as ``"zh"``. In a Chinese lesson figures can also write Chinese. A student reads which
    exercises earlier sessions have solved. A second call changes nothing. Outside IPython only the language
    is set.
    """
    speak(language)
    RUNNING.number = lesson
    if shell := shell_here():
        follow_the_theme(shell)
        if is_chinese(language):
            write_chinese()
        show_solved()


def show_solved() -> None:
    """Show of each lesson how many exercises are solved, if this student has checked any."""
    progress = progress_in(Record().verdicts())
    lines = [
        words_here()["begin"]["kept"].format(
            lesson=lesson.split("_")[0],
            solved=sum(progress[name].state == "solved" for name in names),
            all=len(names),
        )
        for lesson, names in names_by_lesson().items()
        if progress.keys() & set(names)
    ]
    if lines:
        show_text("\n".join(lines), {})


def begin_part(lesson: str) -> None:
    """From now on cells read and bind the names of this lesson alone, in a route through several lessons.

    ``lesson`` is its number, such as ``"03"``: the ids of its cells in a route begin with it. JupyterLab
    tells the id of the cell that runs, so there a cell finds its own lesson's names whatever ran before it.
    Outside IPython this changes nothing.
    """
    if shell := shell_here():
        if not hasattr(shell, PARTS):
            setattr(shell, PARTS, {})
            shell.events.register("pre_run_cell", follow_parts)
        enter_part(lesson, shell)


def follow_parts(about: Any) -> None:
    lesson = lesson_in_route(about.cell_id)
    if lesson in getattr(shell_here(), PARTS):
        enter_part(lesson, shell_here())


def enter_part(lesson: str, shell: Any) -> None:
    """Let cells run in the module of a lesson. Its functions keep it, also while cells of others run."""
    modules = getattr(shell, PARTS)
    shell.user_module = modules.setdefault(lesson, ModuleType("__main__"))
    shell.user_ns = vars(shell.user_module)
    shell.init_user_ns()
