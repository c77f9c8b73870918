"""Measure the heads of a model over a corpus: a table of one row a head."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from mha_lib.classroom.heads.attention import check_model, read_batch, sink_of, watched
from mha_lib.classroom.heads.measures import counted_queries, induction_scores, mean_over, measures_of_layer
from mha_lib.classroom.heads.parts import Trace, own_modules
from mha_lib.classroom.heads.shares import through_norm
from mha_lib.classroom.heads.table import HeadTable, mean_and_spread
from mha_lib.classroom.heads.texts import Batch, batches, padded_texts, real_tokens, texts_in
from mha_lib.classroom.lesson.language import words_here
from mha_lib.classroom.lesson.shell import Line

REMOVALS = ("zero", "mean")


@torch.no_grad()
def head_table(
    model: nn.Module,
    texts: Any,
    tokenizer: Any = None,
    *,
    towards: Any = None,
    removed: Sequence[str] = REMOVALS,
    batch_size: int = 16,
) -> HeadTable:
    """Measure every head of a model of ``transformers`` over texts; one row a head.

    texts      strings, which ``tokenizer`` reads, or padded tensors, as ``padded_texts`` takes them; with
               ``labels`` -100 the loss leaves out a token that nobody can know
    towards    a token, as a string or a number, or two of them whose logits are compared: (a, b)
    removed    "zero" and "mean", () for neither: what to put in the place of a head's output, one head at a
               time. This takes one run for each head, batch and kind of removal.

    The columns are means over the texts, each with its standard deviation in a column ``…_std``:

    entropy, previous, first, same  as in ``measures_of``; even  the weight on each of them if the head looked
               at all tokens alike
    induction  as in ``measures_of``; induction_control  the weight that was subtracted
    value_norm  Σⱼ ‖αᵢⱼ vⱼ W_O‖, the mean over the queries i: how much the head writes, before its parts
               cancel out (Kobayashi et al. 2020)
    attribution  to the logit of ``towards``, or to logit a less logit b, at the last token of each text: what
               the head writes, behind the last norm with its divisor frozen, times the token's row of the
               output embeddings (Elhage et al. 2021), before what some models do to logits afterwards
    zero_ablation, mean_ablation  how much the loss grows, in nats a token, if zeros stand in the place of the
               head's output, or its mean over all tokens of all texts (Wang et al. 2022)

    A column that a model can't have is left out: ``table.left_out`` says why.

    Raises TypeError or ValueError for texts, tokens or a model that it can't measure.
    """
    check_model(model)
    if isinstance(removed, str) or not {*removed} <= {*REMOVALS}:
        raise ValueError(f"removed must be a list of 'zero' and 'mean', or empty, got {removed!r}")
    arguments = padded_texts(model, texts, tokenizer)
    direction = None if towards is None else direction_of(model, towards, tokenizer)
    one = without_labels(next(batches(arguments, 1)))
    layers = [(kind, layer) for kind, found in read_batch(model, one).items() for layer in found]
    modules = own_modules(model, [layer for _, layer in layers])
    kinds = {module: kind for module, (kind, _) in zip(modules, layers, strict=True)}
    measuring = Measuring(model, kinds, Trace(model, one), direction)
    if towards is not None and direction is None:
        measuring.leave_out("no_norm", "attribution")
    parts = [*batches(arguments, batch_size)]
    for batch in parts:
        measuring.measure(batch)
    looks_ahead = any(layer.allowed.triu(1).any() for kind, layer in layers if kind in ("self", "decoder"))
    loss = measuring.remove(parts, removed, has_loss=not looks_ahead)
    scores = induction_scores(model, one)
    if not scores:
        measuring.leave_out("no_induction", "induction")
    in_order = {kind: iter(found) for kind, found in scores.items()}
    for module, kind in kinds.items():
        if kind in in_order:
            repeated, control = next(in_order[kind])  # (S, H) each
            columns = measuring.columns[module]
            columns["induction"], columns["induction_control"] = [repeated - control], [control]
    names = [*dict.fromkeys(name for columns in measuring.columns.values() for name in columns)]
    rows = []
    for module, (kind, layer) in zip(modules, layers, strict=True):
        found = {name: torch.cat(each).float().cpu() for name, each in measuring.columns[module].items()}
        for head in range(layer.weights.shape[1]):
            row: dict[str, Any] = {"kind": kind, "layer": layer.number, "head": head}
            for name in names:
                row |= mean_and_spread(
                    name, found[name][:, head] if name in found else torch.tensor([math.nan])
                )
            rows.append(row)
    random = max((len(each[0]) for found in scores.values() for each in found), default=0)
    return HeadTable(rows, texts_in(arguments), random, loss, measuring.left_out)


class Measuring:
    """The values of a model's heads, text by text: for each attention module columns of (B, H) a batch."""

    def __init__(self, model: nn.Module, kinds: dict[nn.Module, str], trace: Trace, direction: Tensor | None):
        self.model, self.kinds, self.direction = model, kinds, direction
        self.columns: dict[nn.Module, dict[str, list[Tensor]]] = {part: defaultdict(list) for part in kinds}
        self.left_out: list[str] = []
        found = {module: trace.projection(module) for module in kinds}
        self.matrices = {module: each[1].float() for module, each in found.items() if each}  # (H, d, D)
        self.sums: dict[nn.Module, Tensor] = {}  # of the outputs of its heads, (H, d)
        self.counts: dict[nn.Module, int] = defaultdict(int)
        if len(self.matrices) < len(kinds):
            self.leave_out("no_projection", "value_norm")
        self.norm: nn.Module | None = None
        if direction is not None:
            reason = trace.obstacle([*kinds])
            if reason:
                self.leave_out(reason, "attribution")
            else:
                self.norm = trace.last_norm([*kinds])

    def leave_out(self, reason: str, *columns: str) -> None:
        words = words_here()["models"]["table"]
        self.left_out.append(
            words[reason].format(columns=", ".join(columns), model=type(self.model).__name__)
        )

    def measure(self, batch: Batch) -> None:
        """Add the values of a batch to the columns, and the heads' outputs to their sums."""
        held: dict[nn.Module, tuple[Tensor, Tensor]] = {}
        written: dict[nn.Module, Tensor] = {}  # by the heads of a module at the last token, (B, H, D)
        streams: list[Tensor] = []

        def watch(module: nn.Module, weights: Tensor, allowed: Tensor) -> Tensor:
            real, is_cross = self.real(module, batch, weights.shape[2]), self.kinds[module] == "cross"
            sink = sink_of(module, weights)
            measures = measures_of_layer(weights, allowed, is_cross=is_cross, sink=sink, real=real)
            counted = counted_queries(allowed, is_cross=is_cross, real=real)
            if "previous" in measures:
                measures["even"] = mean_over(counted, 1 / allowed.sum(-1).clamp(min=1))
            for name, values in measures.items():
                self.columns[module][name].append(values)
            held[module] = weights.float(), counted
            return weights

        def note(module: nn.Module, outputs: Tensor, values: Tensor) -> Tensor:
            weights, counted = held.pop(module)
            real = self.real(module, batch, outputs.shape[1])
            kept = outputs.float() if real is None else outputs.float() * real[..., None, None]
            self.sums[module] = self.sums.get(module, 0) + kept.sum((0, 1))
            self.counts[module] += int(outputs.shape[:2].numel() if real is None else real.sum())
            if module not in self.matrices:
                return outputs
            norms = value_norms(values.float(), self.matrices[module])[..., None]  # (B, H, K, 1)
            self.columns[module]["value_norm"].append(mean_over(counted, (weights @ norms)[..., 0]))
            if self.norm is not None:
                written[module] = torch.einsum("bhd,hdw->bhw", last(kept, real), self.matrices[module])
            return outputs

        hook = (
            self.norm.register_forward_pre_hook(lambda _, given: streams.append(given[0]))
            if self.norm
            else None
        )
        try:
            with watched(self.model, watch, note):
                self.model(**without_labels(batch))
        finally:
            if hook:
                hook.remove()
        for module, each in written.items() if self.direction is not None else ():
            x = last(streams[0].float(), self.real(module, batch, streams[0].shape[1]))  # (B, D)
            parts = through_norm(each.movedim(1, 0), x, self.norm)  # (H, B, D)
            self.columns[module]["attribution"].append(torch.einsum("hbw,w->bh", parts, self.direction))

    def real(self, module: nn.Module, batch: Batch, queries: int) -> Tensor | None:
        """Where the queries of a module are not padding, (B, Q); None if there is no mask for them."""
        mask = real_tokens(batch, self.kinds[module])
        return mask if mask is not None and mask.shape[1] == queries else None

    def remove(self, parts: list[Batch], removed: Sequence[str], *, has_loss: bool) -> float:
        """Add the growth of the loss without each head to the columns; returns the loss with all heads."""
        with watched(self.model):
            losses = (
                [losses_of(self.model(**without_labels(batch)), batch) for batch in parts] if has_loss else []
            )
        before = torch.cat([torch.empty(0), *(each.cpu() for each in losses)])
        if not before.numel():
            if removed:
                self.leave_out("no_loss", *(f"{name}_ablation" for name in removed))
            return math.nan
        words, line, done = words_here()["models"]["table"], Line(), 0
        count = sum(len(each) for each in self.sums.values())
        try:
            for module, total in self.sums.items():
                grown: dict[str, list[Tensor]] = defaultdict(list)
                for head in range(len(total)) if removed else ():
                    done += 1
                    line.write(words["progress"].format(head=done, heads=count), {})
                    for name in removed:
                        mean = total[head] / self.counts[module]
                        without = self.losses_without(
                            parts, module, head, mean if name == "mean" else mean * 0
                        )
                        grown[name].append(without - before)
                for name, each in grown.items():
                    self.columns[module][f"{name}_ablation"] = [torch.stack(each, 1)]  # (texts, H)
        finally:
            line.remove()
        return float(before.mean())

    def losses_without(self, parts: list[Batch], module: nn.Module, head: int, instead: Tensor) -> Tensor:
        def put(called: nn.Module, outputs: Tensor, _: Tensor) -> Tensor:
            if called is module:
                outputs = outputs.clone()
                outputs[:, :, head] = instead.to(outputs)
            return outputs

        with watched(self.model, outputs=put):
            return torch.cat([losses_of(self.model(**without_labels(batch)), batch).cpu() for batch in parts])


