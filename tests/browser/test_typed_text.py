"""The model of layers that a handout runs itself: what somebody types is read and drawn as in Python."""

import pytest
import torch
from torch import nn

from mha_lib import MultiHeadAttention
from mha_lib.classroom.tasks.numerals import NotUnderstood
from mha_lib.classroom.tasks.typed_text import MOST, TypedText
from tests.browser.page_functions import asker

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


class Layers(nn.Module):
    """Two layers, as in lesson 04; the second has two heads. Half-precision weights, as the page has them."""

    def __init__(self):
        super().__init__()
        self.token, self.read_out = nn.Embedding(32, 16), nn.Linear(16, 32)
        self.layers = nn.ModuleList(MultiHeadAttention(16, heads, rotary=True) for heads in (1, 2))
        self.load_state_dict({name: x.half().float() for name, x in self.state_dict().items()})

    def forward(self, tokens):
        x, maps = self.token(tokens), []
        for layer in self.layers:
            written, weights = layer(x, is_causal=True, need_weights=True)
            x = x + written
            maps.append(weights)
        return self.read_out(x), maps


@pytest.fixture
def typed():
    torch.manual_seed(0)
    return TypedText(Layers().eval(), LETTERS)


@pytest.mark.parametrize("layer", [0, 1])
def test_the_page_reads_and_weighs_what_python_does(page, tmp_path, typed, layer):
    texts = ["AB", "P y thon IC PYTHONI", "27", "ZYX" * 21, "Q" * MOST]
    questions = [{"text": text, "layer": layer} for text in texts]
    for question, found in zip(questions, asker(page, tmp_path)(typed.in_page(), *questions), strict=True):
        maps, allowed = typed.maps(**question)
        assert found["shape"] == list(maps.shape)
        weights = torch.tensor(found["weights"], dtype=maps.dtype).view_as(maps)
        torch.testing.assert_close(weights, maps, atol=1e-4, rtol=0)
        assert torch.tensor(found["mask"]).view_as(allowed).bool().equal(allowed)
        assert found["queryLabels"] == typed.rows(**question)
        assert found["keyLabels"] == typed.columns(**question)


def test_the_page_refuses_a_text_in_pythons_words(page, tmp_path, typed):
    texts = ["", " ", "A", "A" * (MOST + 1), "AB!", "AB1", "é", "字"]
    questions = [{"text": text, "layer": 0} for text in texts]
    for text, found in zip(texts, asker(page, tmp_path)(typed.in_page(), *questions), strict=True):
        with pytest.raises(NotUnderstood) as refused:
            typed.read(text)
        assert found["error"] == f"NotUnderstood: {refused.value}"
