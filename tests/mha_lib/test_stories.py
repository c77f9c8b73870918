"""Weights that somebody else trained: a small language model writes with our layers what it is known for."""

import pytest
import torch

from mha_lib import KVCache
from tests.mha_lib.stories import TOLD, encoded, needs_stories, read_model, read_tokens

pytestmark = needs_stories


@pytest.mark.parametrize("has_cache", [False, True])
@torch.no_grad()
def test_it_tells_its_story(has_cache):
    table, layers, last = read_model()
    tokens = read_tokens()
    told = encoded("Once upon a time", tokens)
    caches = [KVCache(layer.self_attention, 1, 200) for layer in layers]
    held = 0
    while len(told) < 60:
        x = table[told[held:] if has_cache else told][None]
        for layer, cache in zip(layers, caches, strict=True):
            x = layer(x, is_causal=True, cache=cache if has_cache else None)
        held = len(told)
        told.append(int((last(x[0, -1]) @ table.T).argmax()))
    text = b"".join(tokens[number][1] for number in told[1:]).decode()
    assert text.strip().startswith(TOLD)
