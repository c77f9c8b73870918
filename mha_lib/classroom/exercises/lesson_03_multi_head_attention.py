"""The exercises of the lesson on multi-head attention."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_lib import masked_softmax, padding_mask, split_heads
from mha_lib.classroom.exercises.judge import Arguments, Draw, Exercise, Judged, Verdict, describe, result_of
from mha_lib.classroom.exercises.mistakes import (
    HEADS,
    HIGH_FILLS,
    NOTHING_LEFT,
    PROJECTIONS,
    SCALE,
    SHARED,
    WHOLE_WIDTH,
    Step,
    cut_every_other_number,
    cut_with_one_view,
    fill_lowest,
    multi_head,
    nothing_done,
    shared,
)
from mha_lib.classroom.exercises.on_the_way import not_by
from mha_lib.classroom.exercises.small import Small


def draw_input(draw: Draw) -> tuple[Tensor, int]:
    """Tokens (B, N, H*d) and H, every axis of another size."""
    batch, tokens, heads, width = draw.sizes(2, 3, 4, 5)
    return torch.randn(batch, tokens, heads * width, generator=draw), heads


def draw_layer(draw: Draw) -> Arguments:
    x, heads = draw_input(draw)
    width = x.shape[2]
    return x, *(W / width**0.5 for W in draw.tensors(*[(width, width)] * 4)), heads


def draw_layer_and_lengths(draw: Draw) -> Arguments:
    """The first sample has no padding; in the others one number of it, which queries ignore, is very large.

    The softmax then leaves 0 for all other keys, or for this one, unless the padding is masked before it.
    """
    x, W_q, *rest = draw_layer(draw)
    x[1:, -1, 0], W_q[0] = 1e6, 0
    lengths = torch.randint(1, x.shape[1], x.shape[:1], generator=draw)
    lengths[0] = x.shape[1]
    return x, W_q, *rest, lengths


def draw_weights(draw: Draw) -> Arguments:
    """Weights whose rows sum to 1, some with exact zeros as after a mask."""
    batch, heads, queries, keys = 3, draw.number(2, 4), draw.number(3, 5), draw.number(6, 7)
    scores = 3 * torch.randn(batch, heads, queries, keys, generator=draw)
    return (masked_softmax(scores, padding_mask(torch.tensor([keys, keys - 1, keys - 2]), keys)[:, None]),)


def total_variation(
    weights: Tensor,
    *,
    size: Step = torch.abs,
    over_keys: Step = lambda differences: differences.sum(-1) / 2,
    average: Step = lambda rows: rows.mean((0, -1)),
) -> Tensor:
    """(B, H, Q, K) -> (H, H); each keyword replaces one step by a mistake."""
    differences = size(weights[:, :, None] - weights[:, None])  # (B, H, H, Q, K)
    return average(over_keys(differences))


def count(num_hiddens: int, num_heads: int, head_dim: int, value_head_dim: int) -> int:
    return 2 * num_hiddens * num_heads * (head_dim + value_head_dim)


# A layer of its own, the library's or PyTorch's, would leave nothing to write.
FINISHED = not_by(
    "forward", "split_heads", "merge_heads", "scaled_dot_product_attention", "multi_head_attention_forward"
)
# The exhibits of the lesson's museum, and other layers with one mistake.
MUSEUM = ["cut_with_one_view", "lengths_repeated", "scale_of_whole_width", "mask_on_queries"]
MUSEUM += ["softmax_over_queries", "merged_without_swap", "scale_multiplied", "mask_upside_down"]
MUSEUM += ["mask_missing", "values_from_W_k", "heads_not_mixed", "slices_of_input"]
WIDTH = 20  # of the tokens that an implementation takes
NUMBERS_OF_HEADS = (2, 4, 5, 10)


def implementation(num_heads: int, **steps: Any) -> Callable[[Tensor, Tensor], Tensor]:
    """An attention of tokens (B, N, 20) and lengths (B,), with random matrices; a mistake changes steps."""
    generator = torch.Generator().manual_seed(num_heads)
    W_q, W_k, W_v, W_o = torch.randn(4, WIDTH, WIDTH, generator=generator) / WIDTH**0.5

    def attend(x: Tensor, valid_lens: Tensor) -> Tensor:
        return multi_head(x, W_q, W_k, W_v, W_o, num_heads, valid_lens, **steps)

    return attend


class Relation(Judged):
    """The student writes a relation: a function of an implementation that returns whether it holds.

    It must hold for right implementations, and one mistake of the lesson's museum at least must break it for
    every number of heads.
    """

    mistakes = ("true_or_false", "right_code_refused", "nothing_caught", "caught_by_chance")

    def judge_function(self, given: Callable[..., Any]) -> Verdict:
        for num_heads in NUMBERS_OF_HEADS:
            holds = self.ask(given, implementation(num_heads))
            if isinstance(holds, Verdict):
                return holds
            if not holds:
                return self.mistaken("right_code_refused", heads=num_heads)
        caught = {name: self.times_caught(given, name) for name in MUSEUM}
        if always := [name for name, times in caught.items() if times == len(NUMBERS_OF_HEADS)]:
            return self.solved("holds", shown=len(always), museum=len(MUSEUM))
        return self.mistaken("caught_by_chance" if any(caught.values()) else "nothing_caught")

    def ask(self, given: Callable[..., Any], attend: Callable[..., Tensor]) -> bool | Verdict:
        """Whether the relation holds, the same one every time; a verdict if it does not say."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            result = result_of(given, (attend,))
        if isinstance(result, Verdict):
            return result
        if isinstance(result, Tensor) and result.numel() == 1:
            result = result.item()
        return result if isinstance(result, bool) else self.mistaken("true_or_false", given=describe(result))

    def times_caught(self, given: Callable[..., Any], mistake: str) -> int:
        """For how many numbers of heads a mistake breaks the relation; an error catches nothing."""
        steps = {"fill": fill_lowest} | SHARED[mistake][-1]
        return sum(self.ask(given, implementation(h, **steps)) is False for h in NUMBERS_OF_HEADS)


