"""The exercises of the lesson on a small language model: small ones, measures, and a claim about a head."""

from collections.abc import Callable
from math import exp, log, log2, log10
from typing import Any

import torch
from torch import Tensor

from mha_lib.classroom.exercises.claims import ClaimAboutAHead
from mha_lib.classroom.exercises.judge import Arguments, Draw, Exercise, Judged
from mha_lib.classroom.exercises.mistakes import Step, nothing_done
from mha_lib.classroom.exercises.small import Small

Times = Callable[[list[int], int], list[int]]  # of the earlier times of a token, and the place of a query


def draw_texts(draw: Draw) -> Arguments:
    """Logits (B, N, V) and tokens (B, N)."""
    batch, tokens, vocabulary = draw.sizes(3, 5, 7)
    logits = 2 * torch.randn(batch, tokens, vocabulary, generator=draw)
    return logits, torch.randint(vocabulary, (batch, tokens), generator=draw)


def draw_choice(draw: Draw) -> Arguments:
    """Logits (V,), a temperature, and how many tokens stay: at least two, and not all."""
    logits = 3 * torch.randn(draw.number(7, 11), generator=draw)
    return logits, draw.in_turn(0.5, 2.0, 0.8), draw.number(2, 4)


def draw_parts(draw: Draw) -> Arguments:
    """Parts (P, D), a gain (D,) and a table (V, D); some parts are so small that the 1e-6 counts."""
    number, width, vocabulary = draw.sizes(4, 6, 9)
    parts, gain, table = draw.tensors((number, width), (width,), (vocabulary, width))
    return draw.in_turn(1.0, 1e-3) * (parts + 0.5), 1 + 0.5 * gain, table


def causal_weights(draw: Draw, *shape: int) -> Tensor:
    scores = 2 * torch.randn(shape, generator=draw)
    return scores.masked_fill(torch.ones(shape[-2:]).triu(1) > 0, -torch.inf).softmax(-1)


def draw_weights(draw: Draw) -> Arguments:
    """Causal weights (B, N, N) of a head; there are fewer texts than tokens."""
    length = draw.number(5, 8)
    return (causal_weights(draw, draw.number(3, 4), length, length),)


def draw_repeats(draw: Draw) -> Arguments:
    """Causal weights (N, N) and tokens (N,), some of which come three times."""
    length = draw.number(9, 12)
    return causal_weights(draw, length, length), torch.randint(4, (length,), generator=draw)


def draw_outputs(draw: Draw) -> Arguments:
    """Outputs (B, H, N, d) and a head whose number is not 0, so that the one before it exists too."""
    return *draw.tensors((*draw.sizes(3, 4, 5), 6)), draw.in_turn(1, 2)


def next_token_loss(
    logits: Tensor,
    tokens: Tensor,
    *,
    aim: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] = lambda each, tokens: (
        each[:, :-1],
        tokens[:, 1:],
    ),
    normalise: Step = lambda logits: logits.log_softmax(-1),
    measure: Step = torch.neg,
    average: Step = torch.mean,
) -> Tensor:
    """The mean loss of all tokens but the first; each keyword replaces one step by a mistake."""
    each, wanted = aim(normalise(logits), tokens)  # (B, N - 1, V), (B, N - 1)
    return average(measure(each.gather(-1, wanted[..., None])[..., 0]))


def keep(least: Callable[[Tensor, int], Tensor]) -> Step:
    """The step that leaves out the logits below a least one, which the number of the strongest decides."""
    return lambda logits, strongest: logits.masked_fill(logits < least(logits, strongest), -torch.inf)


def of_rank(logits: Tensor, rank: int) -> Tensor:
    return logits.sort(descending=True).values[rank - 1]


keep_strongest = keep(of_rank)


def next_token_probabilities(
    logits: Tensor,
    temperature: float,
    strongest: int,
    *,
    scale: Callable[[Tensor, float], Tensor] = lambda logits, temperature: logits / temperature,
    cut: Step = keep_strongest,
    normalise: Step = lambda logits: logits.softmax(-1),
    finish: Step = nothing_done,
) -> Tensor:
    """Probabilities (V,); each keyword replaces one step by a mistake."""
    scaled = scale(logits, temperature)
    return finish(normalise(cut(scaled, strongest)), scaled, strongest)


def cut_afterwards(probabilities: Tensor, logits: Tensor, strongest: int) -> Tensor:
    return probabilities * (logits >= of_rank(logits, strongest))


def root_mean_square(parts: Tensor) -> Tensor:
    return (parts.sum(0).square().mean() + 1e-6).sqrt()


