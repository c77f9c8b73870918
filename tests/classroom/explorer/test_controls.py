"""What the arguments of ``explore`` mean."""

import re

import numpy as np
import pytest

from mha_lib.classroom.explorer import explore
from mha_lib.classroom.explorer.controls import describe_inputs, make_control, read_labels

WORDS = {"off": "aus", "on": "ein", "sample": "Satz", "to_max": "0–größtes"}


def test_each_control_hands_over_its_value():
    seen = []

    def weights_of(size, lens, on, which, text, ratio=0.5):
        seen.append((size, lens, on, which, text, ratio))
        return np.full((1, 2), 0.5)

    which = {"a": "x", "b": "y"}
    vector = [range(3), [7]]
    explorer = explore(
        weights_of, size=range(2, 4), lens=vector, on=True, which=which, text="t", ratio=[0.25, 0.5]
    )
    assert seen[0] == (2, [0, 7], True, "x", "t", 0.5)  # the first values, and the signature's default
    explorer.set_state({"setting": [1, 2, 0, 0, 1, "u", 0]})
    assert seen[-1] == (3, [2, 7], False, "y", "u", 0.25)


def test_the_browser_asks_for_every_entry_and_for_the_traits_beside_them():
    controls = [
        make_control("lens", [range(2), [7]], [1, 7]),
        make_control("ratio", [0.25, 1.0], 1.0),
        make_control("on", True, False),
        make_control("which", {"a": "x"}, "x"),
        make_control("text", "t", "t"),
    ]
    assert describe_inputs(controls, 2, WORDS) == [
        {"name": "lens[0]", "kind": "slider", "texts": ["0", "1"], "trait": "setting", "at": 0},
        {"name": "lens[1]", "kind": "slider", "texts": ["7"], "trait": "setting", "at": 1},
        {"name": "ratio", "kind": "slider", "texts": ["0.25", "1"], "trait": "setting", "at": 2},
        {"name": "on", "kind": "switch", "texts": ["aus", "ein"], "trait": "setting", "at": 3},
        {"name": "which", "kind": "choice", "texts": ["a"], "trait": "setting", "at": 4},
        {"name": "text", "kind": "text", "texts": [], "trait": "setting", "at": 5},
        {"name": "Satz", "kind": "slider", "texts": ["0", "1"], "trait": "sample", "at": -1},
        {"name": "0–größtes", "kind": "switch", "texts": ["aus", "ein"], "trait": "to_max", "at": -1},
    ]
    assert [control.start for control in controls] == [(1, 0), (1,), (1,), (0,), ("t",)]
    assert [entry["trait"] for entry in describe_inputs([], 1, WORDS)] == ["to_max"]


def test_labels_are_one_list_for_all_samples_or_one_for_each():
    assert read_labels("key_labels", "ab", 3, 2) == [["a", "b"]] * 3
    assert read_labels("key_labels", [["a", "b"], (1, 2)], 2, 2) == [["a", "b"], ["1", "2"]]
    assert read_labels("key_labels", None, 2, 3) == [["0", "1", "2"]] * 2


@pytest.mark.parametrize(
    ("error", "message", "arguments"),
    [
        (TypeError, "a must be a list, range, list of ranges, bool, dict or str, got 3", {"a": 3}),
        (ValueError, "a must offer at least one value, got []", {"a": []}),
        (ValueError, "a must offer at least one value, got {}", {"a": {}}),
        (ValueError, "a must offer at least one value, got [[1], []]", {"a": [[1], []]}),
        (ValueError, "weights_of starts with a=1, which [2, 3] doesn't offer", {"a": [2, 3]}),
        (
            ValueError,
            "key_labels must hold 2 labels, in one list or one a sample (1), got 1",
            {"key_labels": ["one"]},
        ),
        (
            ValueError,
            "query_labels must hold 1 labels, in one list or one a sample (1), got 1, 1",
            {"query_labels": [["a"], ["b"]]},
        ),
    ],
)
def test_a_wrong_argument_is_named(error, message, arguments):
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        explore(lambda a=1: np.ones((1, 2)), **arguments)
