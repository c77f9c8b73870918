"""A claim about a head, which an experiment on the student's own trained model may refute.

The experiment is first tried on random models in the lesson's form, with texts that they have written
themselves. Every head matters there, so an experiment with a slip gives other numbers than the judge's.
"""

import inspect
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import cache
from itertools import product
from numbers import Real
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from mha_lib import EncoderLayer, LanguageModel
from mha_lib.classroom.exercises.judge import Answer, Judged, Steps, Verdict, describe, result_of
from mha_lib.classroom.heads import head_outputs, replaced
from mha_lib.classroom.stories import ASKED, OTHER, REST, Texts, tales_here

Head = tuple[int, int]  # layer, head
Shape = tuple[int, int]  # layers, heads of a layer
Numbers = tuple[float, float]  # the shares that are right, with all heads and without one

SIZES = ((2, 3, 8), (3, 2, 10), (2, 2, 12))  # layers, heads and their width, of the models of the judge
COMMON = [*product(range(2), range(2))]  # heads that all of these models have
VOCABULARY, BATCH, LENGTH, BEGINNING = 31, 9, 43, 3
NEW_TEXTS, NEW_LENGTH, SEED = 50, 97, 20_870  # of the stories on which the student's model is tried
WITHIN = 6e-3  # shares that are rounded to two digits are right


class Claim(NamedTuple):
    """A head, the limit claimed for it, and two measured shares: an answer returns them."""

    head: Head
    at_most: float
    before: float
    after: float


class Case(NamedTuple):
    model: Any
    texts: Texts


@torch.no_grad()
def random_model(num_layers: int, num_heads: int, head_dim: int, generator: torch.Generator) -> LanguageModel:
    """A model in the lesson's form whose heads are loud, so that each of them changes the logits."""
    width = num_heads * head_dim
    layers = [
        EncoderLayer(width, num_heads, 2 * width, rotary=True, gated=True, norm=nn.RMSNorm, window=window)
        for window in (5, *[None] * (num_layers - 1))
    ]
    model = LanguageModel(nn.Embedding(VOCABULARY, width), layers, nn.RMSNorm(width))
    for parameter in model.parameters():
        if parameter.dim() > 1:
            parameter.normal_(generator=generator).mul_(parameter.shape[1] ** -0.5)
    model.table.weight.add_(model.table.weight[0].clone())  # so that no head's mean is near zero
    for layer in layers:
        for projection in (layer.self_attention.W_q, layer.self_attention.W_o):
            projection.weight.mul_(2)
    return model.eval()


@torch.no_grad()
def write_texts(model: Any, generator: torch.Generator) -> Texts:
    """Random tokens, but nine in ten of those of the kind REST are what the model itself would write."""

    def draw(low: int, high: int) -> Tensor:
        return torch.randint(low, high, (BATCH, LENGTH), generator=generator)

    tokens, kinds = draw(0, VOCABULARY), torch.where(draw(0, 2) > 0, REST, draw(OTHER, ASKED + 1))
    own = (kinds == REST) & (draw(0, 10) > 0)
    for place in range(BEGINNING, LENGTH):
        written = model(tokens[:, :place])[:, -1].argmax(-1)  # (B,)
        tokens[:, place] = torch.where(own[:, place], written, tokens[:, place])
    return Texts(tokens, kinds)


@cache
def random_cases(least: Shape = (0, 0)) -> list[Case]:
    """The judge's own cases, with at least so many layers and heads."""
    generator, cases = torch.Generator().manual_seed(0), []
    for layers, heads, head_dim in SIZES:
        model = random_model(max(layers, least[0]), max(heads, least[1]), head_dim, generator)
        cases.append(Case(model, write_texts(model, generator)))
    return cases


def is_rest(kinds: Tensor) -> Tensor:
    return kinds == REST


