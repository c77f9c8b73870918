"""Tables of bad calls: the call, and the words that the message of its error must hold.

The words are the argument's name, what came and the way out. " … " stands between words that need not follow
one another: "keep … got [3, 3]". The message must begin with the first of them.
"""

import re
from collections.abc import Callable

import pytest

Call = Callable[[], object]
BadCalls = list[tuple[Call, str]]


def each_bad_call(tables: dict[type[Exception], BadCalls]) -> pytest.MarkDecorator:
    cases = [(call, error, words) for error, calls in tables.items() for call, words in calls]
    return pytest.mark.parametrize(("call", "error", "words"), cases, ids=[case[2] for case in cases])


def assert_refused(call: Call, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match="^" + ".*".join(map(re.escape, words.split(" … ")))) as raised:
        call()
    assert type(raised.value) is error
