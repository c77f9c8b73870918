"""Every option of a layer is shown by ``print``, and becomes part of PyTorch's layer or is refused there.

An option that is added later must have a value here: the walks go by the signatures.
"""

import inspect
import re
from functools import partial

import pytest
import torch
from torch import nn

from mha_lib import (
    AdditiveAttention,
    DecoderLayer,
    EncoderDecoder,
    EncoderLayer,
    FeedForward,
    KVCache,
    LatentAttention,
    MultiHeadAttention,
    Rotary,
    SingleHeadAttention,
)
from mha_lib.conversions import CARRIED_OVER
from tests.mha_lib.layers import with_random_parameters

# The sizes that each class must be given: width 8 and 4 heads.
SIZES = {
    MultiHeadAttention: (8, 4),
    LatentAttention: (8, 4, 3, 2),
    EncoderLayer: (8, 4, 6),
    DecoderLayer: (8, 4, 6),
    EncoderDecoder: (7, 7, 8, 4, 6),
    FeedForward: (8, 6),
    SingleHeadAttention: (8, 4),
    AdditiveAttention: (8,),
}
# Another value than an option has unless said otherwise.
OTHER = {
    "dropout": 0.25,
    "bias": True,
    "query_size": 6,
    "key_size": 6,
    "value_size": 6,
    "head_dim": 4,
    "value_head_dim": 3,
    "num_kv_heads": 2,
    "query_latent_dim": 5,
    "rotary": Rotary(500),
    "qk_norm": True,
    "window": 3,
    "sinks": True,
    "gated": True,
    "norm": nn.RMSNorm,
    "num_layers": 2,
}
OF_INPUTS = ("query_size", "key_size", "value_size")
PLACE = ("device", "dtype", "options")  # where a layer is made, and the options of another class


def options_of(kind):
    names = [
        name for name in list(inspect.signature(kind).parameters)[len(SIZES[kind]) :] if name not in PLACE
    ]
    if "attention" in names:
        names.remove("attention")
        names += [name for name in options_of(MultiHeadAttention) if name not in [*names, *OF_INPUTS]]
    return names


def each_option_of(*kinds):
    return pytest.mark.parametrize(
        ("kind", "name"), [(kind, name) for kind in kinds for name in options_of(kind)]
    )


@each_option_of(MultiHeadAttention, LatentAttention)
def test_an_option_of_an_attention_is_an_attribute_and_shown(kind, name):
    layer = kind(*SIZES[kind], **{name: OTHER[name]})
    assert getattr(layer, name) == OTHER[name]
    assert f", {name}={OTHER[name]}" in layer.extra_repr()


@pytest.mark.parametrize("kind", SIZES)
def test_no_argument_takes_a_value_that_makes_no_layer(kind):
    right = dict(zip(inspect.signature(kind).parameters, SIZES[kind], strict=False))
    for name in [*right, *options_of(kind)]:
        wrong = {int: 0, bool: "no", float: -1.0}.get(type((right | OTHER)[name]), "no")
        with pytest.raises((TypeError, ValueError), match=f"{name}.* must"):
            kind(**right | {name: wrong})


def test_printing_a_layer_shows_its_heads_and_no_usual_option():
    assert MultiHeadAttention(12, 6).extra_repr() == "12, num_heads=6"
    assert LatentAttention(12, 6, 5, 4).extra_repr() == "12, num_heads=6, latent_dim=5, rope_dim=4"


@each_option_of(MultiHeadAttention)
def test_an_option_of_the_attention_is_handed_over_or_refused(kind, name):
    layer = with_random_parameters(kind(*SIZES[kind], **{name: OTHER[name]})).eval()
    if name not in CARRIED_OVER:
        with pytest.raises(ValueError, match=f"built without {name} to become.* got {name}="):
            layer.to_torch()
        return
    module = layer.to_torch()
    again = kind.from_torch(module)
    assert getattr(again, name) == OTHER[name]
    assert not module.training
    assert not again.training
    sizes = (layer.query_size, layer.key_size, layer.value_size)
    q, k, v = (torch.randn(2, 5, size) for size in sizes)
    torch.testing.assert_close(module(q, k, v, average_attn_weights=False), layer(q, k, v, need_weights=True))
    places = {p.data_ptr() for each in (layer, module, again) for p in each.parameters()}
    assert len(places) == 2 * len(list(layer.parameters())) + len(list(module.parameters())), "copies"
    on_meta = kind(*SIZES[kind], **{name: OTHER[name]}, device="meta").to_torch()
    assert all(p.is_meta for p in on_meta.parameters())