def value_norms(values: Tensor, matrices: Tensor) -> Tensor:
    """The norms ‖v W_O‖ (B, H, K) of values (B, H or fewer, K, d), by the heads' matrices (H, d, D)."""
    values = values.repeat_interleave(len(matrices) // values.shape[1], dim=1)
    squares = torch.einsum("bhkd,hde,bhke->bhk", values, matrices @ matrices.mT, values)
    return squares.clamp(min=0).sqrt()


def last(x: Tensor, real: Tensor | None) -> Tensor:
    """The entry of each text's last token, (B, Q, …) -> (B, …)."""
    at = torch.full((len(x),), x.shape[1] - 1, device=x.device) if real is None else real.sum(1) - 1
    return x[torch.arange(len(x), device=x.device), at]


def without_labels(batch: Batch) -> Batch:
    """The inputs of the model, which need not compute a loss: we do so for each text."""
    return {name: x for name, x in batch.items() if name != "labels"}


def losses_of(output: Any, batch: Batch) -> Tensor:
    """The mean loss (B,) of each text's next tokens, in nats; empty if the model predicts none.

    A token whose label is -100 is not asked for, as transformers has it.
    """
    name = "decoder_input_ids" if "decoder_input_ids" in batch else "input_ids"
    logits, tokens = getattr(output, "logits", None), batch.get(name)
    if logits is None or tokens is None or logits.shape[:2] != tokens.shape:
        return torch.empty(0)
    labels = ({"labels": tokens} | batch)["labels"][:, 1:]
    real = batch[name.replace("input_ids", "attention_mask")][:, 1:].bool() & (labels != -100)
    losses = nn.functional.cross_entropy(logits[:, :-1].float().mT, labels, reduction="none")
    return (losses * real).sum(1) / real.sum(1)


def direction_of(model: nn.Module, towards: Any, tokenizer: Any) -> Tensor | None:
    """The row (D,) of the output embeddings of a token, or the difference of two; None if there are none."""
    head = getattr(model, "get_output_embeddings", lambda: None)()
    if head is None:
        return None
    tokens = [
        token_number(each, tokenizer) for each in (towards if isinstance(towards, tuple) else (towards,))
    ]
    if len(tokens) > 2 or not all(0 <= token < len(head.weight) for token in tokens):
        raise ValueError(
            f"towards must be a token or a pair (a, b), below {len(head.weight)}, got {towards!r}"
        )
    first, *other = head.weight[tokens].float()
    return first - other[0] if other else first


def token_number(token: Any, tokenizer: Any) -> int:
    if not isinstance(token, str):
        return int(token)
    if tokenizer is None:
        raise ValueError(
            f"tokenizer must be given for towards={token!r}, a string; or pass the token's number"
        )
    numbers = tokenizer(token, add_special_tokens=False)["input_ids"]
    if len(numbers) != 1:
        raise ValueError(f"towards must be one token, got {token!r}, which is {numbers}; pass one of them")
    return int(numbers[0])