def right_answers(logits: Tensor, texts: Texts, chosen: Callable[[Tensor], Tensor] = is_rest) -> Tensor:
    """Whether the tokens of the chosen kinds have the largest logit at the token before."""
    return (logits[:, :-1].argmax(-1) == texts.tokens[:, 1:])[chosen(texts.kinds[:, 1:])]


@torch.no_grad()
def experiment(
    case: Case,
    head: Head,
    *,
    places: Callable[[Head, Shape], Sequence[Head]] = lambda head, shape: [head],
    stand_in: Callable[[Tensor], Tensor] = lambda output: output.mean((0, 1)),
    right: Callable[[Tensor, Texts], Tensor] = right_answers,
    finish: Callable[[float, float], Numbers] = lambda before, after: (before, after),
) -> Numbers:
    """The shares with all heads and without one; each keyword replaces one step by a mistake."""
    model, texts = case
    outputs = head_outputs(model, texts.tokens)
    shape = shape_of(model)
    stand_ins = {
        (layer, number): stand_in(outputs[layer][:, number]) for layer, number in places(head, shape)
    }
    before = right(model(texts.tokens), texts).float().mean()
    with replaced(model, stand_ins):
        after = right(model(texts.tokens), texts).float().mean()
    return finish(float(before), float(after))


def shape_of(model: Any) -> Shape:
    return len(model.layers), min(layer.self_attention.num_heads for layer in model.layers)


def heads_of(shape: Shape) -> list[Head]:
    return [*product(range(shape[0]), range(shape[1]))]


# Right experiments: the mean may leave out the last tokens, which predict nothing.
RIGHT: tuple[Steps, ...] = ({}, {"stand_in": lambda output: output[:, :-1].mean((0, 1))})
SLIPS: dict[str, tuple[Steps, ...]] = {
    "exchanged": ({"finish": lambda before, after: (after, before)},),
    "nothing_removed": ({"finish": lambda before, after: (before, before)},),
    "growth": ({"finish": lambda before, after: (before, before - after)},),
    "zero_for_mean": ({"stand_in": torch.zeros_like},),
    "mean_of_one_text": ({"stand_in": lambda output: output.mean(1, keepdim=True)},),
    "whole_layer": ({"places": lambda head, shape: [(head[0], other) for other in range(shape[1])]},),
    "another_head": tuple({"places": lambda head, shape, own=own: [own]} for own in COMMON),
    "every_kind": ({"right": lambda logits, texts: right_answers(logits, texts, torch.ones_like)},),
    "logits_not_moved": (
        {"right": lambda logits, texts: (logits.argmax(-1) == texts.tokens)[is_rest(texts.kinds)]},
    ),
}