@each_option_of(EncoderLayer, DecoderLayer)
def test_an_option_of_a_layer_is_handed_over_or_refused(kind, name):
    assert options_of(DecoderLayer) == options_of(EncoderLayer)
    layer = with_random_parameters(kind(*SIZES[kind], **{name: OTHER[name]})).eval()
    if name not in ("dropout", "bias"):
        with pytest.raises(ValueError, match=r"must be built without|must be an nn\.LayerNorm"):
            layer.to_torch()
        return
    x = torch.randn(2, 5, 8)
    module = layer.to_torch()
    assert module.dropout1.p == layer.dropout.p
    if kind is EncoderLayer:
        torch.testing.assert_close(module(x), layer(x))
    else:
        causal = nn.Transformer.generate_square_subsequent_mask(5)
        torch.testing.assert_close(module(x, x, tgt_mask=causal), layer(x, x))
    places = [p.data_ptr() for each in (layer, module, kind.from_torch(module)) for p in each.parameters()]
    assert len(set(places)) == len(places), "copies"


def test_a_norm_without_bias_is_not_handed_over():
    layer = EncoderLayer(8, 2, 6, norm=partial(nn.LayerNorm, bias=False))
    with pytest.raises(ValueError, match=r"must be an nn\.LayerNorm with weight and bias"):
        layer.to_torch()


def trained_of(layer):
    return {name: p.requires_grad for name, p in layer.named_parameters()}


@pytest.mark.parametrize(
    ("make", "stacked"),
    [
        (lambda: EncoderLayer(8, 2, 6, bias=True), r"W_[qkv]"),
        (lambda: DecoderLayer(8, 2, 6, bias=True), r"W_[qkv]"),
        (lambda: MultiHeadAttention(8, 2, bias=True, key_size=6), r"W_[qkv]\.bias"),
    ],
    ids=["encoder layer", "decoder layer", "keys of another width"],
)
def test_what_is_trained_is_handed_over_or_refused(make, stacked):
    """PyTorch has one parameter for what is stacked, which is trained or not."""
    for name in trained_of(make()):
        layer = make()
        layer.get_parameter(name).requires_grad_(False)
        if re.search(stacked, name):
            with pytest.raises(ValueError, match="W_q, W_k and W_v must be alike in requires_grad"):
                layer.to_torch()
            kind = name.split(".")[-1]
            for projection in "qkv":
                layer.get_parameter(re.sub(r"W_.\.\w+", f"W_{projection}.{kind}", name)).requires_grad_(False)
        assert trained_of(type(layer).from_torch(layer.to_torch())) == trained_of(layer), name


@pytest.mark.parametrize("part", ["", "feed_forward.W_1"])
@pytest.mark.parametrize(
    "hook", ["forward_hook", "forward_pre_hook", "full_backward_hook", "full_backward_pre_hook"]
)
def test_hooks_are_refused(part, hook):
    layer = EncoderLayer(8, 2, 6)
    getattr(layer.get_submodule(part), f"register_{hook}")(lambda *_: None)
    with pytest.raises(TypeError, match=f"{re.escape(part) or 'layer'} must be without hooks"):
        layer.to_torch()


@pytest.mark.parametrize(
    "name", [name for name in options_of(EncoderLayer) if name not in ("dropout", "bias")]
)
@torch.no_grad()
def test_a_model_with_any_option_writes_with_a_cache_what_it_writes_without(name):
    model = EncoderDecoder(7, 7, 8, 4, 6, num_layers=2, **{name: OTHER[name]}).eval()
    source, target = torch.randint(7, (2, 5)), torch.randint(7, (2, 6))
    written = model.generate(source, begin=0, end=None, max_tokens=6)
    memory = model.encode(source)
    logits = model.decode(torch.cat([target[:, :1] * 0, written[:, :-1]], 1), memory)
    assert torch.equal(logits.argmax(-1), written)


