"""Talk to the program that converts formulas. A formula that hangs or crashes ends only that program."""

import atexit
import json
import subprocess
import sys
from itertools import count
from pathlib import Path
from threading import Lock, Timer
from typing import Any

PROGRAM = Path(__file__).with_name("converter.py")
LONGEST_WAIT = 10  # seconds; the slowest of a thousand formulas that were tried took half a second


class Program:
    """The one running program, shared by all pages. The first question starts it."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.starts = 0
        self.lock = Lock()
        atexit.register(self.end)

    def start(self) -> int:
        """Start the program if it is not running, and return how often it was started so far."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-P", str(PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
            )
            if not self.read():  # it says when it is ready
                raise RuntimeError(f"{PROGRAM.name} does not start: is math-core installed?")
            self.starts += 1
        return self.starts

    def ask(self, *question: Any) -> dict[str, str]:
        """The program's answer, or that the formula is too long if the program hangs or has ended."""
        assert self.process
        too_late = Timer(LONGEST_WAIT, self.process.kill)
        too_late.start()
        try:
            print(json.dumps(question), file=self.process.stdin, flush=True)
            answer = self.read()
        except OSError:
            answer = ""
        finally:
            too_late.cancel()
        if not answer:
            self.end()
        return json.loads(answer) if answer else {"sentence": "too_long"}

    def read(self) -> str:
        assert self.process
        assert self.process.stdout
        return self.process.stdout.readline()

    def end(self) -> None:
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None


PROGRAM_FOR_ALL = Program()
pages = count()


class Conversation:
    """The questions of one page. A new program is first told all earlier formulas of the page, which may
    define commands and labels."""

    def __init__(self) -> None:
        self.page = next(pages)
        self.told: list[tuple[str, bool]] = []
        self.start = 0  # the count of the start at which the program was told

    def ask(self, tex: str, display: bool) -> dict[str, str]:
        program = PROGRAM_FOR_ALL
        with program.lock:
            if self.start != program.start():
                self.start = program.starts
                for known in self.told:
                    program.ask(self.page, *known)
            answer = program.ask(self.page, tex, display)
        if "mathml" in answer:
            self.told.append((tex, display))
        return answer
