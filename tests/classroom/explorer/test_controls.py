"""The arguments of ``explore`` become controls, settings and labels."""

import inspect
import re

import numpy as np
import pytest
import torch

from mha_lib.classroom.explorer import explore
from mha_lib.classroom.explorer.controls import describe_inputs, make_control, read_labels

WORDS = {"off": "aus", "on": "ein", "sample": "Satz", "to_max": "0–größtes", "captions": {}}


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


def test_the_caption_of_a_language_stands_beside_the_name_of_a_setting():
    controls = [make_control("lens", [range(2), range(2)], [1, 1]), make_control("on", True, False)]
    described = describe_inputs(controls, 1, WORDS | {"captions": {"lens": "Längen"}}, of_masks=True)
    assert [entry["name"] for entry in described] == ["lens[0] Längen", "lens[1] Längen", "on"]


@pytest.mark.parametrize(
    ("given", "kind", "texts"),
    [
        (torch.linspace(0, 1, 3), "slider", ["0", "0.5", "1"]),
        (["1", "2"], "choice", ["1", "2"]),
        ([None, 1], "choice", ["None", "1"]),
        ([False, True], "choice", ["False", "True"]),
        ({"two": 2, "one": 1}, "choice", ["two", "one"]),
        ([["a", "b"], ["c"]], "choice", ["a", "b"]),
        ([1000000.1, 1000000.2], "slider", ["1000000.1", "1000000.2"]),  # alike when short
    ],
)
def test_numbers_are_a_slider_and_categories_are_a_choice(given, kind, texts):
    control = make_control("a", given, inspect.Parameter.empty)
    assert (control.kind, control.texts[0]) == (kind, texts)


@pytest.mark.parametrize(
    ("given", "default", "start"),
    [
        (np.arange(0.1, 1.0, 0.1), 0.3, 2),  # 0.30000000000000004
        ([10**12, 10**12 + 1], 10**12 + 1, 1),
        ([1e-12, 2e-12], 2e-12, 1),
        (torch.tensor([0.1, 0.3]), torch.tensor(0.3), 1),
        ([None, 0.5, "x"], "x", 2),
    ],
)
def test_a_default_is_found_as_near_as_rounding_leaves_it(given, default, start):
    assert make_control("a", given, default).start == (start,)


def test_a_default_that_is_an_array_is_found_by_what_it_is():
    masks = {"all": torch.ones(2, 2), "causal": torch.ones(2, 2).tril()}
    assert make_control("a", masks, masks["causal"]).start == (1,)
    with pytest.raises(ValueError, match=r"which \[all, causal\] doesn't offer"):
        make_control("a", masks, torch.ones(2, 2))


def test_labels_are_one_list_for_all_samples_or_one_for_each():
    assert read_labels("key_labels", "ab", 3, 2) == [["a", "b"]] * 3
    assert read_labels("key_labels", [["a", "b"], (1, 2)], 2, 2) == [["a", "b"], ["1", "2"]]
    assert read_labels("key_labels", None, 2, 3) is None
    assert read_labels("key_labels", torch.arange(2), 1, 2) == [["0", "1"]], "tensors read as numbers"


@pytest.mark.parametrize(
    ("error", "message", "arguments"),
    [
        (TypeError, "a must be a list, range, list of ranges, bool, dict or str, got 3", {"a": 3}),
        (ValueError, "a must offer at least one value, got [[1], []]", {"a": [[1], []]}),
        (ValueError, "weights_of starts with a=1, which [2, 3] doesn't offer", {"a": [2, 3]}),
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
