"""The shares of heads and networks in a logit, and other outputs in place of a head's.

All of it serves a small language model made of the course's layers: ``model.table`` (``nn.Embedding``) reads
the tokens and writes the logits, ``model.layers`` are ``EncoderLayer``, ``model.norm`` is an ``nn.RMSNorm``.

    x = table(tokens)
    x = layer(x, is_causal=True)       for each layer
    logits = norm(x) tableᵀ

The shape letters are those of ``attention.py``, and three more: V, the tokens of the vocabulary; L, the
layers; P = 1 + L (H + 1), the parts that write into x: the table, and each layer's heads and network.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from mha_lib import EncoderLayer, MultiHeadAttention

Part = tuple[str | int, ...]  # ("table",), ("head", layer, head) or ("network", layer)


class Shares(NamedTuple):
    """The share that each part adds to each logit."""

    parts: list[Part]  # the table, then for each layer its heads and its network
    shares: Tensor  # (P, B, N, V); their sum over the parts is ``logits``
    logits: Tensor  # (B, N, V)
    weights: list[Tensor]  # (B, H, N, N) for each layer


class Run(NamedTuple):
    """The results of a model's parts for n tokens; the lists have an entry for each layer."""

    embedded: Tensor  # (B, n, D)
    heads: list[Tensor]  # (B, n, H, d), the outputs before W_o
    networks: list[Tensor]  # (B, n, D)
    weights: list[Tensor]  # (B, H, n, N)
    x: Tensor  # (B, n, D), what goes into the last norm


def logit_shares(model: Any, tokens: Tensor) -> Shares:
    """Return what the table, each head and each network add to each logit.

        x = sum of all parts,   logit = (x / rms(x) · gain) · row of the table
        share of a part = (part / rms(x) · gain) · row of the table

    The last norm is frozen: its divisor is that of the whole x for each part, so that the shares sum to the
    logit. Head h of a layer writes its output times the h-th d columns of ``W_o``.

    tokens  (B, N), numbers of tokens

    Raises TypeError or ValueError for a model without these parts, in training mode or with a bias in
    ``W_o``, which belongs to no head, and for tokens that are not in the table.

    Source: Elhage et al. 2021 (logit attribution, with the norm frozen).
    """
    check_model(model)
    check_text(model, tokens)
    return shares_in(model, run(model, tokens))


def head_outputs(model: Any, tokens: Tensor) -> list[Tensor]:
    """Return what each head computes before ``W_o``, (B, H, N, d) for each layer.

    Raises what ``logit_shares`` raises. The mean of an output over many texts, put in its place by
    ``replaced``, is mean ablation; the output for another text is activation patching.
    """
    check_model(model)
    check_text(model, tokens)
    return [heads.transpose(1, 2) for heads in run(model, tokens).heads]


@contextmanager
def replaced(model: Any, outputs: Mapping[tuple[int, int], Tensor]) -> Iterator[None]:
    """Inside the block, put other outputs in place of those of some heads.

        with replaced(model, {(1, 0): mean}):
            logits = model(tokens)

    outputs  by (layer, head), counted from 0: a tensor that broadcasts to the head's output (B, N, d), such
             as zeros, its mean over many texts (mean ablation: Wang et al. 2022), or its output for another
             text (activation patching: Meng et al. 2022)

    Raises TypeError or ValueError for a model without these parts, an unknown head, or another shape.
    """
    check_model(model)
    for place, output in outputs.items():
        check_replacement(model, place, output)
    with ExitStack() as stack:
        for number, layer in enumerate(model.layers):
            own = {head: output for (at, head), output in outputs.items() if at == number}
            if own:
                stack.enter_context(replacing(layer.self_attention, own, number))
        yield


@contextmanager
def replacing(attention: MultiHeadAttention, outputs: dict[int, Tensor], layer: int) -> Iterator[None]:
    """Replace the outputs of some heads of one layer, on their way to ``W_o``."""

    def put(_: nn.Module, inputs: tuple[Tensor]) -> Tensor:
        heads = list(by_head(inputs[0], attention).unbind(2))  # H × (B, N, d)
        for head, output in outputs.items():
            try:
                heads[head] = output.to(heads[head]).expand_as(heads[head])
            except RuntimeError:
                raise ValueError(
                    f"outputs[{layer, head}] must broadcast to (B, N, d) = {tuple(heads[head].shape)}, got "
                    f"{tuple(output.shape)}; take it for a text as long as this one, or its mean over texts"
                ) from None
        return torch.stack(heads, 2).flatten(2)

    handle = attention.W_o.register_forward_pre_hook(put)
    try:
        yield
    finally:
        handle.remove()


def by_head(x: Tensor, attention: MultiHeadAttention) -> Tensor:
    """Split the input of ``W_o`` into heads, ``(B, N, H·d) -> (B, N, H, d)``."""
    return x.unflatten(-1, (attention.num_heads, attention.value_head_dim))


