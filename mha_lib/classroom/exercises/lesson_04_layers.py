"""The exercises of the lesson on layers: the block, its sums, circuits, and a task for three layers."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import layer_norm, one_hot

from mha_lib import causal_mask, masked_softmax
from mha_lib.classroom.exercises.judge import (
    Answer,
    Arguments,
    Draw,
    Exercise,
    Judged,
    Verdict,
    describe,
    result_of,
    same,
)
from mha_lib.classroom.exercises.mistakes import Step, nothing_done

Part = Callable[[Tensor], Tensor]
Layer = Callable[[Tensor, Tensor], Tensor]
Look = Callable[[Tensor, Tensor, Tensor], Tensor]


def draw_block(draw: Draw) -> Arguments:
    """Tokens (B, N, D), and two parts and two norms, each of which computes something else."""
    batch, tokens, width = draw.sizes(2, 5, 6)
    x, W_1, W_2, mix = draw.tensors((batch, tokens, width), (width, width), (width, width), (tokens, tokens))

    def norm(gain: Tensor) -> Part:
        return lambda x: (1 + gain.abs()) * layer_norm(x, x.shape[-1:])

    gains = draw.tensors((width,), (width,))
    return x, lambda x: mix @ x @ W_1, lambda x: (x @ W_2).relu(), norm(gains[0]), norm(gains[1])


def block(
    x: Tensor,
    attention: Part,
    feed_forward: Part,
    norm_1: Part,
    norm_2: Part,
    *,
    first_sum: Step = torch.add,
    second_sum: Step = torch.add,
    first_read: Step = lambda norm, x: norm(x),
    second_read: Step = lambda norm, x: norm(x),
) -> Tensor:
    """The block, (B, N, D); each keyword replaces one step by a mistake."""
    between = first_sum(x, attention(first_read(norm_1, x)))
    return second_sum(between, feed_forward(second_read(norm_2, between)))


def part_alone(stream: Tensor, part: Tensor) -> Tensor:
    """A sum that was forgotten."""
    return part


def norm_left_out(norm: Part, x: Tensor) -> Tensor:
    return x


def after_the_sums(x: Tensor, attention: Part, feed_forward: Part, norm_1: Part, norm_2: Part) -> Tensor:
    x = norm_1(x + attention(x))
    return norm_2(x + feed_forward(x))


def onto_the_normed(x: Tensor, attention: Part, feed_forward: Part, norm_1: Part, norm_2: Part) -> Tensor:
    x = norm_1(x)
    x = norm_2(x + attention(x))
    return x + feed_forward(x)


def network_first(x: Tensor, attention: Part, feed_forward: Part, norm_1: Part, norm_2: Part) -> Tensor:
    x = x + feed_forward(norm_2(x))
    return x + attention(norm_1(x))


def draw_layer(draw: Draw) -> Arguments:
    """A layer of four heads, which adds to its input or to something else, and tokens (B, N, D)."""
    tokens, width = draw.sizes(5, 8)
    x, W, mix = draw.tensors((2, tokens, width), (4, width, width), (tokens, tokens))
    stream: Part = draw.in_turn(
        nothing_done,
        torch.zeros_like,
        lambda x: layer_norm(x, x.shape[-1:]),
        lambda x: x / 2,
    )

    def layer(x: Tensor, head_mask: Tensor) -> Tensor:
        return stream(x) + torch.einsum("nm,bmd,hde,h->bne", mix, x, W, head_mask)

    return layer, x


def sum_gap(
    layer: Layer,
    x: Tensor,
    *,
    mask: Callable[[int], Tensor] = torch.zeros,
    compared: Step = torch.sub,
    size: Step = lambda gap: gap.abs().max(),
) -> Tensor:
    """How far silent heads leave the layer from its input, (); each keyword replaces one step."""
    return size(compared(layer(x, mask(4)), x))


class PreviousHead(Judged):
    """The student sets the weights of a head that hands each place the token before it; many are right."""

    mistakes = (
        "three_matrices_wanted",
        "shapes",
        "place_handed_on",
        "not_finite",
        "token_decides",
        "nothing_chosen",
        "next_place",
        "itself",
        "too_flat",
        "elsewhere",
        "other_values",
    )
    also_right = ("set",)

    def judge_function(self, given: Answer) -> Verdict:
        for num_tokens, num_places in ((7, 9), (5, 6), (4, 11)):
            matrices = result_of(given, (num_tokens, num_places))
            if isinstance(matrices, Verdict):
                return matrices
            if verdict := self.judge_shapes(matrices, num_tokens, num_places):
                return verdict
            W_q, W_k, W_v = (W.float() for W in matrices)
            tokens = torch.randint(num_tokens, (4, num_places), generator=Draw())
            place = one_hot(torch.arange(num_places), num_places).expand(4, -1, -1)
            x = torch.cat([one_hot(tokens, num_tokens), place], -1).float()  # (4, P, T + P)
            scores = x @ W_q @ (x @ W_k).mT / W_q.shape[1] ** 0.5
            weights = masked_softmax(scores, causal_mask(num_places, num_places))
            if not weights.diagonal(-1, -2, -1).min() > 0.99:  # (4, P - 1): the weight on the place before
                return self.looks_elsewhere(scores, weights)
            handed_on = (weights @ x @ W_v)[:, 1:]
            if not torch.allclose(handed_on, x[:, :-1, :num_tokens], atol=0.05):
                return self.mistaken("other_values")
        return self.solved("set")

    def judge_shapes(self, matrices: Any, num_tokens: int, num_places: int) -> Verdict | None:
        is_three = isinstance(matrices, tuple | list) and len(matrices) == 3
        if not is_three or not all(isinstance(W, Tensor) and W.dim() == 2 for W in matrices):
            return self.mistaken("three_matrices_wanted", given=describe(matrices))
        width = num_tokens + num_places
        W_q, W_k, W_v = (tuple(W.shape) for W in matrices)
        if W_v == (width, num_places):
            return self.mistaken("place_handed_on")
        if W_q[1] == 0 or (W_q[0], W_k, W_v) != (width, W_q, (width, num_tokens)):
            gaps = {"width": width, "num_tokens": num_tokens, "W_q": W_q, "W_k": W_k, "W_v": W_v}
            return self.mistaken("shapes", **gaps)
        return None

    def looks_elsewhere(self, scores: Tensor, weights: Tensor) -> Verdict:
        """The verdict on scores (B, P, P) that give the place before too little."""
        here = torch.arange(1, scores.shape[-1])
        seen, best = weights[:, 1:].argmax(-1), scores[:, :-1].argmax(-1)
        if not scores.isfinite().all():
            return self.mistaken("not_finite")
        if not torch.allclose(weights, weights[:1].expand_as(weights), atol=1e-3):
            return self.mistaken("token_decides")
        if torch.allclose(scores, scores.mean(-1, keepdim=True)):
            return self.mistaken("nothing_chosen")
        if (best == here).all():
            return self.mistaken("next_place")
        if (seen == here).all():
            return self.mistaken("itself")
        wrong = (seen != here - 1).any(0)
        if not wrong.any():
            return self.mistaken("too_flat", weight=f"{weights.diagonal(-1, -2, -1).min():.3f}")
        place = int(wrong.int().argmax()) + 1
        return self.mistaken("elsewhere", place=place, seen=int(seen[0, place - 1]))


def draw_text_and_weights(draw: Draw) -> Arguments:
    """Weights (H, N, N) of heads that see the past, and tokens (N,), of which many come several times."""
    length = draw.number(12, 16)
    (scores,) = draw.tensors((3, length, length))
    tokens = torch.randint(5, (length,), generator=draw)
    return masked_softmax(scores, causal_mask(length, length)), tokens


def induction_score(
    weights: Tensor,
    tokens: Tensor,
    *,
    times: Callable[[list[int]], list[int]] = lambda earlier: earlier[-1:],
    further: int = 1,
    turn: Step = nothing_done,
    of_several: Step = lambda found: found.sum(-1),
    divisor: Callable[[int, int], float] = lambda known, length: known,
    finish: Step = nothing_done,
) -> Tensor:
    """The mean weight on the place after the last time, (H,); each keyword replaces one step."""
    picked = []
    for here, token in enumerate(tokens.tolist()):
        if earlier := (tokens[:here] == token).nonzero().flatten().tolist():
            there = torch.tensor(times(earlier)) + further
            picked.append(of_several(turn(weights)[:, here, there]))
    return finish(torch.stack(picked).sum(0) / divisor(len(picked), len(tokens)))


def draw_circuit(draw: Draw) -> Arguments:
    """Tokens (V, D), W_q, W_k and W_v (D, d), W_o (d, D) and a read-out (D, V)."""
    count, width, head_dim = draw.sizes(5, 7, 9)
    return draw.tensors((count, width), *[(width, head_dim)] * 3, (head_dim, width), (width, count))


def circuits(
    tokens: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    W_o: Tensor,
    read_out: Tensor,
    *,
    score: Step = lambda queries, keys: queries @ keys.mT,
    divisor: Callable[[int, int], float] = lambda head_dim, width: head_dim**0.5,
    finish: Step = nothing_done,
    values: Step = lambda W_k, W_v: W_v,
    turn: Step = nothing_done,
    stacked: Callable[[list[Tensor]], Tensor] = torch.stack,
) -> Tensor:
    """QK and OV, (2, V, V); each keyword replaces one step by a mistake."""
    qk = score(tokens @ W_q, tokens @ W_k) / divisor(W_q.shape[1], W_q.shape[0])
    ov = tokens @ values(W_k, W_v) @ W_o @ read_out
    return stacked([finish(qk), turn(ov)])


def draw_heads(draw: Draw) -> Arguments:
    """Heads (B, H, N, d), and the number of one of them."""
    return *draw.tensors((3, 4, 5, 6)), draw.number(0, 3)


def mean_ablate(
    heads: Tensor, removed: int, *, instead: Step = lambda head: head.mean((0, 1)), every: bool = False
) -> Tensor:
    """Heads (B, H, N, d), one of them replaced by its mean; each keyword replaces one step by a mistake."""
    ablated = heads.clone()
    for head in range(heads.shape[1]) if every else [removed]:
        ablated[:, head] = instead(heads[:, head])
    return ablated


def draw_two_maps(draw: Draw) -> Arguments:
    width = draw.number(5, 9)
    return draw.tensors((width, width), (width, width))


def composition(
    writes: Tensor,
    reads: Tensor,
    *,
    product: Step = torch.matmul,
    size: Step = torch.linalg.matrix_norm,
    divide: Step = lambda joined, writes, reads: joined / (writes * reads),
) -> Tensor:
    """How much of what one map writes the other reads, (); each keyword replaces one step by a mistake."""
    return divide(size(product(writes, reads)), size(writes), size(reads))


def look(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """A layer of hard attention: for each query the value of the last key that equals it, −1 if none does."""
    found = (keys == queries[:, None]).int()  # (Q, K)
    place = (found * torch.arange(1, len(keys) + 1)).argmax(1)
    return torch.where(found.any(1), values[place], -1)


def draw_chain(draw: Draw) -> Arguments:
    """Pairs in any order, then a question. The question lies in the midst of a chain, so that one hop too
    many or in the wrong direction finds a token, too.
    """
    names = torch.randperm(30, generator=draw)
    chain, others = names[:6], names[6 : 6 + 2 * draw.number(1, 3)]
    pairs = torch.cat([torch.stack([chain[:-1], chain[1:]], 1), others.view(-1, 2)])
    pairs = pairs[torch.randperm(len(pairs), generator=draw)]
    tokens = torch.cat([pairs.flatten(), chain[2:3]])
    return look, tokens, torch.arange(len(tokens))


def two_hops(
    look: Look,
    tokens: Tensor,
    places: Tensor,
    *,
    back: int = 1,
    is_second: Callable[[Tensor], Tensor] = lambda places: places % 2 == 1,
    hops: int = 2,
) -> Tensor:
    """The token two pairs on from the question, (); each keyword replaces one step by a mistake."""
    before = look(places - back, places, tokens)
    first = torch.where(is_second(places), before, -1)
    found = tokens
    for _ in range(hops):
        found = look(found, first, tokens)
    return found[-1]


def count_looks(given: Answer, call: Arguments) -> int:
    looks = []

    def counted(*arguments: Tensor) -> Tensor:
        looks.append(arguments)
        return look(*arguments)

    given(counted, *call[1:])
    return len(looks)


EXERCISES: tuple[Judged, ...] = (
    Exercise("block", block, draw_block).recognising(
        no_sums={"first_sum": part_alone, "second_sum": part_alone},
        first_sum_missing={"first_sum": part_alone},
        second_sum_missing={"second_sum": part_alone},
        norms_missing={"first_read": norm_left_out, "second_read": norm_left_out},
        one_norm_missing=({"first_read": norm_left_out}, {"second_read": norm_left_out}),
        norms_exchanged=lambda x, attention, network, norm_1, norm_2: block(
            x, attention, network, norm_2, norm_1
        ),
        norms_after_the_sums=after_the_sums,
        normed_stream_added_to=(
            onto_the_normed,
            lambda x, attention, network, norm_1, norm_2: block(
                norm_1(x), attention, network, nothing_done, norm_2
            ),
            lambda x, attention, network, norm_1, norm_2: (
                (normed := norm_2(x + attention(norm_1(x)))) + network(normed)
            ),
        ),
        network_missing=lambda x, attention, network, norm_1, norm_2: x + attention(norm_1(x)),
        attention_missing=lambda x, attention, network, norm_1, norm_2: x + network(norm_2(x)),
        network_reads_the_input=lambda x, attention, network, norm_1, norm_2: (
            x + attention(norm_1(x)) + network(norm_2(x))
        ),
        second_sum_adds_the_input=lambda x, attention, network, norm_1, norm_2: (
            x + network(norm_2(x + attention(norm_1(x))))
        ),
        network_first=network_first,
    ),
    Exercise(
        "sum_gap",
        sum_gap,
        draw_layer,
        symptoms={
            "all_differences": lambda result, right: result.dim() > 0 and same(result.abs().max(), right)
        },
        rounds=8,
    ).recognising(
        heads_left_on={"mask": torch.ones},
        output_alone={"compared": lambda output, x: output},
        input_silenced=lambda layer, x: layer(0 * x, torch.ones(4)).abs().max(),
        abs_missing=({"size": torch.max}, {"size": lambda gap: (-gap).max()}),
        mean=({"size": lambda gap: gap.abs().mean()}, {"size": lambda gap: gap.square().mean()}),
        signed_mean=({"size": torch.mean}, {"size": torch.sum}),
        summed=({"size": lambda gap: gap.abs().sum()}, {"size": torch.norm}),
        yes_or_no=tuple(
            lambda layer, x, is_zero=is_zero: (sum_gap(layer, x) < 1e-4) == is_zero
            for is_zero in (True, False)
        ),
    ),
    PreviousHead("previous_head"),
    Exercise("induction_score", induction_score, draw_text_and_weights).recognising(
        token_itself={"further": 0},
        token_before={"further": -1},
        first_time={"times": lambda earlier: earlier[:1]},
        every_time=(
            {"times": nothing_done},
            {"times": nothing_done, "of_several": lambda found: found.mean(-1)},
        ),
        key_and_query_exchanged={"turn": lambda weights: weights.mT},
        divided_by_all_rows={"divisor": lambda known, length: length},
        summed={"divisor": lambda known, length: 1},
        heads_averaged={"finish": torch.mean},
    ),
    Exercise("circuits", circuits, draw_circuit).recognising(
        queries_and_keys_exchanged={"score": lambda queries, keys: keys @ queries.mT},
        scale_missing={"divisor": lambda head_dim, width: 1.0},
        scale_without_root={"divisor": lambda head_dim, width: head_dim},
        scale_multiplied={"divisor": lambda head_dim, width: head_dim**-0.5},
        scale_half_of_d=tuple({"divisor": lambda head_dim, width, n=n: n * head_dim} for n in (0.5, 2)),
        scale_of_whole_width={"divisor": lambda head_dim, width: width**0.5},
        softmax_too_early={"finish": lambda qk: qk.softmax(-1)},
        values_from_W_k={"values": lambda W_k, W_v: W_k},
        OV_transposed={"turn": torch.t},
        exchanged={"stacked": lambda maps: torch.stack(maps[::-1])},
    ),
    Exercise("mean_ablate", mean_ablate, draw_heads).recognising(
        zero={"instead": torch.zeros_like},
        mean_over_samples={"instead": lambda head: head.mean(0)},
        mean_over_positions={"instead": lambda head: head.mean(1, keepdim=True)},
        one_number={"instead": torch.mean},
        mean_over_width={"instead": lambda head: head.mean(-1, keepdim=True)},
        all_heads={"every": True},
        head_cut_out=lambda heads, removed: torch.cat([heads[:, :removed], heads[:, removed + 1 :]], dim=1),
        mean_alone=lambda heads, removed: heads[:, removed].mean((0, 1)),
        other_heads_averaged=lambda heads, removed: mean_ablate(
            heads, removed, instead=lambda _: heads.mean((0, 1, 2))
        ),
    ),
    Exercise("composition", composition, draw_two_maps).recognising(
        product_the_other_way_round={"product": lambda writes, reads: reads @ writes},
        one_transposed={"product": lambda writes, reads: writes @ reads.mT},
        entry_by_entry={"product": torch.mul},
        not_divided={"divide": lambda joined, writes, reads: joined},
        divided_once=(
            {"divide": lambda joined, writes, reads: joined / writes},
            {"divide": lambda joined, writes, reads: joined / reads},
        ),
        divided_by_the_sum={"divide": lambda joined, writes, reads: joined / (writes + reads)},
        divided_by_itself={"divide": lambda joined, writes, reads: joined / joined},
        squared={"divide": lambda joined, writes, reads: (joined / (writes * reads)) ** 2},
        spectral_norm={"size": partial(torch.linalg.matrix_norm, ord=2)},
        absolute_entries={"size": lambda x: x.abs().sum()},
    ),
    Exercise(
        "two_hops",
        two_hops,
        draw_chain,
        symptoms={"all_places": lambda result, right: result.dim() == 1 and same(result[-1:].sum(), right)},
        rules={
            "too_many_layers": lambda given, call: count_looks(given, call) > 3,
            "no_layer": lambda given, call: count_looks(given, call) == 0,
        },
    ).recognising(
        question_itself={"hops": 0},
        one_hop={"hops": 1},
        three_hops={"hops": 3},
        border_of_pairs={"is_second": lambda places: places >= 0},
        wrong_way={"is_second": lambda places: places % 2 == 0, "back": -1},
    ),
)
