"""The few ways in which a test of a page waits and reads.

A page changes while a test looks at it: it loads, scrolls, draws, asks the kernel. So a test never reads a
value once. It waits for a value that it can name (`until`, `becomes`, Playwright's `expect`), or it reads a
value that has come to rest (`measure`, `box_of`, `text_of`): the same in two frames in a row, with nothing
scrolling and no animation running. `tests/test_waits.py` refuses all other forms.

A condition is asked from here again and again. Playwright's own ``wait_for_function`` evaluates its text in
the page, which the policy of a handout forbids as soon as the first answer is false.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import nbformat
from nbformat import NotebookNode
from playwright.sync_api import FloatRect, Locator, Page, expect

from tests.waiting import PATIENCE, eventually

Answer = TypeVar("Answer")

PAUSE = 25  # ms between two questions to a page
# Two frames; where nothing is painted, as in a window behind others, the pause before it has to do.
FRAMES = """() => Promise.race([
    new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    new Promise((done) => setTimeout(done, 500)),
])"""
# Three things fade and move nothing: Reveal's empty backgrounds, for 0.8 s after each turn, the words at the
# foot of a deck, for 7 s, and the cursor of an editor.
MOVES = """() => {
    const fades = ".reveal .backgrounds *, #deck-foot output.done, .cm-cursorLayer";
    const counts = ({ effect }) =>
        effect?.getComputedTiming().endTime !== Infinity && !effect?.target?.matches(fades);
    return document.getAnimations().some((each) => each.playState === "running" && counts(each));
}"""


def page_of(target: Page | Locator) -> Page:
    return target if isinstance(target, Page) else target.page


def act(target: Page | Locator, script: str, argument: Any = None) -> None:
    """Let a script do something in the page; what it returns is no measurement, and is dropped."""
    target.evaluate(script, argument)


def answer_of(target: Page | Locator, function: str, argument: Any = None) -> Any:
    """The answer of a function that returns a promise: it comes when it is ready, and does not change."""
    checked = f"""(...given) => {{
        const answer = ({function})(...given);
        if (!(answer instanceof Promise)) throw new Error("returns no promise: write measure");
        return answer;
    }}"""
    return target.evaluate(checked, argument)


def until(target: Page | Locator, condition: str, argument: Any = None) -> Any:
    """Wait until a script's answer is true, and return it."""
    return asked(target, condition, argument, bool, "an answer that is true")


def becomes(target: Page | Locator, script: str, expected: Any, argument: Any = None) -> None:
    """Wait until a script's answer is the expected one."""
    asked(target, script, argument, lambda answer: bool(answer == expected), repr(expected))


def asked(
    target: Page | Locator, script: str, argument: Any, accept: Callable[[Any], bool], wanted: str
) -> Any:
    end = time.monotonic() + PATIENCE
    while not accept(answer := target.evaluate(script, argument)):
        assert time.monotonic() < end, f"wanted {wanted}, got {answer!r} to the end from {script}"
        page_of(target).wait_for_timeout(PAUSE)
    return answer


def settled(target: Page | Locator, read: Callable[[], Answer]) -> Answer:
    """Return what ``read`` gives once it is the same in two frames in a row and no animation runs."""
    page, end = page_of(target), time.monotonic() + PATIENCE
    before: Answer | object = object()
    answer = read()
    while answer != before or page.evaluate(MOVES):
        assert time.monotonic() < end, f"does not come to rest: {before!r}, then {answer!r}"
        page.evaluate(FRAMES)
        before, answer = answer, read()
    return answer


def measure(target: Page | Locator, script: str, argument: Any = None) -> Any:
    """Return what a script measures in the page at rest."""
    return settled(target, lambda: target.evaluate(script, argument))


def box_of(locator: Locator) -> FloatRect:
    """The place and size of an element at rest, after all scrolling."""
    expect(locator).to_be_visible()
    box = settled(locator, locator.bounding_box)
    assert box, "the element is not shown any more"
    return box


def text_of(locator: Locator) -> str:
    """The text of an element at rest, as a person sees it."""
    return settled(locator, locator.inner_text)


def texts_of(locator: Locator) -> list[str]:
    return settled(locator, locator.all_inner_texts)


def attribute_of(locator: Locator, name: str) -> str | None:
    return settled(locator, lambda: locator.get_attribute(name))


def count_of(locator: Locator) -> int:
    """How many elements there are at rest. To wait for a number that is known, use `expect`."""
    return settled(locator, locator.count)


def each_of(locator: Locator) -> list[Locator]:
    """The elements, one by one, once there is at least one and their number is at rest."""
    expect(locator).not_to_have_count(0)
    return [locator.nth(number) for number in range(count_of(locator))]


def picture_of(target: Page | Locator) -> bytes:
    """A PNG of a page or an element at rest."""
    return settled(target, target.screenshot)


# ---- JupyterLab and the deck ----

IDLE = """() => {
    const isWaiting = (prompt) => prompt.textContent.includes("*");
    return ![...document.querySelectorAll(".jp-InputPrompt")].some(isWaiting);
}"""


def expect_idle(page: Page) -> None:
    """Wait until the kernel of the notebook in JupyterLab is idle, and no cell waits for its reply.

    A cell's reply comes after its outputs, so these have arrived.
    """
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
    until(page, IDLE)


def saved_when(file: Path, condition: Callable[[NotebookNode], Any], what: str) -> NotebookNode:
    """Wait until a notebook on disk is as wanted, and return it; the server may be writing it meanwhile."""

    def read() -> NotebookNode | None:
        try:
            notebook: NotebookNode = nbformat.read(file, as_version=4)
        except (FileNotFoundError, ValueError):
            return None
        return notebook if condition(notebook) else None

    return eventually(read, f"{file.name} on disk with {what}")
