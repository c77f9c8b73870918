"""JupyterHub starts this program for each student, as that student: it copies the lessons and runs Jupyter.

``~/course`` looks like the folder of the course: its lessons are links to the one course that all students
read, its figures are copies, and ``~/course/work/`` belongs to the student. So working copies and new
editions are made as on a laptop. An instructor (``MHA_INSTRUCTOR``) gets decks with notes there, too.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from mha_lib.classroom.course import (
    CourseError,
    in_one_line,
    list_languages,
    list_lessons,
    make_deck_copy,
    make_working_copy,
)
from mha_lib.classroom.course.language import language_of_machine

COURSE = Path(__file__).resolve().parents[1]
JUPYTER_SETTINGS = COURSE / "mha_lib" / "classroom" / "course" / "jupyter"
SETTINGS = [
    # Otherwise the sockets of a kernel are ports of this machine, and every other student could listen.
    "--KernelManager.transport=ipc",
    # The search for language servers starts a process or two for each student, and finds none.
    "--LanguageServerManager.autodetect=False",
]


def main() -> None:
    os.umask(0o077)
    try:
        lesson = prepare(Path.home())
        os.environ["JUPYTERHUB_DEFAULT_URL"] = f"/lab/tree/{lesson.relative_to(Path.home()).as_posix()}"
    except (CourseError, OSError) as error:  # a full disk, say: only in Jupyter can the student delete files
        print(in_one_line("course", error), file=sys.stderr)
    paths = [str(JUPYTER_SETTINGS), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    # Not in the home, which may be full, and whose path may exceed the 107 bytes of a socket's name.
    os.environ["JUPYTER_RUNTIME_DIR"] = tempfile.mkdtemp(prefix=f"jupyter-{Path.home().name}-")
    # A new program in this process frees the memory of PyTorch, which the course has loaded. -P: Python
    # must not import a file that lies in the home.
    server = [sys.executable, "-P", "-m", "jupyterhub.singleuser", *SETTINGS, *sys.argv[1:]]
    os.execv(sys.executable, server)


def prepare(home: Path) -> Path:
    """Bring ``course/`` in the home up to date; returns the lesson to open first."""
    root = link_course(home / "course")
    language = os.environ.get("MHA_LANGUAGE") or language_of_machine(list_languages(root))
    lessons = list_lessons(root, language)
    work, messages = make_working_copy(root, language)
    if os.environ.get("MHA_INSTRUCTOR"):
        for lesson in lessons:
            messages += make_deck_copy(root, language, lesson.name)[1]
    for message in messages:
        print(message, file=sys.stderr)
    return work / lessons[0].name


def link_course(root: Path) -> Path:
    """Make a folder with the lessons and figures of the course, where a student can write; return it."""
    for target in (COURSE / "notebooks").iterdir():
        link = root / target.relative_to(COURSE)
        if link.is_symlink() and link.readlink() != target:  # the course has moved
            link.unlink()
        if not link.exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)
    # A copy: Jupyter sends no file to a browser that lies, through a link, outside of the home.
    shutil.copytree(COURSE / "img", root / "img", dirs_exist_ok=True)
    return root


if __name__ == "__main__":
    main()