@each_option_of(MultiHeadAttention, LatentAttention)
@torch.no_grad()
def test_an_attention_with_any_option_gives_token_by_token_what_it_gives_at_once(kind, name):
    """So it does with a method of its own, with hooks, and with other parts in the place of its own."""
    if name.endswith("_size"):  # no self-attention
        return

    def louder(self, *args):
        return tuple(2 * x if isinstance(x, torch.Tensor) else x for x in kind.project(self, *args))

    x = torch.randn(2, 6, 8).double()
    for change in (plain, with_hooks, with_other_parts):
        for made in (kind, type("Louder", (kind,), {"project": louder})):
            layer = change(with_random_parameters(made(*SIZES[kind], **{name: OTHER[name]})).double().eval())
            cache = KVCache(layer, 2, 6)
            steps = [layer(token, cache=cache, is_causal=True) for token in x.split(1, dim=1)]
            torch.testing.assert_close(torch.cat(steps, dim=1), layer(x, is_causal=True))


def plain(layer):
    return layer


def with_hooks(layer):
    for part in layer.children():
        part.register_forward_hook(lambda module, inputs, output: 1.5 * output + 0.1)
    layer.register_forward_hook(lambda module, inputs, output: output + 1)
    return layer


class Wrapped(nn.Module):
    """As an adapter does: the base's weight can be read, and is not all that is computed."""

    def __init__(self, base):
        super().__init__()
        self.base = base

    @property
    def weight(self):
        return self.base.weight

    def forward(self, x):
        return 1.5 * self.base(x) + 0.1


def with_other_parts(layer):
    for name, part in list(layer.named_children()):
        layer.set_submodule(name, Wrapped(part))
    return layer


@pytest.mark.parametrize("kind", SIZES)
def test_all_parameters_are_of_the_dtype_and_on_the_device_that_are_asked_for(kind):
    options = {name: OTHER[name] for name in options_of(kind)}
    layer = kind(*SIZES[kind], **options, dtype=torch.float16, device="meta")
    assert {(p.dtype, p.device.type) for p in layer.parameters()} == {(torch.float16, "meta")}
    usual = kind(*SIZES[kind])
    assert {(p.dtype, p.device.type) for p in usual.parameters()} == {(torch.float32, "cpu")}


def test_an_encoder_layer_takes_what_its_attention_takes():
    layer, x, lengths = EncoderLayer(8, 2, 6), torch.randn(2, 5, 8), torch.tensor([2, 4])
    key_mask = torch.arange(5) < lengths[:, None]
    expected = layer(x, key_mask)
    torch.testing.assert_close(layer(x, mask=key_mask[:, None]), expected)
    torch.testing.assert_close(layer(x, valid_lens=lengths), expected)
    bias = torch.where(key_mask, 0.0, -torch.inf)[:, None, None]
    torch.testing.assert_close(layer(x, score_bias=bias), expected)


@torch.no_grad()
def test_a_state_dict_of_other_heads_is_refused_and_one_without_notes_is_not(tmp_path):
    saved, other = MultiHeadAttention(12, 3).state_dict(), MultiHeadAttention(12, 6)
    torch.save(saved, tmp_path / "saved.pt")
    for given in (saved, torch.load(tmp_path / "saved.pt")):
        with pytest.raises(RuntimeError, match="the saved ones, head_dim=4, got head_dim=2; build the layer"):
            other.load_state_dict(given)
    MultiHeadAttention(12, 3).load_state_dict(saved)
    other.load_state_dict(dict(saved))  # nothing says what it was
    model = EncoderDecoder(5, 5, 12, 3, 6)
    with pytest.raises(RuntimeError, match=r"encoder_layers\.0\.self_attention\.must have heads as wide"):
        EncoderDecoder(5, 5, 12, 2, 6).load_state_dict(model.state_dict())


def test_a_model_with_a_cache_is_not_exported():
    layer = MultiHeadAttention(8, 2)
    cache = KVCache(layer, 1, 9)
    layer.forward = partial(layer.forward, cache=cache, is_causal=True)
    with torch.no_grad(), pytest.raises(Exception, match=r"cache must be used outside torch\.export"):
        torch.export.export(layer, (torch.randn(1, 2, 8),), strict=False)
    assert cache.keys is None
    assert len(cache) == 0
