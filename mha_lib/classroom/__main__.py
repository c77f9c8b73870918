"""The course from the command line, on every platform: ``mha lab``, or ``python -m mha_lib.classroom lab``.

What stands after ``--`` goes to Jupyter as it is: ``mha lab -- --ip=0.0.0.0``.
"""

import importlib.metadata
import os
import sys
from argparse import ArgumentError, ArgumentParser, HelpFormatter, Namespace
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

from mha_lib.classroom import lesson as course
from mha_lib.classroom.jupyter import SETTINGS, trusting_copies
from mha_lib.classroom.lesson.grammar import identity_in
from mha_lib.classroom.lesson.language import ENGLISH, language_of_machine, words_in
from mha_lib.classroom.lesson.shell import show_everything

STOPPED = 130  # the exit status of what Ctrl-C has ended
FIRST_SHOWN = "03"  # the lesson that is presented where none is named
MODULE = "python -m mha_lib.classroom"


def mha() -> int:
    return main(program="mha")


def main(arguments: list[str] | None = None, program: str = MODULE) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    extra = arguments[cut + 1 :]
    language = chosen_language(arguments[:cut])
    show_everything()
    words = words_in(language)["command_line"]
    parser = make_parser(words, language, program)
    options = parser.parse_args(arguments[:cut])
    # Kernels share the cores: threads that wait by spinning would make a training of 3 s one of minutes.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        if extra and options.run not in (open_lab, present_lesson):
            raise course.CourseError("not_for_jupyter", extra=" ".join(extra))
        root = course.find_root()
        writes = options.run is see_to_translations or getattr(options, "edit", False)
        if writes and course.is_installed(root):
            raise course.CourseError("installed")
        options.extra = extra
        return options.run(root, lessons_for(root, options), options)
    except KeyboardInterrupt:
        failure, status = course.CourseError("stopped"), STOPPED
    except ImportError as error:
        failure, status = course.CourseError("no_classroom", reason=error), 2
    except (course.CourseError, OSError) as error:  # a folder that can't be written to, a full disk
        failure, status = course.in_one_line(options.command, error), 2
    print(f"{options.command}: {failure.said_in(language)}", file=sys.stderr)
    return status


def chosen_language(arguments: list[str]) -> str:
    """The language that was asked for, now or the last time in this course; or else the machine's."""
    parser = ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("--language")
    with suppress(ArgumentError):
        asked = parser.parse_known_args(arguments)[0].language
        if asked is not None:
            return str(asked)
    with suppress(course.CourseError):
        root = course.find_root()
        return course.remembered_language(root) or language_of_machine(course.list_languages(root))
    return ENGLISH


class Formatter(HelpFormatter):
    def __init__(self, prog: str, usage: str) -> None:
        super().__init__(prog)
        self.prefix = usage

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, self.prefix if prefix is None else prefix)


class Parser(ArgumentParser):
    """argparse's parser, whose own words stand in ``words/`` too."""

    def __init__(self, words: dict[str, Any], **settings: Any) -> None:
        self.words = words
        super().__init__(add_help=False, formatter_class=partial(Formatter, usage=words["usage"]), **settings)
        self._positionals.title, self._optionals.title = words["arguments"], words["options"]
        self.add_argument("-h", "--help", action="help", help=words["help"])

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(2, self.words["not_understood"].format(program=self.prog, reason=message) + "\n")


def make_parser(words: dict[str, Any], language: str, program: str = MODULE) -> ArgumentParser:
    shared: Any = ArgumentParser(add_help=False)  # what may stand before the command or after it
    shared.add_argument("--language", default=language, help=words["language"])
    parser = Parser(words, prog=program, description=words["description"], parents=[shared])
    parser.add_argument(
        "--version", action="version", version=f"mha-lib {course.version()}".rstrip(), help=words["version"]
    )
    commands = parser.add_subparsers(dest="command", required=True)

    for name, (run, *its_arguments) in COMMANDS.items():
        command = commands.add_parser(name, help=words[name], words=words, parents=[shared])
        command.set_defaults(run=run)
        for argument, sentence, settings in its_arguments:
            command.add_argument(argument, help=words[sentence], **settings)
    return parser


