"""No test can race by its form: the tests are read, and every raw way to wait or to read once is refused.

`tests/waiting.py` and `tests/browser/waiting.py` hold the forms that are left.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
HELPERS = {TESTS / "waiting.py", TESTS / "browser" / "waiting.py"}
# These run the tests, and tell how long they took.
RUNNERS = {*(TESTS / "running").glob("*.py"), TESTS / "mha_lib" / "mutants.py"}
WITH_PAGES = ("browser", "hub")  # folders
# Methods of Playwright that wait for nothing, or for time, and what to write in their place.
OF_A_PAGE = {
    "wait_for_function": "until",
    "wait_for_timeout": "until, measure",
    "wait_for_load_state": "expect, until",
    "evaluate": "act, until, becomes, measure, answer_of",
    "evaluate_all": "act, until, becomes, measure",
    "evaluate_handle": "act, until, becomes, measure",
    "eval_on_selector": "act, until, becomes, measure",
    "query_selector": "locator",
    "query_selector_all": "locator",
    "bounding_box": "box_of",
    "inner_text": "expect(...).to_have_text, text_of",
    "inner_html": "expect(...), settled",
    "text_content": "expect(...).to_have_text, text_of",
    "all_inner_texts": "expect(...).to_have_text, texts_of",
    "all_text_contents": "expect(...).to_have_text, texts_of",
    "input_value": "expect(...).to_have_value, settled",
    "get_attribute": "expect(...).to_have_attribute, attribute_of",
    "is_visible": "expect(...).to_be_visible",
    "is_hidden": "expect(...).to_be_hidden",
    "is_enabled": "expect(...).to_be_enabled",
    "is_disabled": "expect(...).to_be_disabled",
    "is_checked": "expect(...).to_be_checked",
    "screenshot": "picture_of",
}
WITHOUT_ARGUMENTS = {"count": "expect(...).to_have_count, count_of", "all": "each_of"}  # as of a Locator
CLOCKS = {"sleep", "time", "monotonic", "perf_counter", "process_time", "thread_time", "now", "utcnow"}
CLOCKS |= {f"{clock}_ns" for clock in CLOCKS}
TIMED = re.compile(r"\bset(Timeout|Interval)\(|\bperformance\.now\(|\bDate\.now\(")  # in a script for a page


def raw_forms(source: str, pages: bool = True) -> Iterator[tuple[int, str]]:
    """The lines of a test's code that wait for time or read a page once, each with what to write instead."""
    for node in ast.walk(ast.parse(source)):
        if pages and isinstance(node, ast.Attribute) and node.attr in OF_A_PAGE:
            yield node.lineno, f".{node.attr}: write {OF_A_PAGE[node.attr]}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name, owner = node.func.attr, node.func.value
            if pages and name in WITHOUT_ARGUMENTS and not node.args and not node.keywords:
                yield node.lineno, f".{name}(): write {WITHOUT_ARGUMENTS[name]}"
            if name in CLOCKS and isinstance(owner, ast.Name) and owner.id in ("time", "datetime", "asyncio"):
                yield node.lineno, f"{owner.id}.{name}: write eventually, until"
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            yield node.lineno, "a clock: write eventually, until"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and TIMED.search(node.value):
            yield node.lineno, "a script that waits for time: write until, measure"


FILES = sorted(set(TESTS.rglob("*.py")) - HELPERS - RUNNERS - {Path(__file__)})


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(TESTS).as_posix())
def test_no_test_waits_for_time_or_reads_once(file):
    forms = raw_forms(file.read_text(encoding="utf-8"), file.parent.name in WITH_PAGES)
    found = [f"{file.name}:{line} {form}" for line, form in forms]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "form",
    [
        "page.wait_for_function('window.ready')",
        "page.wait_for_timeout(500)",
        "time.sleep(1)",
        "from time import sleep",
        "assert time.monotonic() - started < 30",
        "page.evaluate('() => new Promise((done) => setTimeout(done, 500))')",
        "PAUSE = 'setTimeout(done, 500)'",
        "before = heading.bounding_box()",
        "read = heading.bounding_box",
        "scrolled = page.evaluate('scrollY')",
        "assert locator.is_visible()",
        "assert page.locator('img').count() == 0",
        "for row in page.locator('tr').all(): pass",
        "assert status.inner_text() == 'done'",
        "picture = page.screenshot()",
    ],
)
def test_every_raw_form_is_found(form):
    assert list(raw_forms(form))


def test_the_helpers_own_forms_and_other_things_of_the_same_names_are_no_raw_forms():
    good = "until(page, 'window.ready'); words.count('a'); box_of(heading)"
    assert not list(raw_forms(good))
    assert not list(raw_forms("(a == b).all()", pages=False))
