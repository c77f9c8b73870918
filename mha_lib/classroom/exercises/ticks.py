"""Facts that a lesson tests: a tick and the sentence where one holds, an error where it does not."""

from typing import Any

from mha_lib.classroom.lesson.language import words_here

GREEN, PLAIN = "\x1b[32m", "\x1b[39m"


def tick(condition: Any, sentence: str) -> None:
    """Print ``✓`` and the sentence if the condition is true; raise an ``AssertionError`` if it is false.

    The error says that the sentence does not hold. ``condition`` is a truth value, or a tensor of one entry.
    """
    __tracebackhide__ = True  # IPython then shows the lesson's own line last
    try:
        holds = bool(condition)
    except (RuntimeError, ValueError) as error:  # a tensor or an array of many entries
        raise ValueError(words_here()["ticks"]["one_truth_value"]) from error
    if not holds:
        raise AssertionError(words_here()["ticks"]["does_not_hold"].format(sentence=sentence))
    print(f"{GREEN}✓{PLAIN} {sentence}")