class ClaimAboutAHead(Judged):
    """The student names a head and how few of the later syllables of known names are right without it.

    An answer ``(model, texts) -> head, at_most, before, after`` makes the experiment. It is solved where the
    experiment is right and the claim stands on the student's own ``model``, with texts drawn anew.
    """

    mistakes = (
        *("four_wanted", "head_not_there", "model_left_changed", "numbers_pasted", *SLIPS),
        *("other_numbers", "model_missing", "claim_after_result", "nothing_refutes", "refuted"),
    )

    def judge_function(self, given: Answer) -> Verdict:
        model = getattr(inspect.unwrap(given), "__globals__", {}).get("model")
        texts = tales_here().draw(NEW_TEXTS, NEW_LENGTH, torch.Generator().manual_seed(SEED))
        own, problem = Case(model, texts), unusable(model, texts)
        cases = random_cases() if problem else random_cases(shape_of(model))
        claims = []
        for case in cases:
            claim = self.claim_of(given, Case(deepcopy(case.model), case.texts))
            if isinstance(claim, Verdict):
                return claim
            claims.append(claim)
        if mistake := self.slip(cases, claims):
            return mistake
        if problem:
            return self.mistaken("model_missing", reason=problem)
        claim = self.claim_of(given, own)
        if isinstance(claim, Verdict):
            return claim
        return self.slip([own], [claim]) or self.stands(own, claim, {each.at_most for each in claims})

    def claim_of(self, given: Answer, case: Case) -> Claim | Verdict:
        """The claim that the answer makes for a model and texts, or the verdict on a result that is none."""
        untouched = logits_of(case)
        result = result_of(given, (case.model, Texts(*(tensor.clone() for tensor in case.texts))))
        if isinstance(result, Verdict):
            return result
        claim = read_claim(result)
        if claim is None:
            return self.mistaken("four_wanted", given=describe(result))
        if claim.head not in heads_of(shape_of(case.model)):
            return self.mistaken("head_not_there", head=claim.head)
        if not torch.allclose(logits_of(case), untouched, atol=1e-4):
            return self.mistaken("model_left_changed")
        return claim

    def slip(self, cases: list[Case], claims: list[Claim]) -> Verdict | None:
        """The verdict on an experiment that gives other numbers than ours; None where it is right."""
        given = [(claim.before, claim.after) for claim in claims]

        def agrees(steps: Steps) -> bool:
            ours = (experiment(case, claim.head, **steps) for case, claim in zip(cases, claims, strict=True))
            return all(map(close, given, ours))

        if any(map(agrees, RIGHT)):
            return None
        if len({*given}) == 1 < len(given):
            return self.mistaken("numbers_pasted")
        slips = (name for name, each in SLIPS.items() for steps in each if agrees(steps))
        if name := next(slips, None):
            return self.mistaken(name)
        ours = [experiment(case, claim.head) for case, claim in zip(cases, claims, strict=True)]
        number = next(number for number, pair in enumerate(ours) if not close(pair, given[number]))
        wanted, found = ("{:.3f}, {:.3f}".format(*pair[number]) for pair in (ours, given))
        return self.mistaken("other_numbers", head=name_of(claims[number].head), wanted=wanted, given=found)

    def stands(self, own: Case, claim: Claim, others: set[float]) -> Verdict:
        """The verdict on a right experiment: whether the student's model bears the claim out."""
        if others != {claim.at_most}:
            return self.mistaken("claim_after_result")
        before, after = experiment(own, claim.head)
        said = {"head": name_of(claim.head)}
        shares = {"at_most": claim.at_most, "before": before, "after": after}
        said |= {name: f"{share:.1%}" for name, share in shares.items()}
        said["count"] = f"{is_rest(own.texts.kinds[:, 1:]).sum():,}"
        if claim.at_most >= before:
            return self.mistaken("nothing_refutes", **said)
        if after > claim.at_most:
            return self.mistaken("refuted", **said)._replace(state="not yet")
        return self.solved("stands", **said)


def unusable(model: Any, texts: Texts) -> str:
    """Why this is no model of the lesson's form that knows these texts; "" for one that is."""
    if not isinstance(model, LanguageModel):
        return describe(model)
    try:
        head_outputs(model, texts.tokens)
        model(texts.tokens[:1])
    except (AttributeError, IndexError, RuntimeError, TypeError, ValueError) as error:
        return str(error)
    return ""


@torch.no_grad()
def logits_of(case: Case) -> Tensor:
    logits: Tensor = case.model(case.texts.tokens)
    return logits


def read_claim(result: Any) -> Claim | None:
    """The claim of a result ``(head, at_most, before, after)``; None for any other result."""
    try:
        head, *numbers = result
        layer, number = map(int, head)
    except (TypeError, ValueError, RuntimeError):
        return None
    if len(numbers) != 3 or not all(map(is_number, numbers)):
        return None
    return Claim((layer, number), *map(float, numbers))


def is_number(value: Any) -> bool:
    return isinstance(value, Real) or (isinstance(value, Tensor) and value.numel() == 1)


def close(pair: Numbers, other: Numbers) -> bool:
    return all(abs(one - two) <= WITHIN for one, two in zip(pair, other, strict=True))


def name_of(head: Head) -> str:
    return "{}.{}".format(*head)