@contextmanager
def keeping(model: Any) -> Iterator[tuple[list[Tensor], list[Tensor]]]:
    """Keep what each layer's heads (B, n, H, d) and network (B, n, D) compute inside the block."""
    heads: list[Tensor] = []
    networks: list[Tensor] = []
    with ExitStack() as stack:
        for layer in model.layers:

            def keep_heads(
                _: nn.Module, inputs: tuple[Tensor], attention: Any = layer.self_attention
            ) -> None:
                heads.append(by_head(inputs[0], attention))

            def keep_network(_: nn.Module, __: Any, output: Tensor) -> None:
                networks.append(output)

            stack.callback(layer.self_attention.W_o.register_forward_pre_hook(keep_heads).remove)
            stack.callback(layer.feed_forward.register_forward_hook(keep_network).remove)
        yield heads, networks


def run(model: Any, tokens: Tensor) -> Run:
    x = embedded = model.table(tokens)
    weights = []
    with keeping(model) as (heads, networks):
        for layer in model.layers:
            x, weights_here = layer(x, is_causal=True, need_weights=True)
            weights.append(weights_here)
    return Run(embedded, heads, networks, weights, x)


def shares_in(model: Any, kept: Run) -> Shares:
    """The shares of the parts of a run; indexing is left to ``einsum``, so that a page can compute it."""
    names: list[Part] = [("table",)]
    parts = [kept.embedded[None]]
    for number, layer in enumerate(model.layers):
        columns = by_head(layer.self_attention.W_o.weight, layer.self_attention)  # (D, H, d)
        heads = torch.einsum("bnhd,whd->hbnw", kept.heads[number], columns)  # (H, B, n, D)
        names += [("head", number, head) for head in range(len(heads))] + [("network", number)]
        parts += [heads, kept.networks[number][None]]
    read_out = model.table.weight.T  # (D, V)
    written = through_norm(torch.cat(parts), kept.x, model.norm)  # (P, B, n, D)
    return Shares(names, written @ read_out, model.norm(kept.x) @ read_out, kept.weights)


def through_norm(written: Tensor, x: Tensor, norm: Any) -> Tensor:
    """Return what parts (P, …, D) of x (…, D) become behind a norm with its divisor frozen at that of x.

    The norm is an RMSNorm, or a LayerNorm, which first takes from each part its own mean. Its bias, which
    belongs to no part, is left out.
    """
    if isinstance(norm, nn.LayerNorm):
        written, x = (each - each.mean(-1, keepdim=True) for each in (written, x))
    eps = getattr(norm, "eps", getattr(norm, "variance_epsilon", None))
    eps = torch.finfo(x.dtype).eps if eps is None else eps
    divided = written * (x.pow(2).mean(-1, keepdim=True) + eps).rsqrt()
    return divided if norm.weight is None else divided * norm.weight


def check_model(model: Any) -> None:
    wanted = {"table": nn.Embedding, "layers": nn.ModuleList, "norm": nn.RMSNorm}
    for name, kind in wanted.items():
        found = getattr(model, name, None)
        if not isinstance(found, kind):
            raise TypeError(
                f"model.{name} must be an nn.{kind.__name__}, got {type(found).__name__}; a model for this "
                "has table, layers (EncoderLayer) and norm, and its logits are norm(x) @ table.weight.T"
            )
    for number, layer in enumerate(model.layers):
        if not isinstance(layer, EncoderLayer):
            raise TypeError(f"model.layers[{number}] must be an EncoderLayer, got {type(layer).__name__}")
        if layer.self_attention.W_o.bias is not None:
            raise ValueError(
                f"model.layers[{number}] must be without bias in W_o, since a bias is no head's; make it "
                "with bias=False"
            )
    if model.training:
        raise ValueError("model must be in evaluation mode, since dropout changes it; call model.eval()")


def check_text(model: Any, tokens: Tensor) -> None:
    if not isinstance(tokens, Tensor) or tokens.dtype not in (torch.int32, torch.int64):
        got = tokens.dtype if isinstance(tokens, Tensor) else type(tokens).__name__
        raise TypeError(
            f"tokens must be a tensor of integers (B, N), got {got}; try torch.tensor([[3, 1, 4]])"
        )
    if tokens.dim() != 2 or not tokens.numel():
        way_out = "; for one text: tokens[None]" if tokens.dim() == 1 and tokens.numel() else ""
        raise ValueError(f"tokens must be (B, N) and not empty, got shape {tuple(tokens.shape)}{way_out}")
    most = model.table.num_embeddings - 1
    if tokens.min() < 0 or tokens.max() > most:
        raise ValueError(
            f"tokens must be from 0 to {most}, the rows of model.table, got {int(tokens.min())} to "
            f"{int(tokens.max())}; is it another model's vocabulary?"
        )


def check_replacement(model: Any, place: Any, output: Any) -> None:
    counts = [layer.self_attention.num_heads for layer in model.layers]
    layer, head = place if isinstance(place, tuple) and len(place) == 2 else (-1, -1)
    if layer not in range(len(counts)) or head not in range(counts[layer]):
        there = ", ".join(f"layer {number}: {count}" for number, count in enumerate(counts))
        raise ValueError(
            f"outputs must be by (layer, head), counted from 0, got {place!r}; heads there are in {there}"
        )
    width = model.layers[layer].self_attention.value_head_dim
    if (
        not isinstance(output, Tensor)
        or output.dim() > 3
        or (output.dim() and output.shape[-1] not in (1, width))
    ):
        got = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
        raise ValueError(
            f"outputs[{layer, head}] must be a tensor that broadcasts to (B, N, d) with d = {width}, got "
            f"{got}; head_outputs(model, tokens)[layer][:, head] has that shape"
        )
