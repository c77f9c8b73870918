"""Weights that somebody else trained: a small language model writes with our layers what it is known for."""

import pytest
import torch

from mha_lib import KVCache
from tests.mha_lib.stories import BEGIN, STORY, needs_stories, read_model

pytestmark = needs_stories


@pytest.mark.parametrize("has_cache", [False, True])
@torch.no_grad()
def test_it_tells_its_story(has_cache):
    table, layers, last = read_model()
    story = [BEGIN, *(number for sentence in STORY for number in sentence)]
    told = story[:5]  # Once upon a time
    caches = [KVCache(layer.self_attention, 1, 200) for layer in layers]
    held = 0
    while len(told) < len(story):
        x = table[told[held:] if has_cache else told][None]
        for layer, cache in zip(layers, caches, strict=True):
            x = layer(x, is_causal=True, cache=cache if has_cache else None)
        held = len(told)
        told.append(int((last(x[0, -1]) @ table.T).argmax()))
    assert told == story
