"""The shares of heads and networks in a logit, and other outputs in place of a head's.

All of it serves a ``LanguageModel`` with an RMSNorm before its logits, however large it is.

The shape letters are those of ``language_model.py``, and three more: L, the layers; P = 1 + L (H + 1), the
parts that write into x: the table, and each layer's heads and network; C, chosen tokens of the vocabulary.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from mha_lib import LanguageModel, MultiHeadAttention, checks

Part = tuple[str | int, ...]  # ("table",), ("head", layer, head) or ("network", layer)
Outputs = Mapping[tuple[int, int], Tensor]  # by (layer, head)
Replacement = tuple[Any, slice, int, Tensor]  # rows of the batch, tokens, head, its output there


class Shares(NamedTuple):
    """The share that each part adds to each chosen logit."""

    parts: list[Part]  # the table, then for each layer its heads and its network
    shares: Tensor  # (P, B, N, C); their sum over the parts is ``logits``
    logits: Tensor  # (B, N, C)
    weights: list[Tensor]  # (B, H, N, N) for each layer


class Run(NamedTuple):
    """The results of a model's parts for n tokens; the lists have an entry for each layer."""

    embedded: Tensor  # (B, n, D)
    heads: list[Tensor]  # (B, n, H, d), the outputs before W_o
    networks: list[Tensor]  # (B, n, D)
    weights: list[Tensor]  # (B, H, n, N)
    x: Tensor  # (B, n, D), what goes into the last norm


def logit_shares(model: LanguageModel, tokens: Tensor, chosen: Tensor | None = None) -> Shares:
    """Return what the table, each head and each network add to each logit.

        x = sum of all parts,   logit = (x / rms(x) · gain) · row of the token
        share of a part = (part / rms(x) · gain) · row of the token

    The last norm is frozen: its divisor is that of the whole x for each part, so that the shares sum to the
    logit. Head h of a layer writes its output times the h-th d columns of ``W_o``.

    tokens  (B, N)
    chosen  the tokens whose logits are split: (C,), or (B, N, C) for other ones at each place; None: all V.
            No more is computed or held: all shares of 301 parts × 49,152 tokens take 59 MB for each of N

    Raises TypeError or ValueError for another model, one in training mode, with another last norm or with a
    bias in ``W_o``, which belongs to no head, and for tokens that the model does not have.

    Source: Elhage et al. 2021 (logit attribution, with the norm frozen).
    """
    check_model(model)
    kept = run(model, tokens)
    if chosen is None:
        return shares_in(model, kept, model.read_out)
    if chosen.dim() != 1 and (chosen.dim() != 3 or chosen.shape[:2] != tokens.shape):
        raise ValueError(
            f"chosen must be (C,), or (B, N, C) with (B, N) = {tuple(tokens.shape)}, got "
            f"{tuple(chosen.shape)}; try chosen[..., None] for one token at each place"
        )
    return shares_in(model, kept, rows_of(model, "chosen", chosen))


def head_outputs(model: LanguageModel, tokens: Tensor) -> list[Tensor]:
    """Return what each head computes before ``W_o``, (B, H, N, d) for each layer.

    Raises what ``logit_shares`` raises. The mean of an output over many texts, put in its place by
    ``replaced``, is mean ablation; the output for another text is activation patching.
    """
    check_model(model)
    return [heads.transpose(1, 2) for heads in run(model, tokens).heads]


@contextmanager
def replaced(model: LanguageModel, outputs: Outputs | Sequence[Outputs]) -> Iterator[None]:
    """Inside the block, put other outputs in place of those of some heads.

        with replaced(model, {(1, 0): mean}):
            logits = model(tokens)
        with replaced(model, [{}, {(1, 0): mean}]):  # in the second row of the batch alone
            plain, without = model(tokens.expand(2, -1))

    outputs  by (layer, head), counted from 0: a tensor that broadcasts to the head's output (B, N, d), such
             as zeros, its mean over many texts (mean ablation: Wang et al. 2022), or its output for another
             text (activation patching: Meng et al. 2022). Or such a mapping for each row of the batch, of
             tensors that broadcast to (N, d)

    Raises TypeError or ValueError for another model, an unknown head, another shape or number of rows.
    """
    check_model(model)
    batch = None if isinstance(outputs, Mapping) else len(outputs)
    rows = [(slice(None), outputs)] if isinstance(outputs, Mapping) else [*enumerate(outputs)]
    by_layer: list[list[Replacement]] = [[] for _ in model.layers]
    for row, own in rows:
        for place, output in own.items():
            check_replacement(model, place, output)
            by_layer[place[0]].append((row, slice(None), place[1], output))
    with ExitStack() as stack:
        for layer, replacements in zip(model.layers, by_layer, strict=True):
            if replacements:
                stack.enter_context(replacing(layer.self_attention, replacements, batch))
        yield


