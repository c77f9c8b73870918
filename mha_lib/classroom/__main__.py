"""The course from the command line, on every platform: ``python -m mha_lib.classroom lab``.

What stands after ``--`` goes to Jupyter as it is: ``python -m mha_lib.classroom lab -- --ip=0.0.0.0``.
"""

import argparse
import importlib.metadata
import os
import socket
import sys
from pathlib import Path

from mha_lib.classroom.lessons import CourseError, find_lesson, find_root, list_lessons, make_working_copy

OLDEST_RISE = (0, 43)


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    options = make_parser().parse_args(arguments[:cut])
    # Kernels share the cores: threads that wait by spinning would make a training of 3 s one of minutes.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        root = find_root()
        lessons = list_lessons(root, options.language)
        if options.command == "handouts":
            return write_handouts(root, lessons, options)
        if options.command == "notes":
            return write_notes(root, lessons)
        return open_course(root, lessons, options, arguments[cut + 1 :])
    except CourseError as error:
        print(f"{options.command}: {error}", file=sys.stderr)
        return 2


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m mha_lib.classroom", description=__doc__)
    parser.add_argument("--language", default="en", help="language of the lessons (default: en)")
    commands = parser.add_subparsers(dest="command", required=True)
    lab = commands.add_parser("lab", help="open the lessons in JupyterLab")
    lab.add_argument("--edit", action="store_true", help="open notebooks/ itself, to change the lessons")
    present = commands.add_parser("present", help="open a lesson as a deck of live slides")
    present.add_argument("lesson", nargs="?", default="03", help="number, name or path (default: 03)")
    for command in (lab, present):
        command.add_argument(
            "--port", type=int, help="port of the server (default: the first free one from 8888)"
        )
        command.add_argument("--no-browser", action="store_true", help="print the address, open nothing")
    commands.add_parser("notes", help="write the running order of each lesson, with the speaker's notes")
    handouts = commands.add_parser("handouts", help="write each lesson as one HTML file that works offline")
    handouts.add_argument("lesson", nargs="*", help="number, name or path (default: all)")
    handouts.add_argument("--edition", choices=("student", "instructor"), default="student")
    handouts.add_argument("--pdf", action="store_true", help="a PDF beside each, by an installed Chromium")
    return parser


def open_course(root: Path, lessons: list[Path], options: argparse.Namespace, extra: list[str]) -> int:
    """Serve the course and open JupyterLab or a deck on it; returns when the server ends."""
    presenting = options.command == "present"
    lesson = find_lesson(options.lesson, lessons) if presenting else lessons[0]
    if presenting:
        check_rise()
    if options.port is not None:
        check_port(options.port)
    if not presenting and options.edit:
        folder = root / "notebooks" / options.language
    else:
        folder, messages = make_working_copy(root, options.language)
        print(*messages, sep="\n", end="\n" if messages else "", file=sys.stderr)
    place = "rise" if presenting else "lab/tree"
    serve(root, f"/{place}/{(folder / lesson.name).relative_to(root).as_posix()}", options, extra)
    return 0


def serve(root: Path, address: str, options: argparse.Namespace, extra: list[str]) -> None:
    try:
        from jupyterlab.labapp import LabApp
    except ImportError as error:
        raise CourseError(f"{error}; install the classroom: pip install -e '.[classroom]'") from None
    # Nothing asks the network, and no pop-up about news greets the class.
    paths = [str(Path(__file__).with_name("jupyter")), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    settings = [f"--ServerApp.root_dir={root}", f"--LabApp.default_url={address}"]
    if options.port is not None:
        settings += [f"--ServerApp.port={options.port}", "--ServerApp.port_retries=0"]
    if options.no_browser:
        settings.append("--no-browser")
    LabApp.launch_instance([*settings, *extra])


def check_rise() -> None:
    wanted = ".".join(map(str, OLDEST_RISE))
    try:
        found = importlib.metadata.version("jupyterlab-rise")
    except importlib.metadata.PackageNotFoundError:
        raise CourseError("RISE is not installed; install it: pip install -e '.[classroom]'") from None
    if tuple(int(part) for part in found.split(".")[:2]) < OLDEST_RISE:
        raise CourseError(
            f"jupyterlab-rise {found} is too old, {wanted} is needed: pip install -e '.[classroom]'"
        )


def check_port(port: int) -> None:
    if not 1 <= port <= 65535:
        raise CourseError(f"--port must be between 1 and 65535, got {port}")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise CourseError(
                f"port {port} can't be used ({error.strerror}); choose another, or leave it out"
            ) from None


def write_handouts(root: Path, lessons: list[Path], options: argparse.Namespace) -> int:
    from mha_lib.classroom import handout

    chosen = [find_lesson(name, lessons) for name in options.lesson] or lessons
    return handout.write_handouts(chosen, root / "build" / "handouts", options.edition, options.pdf)


def write_notes(root: Path, lessons: list[Path]) -> int:
    from mha_lib.classroom.notes import write_running_orders

    return write_running_orders(lessons, root / "build" / "notes")


if __name__ == "__main__":
    sys.exit(main())
