"""One student's server, in its container: bring the working copy up to date, then be Jupyter.

``work/`` is the student's volume. The rest of the course belongs to root and is read-only. An instructor
(``MHA_INSTRUCTOR``) gets decks with notes in ``work/``, too.
"""

import os
import sys
from pathlib import Path

from mha_lib.classroom import jupyter
from mha_lib.classroom import lesson as course
from mha_lib.classroom.lesson.language import language_of_machine

SETTINGS = [
    "--KernelManager.transport=ipc",  # otherwise kernels and their debuggers listen on ports
    "--LanguageServerManager.autodetect=False",  # the search starts processes, and finds no language server
]


def main() -> None:
    root = course.find_root()
    try:
        os.environ["JUPYTERHUB_DEFAULT_URL"] = f"/lab/tree/{prepare(root)}"
    except (course.CourseError, OSError) as error:  # a full disk, say: only in Jupyter can the student delete
        print(course.in_one_line("course", error), file=sys.stderr)
    os.environ["JUPYTER_CONFIG_PATH"] = str(jupyter.SETTINGS)
    # A new program in this process frees the memory of PyTorch. -P: Python imports no file of the home.
    os.execv(sys.executable, [sys.executable, "-P", "-m", "jupyterhub.singleuser", *SETTINGS, *sys.argv[1:]])


def prepare(root: Path) -> str:
    """Bring the working copy up to date; returns the lesson to open first."""
    language = os.environ.get("MHA_LANGUAGE") or language_of_machine(course.list_languages(root))
    lessons = course.list_lessons(root, language)
    with jupyter.trusting_copies(root):
        work, messages = course.make_working_copy(root, language)
        if os.environ.get("MHA_INSTRUCTOR"):
            for lesson in lessons:
                messages += course.make_deck_copy(root, language, lesson.name)[1]
    print(*messages, sep="\n", file=sys.stderr)
    return (work / lessons[0].name).relative_to(root).as_posix()


if __name__ == "__main__":
    main()
