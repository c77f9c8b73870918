"""What JupyterHub starts for each student, as that student: a copy of the lessons, then a Jupyter server.

``~/course`` looks like the course's own folder: its lessons are links to the one course that everybody
reads, its figures are copied, and ``~/course/work/`` is the student's. So copies and new editions come
about as on a laptop. An instructor (``MHA_INSTRUCTOR``) has decks with notes there, too.
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
from mha_lib.classroom.course.chinese import TRADITIONAL
from mha_lib.classroom.course.language import language_of_machine

COURSE = Path(__file__).resolve().parents[1]
JUPYTER_SETTINGS = COURSE / "mha_lib" / "classroom" / "course" / "jupyter"
SETTINGS = [
    # A kernel's sockets would else be ports of this machine, where every other student could listen in.
    "--KernelManager.transport=ipc",
    # Looking for servers of other languages starts a process or two for each student, and finds none.
    "--LanguageServerManager.autodetect=False",
]


def main() -> None:
    os.umask(0o077)
    try:
        lesson = prepare(Path.home())
        os.environ["JUPYTERHUB_DEFAULT_URL"] = f"/lab/tree/{lesson.relative_to(Path.home()).as_posix()}"
    except (CourseError, OSError) as error:  # a full disk, say: files can be deleted in Jupyter alone
        print(in_one_line("course", error), file=sys.stderr)
    paths = [str(JUPYTER_SETTINGS), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    # Not in the home: the name of a socket has room for 107 bytes, and a home may be full.
    os.environ["JUPYTER_RUNTIME_DIR"] = tempfile.mkdtemp(prefix=f"jupyter-{Path.home().name}-")
    # A new program in this process: PyTorch, which the course has loaded, goes with the old one. -P: what
    # lies in the home is not taken for a module of Python.
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
    """A folder that is the course's but for ``work/``; traditional Chinese is made in it when asked for."""
    languages = [folder for folder in (COURSE / "notebooks").iterdir() if folder.name != TRADITIONAL]
    for target in languages:
        link = root / target.relative_to(COURSE)
        if link.is_symlink() and link.readlink() != target:  # the course has moved
            link.unlink()
        if not link.exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)
    # A copy: Jupyter hands a browser no file that a link puts outside of the home.
    shutil.copytree(COURSE / "img", root / "img", dirs_exist_ok=True)
    return root


if __name__ == "__main__":
    main()
