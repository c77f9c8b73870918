"""The shares in a logit, and heads that write something else, on random models of the course's layers."""

import re
from typing import Any

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from mha_lib import EncoderLayer, KVCache, LanguageModel
from mha_lib.classroom.heads import head_outputs, logit_shares, replaced

V, D, B, N = 13, 12, 2, 7
HEADS = (3, 2)  # of the two layers


KINDS: dict[str, Any] = {
    "as_in_the_lesson": {"rotary": True, "gated": True, "norm": nn.RMSNorm, "window": 3},
    "with_biases_in_the_network": {},
    "with_wide_grouped_heads": {"head_dim": 10, "num_kv_heads": 1, "sinks": True},
}


def make(last_norm=None, **options):
    torch.manual_seed(0)
    layers = [EncoderLayer(D, heads, 17, **options) for heads in HEADS]
    model = LanguageModel(nn.Embedding(V, D), layers, nn.RMSNorm(D, **(last_norm or {}))).eval()
    for parameter in model.parameters():  # no gain of 1, no bias of 0
        nn.init.normal_(parameter, std=0.5)
    return model


def masked_logits(model, *head_masks):
    """The logits where each layer's heads are scaled by its mask."""
    x = model.table(TOKENS)
    for layer, head_mask in zip(model.layers, head_masks, strict=True):
        x = layer(x, is_causal=True, head_mask=torch.tensor(head_mask))
    return model.norm(x) @ model.read_out.T


TOKENS = torch.randint(V, (B, N), generator=torch.Generator().manual_seed(1))


@pytest.fixture(params=KINDS)
def model(request):
    return make(**KINDS[request.param])


@torch.no_grad()
def test_the_shares_sum_to_the_logits(model):
    found = logit_shares(model, TOKENS)
    assert found.shares.shape == (8, B, N, V)
    assert_close(found.logits, model(TOKENS))
    assert_close(found.shares.sum(0), found.logits, atol=1e-4, rtol=1e-4)


CHOSEN = torch.tensor([[5, 2, 11]]).expand(B, 3)[:, None] + torch.arange(N)[:, None]  # (B, N, 3)


@torch.no_grad()
@pytest.mark.parametrize("chosen", [torch.tensor([5, 2, 11]), CHOSEN % V], ids=["for_all", "at_each_place"])
def test_shares_of_chosen_tokens_are_those_of_all_tokens_there(model, chosen):
    model.unembedding = nn.Embedding(V, D)  # rows of its own
    few, found = logit_shares(model, TOKENS, chosen), logit_shares(model, TOKENS)
    index = chosen.expand(B, N, 3)
    assert_close(few.shares, found.shares.gather(-1, index.expand(8, B, N, 3)))
    assert_close(few.logits, found.logits.gather(-1, index))
    assert_close(found.logits, model(TOKENS))
    assert few.parts == found.parts


@pytest.mark.parametrize("wrong", [-1, V])
def test_chosen_tokens_that_the_model_does_not_have_are_refused(wrong):
    with pytest.raises(
        ValueError, match=f"chosen must hold tokens from 0 to 12, got {wrong} to {wrong}; is it"
    ):
        logit_shares(make(), TOKENS, torch.tensor([wrong]))


@pytest.mark.parametrize("shape", [(), (B, N), (B, 1, 3)])
def test_chosen_tokens_of_another_shape_are_refused(shape):
    sentence = f"chosen must be (C,), or (B, N, C) with (B, N) = (2, 7), got {shape}"
    with pytest.raises(ValueError, match=re.escape(sentence)):
        logit_shares(make(), TOKENS, torch.zeros(shape, dtype=torch.long))


@torch.no_grad()
@pytest.mark.parametrize("norm", [{"eps": 0.3}, {"elementwise_affine": False}])
def test_the_last_norm_may_have_another_epsilon_or_no_gain(norm):
    model = make(norm)
    assert_close(logit_shares(model, TOKENS).shares.sum(0), model(TOKENS), atol=1e-4, rtol=1e-4)


@torch.no_grad()
def test_a_share_is_what_the_logit_loses_without_the_part_where_the_divisor_stays(model):
    """Heads of the last layer and its network are what nothing else reads, so that each can be taken away."""
    found = logit_shares(model, TOKENS)
    assert found.parts == [
        *[("table",), ("head", 0, 0), ("head", 0, 1), ("head", 0, 2), ("network", 0)],
        *[("head", 1, 0), ("head", 1, 1), ("network", 1)],
    ]
    x = model.layers[0](model.table(TOKENS), is_causal=True)
    last = model.layers[1]
    normed = last.self_attention_norm(x)

    def attended(*kept):
        return last.self_attention(normed, is_causal=True, head_mask=torch.tensor(kept))

    whole = x + attended(1.0, 1.0)
    network = last.feed_forward(last.feed_forward_norm(whole))
    eps = torch.finfo(torch.float32).eps
    divisor = ((whole + network).pow(2).mean(-1, keepdim=True) + eps).sqrt()

    def read(part):
        return part / divisor * model.norm.weight @ model.table.weight.T

    expected = {("table",): model.table(TOKENS), ("network", 1): network}
    expected |= {("head", 1, 0): attended(1.0, 0.0), ("head", 1, 1): attended(0.0, 1.0)}
    for part, written in expected.items():
        assert_close(found.shares[found.parts.index(part)], read(written), atol=1e-4, rtol=1e-4)


@torch.no_grad()
def test_the_weights_are_those_of_the_layers(model):
    x, expected = model.table(TOKENS), []
    for layer in model.layers:
        x, weights = layer(x, is_causal=True, need_weights=True)
        expected.append(weights)
    assert_close(logit_shares(model, TOKENS).weights, expected)


