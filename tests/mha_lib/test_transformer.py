"""The transformer: against PyTorch's layers, against itself, and bad calls."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.nn import TransformerDecoderLayer as TheirDecoder
from torch.nn import TransformerEncoderLayer as TheirEncoder

from mha_lib import (
    ByAttention,
    DecoderCache,
    DecoderLayer,
    EncoderDecoder,
    EncoderLayer,
    FeedForward,
    KVCache,
    MultiHeadAttention,
    causal_mask,
    padding_mask,
    sinusoidal_positions,
)
from tests.mha_lib.bad_calls import BadCalls, assert_refused, each_bad_call
from tests.mha_lib.layers import DEVICES, PATHS, output_of, with_random_parameters

B, S, T, H, D, FFN, L, V, W = 3, 7, 5, 2, 14, 11, 2, 13, 17
BEGIN, END = 1, 2


def torch_layer(kind, **options):
    options = {"batch_first": True, "norm_first": True, "dropout": 0.0, **options}
    return with_random_parameters(kind(D, H, FFN, **options))


def source_and_target():
    """Return the inputs of encoder and decoder; the first are padded to several lengths."""
    x, y = torch.randn(B, S, D, requires_grad=True), torch.randn(B, T, D, requires_grad=True)
    return x, y, padding_mask(torch.tensor([S, 4, 1]), S)[:, 0]


@pytest.fixture
def in_float64():
    """Compare gradients in float64: in float32 rounding would hide small mistakes."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture
def model():
    model = with_random_parameters(EncoderDecoder(W, V, D, H, FFN, L)).eval()
    nn.init.zeros_(model.W_logits.bias)  # the bias would outweigh the source
    return model


@pytest.fixture
def tokens():
    """Return source, target and source mask."""
    source, target = torch.randint(3, W, (B, S)), torch.randint(3, V, (B, T))
    return source, target, padding_mask(torch.tensor([S, 4, 1]), S)[:, 0]


@PATHS
def test_an_encoder_layer_gives_what_pytorchs_gives(in_float64, need_weights):
    theirs = torch_layer(TheirEncoder)
    ours = EncoderLayer.from_torch(theirs)
    x, _, key_mask = source_and_target()
    expected = theirs(x, src_key_padding_mask=~key_mask)[key_mask]
    output = output_of(ours, x, key_mask, need_weights=need_weights)[key_mask]
    torch.testing.assert_close(output, expected)
    check_gradients(ours, theirs, output, expected, [x])


@pytest.mark.parametrize("bias", [False, True])
@PATHS
def test_a_decoder_layer_gives_what_pytorchs_gives(in_float64, need_weights, bias):
    theirs = torch_layer(TheirDecoder, bias=bias)
    ours = DecoderLayer.from_torch(theirs)
    memory, x, key_mask = source_and_target()
    expected = theirs(x, memory, tgt_mask=~causal_mask(T, T), memory_key_padding_mask=~key_mask)
    output = output_of(ours, x, memory, key_mask, need_weights=need_weights)
    torch.testing.assert_close(output, expected)
    check_gradients(ours, theirs, output, expected, [x, memory])


