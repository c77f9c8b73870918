"""Says how far a run of the tests is, and at its end, in a line, what came out and what to do.

python -m tests.running.progress    how long ``make test`` takes: the last time here, or on two quiet cores
"""

import time
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
LAST = ROOT / "build" / "test-seconds.txt"  # the last whole `make test` here that passed
QUIET = 8 * 60  # seconds of `make test` on two quiet cores, set-up aside
EVERY = 20  # seconds between two lines
# Seconds that a test takes on average, by its folder; all others take little beside these.
SECONDS = {"browser": 2.2, "notebooks": 1.0, "hub": 12.0}
OTHER = 0.05
# The tiers of tests above `make test`, by their marks, and the commands that run them.
TIERS = {"ci": "make test-ci", "whole": "make test-all"}


def clock(seconds: float) -> str:
    """Minutes and seconds: ``7:05``."""
    return str(timedelta(seconds=round(seconds))).removeprefix("0:").removeprefix("0")


def forecast() -> str:
    try:
        seconds, whose = float(LAST.read_text()), "as the last time here"
    except (OSError, ValueError):
        seconds, whose = QUIET, "on two quiet cores; a busy machine takes longer"
    return f"The tests take about {clock(seconds)} minutes, {whose}."


class Progress:
    """Counts the tests of a run. With pytest-xdist, each process has one, and the one that reports tells."""

    def __init__(self, config: pytest.Config):
        self.config = config
        self.started = self.told = time.monotonic()
        self.whole = self.done = 0.0  # in seconds, as SECONDS has them
        self.ended = 0
        self.skipped: Counter[str] = Counter()  # by the reason, which says how to get what is missing
        self.failed: dict[str, None] = {}  # the tests, in their order
        self.left_out: Counter[str] = Counter()
        self.last_line = ""

    @staticmethod
    def weight(test: str) -> float:
        folders = (seconds for folder, seconds in SECONDS.items() if test.startswith(f"tests/{folder}/"))
        return next(folders, OTHER)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.whole = sum(self.weight(item.nodeid) for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        self.whole = sum(map(self.weight, ids))

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        for item in items:
            if tier := next((tier for tier in reversed(TIERS) if item.get_closest_marker(tier)), None):
                self.left_out[tier] += 1

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Print no letter for a test that passes or can't run here: lines tell how far the run is."""
        if report.skipped:
            return "skipped", "", "SKIPPED"
        return ("passed", "", "PASSED") if report.when == "call" and report.passed else None

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and isinstance(report.longrepr, tuple):
            self.skipped[report.longrepr[-1].removeprefix("Skipped: ")] += 1
        if report.failed:
            self.failed[report.nodeid] = None
        if report.when != "teardown":
            return
        self.ended += 1
        self.done += self.weight(report.nodeid)
        now = time.monotonic()
        if now - self.told >= EVERY and self.done < self.whole:
            self.told = now
            failed = f", {len(self.failed)} of them failed" if self.failed else ""
            share = f"{min(self.done / self.whole, 0.99):4.0%} after {clock(now - self.started)}"
            self.write(f"{share}: {self.ended} tests{failed}")

    def write(self, line: str) -> None:
        if reporter := self.config.pluginmanager.get_plugin("terminalreporter"):
            reporter.ensure_newline()
            reporter.write_line(line)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Tell the process that reports what this one has left out; each process leaves out the same."""
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["left_out"] = dict(self.left_out)
        elif exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            took = time.monotonic() - self.started
            self.last_line = self.summary(took)
            if not self.failed and self.is_whole():
                LAST.parent.mkdir(exist_ok=True)
                LAST.write_text(f"{took:.0f}\n")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.left_out = Counter(getattr(node, "workeroutput", {}).get("left_out", {}))

    def pytest_terminal_summary(self) -> None:
        for tier, count in sorted(self.left_out.items()):
            self.write(f"Left out {count} tests, which {TIERS[tier]} runs.")

    def is_whole(self) -> bool:
        """Whether this is a run of ``make test``, of all that belongs to it."""
        options = self.config.option
        every = self.config.args_source == pytest.Config.ArgsSource.TESTPATHS and not options.keyword
        return bool(every and options.markexpr == "not ci and not whole")

    def summary(self, took: float) -> str:
        skipped = "; ".join(f"{count} ({reason})" for reason, count in self.skipped.most_common())
        if not self.failed:
            passed = f"Good: {self.ended - self.skipped.total()} tests passed in {clock(took)} minutes."
            return f"{passed} Could not run here: {skipped}." if skipped else passed
        first = next(iter(self.failed))
        return (
            f"{len(self.failed)} of {self.ended} tests failed. Run the first alone: make test T='{first}'. "
            "What was on a page: build/test-failures/."
        )

    def pytest_unconfigure(self) -> None:
        """Print the last line, after those of pytest itself."""
        if self.last_line:
            print(self.last_line)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Progress(config), "progress")


if __name__ == "__main__":
    print(forecast())