def lessons_for(root: Path, options: Namespace) -> list[Path]:
    """The lessons; or, where a route was asked for, the notebook of the route alone."""
    name = getattr(options, "route", None)
    if name is None:
        return course.prepare_lessons(root, options.language)
    from mha_lib.classroom.lesson import routes

    if getattr(options, "edit", False) or getattr(options, "lesson", None):
        raise course.CourseError("route_alone")
    file, doubts = routes.make_route(root, options.language, name)
    for doubt in doubts:
        print(f"{name}: {doubt}", file=sys.stderr)
    return [file]


def open_lab(root: Path, lessons: list[Path], options: Namespace) -> int:
    """Open the first lesson in JupyterLab; returns when the server ends."""
    if options.edit:
        return serve(root, "lab/tree", lessons[0], [], options)
    is_first = course.is_installed(root) and not (root / "work").exists()
    with trusting_copies(root):
        folder, messages = course.make_working_copy(root, options.language)
    if is_first:
        messages.append(words_in(options.language)["working_copy"]["first"].format(folder=folder, root=root))
    course.remember_language(root, options.language)
    copies = (folder / lesson.name for lesson in lessons)
    return serve(root, "lab/tree", next(filter(Path.exists, copies), folder), messages, options)


def present_lesson(root: Path, lessons: list[Path], options: Namespace) -> int:
    """Open one lesson as a deck of slides; returns when the server ends."""
    named = FIRST_SHOWN if options.lesson is None else options.lesson
    lesson = lessons[0] if options.route else course.find_notebook(named, lessons)
    check_rise()
    if lesson not in lessons:  # somebody's own, which is presented as it is
        course.read_lesson(lesson)  # says why it can't be read
        return serve(lesson.parent, "rise", lesson, [], options)
    asks = partial(begins_afresh, options.language)
    with trusting_copies(root):
        folder, messages = course.make_deck_copy(root, options.language, lesson.name, asks)
    course.remember_language(root, options.language)
    return serve(root, "rise", folder / lesson.name, messages, options)


def chosen_lessons(options: Namespace, lessons: list[Path]) -> list[Path]:
    """The lessons that were named, each once; or all."""
    return list(dict.fromkeys(course.find_lesson(name, lessons) for name in options.lesson)) or lessons


def write_each(
    options: Namespace,
    lessons: list[Path],
    of_others: Callable[[Path], int],
    of_lessons: Callable[[list[Path]], int],
) -> int:
    """Write what was named: lessons together, any other notebook beside its file; return the exit status."""
    named = list(dict.fromkeys(course.find_notebook(name, lessons) for name in options.lesson))
    statuses = [of_others(file) for file in named if file not in lessons]
    if chosen := [file for file in named or lessons if file in lessons]:
        statuses.append(of_lessons(chosen))
    return max(statuses)


def write_handouts(root: Path, lessons: list[Path], options: Namespace) -> int:
    from mha_lib.classroom.pages import handout

    audience, output = options.audience, options.output
    return write_each(
        options,
        lessons,
        lambda file: handout.write_handout_of(file, options.language, audience, output),
        lambda chosen: handout.write_handouts(root, chosen, audience, output),
    )


def write_slides(root: Path, lessons: list[Path], options: Namespace) -> int:
    from mha_lib.classroom.pages import slides

    check_rise()
    return write_each(
        options,
        lessons,
        lambda file: slides.write_slides_of(file, options.language, options.output),
        lambda chosen: slides.write_slides(root, chosen, options.output),
    )


def write_site(root: Path, lessons: list[Path], options: Namespace) -> int:
    from mha_lib.classroom.pages import site

    check_rise()
    languages = options.languages or course.list_languages(root)
    chosen = [chosen_lessons(options, course.prepare_lessons(root, language)) for language in languages]
    return site.write_site(root, chosen, options.language, options.output)


def write_notes(root: Path, lessons: list[Path], options: Namespace) -> int:
    from mha_lib.classroom.pages import notes

    return notes.write_notes(root, chosen_lessons(options, lessons), options.output)


def write_overview(root: Path, lessons: list[Path], options: Namespace) -> int:
    from mha_lib.classroom import students

    names = not options.no_names
    return students.write_overview(root, options.folder, lessons, with_names=names, into=options.output)


def examine_machine(root: Path, lessons: list[Path], options: Namespace) -> int:
    from mha_lib.classroom import doctor

    return doctor.examine(root, lessons[0], options.language)


def fetch_model(root: Path, lessons: list[Path], options: Namespace) -> int:
    from mha_lib.classroom.fetch import fetch

    return fetch(root, options.folder, options.language)


