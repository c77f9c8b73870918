"""Every option of a layer is shown by ``print``, and becomes part of PyTorch's layer or is refused there.

An option that is added later must have a value here: the walks go by the signatures.
"""

import inspect
from functools import partial

import pytest
import torch
from torch import nn

from mha_lib import DecoderLayer, EncoderDecoder, EncoderLayer, KVCache, MultiHeadAttention
from mha_lib.multihead import CARRIED_OVER

# Another value than an option has unless said otherwise, for layers of width 8 with 4 heads.
OTHER = {
    "dropout": 0.25,
    "bias": True,
    "query_size": 6,
    "key_size": 6,
    "value_size": 6,
    "head_dim": 4,
    "value_head_dim": 3,
    "num_kv_heads": 2,
    "rotary": True,
    "qk_norm": True,
    "window": 3,
    "sinks": True,
    "gated": True,
    "norm": nn.RMSNorm,
}
SHARED = ("num_hiddens", "num_heads", "ffn_num_hiddens", "device", "dtype")  # both layers always have them


def options_of(kind):
    return [name for name in inspect.signature(kind).parameters if name not in SHARED]


@pytest.mark.parametrize("name", options_of(MultiHeadAttention))
def test_an_option_of_the_attention_is_shown_and_handed_over_or_refused(name):
    layer = MultiHeadAttention(8, 4, **{name: OTHER[name]})
    assert f"{name}=" in layer.extra_repr()
    if name not in CARRIED_OVER:
        with pytest.raises(ValueError, match=f"built without {name} to become"):
            layer.to_torch()
        return
    module = layer.eval().to_torch()
    again = MultiHeadAttention.from_torch(module)
    assert getattr(again, name) == OTHER[name]
    sizes = (layer.query_size, layer.key_size, layer.value_size)
    q, k, v = (torch.randn(2, 5, size) for size in sizes)
    torch.testing.assert_close(module(q, k, v)[0], layer(q, k, v))


@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer])
@pytest.mark.parametrize("name", options_of(EncoderLayer))
def test_an_option_of_a_layer_is_handed_over_or_refused(kind, name):
    assert options_of(DecoderLayer) == options_of(EncoderLayer)
    layer = kind(8, 4, 6, **{name: OTHER[name]}).eval()
    if name not in ("dropout", "bias"):
        with pytest.raises(ValueError, match=r"must be built without|must be an nn\.LayerNorm"):
            layer.to_torch()
        return
    x = torch.randn(2, 5, 8)
    module = layer.to_torch()
    if kind is EncoderLayer:
        torch.testing.assert_close(module(x), layer(x))
    else:
        causal = nn.Transformer.generate_square_subsequent_mask(5)
        torch.testing.assert_close(module(x, x, tgt_mask=causal), layer(x, x))


@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer])
@pytest.mark.parametrize("norm", [partial(nn.LayerNorm, bias=False), partial(nn.LayerNorm, eps=0.3)])
def test_only_norms_that_pytorchs_layers_can_run_are_handed_over(kind, norm):
    layer, x = kind(8, 2, 6, norm=norm).eval(), torch.randn(2, 5, 8)
    if "bias" in norm.keywords:
        with pytest.raises(ValueError, match=r"must be an nn\.LayerNorm with weight and bias"):
            layer.to_torch()
    elif kind is EncoderLayer:
        torch.testing.assert_close(layer.to_torch()(x), layer(x))
        assert layer.to_torch().norm2.eps == 0.3


def test_what_was_changed_by_hand_is_handed_over_or_refused():
    layer = EncoderLayer(8, 2, 6, dropout=0.1)
    layer.feed_forward.dropout.p = 0.7
    assert layer.to_torch().dropout.p == 0.7
    assert layer.to_torch().dropout1.p == 0.1
    layer.feed_forward.W_1.register_forward_hook(lambda module, inputs, output: 2 * output)
    with pytest.raises(TypeError, match=r"feed_forward\.W_1 must be without forward hooks"):
        layer.to_torch()
    attention = MultiHeadAttention(8, 2)
    attention.W_k.requires_grad_(False)
    with pytest.raises(ValueError, match="W_q, W_k and W_v must be alike in requires_grad"):
        attention.to_torch()


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


@pytest.mark.parametrize("kind", [MultiHeadAttention, EncoderLayer, DecoderLayer])
def test_all_parameters_are_of_the_dtype_and_on_the_device_that_are_asked_for(kind):
    options = {name: OTHER[name] for name in options_of(kind)}
    sizes = (8, 4) if kind is MultiHeadAttention else (8, 4, 6)
    layer = kind(*sizes, **options, dtype=torch.float64, device="meta")
    assert {(x.dtype, x.device.type) for x in layer.parameters()} == {(torch.float64, "meta")}


@pytest.mark.parametrize("kind", ["mask", "valid_lens", "score_bias"])
def test_an_encoder_layer_takes_what_its_attention_takes(kind):
    layer, x = EncoderLayer(8, 2, 6), torch.randn(2, 5, 8)
    lengths = torch.tensor([2, 4])
    key_mask = torch.arange(5) < lengths[:, None]
    limits = {
        "mask": key_mask[:, None],
        "valid_lens": lengths,
        "score_bias": torch.where(key_mask, 0.0, -torch.inf)[:, None, None],
    }
    torch.testing.assert_close(layer(x, **{kind: limits[kind]}), layer(x, key_mask))


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


@pytest.mark.parametrize("strict", [True, False])
def test_a_model_with_a_cache_is_not_exported(strict):
    layer = MultiHeadAttention(8, 2)
    cache = KVCache(layer, 1, 9)

    class Step(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def forward(self, x):
            return self.layer(x, cache=cache, is_causal=True)

    with torch.no_grad():
        with pytest.raises(Exception, match=r"cache must be used outside torch\.export"):
            torch.export.export(Step(), (torch.randn(1, 2, 8),), strict=strict)
        assert cache.keys is None
        assert len(cache) == 0
        x = torch.randn(1, 4, 8)
        steps = [torch.compile(Step(), backend="eager", fullgraph=True)(token) for token in x.split(1, dim=1)]
    torch.testing.assert_close(torch.cat(steps, dim=1), layer(x, is_causal=True))
