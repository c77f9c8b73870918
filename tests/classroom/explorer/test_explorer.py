"""What the explorer hands to the browser and to the next cell, without a browser."""

import subprocess
import sys
import zlib

import numpy as np
import pytest
import torch

from mha_lib import masked_softmax, padding_mask
from mha_lib.classroom.explorer.widget import drive, explore

B, H, Q, K = 2, 7, 3, 5


def maps(explorer, state):
    """The table's picture of a setting: weights and what the mask forbids, (B, H, Q, K)."""
    entry = next(entry for entry in explorer.directory if list(entry["state"]) == state)
    table = np.frombuffer(zlib.decompress(explorer.table), "<f2")
    _, heads, queries, keys = entry["shape"]
    size = heads * queries * keys
    half = np.stack([table[at : at + size].reshape(heads, queries, keys) for at in entry["at"]])
    return np.abs(half), np.signbit(half)


def some_weights(num_heads=H, valid_lens=(5, 2)):
    mask = padding_mask(torch.tensor(valid_lens), K)  # (B, 1, K)
    scores = torch.randn(B, num_heads, Q, K, generator=torch.Generator().manual_seed(num_heads))
    return masked_softmax(scores, mask[:, None]), mask


def some_explorer():
    return explore(some_weights, num_heads=[1, 2, H], valid_lens=[range(1, 6), range(0, 4)])


def test_the_table_holds_every_setting_to_half_precision():
    explorer = some_explorer()
    assert explorer.carries.startswith("all settings")
    assert len(explorer.directory) == 3 * 5 * 4
    for i, num_heads in enumerate([1, 2, H]):
        for a in range(5):
            for b in range(4):
                weights, mask = some_weights(num_heads, [a + 1, b])
                got, forbidden = maps(explorer, [i, a, b])
                np.testing.assert_allclose(got, weights, rtol=2**-11, atol=2**-24)
                assert np.array_equal(forbidden, np.broadcast_to(~mask[:, None], got.shape))


def test_the_function_is_found_where_lessons_import_it():
    code = "from mha_lib.classroom import explore; assert callable(explore)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_settings_and_weights_follow_the_browser():
    explorer = some_explorer()
    assert explorer.settings == {"num_heads": H, "valid_lens": [5, 2]}
    explorer.set_state({"chosen": [1, 2, 3]})
    assert explorer.settings == {"num_heads": 2, "valid_lens": [3, 3]}
    assert torch.equal(explorer.weights, some_weights(2, [3, 3])[0])


def test_drive_visits_every_setting():
    assert drive(some_explorer()) == 3 * 5 * 4


@pytest.mark.parametrize("bad", [-0.1, float("nan"), float("inf")])
def test_what_is_no_weight_is_an_error(bad):
    with pytest.raises(ValueError, match="weights must"):
        explore(lambda: [[0.5, bad]])


def test_each_control_hands_over_its_value():
    def weights_of(size, lens, on, which, text, ratio=0.5):
        seen.append((size, lens, on, which, text, ratio))
        return np.full((1, 2), 0.5)

    seen = []
    controls = {"size": range(2, 4), "lens": [range(3), [7]], "on": True, "which": {"a": "x", "b": "y"}}
    explorer = explore(weights_of, **controls, text="t", ratio=[0.25, 0.5])
    assert seen[0] == (2, [0, 7], True, "x", "t", 0.5)  # the first values, and the signature's default
    explorer.set_state({"chosen": [1, 2, 0, 0, 1, "u", 0]})
    assert seen[-1] == (3, [2, 7], False, "y", "u", 0.25)
    assert explorer.answer["directory"][0]["state"] == (1, 2, 0, 0, 1, "u", 0)
    names = ["size", "lens[0]", "lens[1]", "on", "which", "text", "ratio", "0–max"]
    assert [control["name"] for control in explorer.controls] == names


def test_beyond_the_budget_each_entry_keeps_its_own_range(monkeypatch):
    monkeypatch.setattr(sys.modules["mha_lib.classroom.explorer.widget"], "MAX_BYTES", 4000)
    explorer = explore(lambda a, b: np.full((1, 20), (a + 20 * b) / 1000), a=range(20), b=range(20))
    assert explorer.carries.startswith("each control's own range")
    assert {entry["state"] for entry in explorer.directory} == {(a, 0) for a in range(20)} | {
        (0, b) for b in range(20)
    }
    explorer.set_state({"chosen": [3, 0]})
    assert explorer.answer == {}
    explorer.set_state({"chosen": [3, 4]})
    table = np.frombuffer(zlib.decompress(explorer.answer["table"]), "<f2")
    np.testing.assert_allclose(table, np.full(20, 0.083), rtol=1e-3)


def test_an_error_at_the_start_is_the_cells_and_later_the_widgets():
    def weights_of(num_heads):
        if num_heads == 3:
            raise ValueError("3 does not divide 8")
        return np.ones((num_heads, 1, 1))

    with pytest.raises(ValueError, match="3 does not divide 8"):
        explore(weights_of, num_heads=[3, 4])
    explorer = explore(weights_of, num_heads=[4, 3])
    assert explorer.directory[1]["error"] == "ValueError: 3 does not divide 8"
    assert 'raise ValueError("3 does not divide 8")' in explorer.directory[1]["traceback"]
    explorer.set_state({"chosen": [1]})
    with pytest.raises(ValueError, match="3 does not divide 8"):
        _ = explorer.weights


def test_labels_may_follow_the_settings_or_the_sample():
    def labels(text):
        return text.split()

    explorer = explore(lambda text: np.ones((1, 1, len(text.split()))), text="a b c", key_labels=labels)
    assert explorer.labels[explorer.directory[0]["key_labels"]] == [["a", "b", "c"]]
    assert explorer.labels[explorer.directory[0]["query_labels"]] == [["0"]]
    explorer = explore(lambda: np.ones((2, 1, 1, 2)), key_labels=[["a", "b"], ["c", "d"]])
    assert explorer.labels[explorer.directory[0]["key_labels"]] == [["a", "b"], ["c", "d"]]


@pytest.mark.parametrize(
    ("error", "message", "arguments"),
    [
        (TypeError, "a must be a list|a must be list", {"a": 3}),
        (ValueError, "a must offer at least one value", {"a": []}),
        (ValueError, "weights_of starts with a=1, which", {"a": [2, 3]}),
        (ValueError, "key_labels must hold 2 labels", {"key_labels": ["one"]}),
    ],
)
def test_a_wrong_argument_is_named(error, message, arguments):
    with pytest.raises(error, match=message):
        explore(lambda a=1: np.ones((1, 2)), **arguments)
