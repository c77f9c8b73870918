"""Judges answers to exercises that are written in plain torch, with the slips that students make in them."""

from typing import Any

import torch
from torch import Tensor

from mha_lib import ByAttention, merge_heads
from mha_lib.classroom.live.exercises import find_exercises
from mha_lib.classroom.live.exercises.judge import Answer, sentence_of

EXERCISES = {exercise.name: exercise for exercise in find_exercises()}

Changes = dict[str, str]  # a piece of an answer's text, and the piece that replaces it


def randn(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def right_answer(exercise: str) -> Answer:
    return EXERCISES[exercise].answer


def written(source: str, *changes: Changes) -> Answer:
    """The function ``answer`` of the source, with the changes made one after the other."""
    for before, after in (change for each in changes for change in each.items()):
        assert before in source, before
        source = source.replace(before, after)
    scope: dict[str, Any] = {"torch": torch, "ByAttention": ByAttention, "merge_heads": merge_heads}
    exec(source, scope)
    return scope["answer"]


def said(exercise: str, *mistakes: str) -> list[str]:
    return [sentence_of("mistakes", exercise, mistake) for mistake in mistakes]


def assert_right(exercise: str, answer: Answer) -> None:
    verdict = EXERCISES[exercise].judge(answer)
    assert verdict.state == "solved", verdict


def assert_named(exercise: str, answer: Answer, *mistakes: str) -> None:
    """One mistake: its sentence is the verdict. Two: the verdict says so, and has the sentences of both."""
    verdict = EXERCISES[exercise].judge(answer)
    sentences = said(exercise, *mistakes)
    if len(sentences) == 1:
        assert verdict[:2] == ("wrong", *sentences)
    else:
        assert verdict.state == "wrong", verdict
        assert verdict.sentence.startswith("there are two mistakes at once. First: "), verdict
        assert all(sentence in verdict.sentence for sentence in sentences), verdict
