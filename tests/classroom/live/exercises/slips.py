"""Answers to exercises, written in plain torch, and the slips that students make in them.

A slip is the name of an exercise, what is changed into what in an answer to it, and the mistakes that are
then named, one or two.
"""

import math
from typing import Any

import pytest
import torch

import mha_lib
from mha_lib import ByAttention, merge_heads
from mha_lib.classroom.live.exercises import find_exercises
from mha_lib.classroom.live.exercises.judge import Answer, sentence_of

EXERCISES = {exercise.name: exercise for exercise in find_exercises()}

Changes = dict[str, str]
Slip = tuple[str, Changes, list[str]]


def right_answer(exercise: str) -> Answer:
    return EXERCISES[exercise].answer


def written(source: str, *changes: Changes) -> Answer:
    """The function ``answer`` of the source, with the changes made one after the other."""
    for before, after in (change for each in changes for change in each.items()):
        assert before in source, before
        source = source.replace(before, after)
    scope: dict[str, Any] = {
        "torch": torch,
        "math": math,
        "mha_lib": mha_lib,
        "ByAttention": ByAttention,
        "merge_heads": merge_heads,
    }
    exec(source, scope)
    return scope["answer"]


def said(exercise: str, *mistakes: str) -> list[str]:
    return [sentence_of("mistakes", exercise, mistake) for mistake in mistakes]


def each_slip(slips: list[Slip]) -> pytest.MarkDecorator:
    ids = [f"{exercise}-{'-and-'.join(mistakes)}" for exercise, _, mistakes in slips]
    return pytest.mark.parametrize(("exercise", "changes", "mistakes"), slips, ids=ids)


def assert_right(exercise: str, answer: Answer) -> None:
    verdict = EXERCISES[exercise].judge(answer)
    assert verdict.state == "solved", verdict


def assert_named(exercise: str, answer: Answer, *mistakes: str) -> None:
    """One mistake: its sentence is the verdict. Two: the verdict says so, and has the sentences of both."""
    verdict = EXERCISES[exercise].judge(answer)
    sentences = said(exercise, *mistakes)
    if len(sentences) == 1:
        assert verdict == ("wrong", *sentences)
    else:
        assert verdict.state == "wrong", verdict
        assert verdict.sentence.startswith("there are two mistakes at once. First: "), verdict
        assert all(sentence in verdict.sentence for sentence in sentences), verdict
