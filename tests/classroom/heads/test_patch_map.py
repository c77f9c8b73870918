"""The map of patches against two explicit runs for each head, on random models of the course's layers."""

import re
from typing import Any

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from mha_lib import EncoderLayer, LanguageModel
from mha_lib.classroom.heads import head_outputs, patch_map, replaced

V, D, B, N = 13, 12, 3, 7
ANSWERS = torch.tensor([[4, 9], [0, 12], [7, 3]])
KINDS: dict[str, Any] = {
    "as_in_the_lesson": {"rotary": True, "gated": True, "window": 3},
    "with_grouped_heads": {"rotary": True, "head_dim": 10, "num_kv_heads": 1, "sinks": True},
    "untied": {},
}


@pytest.fixture(params=KINDS)
def model(request):
    torch.manual_seed(0)
    layers = [EncoderLayer(D, heads, 17, norm=nn.RMSNorm, **KINDS[request.param]) for heads in (3, 2)]
    unembedding = nn.Embedding(V, D) if request.param == "untied" else None
    model = LanguageModel(nn.Embedding(V, D), layers, nn.RMSNorm(D), unembedding).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    return model


def texts(first=(2, 0, 4)):
    """Pairs of texts that differ from these places on, and in nothing before."""
    generator = torch.Generator().manual_seed(1)
    clean, other = torch.randint(V, (2, B, N), generator=generator)
    differs = torch.arange(N) >= torch.tensor(first)[:, None]
    return clean, torch.where(differs, (clean + 1 + other % (V - 1)) % V, clean)


def leads(model, tokens):
    last = model(tokens)[:, -1]
    return (last.gather(1, ANSWERS) * torch.tensor([1.0, -1.0])).sum(1)


@torch.no_grad()
@pytest.mark.parametrize("place", [None, -1, 5, 0])
def test_a_head_brings_back_what_it_does_in_a_run_of_its_own(model, place):
    clean, corrupted = texts()
    theirs, own = head_outputs(model, clean), head_outputs(model, corrupted)
    before, after = leads(model, clean), leads(model, corrupted)
    found = patch_map(model, clean, corrupted, ANSWERS, place)
    assert found.recovered.shape == (B, 2, 3)
    for layer, head in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]:
        output = theirs[layer][:, head]
        if place is not None:  # everywhere else what the corrupted run computes
            output = own[layer][:, head].clone()
            output[:, place] = theirs[layer][:, head, place]
        with replaced(model, {(layer, head): output}):
            expected = (leads(model, corrupted) - after) / (before - after)
        assert_close(found.recovered[:, layer, head], expected, atol=1e-4, rtol=1e-4)
    assert found.recovered[:, 1, 2].isnan().all(), "the second layer has two heads"
    assert_close(found.clean, before)
    assert_close(found.corrupted, after)


@torch.no_grad()
def test_all_rows_share_the_tokens_before_the_first_that_may_change(model):
    clean, corrupted = texts(first=(4, 4, 4))
    seen = []
    with model.layers[1].register_forward_hook(lambda _, inputs, __: seen.append((*inputs[0].shape[:2],))):
        patch_map(model, clean[:1], corrupted[:1], ANSWERS[:1])
        patch_map(model, clean[:1], corrupted[:1], ANSWERS[:1], place=-1)
    # the clean run; then the common tokens once, and a row for the text and each head so far
    assert seen == [(1, N), (1, 4), (6, N - 4), (1, N), (1, N - 1), (6, 1)]


CLEAN, CORRUPTED = texts()
REFUSED = {
    "corrupted must be of the shape of clean, (3, 7), got (3, 6)": (CLEAN, CORRUPTED[:, 1:], ANSWERS, None),
    "answers must be (B, 2) = (3, 2), got shape (2, 2)": (CLEAN, CORRUPTED, ANSWERS[1:], None),
    "place must be None or a token of 7, got 7": (CLEAN, CORRUPTED, ANSWERS, 7),
    "got the same in pairs [0, 1, 2]": (CLEAN, CLEAN, ANSWERS, None),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_does_not_fit_is_refused(sentence):
    model = LanguageModel(nn.Embedding(V, D), [EncoderLayer(D, 2, 5)], nn.RMSNorm(D)).eval()
    with pytest.raises(ValueError, match=re.escape(sentence)):
        patch_map(model, *REFUSED[sentence])
