"""A class at one server: the time until a lesson is open, and the memory that each student takes.

Run by hand, as root: ``python -m benchmarks.hub``. It starts the real hub, lets 1, 2 and 10 students log in
at once and run lesson 03, and writes benchmarks/results/hub.md. podman reports the memory of a container.
"""

import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from benchmarks.machine import describe_machine
from tests.hub.client import Student
from tests.hub.server import Hub, build_image, run, running_hub
from tests.hub.test_class import answer, move_sliders, work_through_lesson

RESULTS = Path(__file__).parent / "results" / "hub.md"
LEFT_TO_SYSTEM = 4  # GB that no student gets
CLASSES = (1, 2, 10)


def memory_of(hub: Hub) -> list[float]:
    """How many MB each container holds."""
    command = ("podman", "stats", "--no-stream", "--no-reset", "--format={{.Name}} {{.MemUsageBytes}}")
    said = run(*command, check=True).stdout.splitlines()
    units = {"B": 1e-6, "kiB": 2**10 / 1e6, "KiB": 2**10 / 1e6, "MiB": 2**20 / 1e6, "GiB": 2**30 / 1e6}
    held = [line.split()[1] for line in said if line.startswith(hub.prefix)]
    return [float(one.rstrip("kKMGiB")) * units[one.lstrip("0123456789.")] for one in held]


@contextmanager
def watched(hub: Hub) -> Iterator[list[float]]:
    """The most memory that a student held, and that all held together, in MB."""
    most, done = [0.0, 0.0], threading.Event()

    def watch() -> None:
        while not done.wait(2):
            now = memory_of(hub)
            most[:] = [max(most[0], *now), max(most[1], sum(now))]

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield most
    finally:
        done.set()
        thread.join()


def at_once(students: list[Student], act: Callable[[Student], object]) -> float:
    """Let all students act at the same time; return the median of their seconds."""

    def timed(student: Student) -> float:
        begun = time.monotonic()
        act(student)
        return time.monotonic() - begun

    with ThreadPoolExecutor(len(students)) as pool:
        return statistics.median(pool.map(timed, students))


def log_in_and_open(student: Student) -> None:
    assert student.log_in()
    assert student.start_server().ok


def measure(count: int) -> tuple[list[float], float]:
    """A row of the table, and the GB that each student held while all were busiest."""
    with running_hub() as hub:
        students = [hub.student(f"s{number}") for number in range(count)]
        opened = at_once(students, log_in_and_open)
        server = statistics.median(memory_of(hub))
        with watched(hub) as most:
            at_once(students, Student.arrive)
            ran = at_once(students, work_through_lesson)
        after = statistics.median(memory_of(hub))
        at_once(students, move_sliders)
        at_once(students, answer)
    return [opened, ran, server, after, *most], most[1] / count / 1000


def main() -> None:
    build_image()
    rows, each, core_seconds = [], 0.0, 0.0
    for count in CLASSES:
        row, each = measure(count)
        core_seconds = row[1] * (os.cpu_count() or 1) / count
        rows.append(f"| {count} | " + " | ".join(f"{value:.0f}" for value in row) + " |")
    wanted = [f"{count} students {count * each + LEFT_TO_SYSTEM:.0f} GB" for count in (30, 100)]
    lines = [
        "# A class at one server",
        "",
        "Made by `python -m benchmarks.hub`, as root: students log in at the real hub and run lesson 03 "
        "at once, each in a container of podman. Seconds and MB are medians of the students; on a machine "
        "that does other work too, as the load below tells, the seconds are upper bounds.",
        "",
        "| students | login form to lesson, s | all cells of lesson 03, s | server alone, MB "
        "| after lesson 03, MB | most of one, MB | most together, MB |",
        "|---|---|---|---|---|---|---|",
        *rows,
        "",
        f"Of {CLASSES[-1]} at once each held {each:.2f} GB while all were busiest. By arithmetic, with "
        f"{LEFT_TO_SYSTEM} GB for the system, {' and '.join(wanted)}. Cores decide how long they wait: the "
        f"lesson takes at most {core_seconds:.0f} s of one core for each student.",
        "",
        *describe_machine("cpu"),
    ]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
