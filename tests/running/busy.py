"""Run the tests that a busy machine might fail three times on a machine that is made busy.

    python -m tests.running.busy          all parts
    python -m tests.running.busy 2/6      the second of six

All tests of `make test-ci` take part but those of the library's arithmetic, which start no browser, no
kernel, no thread and no process. Two processes that compute without end take the cores beside them; the order
is random, and the time zone and the locale are foreign. A file that has passed three times is not run again
while it stands as it is, and with it the course and what tests share: ``build/test-busy.json`` remembers it.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mha_lib.classroom.lesson.files import digest
from tests.running.progress import ROOT, Progress

REMEMBERED = ROOT / "build" / "test-busy.json"
TESTS = ROOT / "tests"
RUNS = 3
PARTS = 6
PROCESSES = 4  # of pytest: with the busy ones, three times as many as there are cores
BUSY = 2
SELECTED = ["-m", "not whole"]
PACKAGES = ("mha_lib", "offline_notebook", "torch_in_page")
COURSE = (*PACKAGES, "notebooks", "img", "hub", "pyproject.toml", "constraints.txt")
FOREIGN = {"TZ": "Pacific/Chatham", "LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "tr"}


class Collected:
    """A plugin of pytest: how long the tests of each file take, roughly."""

    def __init__(self) -> None:
        self.seconds: dict[Path, float] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            self.seconds[item.path] = self.seconds.get(item.path, 0.0) + Progress.weight(item.nodeid)


def takes_part(file: Path) -> bool:
    return file.parent != TESTS / "mha_lib" or file.name == "test_parallel.py"


def deal(seconds: dict[Path, float], parts: int) -> list[list[Path]]:
    """Deal the files into parts that take about the same time, in the same way for the same tests."""
    dealt: list[list[Path]] = [[] for _ in range(parts)]
    loads = [0.0] * parts
    for file in sorted(filter(takes_part, seconds), key=lambda file: (-seconds[file], file)):
        lightest = loads.index(min(loads))
        dealt[lightest].append(file)
        loads[lightest] += seconds[file]
    return dealt


def common() -> str:
    """A digest of what all tests stand on: the course, and the files of tests/ that are no tests."""
    course = [file for name in COURSE for file in [ROOT / name, *(ROOT / name).rglob("*")]]
    shared = [*course, *(file for file in TESTS.rglob("*") if not file.name.startswith("test_"))]
    return digest(file for file in shared if file.is_file() and "__pycache__" not in file.parts)


@contextmanager
def busy_processes() -> Iterator[None]:
    """Keep the cores busy; the processes end with this one, also where it is killed."""
    until_we_end = f"import os\nwhile os.getppid() == {os.getpid()}: sum(range(10**6))"
    others = [subprocess.Popen([sys.executable, "-c", until_we_end]) for _ in range(BUSY)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def failed_in(files: list[Path], seed: int) -> list[str]:
    """Run the files once, in the order of the seed; returns the tests that failed."""
    command = [sys.executable, "-m", "pytest", *SELECTED, "--shuffle", str(seed)]
    command += ["--numprocesses", str(PROCESSES), "--dist", "loadfile", "--no-loadscope-reorder"]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command += [f"--junitxml={report}", *map(str, files)]
        result = subprocess.run(command, cwd=ROOT, env=os.environ | FOREIGN)
        cases = list(ElementTree.parse(report).iter("testcase")) if report.exists() else []
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    names = [f"{case.get('classname')}::{case.get('name')}" for case in failed]
    return names or [f"pytest ended with {result.returncode}"] * (result.returncode not in (0, 5))


def run_three_times(files: Iterable[Path]) -> Counter[str]:
    """Run the files that are not remembered; returns how often each test failed, and remembers the others."""
    remembered = json.loads(REMEMBERED.read_text()) if REMEMBERED.exists() else {}
    basis = common()
    states = {file.resolve().relative_to(ROOT).as_posix(): basis + digest([file]) for file in files}
    left = [name for name, state in states.items() if remembered.get(name) != state]
    print(f"{len(left)} files to run, {len(states) - len(left)} have passed as they stand.", flush=True)
    failures: Counter[str] = Counter()
    for run in range(1, RUNS + 1) if left else ():
        print(f"Run {run} of {RUNS}", flush=True)
        with busy_processes():
            failures.update(failed_in([ROOT / name for name in left], random.randrange(10**6)))
    red = {failure.split("::")[0].replace(".", "/") + ".py" for failure in failures}
    if red <= set(left):
        REMEMBERED.parent.mkdir(exist_ok=True)
        passed = {name: states[name] for name in left if name not in red}
        REMEMBERED.write_text(json.dumps(remembered | passed, indent=1, sort_keys=True))
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", help="such as 2/6; all of them one after another without it")
    options = parser.parse_args()
    number, parts = map(int, options.part.split("/")) if options.part else (0, PARTS)
    if not 0 <= number <= parts:
        parser.error(f"a part must be from 1/{parts} to {parts}/{parts}, got {options.part}")
    collected = Collected()
    known = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"  # the plugin progress
    pytest.main(["--collect-only", "-qqq", "-W", known, *SELECTED], plugins=[collected])
    failures: Counter[str] = Counter()
    for each in [number] if number else range(1, parts + 1):
        print(f"Part {each} of {parts}", flush=True)
        files = deal(collected.seconds, parts)[each - 1]
        # Containers change the networks of this machine, and Chromium then drops what it loads.
        of_the_hub = {file for file in files if file.parent == TESTS / "hub"}
        for group in (set(files) - of_the_hub, of_the_hub):
            failures += run_three_times(group)
    for test, count in failures.items():
        print(f"failed {count} of {RUNS} times: {test}")
    print("Not good: see above." if failures else "Good: nothing failed, not even once.")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