EXERCISES: tuple[Judged, ...] = (
    Small("most_explained", 3 / 5, {"four_reports": 3 / 4, "all": 1}, hint="bound-why"),
    Small("equal_share", 1 / 4, {"as_if_different": 1, "eight_times": 1 / 8}, hint="equal-heads-why"),
    Small(
        "count_parameters",
        count(64, 4, 8, 32),
        {
            "single_head": count(64, 1, 8, 32),
            "W_o_missing": count(64, 4, 8, 32) - 4 * 32 * 64,
            "W_o_of_width_D": count(64, 4, 8, 32) + (64 - 4 * 32) * 64,
            "biases_counted": count(64, 4, 8, 32) + 4 * (8 + 8 + 32) + 64,
        },
        hint="four-steps",
    ),
    Exercise(
        "split_heads", split_heads, draw_input, rules=not_by("split_heads"), hint="loop-of-heads"
    ).recognising(
        cut_with_one_view=cut_with_one_view,
        axes_not_swapped=lambda x, h: x.reshape(*x.shape[:2], h, -1),
        every_other_number=cut_every_other_number,
        heads_before_samples=lambda x, h: split_heads(x, h).transpose(0, 1),
        number_for_width=lambda x, h: split_heads(x, x.shape[-1] // h),
    ),
    Small(
        "repeat_valid_lens",
        [4, 4, 2, 2, 3, 3],
        {"repeated_in_turn": [4, 2, 3, 4, 2, 3], "multiplied": [8, 4, 6]},
        hint="shape-trace-why",
    ),
    Exercise(
        "multi_head", multi_head, draw_layer_and_lengths, rules=FINISHED, hint="shape-trace-why"
    ).recognising(
        **shared(*SCALE, *WHOLE_WIDTH, *PROJECTIONS, *HEADS, "lengths_repeated"),
        **shared("softmax_over_queries", "exponentials", "weights_transposed"),
        softmax_over_heads=tuple(
            {"normalise": lambda scores: scores.softmax(1)} | rest for rest in NOTHING_LEFT
        ),
        **shared("mask_missing", "mask_upside_down", "mask_on_queries", "renormalised"),
        forbidden_scores_too_high=HIGH_FILLS,
        **shared("forbidden_scores_zero", "forbidden_weights_zero"),
    ),
    Small("catching_relation", 1, {"order": 2, "alone": 3, "single_heads": 4}, hint="caught-why"),
    Exercise("head_distances", total_variation, draw_weights, hint="each-head-one-pattern").recognising(
        not_halved={"over_keys": lambda differences: differences.sum(-1)},
        averaged_over_keys={"over_keys": lambda differences: differences.mean(-1) / 2},
        averaged_first=lambda w: total_variation(w.mean((0, 2))[None, :, None]),
        abs_missing={"size": nothing_done},
        squared={"size": torch.square},
        summed={"average": lambda rows: rows.sum((0, -1))},
    ),
    Relation("relation", hint="caught-why"),
)