def see_to_translations(root: Path, lessons: list[Path], options: Namespace) -> int:
    """List the cells that are out of step with the English ones; 1 where there are any."""
    from mha_lib.classroom.lesson import translations

    words = words_in(options.language)["translations"]
    english = chosen_lessons(options, course.list_lessons(root, ENGLISH))
    count = unread = 0
    for lesson in english:
        try:
            for name, cell, what in translations.see_to(
                root, lesson, update=options.update, done=options.done
            ):
                print(f"{name}: {cell}: {words[what]}")
                count += 1
        except course.CourseError as error:  # a lesson that can't be read; the others go on
            print(error.said_in(options.language), file=sys.stderr)
            unread += 1
    print(words["count"].format(count=count))
    return int(bool(count or unread))


def begins_afresh(language: str, file: Path) -> bool:
    """Ask whether a deck that was changed begins afresh; where nobody can answer, it does not."""
    words = words_in(language)["command_line"]
    try:
        answer = input(words["begin_afresh"].format(file=file.name)) if sys.stdin.isatty() else ""
    except EOFError:
        return False
    return answer.strip().lower() == words["afresh"]


def serve(root: Path, view: str, lesson: Path, messages: list[str], options: Namespace) -> int:
    """Tell the user what was done to the copies, and open a lesson; returns when the server ends."""
    from jupyterlab.labapp import LabApp

    from mha_lib.classroom.ahead import trained_ahead

    for message in messages:
        print(message, file=sys.stderr)
    # Nothing asks the network, and no pop-up about news greets the class.
    paths = [str(SETTINGS), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    address = quote(lesson.relative_to(root).as_posix())
    settings = [f"--ServerApp.root_dir={root}", f"--LabApp.default_url=/{view}/{address}"]
    if options.port is not None:
        settings += [f"--ServerApp.port={options.port}", "--ServerApp.port_retries=0"]
    if options.no_browser:
        settings.append("--no-browser")
    is_course = lesson.is_dir() or identity_in(lesson)
    with trained_ahead(root, options.language) if is_course else nullcontext():
        LabApp.launch_instance([*settings, *options.extra])
    return 0


def check_rise() -> None:
    try:
        importlib.metadata.version("jupyterlab-rise")
    except importlib.metadata.PackageNotFoundError:
        raise course.CourseError("no_rise") from None


SWITCH = {"action": "store_true"}
LESSONS = ("lesson", "handouts_lesson", {"nargs": "*"})
NOTEBOOKS = ("lesson", "any_notebook", {"nargs": "*"})
ROUTE = ("--route", "route", {"metavar": "NAME"})
OUTPUT = ("--output", "output", {"type": lambda text: Path(text).resolve(), "metavar": "FOLDER"})
SERVER = (("--port", "port", {"type": int}), ("--no-browser", "no_browser", SWITCH))
# For each command its function and its arguments, each with the name of its help's sentence in words/.
COMMANDS: dict[str, tuple[Any, ...]] = {
    "lab": (open_lab, ("--edit", "edit", SWITCH), ROUTE, *SERVER),
    "present": (present_lesson, ("lesson", "present_lesson", {"nargs": "?"}), ROUTE, *SERVER),
    "handouts": (
        write_handouts,
        NOTEBOOKS,
        ROUTE,
        ("--audience", "audience", {"choices": ("student", "instructor"), "default": "student"}),
        OUTPUT,
    ),
    "slides": (write_slides, NOTEBOOKS, ROUTE, OUTPUT),
    "site": (write_site, LESSONS, ("--languages", "site_languages", {"nargs": "+"}), OUTPUT),
    "notes": (write_notes, LESSONS, ROUTE, OUTPUT),
    "doctor": (examine_machine,),
    "fetch": (fetch_model, ("folder", "fetch_folder", {"nargs": "?", "type": Path, "metavar": "FOLDER"})),
    "overview": (
        write_overview,
        ("folder", "overview_folder", {"type": Path, "metavar": "FOLDER"}),
        ("--no-names", "no_names", SWITCH),
        OUTPUT,
    ),
    "translations": (
        see_to_translations,
        LESSONS,
        ("--update", "update", SWITCH),
        ("--done", "done", {"nargs": "+", "metavar": "CELL", "default": []}),
    ),
}

if __name__ == "__main__":
    sys.exit(main())
