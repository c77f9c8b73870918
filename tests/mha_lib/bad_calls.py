"""Bad calls by what is bad about them: the call, the error that it must raise, and what the error says."""

from collections.abc import Callable

import pytest

Call = Callable[[], object]
BadCalls = dict[str, tuple[Call, type[Exception], str]]


def each_bad_call(calls: BadCalls) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("call", "error", "expected"), calls.values(), ids=calls)


def assert_refused(call: Call, error: type[Exception], expected: str) -> None:
    """The whole sentence: so no case would accept the message of another."""
    with pytest.raises(error) as raised:
        call()
    assert type(raised.value) is error
    assert str(raised.value) == expected