def shares_of_parts(
    parts: Tensor,
    gain: Tensor,
    table: Tensor,
    *,
    divisor: Step = root_mean_square,
    amplify: Step = torch.mul,
    read_out: Step = lambda normed, table: normed @ table.mT,
) -> Tensor:
    """The shares (P, V) of the parts in each logit; each keyword replaces one step by a mistake."""
    return read_out(amplify(parts / divisor(parts), gain), table)


def weight_before(
    weights: Tensor,
    *,
    back: int = 1,
    average: Callable[[Tensor, int], Tensor] = lambda found, _: found.mean(),
) -> Tensor:
    """A head's mean weight on the token before; each keyword replaces one step by a mistake."""
    return average(weights.diagonal(-back, 1, 2), weights.shape[-1])


def weight_after_last_time(
    weights: Tensor,
    tokens: Tensor,
    *,
    chosen: Times = lambda earlier, query: earlier[-1:],
    moved: int = 1,
    gather: Step = torch.sum,
    average: Callable[[Tensor, int], Tensor] = lambda found, _: found.mean(),
) -> Tensor:
    """A head's mean weight on the token after the last time; each keyword replaces one step by a mistake."""
    said, found = tokens.tolist(), []
    for query, token in enumerate(said):
        earlier = [place for place in range(query) if said[place] == token]
        if earlier:
            places = [place + moved for place in chosen(earlier, query)]
            found.append(gather(weights[query, places]))
    return average(torch.stack(found), len(said))


def mean_of_all(outputs: Tensor) -> Tensor:
    return outputs.mean((0, 1))


def without_head(
    outputs: Tensor,
    head: int,
    *,
    stand_in: Step = mean_of_all,
    places: Callable[[int], Any] = lambda head: (slice(None), head),
) -> Tensor:
    """Outputs (B, H, N, d) without a head; each keyword replaces one step by a mistake."""
    changed, at = outputs.clone(), places(head)
    changed[at] = stand_in(outputs[at])
    return changed