def check_gradients(ours, theirs, output, expected, inputs):
    """The gradients of every input and of every parameter of our layer must be those of PyTorch's."""
    seen = torch.randn_like(expected)
    found = torch.autograd.grad(output, [*inputs, *ours.parameters()], seen)
    wanted = torch.autograd.grad(expected, [*inputs, *theirs.parameters()], seen)
    graded = copy.deepcopy(theirs)  # PyTorch's layer with its gradients in the place of its parameters
    for parameter, gradient in zip(graded.parameters(), wanted[len(inputs) :], strict=True):
        parameter.data = gradient
    converted = type(ours).from_torch(graded).parameters()
    for one, other in zip(found, [*wanted[: len(inputs)], *converted], strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("ours", [EncoderLayer, DecoderLayer])
def test_dropout_stands_where_pytorch_has_it(ours):
    """With probability 1 nothing is added to a token; in eval mode nothing is dropped."""
    theirs = torch_layer(getattr(nn, f"Transformer{ours.__name__}"), dropout=1.0).train()
    layer, (memory, x, _) = ours.from_torch(theirs), source_and_target()
    inputs = (x,) if ours is EncoderLayer else (x, memory)
    assert layer.training
    torch.testing.assert_close(layer(*inputs), x)
    for part in (layer.self_attention, layer.feed_forward.dropout, layer.dropout):
        assert getattr(part, "dropout", getattr(part, "p", None)) == 1.0
    options = {} if ours is EncoderLayer else {"is_causal": False}
    torch.testing.assert_close(layer.eval()(*inputs, **options), theirs.eval()(*inputs))


def test_dropout_works_inside_the_feed_forward_network_and_on_the_embeddings(model):
    layer, x = FeedForward(D, FFN, dropout=1.0).train(), torch.randn(B, S, D)
    torch.testing.assert_close(layer(x), layer.W_2.bias.expand(B, S, D))
    dropping = EncoderDecoder(W, V, D, H, FFN, dropout=1.0).train()
    assert not dropping.embed(torch.ones(B, S, dtype=torch.int64), dropping.source_embedding).any()


def test_an_encoder_decoder_gives_what_pytorchs_transformer_gives(model, tokens):
    source, target, source_mask = tokens
    with pytest.warns(UserWarning, match="nested"):
        theirs = nn.Transformer(D, H, L, L, FFN, dropout=0.0, batch_first=True, norm_first=True)
    theirs = with_random_parameters(theirs).eval()
    model.encoder_layers = nn.ModuleList(EncoderLayer.from_torch(layer) for layer in theirs.encoder.layers)
    model.decoder_layers = nn.ModuleList(DecoderLayer.from_torch(layer) for layer in theirs.decoder.layers)
    model.encoder_norm, model.decoder_norm = theirs.encoder.norm, theirs.decoder.norm
    read, written = (
        embedding(x) + sinusoidal_positions(x.shape[1], D)
        for x, embedding in ((source, model.source_embedding), (target, model.target_embedding))
    )
    ignored = ~source_mask
    expected = theirs(
        read,
        written,
        tgt_mask=~causal_mask(T, T),
        src_key_padding_mask=ignored,
        memory_key_padding_mask=ignored,
    )
    torch.testing.assert_close(model(source, target, source_mask), model.W_logits(expected))


def test_the_weights_of_every_head_are_those_that_were_used(model, tokens):
    source, _, source_mask = tokens
    logits, weights = model(*tokens, need_weights=True)
    torch.testing.assert_close(logits, model(*tokens))
    assert [len(layers) for layers in weights] == [L, L, L]
    shapes = ByAttention((B, H, S, S), (B, H, T, T), (B, H, T, S))
    for layers, shape in zip(weights, shapes, strict=True):
        for layer in layers:
            assert layer.shape == shape
            torch.testing.assert_close(layer.sum(-1), torch.ones(shape[:3]))
    for layer in (*weights.encoder, *weights.cross):
        assert not layer.transpose(1, 3)[~source_mask].any(), "padding gets no weight"
    for layer in weights.decoder:
        assert not layer.triu(1).any(), "no weight on what comes later"
    x = model.encoder_layers[0].self_attention_norm(model.embed(source, model.source_embedding))
    _, first = model.encoder_layers[0].self_attention(x, key_mask=source_mask, need_weights=True)
    torch.testing.assert_close(weights.encoder[0], first)


@pytest.mark.parametrize("name", ByAttention._fields)
def test_a_head_mask_silences_the_head_that_it_names(model, tokens, name):
    """Zeros for its rows of W_o, in one layer of one attention, do the same."""
    masks = ByAttention(*([torch.ones(H) for _ in range(L)] for _ in ByAttention._fields))
    torch.testing.assert_close(model(*tokens, head_masks=masks), model(*tokens))
    getattr(masks, name)[1][0] = 0
    silenced = model(*tokens, head_masks=masks)
    generated = model.generate(tokens[0], tokens[2], begin=BEGIN, end=END, max_tokens=T, head_masks=masks)
    layer = (model.encoder_layers if name == "encoder" else model.decoder_layers)[1]
    attention = layer.cross_attention if name == "cross" else layer.self_attention
    with torch.no_grad():
        attention.W_o.weight[:, : D // H] = 0
    torch.testing.assert_close(silenced, model(*tokens))
    assert not torch.allclose(silenced, model(*tokens, head_masks=masks._replace(cross=[torch.zeros(H)] * L)))
    assert torch.equal(generated, model.generate(tokens[0], tokens[2], begin=BEGIN, end=END, max_tokens=T))


def test_a_target_token_sees_later_ones_where_it_is_asked_to(model, tokens):
    source, target, source_mask = tokens
    memory = model.encode(source, source_mask)
    changed = target.clone()
    changed[:, 3] = (changed[:, 3] + 1) % V
    before, after = (model.decode(each, memory, source_mask, is_causal=False) for each in (target, changed))
    assert not torch.allclose(before[:, 0], after[:, 0])


@pytest.mark.parametrize("sizes", [(1,) * T, (2, 1, 2)])
def test_steps_with_a_cache_give_what_all_tokens_at_once_give(model, tokens, sizes):
    source, target, source_mask = tokens
    with torch.no_grad():
        expected, weights = model(*tokens, need_weights=True)
        memory = model.encode(source, source_mask)
        cache = DecoderCache(model, memory, T)
        parts = []
        for chunk in target.split(sizes, dim=1):
            logits, self_weights, cross_weights = model.decode(
                chunk, memory, source_mask, cache=cache, need_weights=True
            )
            parts.append(logits)
            start, end = len(cache) - chunk.shape[1], len(cache)
            torch.testing.assert_close(self_weights[1], weights.decoder[1][:, :, start:end, :end])
            torch.testing.assert_close(cross_weights[1], weights.cross[1][:, :, start:end])
        assert len(cache) == T
    torch.testing.assert_close(torch.cat(parts, dim=1), expected)


def test_the_memory_is_projected_once(model, tokens):
    calls = []
    model.decoder_layers[0].cross_attention.W_k.register_forward_hook(
        lambda module, inputs, output: calls.append(inputs[0].shape[1])
    )
    model.train().generate(tokens[0], begin=BEGIN, end=None, max_tokens=4)
    assert calls == [S, 0, 0, 0]
    assert model.training, "generating leaves the mode alone"


def test_greedy_decoding_takes_the_likeliest_token_again_and_again(model, tokens):
    source, _, source_mask = tokens
    with torch.no_grad():
        model.W_logits.bias[END] = -100  # no target ends
    found = model.generate(source, source_mask, begin=BEGIN, end=END, max_tokens=6)
    written = torch.full((B, 1), BEGIN)
    for _ in range(6):
        written = torch.cat([written, model(source, written, source_mask)[:, -1:].argmax(-1)], dim=1)
    assert torch.equal(found, written[:, 1:])
    assert len(found.unique()) > 2


def test_a_target_that_has_ended_stays_ended(model, tokens):
    """Each sample ends where it would end alone, and only ends follow."""
    source, _, source_mask = tokens
    written = model.generate(source, source_mask, begin=BEGIN, end=None, max_tokens=8)
    end = int(written[0, 2])  # sample 0 ends with this token
    found = model.generate(source, source_mask, begin=BEGIN, end=end, max_tokens=8)
    longest = 0
    for row, free in zip(found, written, strict=True):
        ends = (free == end).nonzero()
        length = int(ends[0]) + 1 if len(ends) else 8
        longest = max(longest, length)
        assert torch.equal(row[:length], free[:length])
        assert (row[length:] == end).all()
    assert found.shape[1] == longest, "it stops with the last"


@DEVICES
def test_dtypes_and_devices_stay(tokens, device):
    model = EncoderDecoder(W, V, D, H, FFN).to(device, torch.bfloat16)
    logits = model(*(x.to(device) for x in tokens))
    assert (logits.dtype, logits.device.type) == (torch.bfloat16, device)
    assert model.generate(tokens[0].to(device), begin=BEGIN, end=END, max_tokens=2).device.type == device


class OtherNetwork(TheirEncoder):
    def _ff_block(self, x):
        return 2 * super()._ff_block(x)


def encoder_with(change):
    def convert():
        module = torch_layer(TheirEncoder)
        change(module)
        return EncoderLayer.from_torch(module)

    return convert


@torch.no_grad()
def test_a_guess_is_taken_back_and_samples_change_their_order(model, tokens):
    source, target, mask = tokens
    memory = model.encode(source, mask)
    cache = DecoderCache(model, memory, T)
    expected = model.decode(target, memory, mask)
    model.decode(target[:, :3], memory, mask, cache=cache)
    cache.crop(2)
    index = torch.tensor([2, 0, 0, 1])
    cache.reorder(index)
    output = model.decode(target[index, 2:], memory[index], mask[index], cache=cache)
    torch.testing.assert_close(output, expected[index, 2:])
    cache.reset()
    assert len(cache) == 0
    output = model.decode(target[index], memory[index], mask[index], cache=cache)
    torch.testing.assert_close(output, expected[index])


@torch.no_grad()
def test_a_step_that_fails_in_a_later_layer_leaves_all_caches_as_they_were(model, tokens):
    source, target, _ = tokens
    memory = model.encode(source)
    cache = DecoderCache(model, memory, T)
    expected = model.decode(target, memory)
    bad = ByAttention([torch.ones(H)] * L, [torch.ones(H), torch.ones(H + 1)], [torch.ones(H)] * L)
    for position in range(T):
        with pytest.raises(ValueError, match="head_mask must be"):
            model.decode(target[:, position : position + 1], memory, cache=cache, head_masks=bad)
        step = model.decode(target[:, position : position + 1], memory, cache=cache)
        torch.testing.assert_close(step, expected[:, position : position + 1])
    assert {len(each) for each, _ in cache.layers} == {T}


def decode(**options):
    return lambda: MODEL.decode(TARGET, torch.zeros(B, S, D), **options)


def cache_of(layer):
    return KVCache(layer, B, S)


MODEL = EncoderDecoder(W, V, D, H, FFN, L)
LAYER = DecoderLayer(D, H, FFN)
LAYER_FOR_CACHE, INPUTS = MultiHeadAttention(D, H), (torch.zeros(B, T, D), torch.zeros(B, S, D))
SOURCE, TARGET = torch.zeros(B, S, dtype=torch.int64), torch.zeros(B, T, dtype=torch.int64)
ONE = ByAttention(*([torch.ones(H)] for _ in ByAttention._fields))

# fmt: off
# The call, and the words that the message must hold, in this order.
VALUE_ERRORS: BadCalls = [
    (lambda: LAYER(torch.zeros(B, T, D), torch.zeros(B, S, 3)),
        "memory … got shape (3, 7, 3); for such memory build the layer with num_hiddens=3"),
    (lambda: MODEL(SOURCE, TARGET[0]),
        "target must be (B, N), got shape (5,); for a single sample: target[None]"),
    (lambda: MODEL(SOURCE + W, TARGET), "source … got 17 to 17; source_vocab_size says how many there are"),
    (lambda: MODEL.generate(SOURCE, begin=V, end=END, max_tokens=3),
        "begin must be a token from 0 to 12, got 13; target_vocab_size says how many there are"),
    (lambda: MODEL.generate(SOURCE, begin=BEGIN, end=99, max_tokens=3),
        "end must be a token from 0 to 12, got 99; target_vocab_size says how many there are"),
    (lambda: MODEL.generate(SOURCE[:, :0], begin=BEGIN, end=END, max_tokens=3),
        "source must hold at least one sample of one token, got shape (3, 0)"),
    (lambda: EncoderDecoder(5, 5, 9, 3, 8),
        "num_hiddens must be even, since its columns form pairs, got 9; try 10"),
    (lambda: MODEL.decode(TARGET, torch.zeros(S, D)),
        "memory must be (B, N, 14), got shape (7, 14); for a single sample: memory[None]"),
    (lambda: DecoderCache(MODEL, torch.zeros(S, D), 4),
        "memory must be (B, N, 14), got shape (7, 14); for a single sample: memory[None]"),
    (decode(source_mask=torch.ones(B, T).bool()),
        "source_mask must be (B, S) = (3, 7), as source, got shape (3, 5)"),
    (lambda: LAYER(*INPUTS, head_masks=(None,)),
        "head_masks must be two, a mask or None for the self-attention … got 1; try (mask, None)"),
    (lambda: LAYER(*INPUTS, caches=(cache_of(LAYER.cross_attention), cache_of(LAYER.self_attention))),
        "cache must have been made for this layer"),
    (lambda: MODEL(SOURCE, TARGET, head_masks=ONE),
        "head_masks … encoder … 2 layers, got list of length 1; try ByAttention([mask] * 2, …)"),
    (lambda: DecoderLayer.from_torch(torch_layer(TheirDecoder, norm_first=False)),
        "module … got norm_first=False; a layer trained one way"),
    (lambda: EncoderLayer.from_torch(torch_layer(TheirEncoder, activation=torch.tanh)),
        "the activation of module … got <built-in method tanh"),
    (encoder_with(lambda module: setattr(module.dropout1, "p", 0.5)),
        "module must drop with one probability, 0.0, got Dropout(p=0.5, inplace=False) as its dropout1"),
]
TYPE_ERRORS: BadCalls = [
    (lambda: MODEL(SOURCE.float(), TARGET),
        "source must hold tokens as integers, got torch.float32; try source.long()"),
    (lambda: DecoderCache(LAYER, torch.zeros(B, S, D), 4),
        "model must be an EncoderDecoder, got DecoderLayer; its decoder makes the cache"),
    (decode(cache=cache_of(LAYER_FOR_CACHE)),
        "cache must be a DecoderCache, got KVCache; try DecoderCache(model, memory, max_tokens)"),
    (lambda: EncoderLayer(8, 2, 4, norm=nn.LayerNorm(8)),
        "norm must make a norm for a width, got LayerNorm … try norm=nn.LayerNorm, or a partial"),
    (lambda: LAYER(*INPUTS, caches=cache_of(LAYER.self_attention)),
        "caches must be two, a KVCache of self_attention and one of cross_attention, got KVCache; try"),
    (lambda: LAYER(*INPUTS, caches=({}, {})), "caches must be two … got ['dict', 'dict']; try"),
    (lambda: MODEL(SOURCE, TARGET, SOURCE), "source_mask … got torch.int64; try source != padding"),
    (lambda: EncoderLayer.from_torch(nn.Linear(2, 2)),
        "module must be an nn.TransformerEncoderLayer, got Linear"),
    (lambda: EncoderLayer.from_torch(torch_layer(OtherNetwork)),
        "module … got OtherNetwork with a _ff_block of its own; copy its weights into an nn.Transf"),
    (encoder_with(lambda module: module.register_forward_hook(print)), "module must be without hooks"),
    (encoder_with(lambda module: module.dropout2.register_forward_hook(print)),
        "dropout2 of module must be without hooks … remove them first"),
]
# fmt: on


@each_bad_call({TypeError: TYPE_ERRORS, ValueError: VALUE_ERRORS})
def test_a_bad_call_says_what_came_and_the_way_out(call, error, words):
    assert_refused(call, error, words)


@PATHS
def test_an_encoder_layer_may_be_the_block_of_a_language_model(need_weights):
    llamas = {"num_kv_heads": 1, "head_dim": 6, "rotary": True, "gated": True, "norm": nn.RMSNorm}
    layer = with_random_parameters(EncoderLayer(D, H, FFN, **llamas)).eval()
    x, cache = torch.randn(B, S, D), KVCache(layer.self_attention, B, S)
    whole = layer(x, is_causal=True)
    with torch.no_grad():
        steps = [
            output_of(layer, chunk, is_causal=True, cache=cache, need_weights=need_weights)
            for chunk in x.split([3, 1, 1, 2], dim=1)
        ]
    torch.testing.assert_close(torch.cat(steps, dim=1), whole)
    torch.testing.assert_close(layer(x[:, :4], is_causal=True), whole[:, :4])
    assert not torch.allclose(layer(x), whole, atol=0.1)


def test_positions_are_as_exact_as_the_model():
    """In single precision, position 1,000 of the fastest pair would be off by some 1e-5."""
    model = EncoderDecoder(W, V, D, H, FFN, dtype=torch.double)
    nn.init.zeros_(model.source_embedding.weight)
    embedded = model.embed(torch.zeros(1, 1001, dtype=torch.int64), model.source_embedding)
    expected = torch.tensor([math.sin(1000), math.cos(1000)], dtype=torch.double)
    torch.testing.assert_close(embedded[0, 1000, :2], expected, rtol=0, atol=1e-12)


def test_bias_and_dropout_reach_every_part_of_a_model():
    parts = list(EncoderDecoder(W, V, D, H, FFN, L, 0.3, True).modules())
    attentions = [part for part in parts if isinstance(part, MultiHeadAttention)]
    assert [(part.dropout, part.W_q.bias is not None) for part in attentions] == 3 * L * [(0.3, True)]
    assert {part.p for part in parts if isinstance(part, nn.Dropout)} == {0.3}
