"""Tables of bad calls: the call, the error that it must raise, and the words that the message must hold.

The words are the argument's name, what came and the way out. " … " stands between words that need not follow
one another: "keep … got [3, 3]". The message must begin with the first of them.
"""

import re
from collections.abc import Callable

import pytest

Call = Callable[[], object]
BadCalls = dict[str, tuple[Call, type[Exception], str]]


def each_bad_call(calls: BadCalls) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("call", "error", "words"), calls.values(), ids=calls)


def assert_refused(call: Call, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match="^" + ".*".join(map(re.escape, words.split(" … ")))) as raised:
        call()
    assert type(raised.value) is error