EXERCISES: tuple[Judged, ...] = (
    Small(
        "first_loss",
        log(100),
        {"probability": 0.01, "in_bits": log2(100), "in_tens": log10(100), "number_of_tokens": 100},
        within=6e-3,
        hint="ten-lines-why",
    ),
    Small(
        "how_much_likelier",
        exp((3 - 1) / 0.5),
        {"temperature_ignored": exp(3 - 1), "temperature_multiplied": exp((3 - 1) * 0.5)},
        within=0.06,
        hint="temperature-why",
    ),
    Exercise("weight_before", weight_before, draw_weights, hint="looks-why").recognising(
        itself=({"back": 0}, lambda weights: weights[:, 1:, 1:].diagonal(0, 1, 2).mean()),
        two_before={"back": 2},
        whole_rows=lambda weights: weights.diagonal(-1).mean(),
        first_counted={"average": lambda found, length: found.sum() / (len(found) * length)},
        summed=({"average": lambda found, _: found.sum()}, {"average": lambda found, _: found.sum(1).mean()}),
        of_each_text={"average": lambda found, _: found.mean(1)},
        of_each_query={"average": lambda found, _: found.mean(0)},
        all_before=lambda weights: weights.tril(-1).sum(-1)[:, 1:].mean(),
    ),
    Exercise("without_head", without_head, draw_outputs, hint="without-why").recognising(
        zeros={"stand_in": torch.zeros_like},
        mean_of_each_text={"stand_in": lambda own: own.mean(-2, keepdim=True)},
        mean_of_each_position={"stand_in": lambda own: own.mean(0)},
        one_number={"stand_in": torch.mean},
        mean_of_each_token={"stand_in": lambda own: own.mean(-1, keepdim=True)},
        summed={"stand_in": lambda own: own.sum((0, 1))},
        mean_of_all_heads=lambda outputs, head: without_head(
            outputs, head, stand_in=lambda own: outputs.mean((0, 1, 2))
        ),
        all_heads_replaced=lambda outputs, head: mean_of_all(outputs[:, head]).expand_as(outputs),
        text_replaced=lambda outputs, head: without_head(
            outputs, head, places=lambda head: (head,), stand_in=lambda _: mean_of_all(outputs[:, head])
        ),
        counted_from_1={"places": lambda head: (slice(None), head - 1)},
        head_cut_out=lambda outputs, head: torch.cat([outputs[:, :head], outputs[:, head + 1 :]], 1),
        mean_alone=lambda outputs, head: mean_of_all(outputs[:, head]),
    ),
    Small("refuting_result", 2, {"with_all_heads": 1, "both_heads": 3}, hint="refute"),
    Exercise("next_token_loss", next_token_loss, draw_texts, hint="ten-lines").recognising(
        not_shifted=(
            {"aim": lambda each, tokens: (each, tokens)},
            {"aim": lambda each, tokens: (each[:, :-1], tokens[:, :-1])},
            {"aim": lambda each, tokens: (each[:, 1:], tokens[:, 1:])},
        ),
        shifted_the_other_way={"aim": lambda each, tokens: (each[:, 1:], tokens[:, :-1])},
        summed=({"average": torch.sum}, {"average": lambda losses: losses.sum(1).mean()}),
        divided_by_all_tokens={"average": lambda losses: losses.sum(1).mean() / (losses.shape[1] + 1)},
        softmax_over_positions=lambda logits, tokens: next_token_loss(
            torch.cat([logits[:, :-1].log_softmax(1), logits[:, -1:]], 1), tokens, normalise=nothing_done
        ),
        softmax_over_texts={"normalise": lambda logits: logits.log_softmax(0)},
        softmax_twice={"normalise": lambda logits: logits.softmax(-1).log_softmax(-1)},
        logits_taken=({"normalise": nothing_done}, {"normalise": nothing_done, "measure": nothing_done}),
        probabilities_taken=({"measure": torch.exp}, {"measure": lambda each: -each.exp()}),
        logarithm_of_the_mean={"measure": torch.exp, "average": lambda likely: -likely.mean().log()},
        other_logarithm={"measure": lambda each: -each / log(2)},
        sign_missing={"measure": nothing_done},
    ),
    Exercise(
        "next_token_probabilities", next_token_probabilities, draw_choice, hint="temperature-why"
    ).recognising(
        temperature_multiplied={"scale": torch.mul},
        temperature_ignored={"scale": nothing_done},
        not_renormalised={"cut": nothing_done, "finish": cut_afterwards},
        nothing_cut={"cut": nothing_done},
        one_more_kept={"cut": keep(lambda logits, strongest: of_rank(logits, strongest + 1))},
        one_fewer_kept={"cut": keep(lambda logits, strongest: of_rank(logits, strongest - 1))},
        zeros_for_logits={
            "cut": lambda logits, strongest: logits.masked_fill(logits < of_rank(logits, strongest), 0)
        },
        strongest_alone={
            "finish": lambda probabilities, _, strongest: probabilities.topk(strongest).values,
        },
    ),
    Exercise("shares_of_parts", shares_of_parts, draw_parts, rounds=6, hint="who-why").recognising(
        each_part_normed={"divisor": lambda parts: (parts.square().mean(-1, keepdim=True) + 1e-6).sqrt()},
        gain_missing={"amplify": nothing_done},
        norm_missing={"divisor": lambda parts: 1.0},
        mean_subtracted={"divisor": lambda parts: (parts.sum(0).var(correction=0) + 1e-6).sqrt()},
        root_missing={"divisor": lambda parts: root_mean_square(parts).square()},
        mean_of_the_parts={"divisor": lambda parts: root_mean_square(parts / len(parts))},
        sum_of_squares={"divisor": lambda parts: (parts.sum(0).square().sum() + 1e-6).sqrt()},
        squares_of_all_parts={"divisor": lambda parts: (parts.square().mean() + 1e-6).sqrt()},
        small_number_missing={"divisor": lambda parts: parts.sum(0).square().mean().sqrt()},
        logits_alone={"read_out": lambda normed, table: normed.sum(0) @ table.mT},
        shared_alike={"read_out": lambda normed, table: normed.mean(0).expand_as(normed) @ table.mT},
        read_out_missing={"read_out": nothing_done},
    ),
    Exercise("weight_after_last_time", weight_after_last_time, draw_repeats, hint="looks-why").recognising(
        the_last_time_itself={"moved": 0},
        token_before={"moved": -1},
        first_for_last={"chosen": lambda earlier, query: earlier[:1]},
        all_times_summed={"chosen": lambda earlier, query: earlier},
        all_times_averaged={"chosen": lambda earlier, query: earlier, "gather": torch.mean},
        query_counted=lambda weights, tokens: weights.roll(-1, 1).diagonal().mean(),
        all_queries_counted={"average": lambda found, length: found.sum() / length},
        summed={"average": lambda found, _: found.sum()},
    ),
    ClaimAboutAHead("claim", hint="refute"),
)
