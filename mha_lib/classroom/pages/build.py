"""One run of a command that publishes: its progress, its warnings and failures, and its exit status."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mha_lib.classroom.lesson import CourseError, in_one_line
from mha_lib.classroom.lesson.files import require_writable
from mha_lib.classroom.lesson.language import words_in

STOPPED = 130  # the exit status after Ctrl-C


class Progress:
    """One line in a terminal about what is being done; silent where the output goes elsewhere."""

    def __init__(self) -> None:
        self.is_shown = sys.stderr.isatty()

    def show(self, line: str) -> None:
        """Write over the line that was shown before; an empty line clears it."""
        if self.is_shown:
            columns = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r" + line[:columns].ljust(columns) + ("" if line else "\r"))
            sys.stderr.flush()


class Build:
    """One run: each failure and each warning is one line at its end, in the user's language."""

    def __init__(self, folder: Path, language: str):
        require_writable(folder)  # before the work that takes minutes
        self.folder = folder
        self.language = language
        self.words = words_in(self.language)
        self.progress = Progress()
        self.warnings: list[str] = []
        self.failures: list[tuple[str, CourseError]] = []  # each with what failed
        self.was_stopped = False

    @contextmanager
    def until_ctrl_c(self) -> Iterator[None]:
        """Ctrl-C ends this block; what comes after the block is still done."""
        try:
            yield
        except KeyboardInterrupt:
            self.was_stopped = True

    @contextmanager
    def attempt(self, subject: object) -> Iterator[None]:
        """Keep whatever stops the work on one subject, a lesson say, as a failure: the others go on."""
        try:
            yield
        except Exception as error:
            self.failures.append((str(subject), in_one_line(subject, error)))

    def warn_of(self, subject: object) -> Callable[[str], None]:
        """A function that keeps a warning about the subject until the end, where it tears no line."""
        return lambda warning: self.warnings.append(f"{subject}: {warning}")

    def wrote(self, file: Path, about: str | None = None) -> None:
        """Say that a file was written, and something about it: its size, unless something else is given."""
        self.progress.show("")
        about = f"{file.stat().st_size / 1000:.0f} KB" if about is None else about
        print(f"{file}  {about}".rstrip())

    def end(self) -> int:
        """Say what went wrong, and return the exit status: 0, 1 after a failure, 130 after Ctrl-C."""
        self.progress.show("")
        self.failures.sort(key=lambda failure: failure[0])  # side by side, lessons fail in any order
        said = [*self.warnings, *(error.said_in(self.language) for _, error in self.failures)]
        if self.was_stopped:
            said.append(CourseError("stopped").said_in(self.language))
        for line in said:
            print(line, file=sys.stderr)
        return STOPPED if self.was_stopped else int(bool(self.failures))
