"""Break the library on purpose, one way at a time, and see that its tests notice.

    python tests/mha_lib/mutants.py             every mutant
    python tests/mha_lib/mutants.py softmax     the mutants whose name contains "softmax"
    python tests/mha_lib/mutants.py --sample 9  nine of them, the same ones every time

A mutant is one replacement in one file, as ``mutants.txt`` lists it. It is applied to a copy of the library
in a temporary folder, never here. The tests of ``tests/mha_lib`` must notice it, those of the mutated file
first; a file of the classroom has only its own.
A mutant that survives shows that a test is missing: write it.

They are chosen by hand, since a tool makes too many: mutmut 3 makes 420 of ``masks.py`` alone, some 6,000 of
the library, which would take six hours; of 60 drawn, 8 survived, none for lack of a test of what is computed.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SLOW = "not compile and not importing and not two_processes"  # no mutant needs these
COPIED = ("mha_lib", "tests/mha_lib", "tests/classroom/tasks")


class Mutant(NamedTuple):
    name: str
    file: str
    old: str
    new: str


def read_mutants(listed: Path) -> list[Mutant]:
    """Read a list: ``[file] name``, then the old text after ``-`` and the new text after ``+``."""
    mutants = []
    for block in listed.read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("#")]
        if lines:
            file, name = lines[0].removeprefix("[").split("] ")
            old, new = ("\n".join(line[2:] for line in lines[1:] if line[0] == sign) for sign in "-+")
            mutants.append(Mutant(name, file, old, new))
    return mutants


MUTANTS = read_mutants(Path(__file__).with_suffix(".txt"))


def applied(mutant: Mutant) -> str:
    """Return the text of the mutated file."""
    text = (ROOT / "mha_lib" / mutant.file).read_text(encoding="utf-8")
    count = text.count(mutant.old)
    if count != 1:
        raise ValueError(
            f"mutant {mutant.name!r}: its text must occur once in {mutant.file}, it does {count} times"
        )
    return text.replace(mutant.old, mutant.new)


def tests_of(mutant: Mutant) -> list[str]:
    folder, name = Path(mutant.file).parent, f"test_{Path(mutant.file).name}"
    places = [Path("tests", folder, name)] if folder.parts else [Path("tests/mha_lib", name), "tests/mha_lib"]
    return [str(place) for place in places if (ROOT / place).exists()]


def run_tests(tests: list[str], mutant: Mutant | None = None) -> tuple[bool, str]:
    """Return whether the tests pass, and the name of the first that fails."""
    with tempfile.TemporaryDirectory() as folder:
        ignore = shutil.ignore_patterns("test_mutants.py", "__pycache__")
        for place in COPIED:
            shutil.copytree(ROOT / place, Path(folder, place), ignore=ignore)
        for file in (ROOT / "tests").glob("*.py"):
            shutil.copy(file, Path(folder, "tests"))
        if mutant is not None:
            Path(folder, "mha_lib", mutant.file).write_text(applied(mutant), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-k", SLOW, *tests]
        environment = os.environ | {"PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        if result.returncode not in (0, 1):
            raise RuntimeError(result.stdout + result.stderr)
        failures = [line for line in result.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return result.returncode == 0, failures[0].split(" - ")[0].split("::")[-1] if failures else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="take the mutants whose names contain all of these")
    parser.add_argument("--sample", type=int, help="take this many, the same ones every time")
    options = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if all(word in mutant.name for word in options.words)]
    # Sorted by a hash of the name, so that a new mutant changes at most one of the sample.
    chosen = sorted(chosen, key=lambda mutant: hashlib.sha256(mutant.name.encode()).digest())[
        : options.sample
    ]
    for mutant in chosen:
        applied(mutant)
    passed, failure = run_tests(sorted({test for mutant in chosen for test in tests_of(mutant)}))
    if not passed:
        print(f"The tests fail without any mutant: {failure}")
        return 1

    def tested(mutant: Mutant) -> tuple[bool, str]:
        return run_tests(tests_of(mutant), mutant)

    started, survivors = time.perf_counter(), []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for mutant, (survived, failure) in zip(chosen, pool.map(tested, chosen), strict=True):
            survivors += [mutant.name] * survived
            print(f"{'SURVIVED' if survived else 'killed  '}  {mutant.name:45} {failure}", flush=True)
    minutes = (time.perf_counter() - started) / 60
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutants killed in {minutes:.1f} minutes")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
