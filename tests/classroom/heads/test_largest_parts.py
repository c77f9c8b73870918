"""The parts that decided each token, against all shares in all logits, on a random model of our layers."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from mha_lib import EncoderLayer, LanguageModel
from mha_lib.classroom.heads import largest_parts, logit_shares

V, D, N, K, PARTS = 13, 12, 7, 3, 8
TOKENS = torch.randint(V, (1, N), generator=torch.Generator().manual_seed(1))


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    layers = [EncoderLayer(D, heads, 17, rotary=True, norm=nn.RMSNorm) for heads in (3, 2)]
    model = LanguageModel(nn.Embedding(V, D), layers, nn.RMSNorm(D)).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    return model


@torch.no_grad()
def test_parts_are_told_by_what_they_decide_and_all_others_in_one_sum(model):
    found, every = largest_parts(model, TOKENS, K), logit_shares(model, TOKENS[:, :-1])
    is_rival_likelier = set()
    for place, said in enumerate(TOKENS[0, 1:].tolist()):
        logits, shares = every.logits[0, place], every.shares[:, 0, place]  # (V,), (P, V)
        rival = max(set(range(V)) - {said}, key=lambda token: logits[token])
        is_rival_likelier.add(bool(logits[rival] > logits[said]))
        assert found.rivals[place] == rival
        pair = shares[:, [said, rival]]  # (P, 2)
        order = sorted(range(PARTS), key=lambda part: -(pair[part, 0] - pair[part, 1]).abs())
        assert found.largest[place].tolist() == order[:K]
        assert_close(found.shares[place], pair[order[:K]])
        assert_close(found.rest[place], pair[order[K:]].sum(0), atol=1e-4, rtol=1e-4)
        assert_close(found.logits[place], logits[[said, rival]])
        for at, part in enumerate(order[:K]):
            kind, *where = every.parts[part]
            row = torch.zeros(N - 1)
            if kind == "head":
                layer, head = map(int, where)
                row = every.weights[layer][0, head, place]
            assert_close(found.weights[place, at], row)
    assert is_rival_likelier == {True, False}
    assert found.parts == every.parts


def test_more_parts_than_there_are_leave_no_rest(model):
    found = largest_parts(model, TOKENS, 99)
    assert found.largest.shape == (N - 1, PARTS)
    assert_close(found.rest, torch.zeros(N - 1, 2), atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    "tokens", [TOKENS[0], TOKENS[:, :1], TOKENS.expand(2, -1)], ids=["row", "one", "two"]
)
def test_what_is_no_text_is_refused(model, tokens):
    with pytest.raises(ValueError, match=r"tokens must be \(1, N\), a text of two or more, got"):
        largest_parts(model, tokens)