@torch.no_grad()
def test_heads_that_are_replaced_by_their_own_outputs_change_nothing(model):
    outputs = head_outputs(model, TOKENS)
    width = model.layers[0].self_attention.value_head_dim
    assert outputs[0].shape == (B, 3, N, width)
    own = {
        (layer, head): outputs[layer][:, head] for layer, count in enumerate(HEADS) for head in range(count)
    }
    with replaced(model, own):
        assert_close(model(TOKENS), logit_shares(model, TOKENS).logits)
        again = model(TOKENS)
    assert_close(again, model(TOKENS))


@torch.no_grad()
@pytest.mark.parametrize("zeros", [torch.tensor(0.0), torch.zeros(1), torch.zeros(N, 1)])
def test_heads_that_are_replaced_by_zeros_are_masked(model, zeros):
    masked = masked_logits(model, [1.0, 1.0, 0.0], [0.0, 1.0])
    with replaced(model, {(0, 2): zeros, (1, 0): zeros}):
        assert_close(model(TOKENS), masked)
    assert not torch.allclose(model(TOKENS), masked), "the heads write again after the block"


@torch.no_grad()
def test_an_output_of_another_text_is_patched_in_where_it_stands(model):
    other = TOKENS.flip(0)
    outputs = head_outputs(model, other)
    with replaced(model, {(1, 1): outputs[1][:, 1]}):
        patched = head_outputs(model, TOKENS)
    assert_close(patched[1][:, 1], outputs[1][:, 1])
    assert_close(patched[1][:, 0], head_outputs(model, TOKENS)[1][:, 0])


@torch.no_grad()
def test_each_row_of_a_batch_has_its_own_replacements(model):
    """Row by row the same as in a block of its own; the first row is left as it is."""
    outputs = head_outputs(model, TOKENS.flip(0))
    ways = [{}, {(0, 1): torch.zeros(1)}, {(0, 1): outputs[0][1, 1], (1, 0): outputs[1][1, 0].mean(0)}]
    with replaced(model, ways):
        together = model(TOKENS[:1].expand(3, N))
    for row, way in enumerate(ways):
        with replaced(model, way):
            assert_close(together[row], model(TOKENS[:1])[0])
    assert len({*map(float, together.sum((1, 2)))}) == 3, "each way writes something else"


@torch.no_grad()
def test_a_plain_and_a_changed_text_are_written_side_by_side_with_caches(model):
    def write(rows):
        text = new = TOKENS[:1, :2].expand(rows, 2)
        caches = [KVCache(layer.self_attention, rows, 12) for layer in model.layers]
        while text.shape[1] < 12:
            new = model(new, caches)[:, -1:].argmax(-1)
            text = torch.cat([text, new], 1)
        return text

    without = {(0, 0): torch.zeros(1), (1, 1): torch.zeros(1)}
    with replaced(model, [{}, without]):
        together = write(2)
    with replaced(model, without):
        changed = write(1)
    assert together.tolist() == [*write(1).tolist(), *changed.tolist()]
    assert not together[0].equal(together[1])


@torch.no_grad()
def test_as_many_mappings_as_rows_are_needed():
    sentence = "must be a mapping for each row of the batch, which has 2, got 3"
    model = make()
    with replaced(model, [{}, {}, {(0, 0): torch.zeros(1)}]), pytest.raises(ValueError, match=sentence):
        model(TOKENS)


def test_the_heads_write_again_after_an_error():
    model = make()
    with torch.no_grad(), pytest.raises(ZeroDivisionError), replaced(model, {(0, 0): torch.zeros(1)}):
        raise ZeroDivisionError
    assert not model.layers[0].self_attention.W_o._forward_pre_hooks


ANOTHER_NORM = LanguageModel(nn.Embedding(V, D), [], nn.LayerNorm(D)).eval()
REFUSED = {
    "another_kind_of_model": (
        nn.Linear(2, 2),
        TOKENS,
        "must be an mha_lib.LanguageModel, got torch.nn.modules.linear.Linear; make",
    ),
    "a_model_that_trains": (make().train(), TOKENS, "call model.eval()"),
    "a_bias_in_W_o": (make(bias=True), TOKENS, "a bias is no head's"),
    "another_norm": (ANOTHER_NORM, TOKENS, "model.norm must be an nn.RMSNorm, got LayerNorm"),
    "unknown_tokens": (make(), TOKENS + V, "tokens must hold tokens from 0 to 12, got"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("function", [logit_shares, head_outputs])
def test_what_does_not_fit_is_refused_with_the_way_out(function, case):
    model, tokens, sentence = REFUSED[case]
    with pytest.raises((TypeError, ValueError)) as refused:
        function(model, tokens)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("place", "output", "sentence"),
    [
        ((2, 0), torch.zeros(1), "got (2, 0); heads there are in layer 0: 3, layer 1: 2"),
        ((1, 2), torch.zeros(1), "got (1, 2)"),
        (1, torch.zeros(1), "got 1"),
        ((0, 0), torch.zeros(5), "broadcasts to (B, N, d) with d = 4, got (5,)"),
        ((0, 0), torch.zeros(1, 1, 1, 4), "got (1, 1, 1, 4)"),
        ((0, 0), 0.0, "got float"),
    ],
)
def test_an_unknown_head_and_an_output_of_another_shape_are_refused(place, output, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)), replaced(make(), {place: output}):
        pass


def test_an_output_for_a_text_of_another_length_is_refused():
    model = make()
    sentence = re.escape("broadcast to (B, N, d) = (2, 7, 4), got (2, 8, 4)")
    longer = {(0, 1): torch.zeros(B, N + 1, 4)}
    with torch.no_grad(), replaced(model, longer), pytest.raises(ValueError, match=sentence):
        model(TOKENS)
