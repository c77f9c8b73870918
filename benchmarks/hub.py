"""A class at one server: memory and time of each student, and what one of them does to the others.

Run by hand, as root: ``python -m benchmarks.hub``. It starts the real hub with accounts of its own, lets all
students log in and run lesson 03 at once, answer an exercise wrong and right, restart and come back, and
writes benchmarks/results/hub.md. Memory is PSS: what processes share counts once, divided among them.
"""

import argparse
import os
import pwd
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from benchmarks.machine import describe_machine
from tests.hub.client import Student, code_cells, with_source
from tests.hub.server import Hub, running_hub
from tests.hub.test_class import ANSWER, CHECK, RIGHT, WRONG

RESULTS = Path(__file__).parent / "results" / "hub.md"
LEFT_TO_SYSTEM = 4  # GB that no student gets
HARM = {
    "takes all memory it gets": "held = []\nwhile True:\n    held.append(bytearray(2**26))",
    "forks without end": (
        "import os, time\nwhile True:\n    try:\n        if not os.fork():\n            time.sleep(600)\n"
        "    except BlockingIOError:\n        time.sleep(1)"
    ),
    "computes on every core": (
        "import os\nfor _ in range(os.cpu_count()):\n    os.fork()\nwhile True:\n    sum(range(10**6))"
    ),
    "fills the disk": "with open('big', 'wb', 0) as file:\n    while True:\n        file.write(bytes(2**24))",
}


def memory_of(students: list[Student]) -> dict[str, float]:
    """Return how many MB the processes of each student hold."""
    held = {student.name: 0.0 for student in students}
    for process in psutil.process_iter(["username"]):
        if (name := process.info["username"]) in held:
            with suppress(psutil.Error):  # it has just ended
                held[name] += process.memory_full_info().pss / 1e6
    return held


class Watched:
    """Record the most memory that each student and all together hold, every other second."""

    def __init__(self, students: list[Student]):
        self.students = students
        self.peak = {student.name: 0.0 for student in students}
        self.together = 0.0
        self.done = threading.Event()

    def watch(self) -> None:
        while not self.done.wait(2):
            now = memory_of(self.students)
            self.together = max(self.together, sum(now.values()))
            self.peak = {name: max(self.peak[name], now[name]) for name in now}


@contextmanager
def watched(students: list[Student]) -> Iterator[Watched]:
    watch = Watched(students)
    thread = threading.Thread(target=watch.watch)
    thread.start()
    try:
        yield watch
    finally:
        watch.done.set()
        thread.join()


def at_once(students: list[Student], act: Callable[[Student], object]) -> list[float]:
    """Let all students act at the same time; return the seconds of each."""

    def timed(student: Student) -> float:
        begun = time.monotonic()
        act(student)
        return time.monotonic() - begun

    with ThreadPoolExecutor(len(students)) as pool:
        return list(pool.map(timed, students))


def arrive(student: Student) -> None:
    assert student.log_in()
    assert student.start_server().ok


def run_lesson(student: Student) -> None:
    student.start_kernel()
    for name, code in code_cells(student.read()).items():
        said = student.run(code)
        assert "Traceback" not in said, f"{student.name}, {name}: {said}"


def answer(student: Student) -> None:
    check = code_cells(student.read())[CHECK]
    assert "✗" in student.run(f"{WRONG}\n{check}")
    assert "right on" in student.run(f"{RIGHT}\n{check}")
    student.save(with_source(student.read(), ANSWER, RIGHT))


def come_back(student: Student) -> None:
    student.stop_server()
    arrive(student)
    assert code_cells(student.read())[ANSWER] == RIGHT


def ask_around(students: list[Student], seconds: float) -> float:
    """Run a simple cell of each student again and again for so many seconds; return the longest time."""
    end, longest = time.monotonic() + seconds, 0.0
    while time.monotonic() < end:
        longest = max(longest, *at_once(students, lambda student: student.run("print(6 * 7)")))
        time.sleep(1)
    return longest


