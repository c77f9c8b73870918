"""A claim about a head is judged by an experiment on the student's model; each slip in it is recognised."""

from copy import deepcopy
from types import FunctionType

import pytest
import torch

from mha_lib.classroom.exercises.claims import COMMON, RIGHT, SLIPS, Case, experiment, logits_of, random_cases
from mha_lib.classroom.exercises.judge import sentence_of
from mha_lib.classroom.stories import REST, tales_here
from mha_lib.classroom.trainings.threads import one_thread
from tests.classroom.exercises.answers import EXERCISES
from tests.classroom.exercises.looking_up import looking_up

STORIES = tales_here().draw(7, 50, torch.Generator().manual_seed(1))


def verdict_of(answer, model):
    """The verdict on an answer whose notebook has this ``model``."""
    scope = globals() | {"model": model}
    return EXERCISES["claim"].judge(FunctionType(answer.__code__, scope, closure=answer.__closure__))


def experimenter(head, at_most, **steps):
    return lambda model, texts: (head, at_most, *experiment(Case(model, texts), head, **steps))


def share_without(model, texts, layer, head):
    """The share that is right without a head: its columns of W_o are 0, and what its mean wrote is added."""
    seen, changed = [], deepcopy(model)
    attention = changed.layers[layer].self_attention
    width = attention.value_head_dim
    columns = slice(head * width, (head + 1) * width)
    with attention.W_o.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0][..., columns])):
        changed(texts.tokens)
    with torch.no_grad():
        constant = attention.W_o.weight[:, columns] @ seen[0].flatten(0, 1).mean(0)
        attention.W_o.weight[:, columns] = 0
    attention.W_o.register_forward_hook(lambda _, __, output: output + constant)
    guessed, tokens = changed(texts.tokens).argmax(-1), texts.tokens
    places = [(text, place) for text, place in (texts.kinds == REST).nonzero().tolist() if place]
    return sum(int(guessed[text, place - 1] == tokens[text, place]) for text, place in places) / len(places)


@pytest.mark.parametrize("head", COMMON)
@one_thread()
def test_the_numbers_of_the_judge_are_those_of_another_way_to_remove_a_head(head):
    for case in (*random_cases(), Case(looking_up(), STORIES)):
        assert experiment(case, head)[1] == pytest.approx(share_without(*case, *head), abs=1e-6)


CLAIMS = [
    ((0, 0), 0.25, "solved", (), "“Without head 0.0 at most 25.0% of"),
    ((1, 1), 0.9, "not yet", ("refuted",), "without head 1.1 still 99.9% are right, more than 90.0%"),
]


@pytest.mark.parametrize(("head", "at_most", "state", "names", "piece"), CLAIMS)
def test_a_claim_stands_where_the_model_bears_it_out(head, at_most, state, names, piece):
    mean = RIGHT[head[0]]  # over all tokens, or over those that predict one
    verdict = verdict_of(experimenter(head, at_most, **mean), looking_up())
    assert (verdict.state, verdict.names, piece in verdict.sentence) == (state, names, True)


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_is_told(name):
    verdict = verdict_of(experimenter((1, 0), 0.1, **SLIPS[name][-1]), looking_up())
    assert verdict[:2] == ("wrong", sentence_of("mistakes", "claim", name))


def leaves_a_hook(model, texts):
    claim = experimenter((1, 0), 0.1)(model, texts)
    model.layers[1].self_attention.W_o.register_forward_pre_hook(lambda _, inputs: 0 * inputs[0])
    return claim


REFUSED = [
    (leaves_a_hook, looking_up, "model_left_changed"),
    (experimenter((1, 0), 0.1, finish=lambda *both: (both[0], both[1] / 3)), looking_up, "other_numbers"),
    (experimenter((1, 0), 0.1), lambda: None, "model_missing"),
]


@pytest.mark.parametrize(("answer", "model", "name"), REFUSED)
def test_an_experiment_that_tells_nothing_of_the_students_model_is_refused(answer, model, name):
    cases = random_cases((2, 2))  # those that the judge keeps for a model such as this one
    before = [*map(logits_of, cases)]
    assert verdict_of(answer, model())[::2] == ("wrong", (name,))
    assert all(map(torch.equal, before, map(logits_of, cases)))
