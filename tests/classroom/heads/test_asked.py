"""Questions to the real model: it answers where it is, and else what was kept of its answers."""

import json

import pytest
import torch

from mha_lib.classroom.heads import asked
from mha_lib.classroom.heads.asked import AskedModel, real_heads
from mha_lib.classroom.heads.prompts import HELD_BACK, KINDS, SHOWN, prompts
from mha_lib.classroom.lesson import CourseError
from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.lesson.outputs import FOR_A_PAGE


def missing():
    raise CourseError("real_model_missing")


def question(text, count=1):
    return {"text": text, "numbers": [torch.tensor([1 / 3]), 2 * count]}


def test_what_the_model_answers_is_what_is_kept_and_told_without_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(asked, "ANSWERS", tmp_path / "answers.json")
    monkeypatch.setattr(asked, "load_real_model", lambda: ("model", "tokenizer"))
    here = AskedModel()
    answer = here.answers(question)("é", count=2)
    assert answer == {"text": "é", "numbers": [[0.333], 4]}
    here.tell()
    here.tell(is_measured=True)
    monkeypatch.setenv(FOR_A_PAGE, "1")  # whose readers have no model
    here.tell()
    asked.ANSWERS.write_text(json.dumps(here.found), encoding="utf-8")
    monkeypatch.setattr(asked, "load_real_model", missing)
    elsewhere = AskedModel()
    assert elsewhere.model is None
    assert elsewhere.answers(question)("é", count=2) == answer
    with pytest.raises(CourseError, match="mha fetch"):
        elsewhere.answers(question)("another text")
    elsewhere.tell()
    words, told = words_in("en")["real_model"], ("live", "measured", "kept", "kept")
    assert capsys.readouterr().out == "".join(f"{words[it]}\n" for it in told)


@pytest.mark.parametrize("kind", KINDS)
def test_prompts_that_are_held_back_share_no_name_and_no_noun_with_those_shown(kind):
    shown, held_back = prompts(kind), prompts(kind, held_back=True)
    assert [len(shown), len(held_back)] == [70, 35]
    assert prompts(kind) == shown
    for prompt in shown + held_back:
        assert all(prompt.text[at].isalpha() or prompt.text[at] == "(" for at in prompt.places.values())
    for own, other in zip(SHOWN, HELD_BACK, strict=True):
        assert not {*(own.split() if isinstance(own, str) else own)} & {
            *(other.split() if isinstance(other, str) else other)
        }
    assert not {prompt.text for prompt in shown} & {prompt.text for prompt in held_back}


def test_what_was_measured_has_a_number_for_each_prompt_and_for_each_of_270_heads():
    for part, count in (("shown", 70), ("held back", 35)):
        for kind in KINDS:
            found = real_heads(f"{kind}, {part}")
            for name, numbers in found.items():
                is_map = isinstance(numbers[0], list)
                assert torch.tensor(numbers).shape == ((30, 9) if is_map else (count,)), (kind, name)
