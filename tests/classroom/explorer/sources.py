"""Sources of pictures for the tests."""

import inspect

from mha_lib.classroom.explorer.controls import make_control
from mha_lib.classroom.explorer.table import Source


def source_of(weights_of, labels=None, **controls):
    """A source that starts with the first options."""
    made = [make_control(name, given, inspect.Parameter.empty) for name, given in controls.items()]
    return Source(weights_of, made, {"query_labels": None, "key_labels": None} | (labels or {}))