@contextmanager
def replacing(
    attention: MultiHeadAttention, replacements: Sequence[Replacement], batch: int | None = None
) -> Iterator[None]:
    """Replace outputs of heads of one layer on their way to ``W_o``, in a batch of so many rows."""

    def put(_: nn.Module, inputs: tuple[Tensor]) -> Tensor:
        heads = by_head(inputs[0], attention).clone()  # (B, N, H, d)
        if batch not in (None, len(heads)):
            raise ValueError(
                f"outputs must be a mapping for each row of the batch, which has {len(heads)}, got {batch}; "
                "{} leaves a row as it is"
            )
        for row, tokens, head, output in replacements:
            try:
                heads[row, tokens, head] = output.to(heads)
            except RuntimeError:
                axes, wanted = "(B, N, d)" if batch is None else "(N, d)", heads[row, tokens, head].shape
                raise ValueError(
                    f"outputs of head {head} must broadcast to {axes} = {tuple(wanted)}, got "
                    f"{tuple(output.shape)}; take it for a text as long as this one, or its mean over texts"
                ) from None
        return heads.flatten(2)

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


def run(model: LanguageModel, tokens: Tensor) -> Run:
    x = embedded = model.embed(tokens)
    weights = []
    with keeping(model) as (heads, networks):
        for layer in model.layers:
            x, weights_here = layer(x, is_causal=True, need_weights=True)
            weights.append(weights_here)
    return Run(embedded, heads, networks, weights, x)


def rows_of(model: LanguageModel, name: str, chosen: Tensor) -> Tensor:
    """The rows of the read-out that score chosen tokens, ``(…) -> (…, D)``."""
    checks.check_token_numbers(name, chosen.reshape(1, -1), model.table, "is it another model's vocabulary?")
    return model.read_out[chosen]


def shares_in(model: LanguageModel, kept: Run, rows: Tensor) -> Shares:
    """The shares of a run's parts in the logits of some rows of the read-out, (C, D) or (B, n, C, D).

    What a layer's parts write is read at once and not held. Without indexing, which a page does not know.
    """

    def read(normed: Tensor) -> Tensor:
        if rows.dim() == 2:
            return normed @ rows.T  # (…, B, n, D) -> (…, B, n, C)
        return torch.einsum("...bnw,bncw->...bnc", normed, rows)

    def share(parts: Tensor) -> Tensor:
        return read(through_norm(parts, kept.x, model.norm))

    names: list[Part] = [("table",)]
    shares = [share(kept.embedded[None])]
    for number, layer in enumerate(model.layers):
        columns = by_head(layer.self_attention.W_o.weight, layer.self_attention)  # (D, H, d)
        heads = torch.einsum("bnhd,whd->hbnw", kept.heads[number], columns)  # (H, B, n, D)
        names += [("head", number, head) for head in range(len(heads))] + [("network", number)]
        shares += [share(heads), share(kept.networks[number][None])]
    return Shares(names, torch.cat(shares), read(model.norm(kept.x)), kept.weights)


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
    if not isinstance(model, LanguageModel):
        kind = type(model)
        raise TypeError(
            f"model must be an mha_lib.LanguageModel, got {kind.__module__}.{kind.__name__}; make one of our "
            "layers: LanguageModel(table, layers, norm)"
        )
    if not isinstance(model.norm, nn.RMSNorm):
        raise TypeError(f"model.norm must be an nn.RMSNorm, got {type(model.norm).__name__}")
    for number, layer in enumerate(model.layers):
        if layer.self_attention.W_o.bias is not None:
            raise ValueError(
                f"model.layers[{number}] must be without bias in W_o, since a bias is no head's; make it "
                "with bias=False"
            )
    if model.training:
        raise ValueError("model must be in evaluation mode, since dropout changes it; call model.eval()")


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
