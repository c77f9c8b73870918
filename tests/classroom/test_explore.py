"""What the explorer hands to the browser and to the next cell, without a browser."""

import subprocess
import sys
import zlib

import numpy as np
import pytest
import torch

from mha_lib import masked_softmax, padding_mask
from mha_lib.classroom.explore import drive, explore

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


def test_the_function_is_found_whichever_import_comes_first():
    for first in ("import mha_lib.classroom.explore", "from mha_lib.classroom.explore import Explorer", ""):
        code = f"{first}\nfrom mha_lib.classroom import explore\nassert callable(explore)"
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