def do_harm(hub: Hub, students: list[Student], seconds: float) -> list[str]:
    """Let the first student do harm in each way; return how long the others wait meanwhile."""
    culprit, *others = students
    culprit.stop_server()
    give_small_disk(hub, culprit)
    lines = [f"| none of these | {ask_around(others, seconds):.1f} |"]
    for what, code in HARM.items():
        arrive(culprit)
        culprit.start_kernel()
        thread = threading.Thread(target=run_to_its_end, args=(culprit, code), daemon=True)
        thread.start()
        lines.append(f"| {what} | {ask_around(others, seconds):.1f} |")
        culprit.stop_server()
        subprocess.run(["pkill", "-KILL", "-u", culprit.name], check=False)  # as hub/README.md says
        thread.join(30)
    arrive(culprit)  # the disk is still full
    culprit.ask("DELETE", "contents/course/work/en/big")
    culprit.start_kernel()
    assert culprit.run("print(6 * 7)").strip() == "42"
    return lines


def give_small_disk(hub: Hub, student: Student) -> None:
    """Limit a home to 600 MB by a file system of its own, which stands for a quota."""
    account = pwd.getpwnam(student.name)
    owner = f"size=600m,mode=700,uid={account.pw_uid},gid={account.pw_gid}"
    enter = ["nsenter", "--mount", "--target", str(hub.pid)]
    mount = ["mount", "-t", "tmpfs", "-o", owner, "tmpfs", str(hub.home(student))]
    subprocess.run([*enter, *mount], check=True)


def run_to_its_end(student: Student, code: str) -> None:
    try:
        student.run(code)
    except Exception as error:  # its kernel or server may have ended
        print(f"{student.name}: {type(error).__name__}")


def spread(values: Collection[float]) -> str:
    return f"{statistics.median(values):.0f} ({min(values):.0f}–{max(values):.0f})"


def measure(count: int, seconds: float) -> list[str]:
    with running_hub() as hub:
        students = [hub.student(f"s{number:02}") for number in range(1, count + 1)]
        arrived = at_once(students, arrive)
        servers = memory_of(students).values()
        with watched(students) as watch:
            ran = at_once(students, run_lesson)
        after = memory_of(students).values()
        at_once(students, answer)
        back = at_once(students, come_back)
        at_once(students, lambda student: student.start_kernel())
        harm = do_harm(hub, students, seconds)
    each = watch.together / count / 1000
    carried = int((64 - LEFT_TO_SYSTEM) / each)
    at_worst = int((64 - LEFT_TO_SYSTEM) / max(watch.peak.values()) * 1000)
    core_seconds = statistics.median(ran) * (os.cpu_count() or 1) / count
    return [
        "# A class at one server",
        "",
        f"Made by `python -m benchmarks.hub`, as root: {count} students log in at the real hub and run "
        "lesson 03 at once, each on a server and a kernel of their own. Median (least–most).",
        "",
        "| for each student | |",
        "|---|---|",
        f"| from the login form to the lesson, s | {spread(arrived)} |",
        f"| all cells of lesson 03, s | {spread(ran)} |",
        f"| restart, and the answer found again, s | {spread(back)} |",
        f"| memory of the server alone, MB | {spread(servers)} |",
        f"| memory after lesson 03, server and kernel, MB | {spread(after)} |",
        f"| most memory during lesson 03, MB | {spread(watch.peak.values())} |",
        "",
        f"All {count} together held {watch.together / 1000:.2f} GB at most: {each:.2f} GB a student. Of a "
        f"machine with 64 GB, {LEFT_TO_SYSTEM} left to the system, that is {carried} students at once, "
        f"{at_worst} if all are at their peak together (arithmetic). Cores decide how long they wait: the "
        f"lesson takes at most {core_seconds:.0f} s of one core for each student.",
        "",
        "While the kernel of one student does harm, all others run a simple cell again and again for "
        f"{seconds:.0f} s. The longest that any of these cells took:",
        "",
        "| one kernel | longest wait of the others, s |",
        "|---|---|",
        *harm,
        "",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--students", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=20, help="how long each harm is watched")
    options = parser.parse_args()
    lines = measure(options.students, options.seconds)
    text = "\n".join([*lines, *describe_machine("cpu")]) + "\n"
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
