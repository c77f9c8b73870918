"""A sentence in the language of the lesson below an error of the library, which speaks English.

Errors that end a cell get one, and those that a check reports, if the library itself has raised them.
"""

import re
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

from mha_lib.classroom.lesson.language import ENGLISH, words_here, words_in

LIBRARY = Path(__file__).parents[2]
# Forms of what the library says, by the names of their sentences in words/; the first that fits counts.
PATTERNS = {
    "heads_divide": r"(num_hiddens=\d+) must be divisible by (num_heads=\d+)",
    "width_divides": r"the width of x must be divisible by (num_heads=\d+), got (\d+)",
    "tensor": r"^(\w+) must be a tensor, got (\w+)",
    "floating": r"^(\w+) must hold floating-point numbers, got ([\w.]+)",
    "integer": r"^(\w+) must be an integer, got (.+?);",
    "least": r"^(\w+) must be at least (\d+), got (-?\d+)",
    "as_wide": r"^keys must be as wide as queries for a dot product, (\d+), got (\d+)",
    "as_many": r"^values must be as many as keys, (\d+), got (\d+)",
    "agree": r"^(\w+) must agree with queries in .*?, (\(.*?\)), got shape (\([\d, ]*\))",
    "integer_lens": r"^valid_lens must hold integers, got ([\w.]+)",
    "range_of_lens": r"^valid_lens must lie from 0 to the number of keys, (\d+), got (-?\d+) to (-?\d+)",
    "lens_like_mask": r"^valid_lens must hold lengths, got .* all 0 or 1",
    "boolean": r"^(\w+) must be boolean \(True = may attend\), got ([\w.]+)",
    "causal": r"^a causal mask \(is_causal\) needs num_queries <= num_keys, got (\d+) > (\d+)",
    "shape": r"^(\w+) must be (\([^;]*\)), got shape (\([\d, ]*\))",
}


def explain_errors(shell: Any) -> None:
    """From now on an error of the library that ends a cell has a sentence below it, if there is one."""
    if are_translated():
        shell.set_custom_exc((TypeError, ValueError), show_explained)


def show_explained(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    tb: TracebackType,
    tb_offset: int | None = None,
) -> None:
    if sentence := explanation(error):
        error.args = (f"{error}\n{sentence}",)
    shell.showtraceback((kind, error, tb), tb_offset=tb_offset)


def explanation(error: BaseException) -> str:
    """The sentence for an error; "" for one that the library has not raised, and in English."""
    frames = traceback.extract_tb(error.__traceback__)
    is_librarys = bool(frames) and Path(frames[-1].filename).parent == LIBRARY
    return gloss(str(error)) if is_librarys and are_translated() else ""


def gloss(said: str) -> str:
    """The sentence for what the library says; "" if there is none."""
    for name, pattern in PATTERNS.items():
        if found := re.search(pattern, said):
            return str(words_here()["library_errors"][name].format(*found.groups()))
    return ""


def are_translated() -> bool:
    return bool(words_here()["library_errors"] != words_in(ENGLISH)["library_errors"])
