"""Python's side of "Who said this token?" for a large model: accounts of texts, on a small GGUF file."""

import json
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from torch.testing import assert_close

from mha_lib.classroom.heads import largest_parts, who_said_large
from mha_lib.classroom.heads.who_said_large import account_of
from mha_lib.classroom.lesson.language import words_in
from mha_lib.language_model import from_gguf
from tests.mha_lib.small_gguf import write

MOST = 12
WORDS = words_in("en")["who_said"]


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    return from_gguf(write(tmp_path_factory.mktemp("real") / "small.gguf"))


@pytest.fixture
def widget(real):
    model, tokenizer = real
    widget = who_said_large(model, tokenizer, "the other 1", most=MOST)
    widget.send = Mock()
    yield widget
    widget.close()


def asked(widget, text, temperature=0.0, seed=1):
    """The account that the page gets for a text."""
    widget._handle_custom_msg({"run": 7, "text": text, "temperature": temperature, "seed": seed}, [])
    (answer,) = widget.send.call_args.args
    assert answer["run"] == 7
    return json.loads(json.dumps(answer["account"]))


@torch.no_grad()
def test_an_account_holds_the_greedy_text_and_the_parts_that_decided_each_token(real, widget):
    model, tokenizer = real
    tokens = tokenizer.encode("the other 1").ids
    typed = len(tokens)
    while len(tokens) < MOST and (typed == len(tokens) or tokens[-1] != 261):  # <|end|>
        tokens.append(int(model(torch.tensor([tokens]))[0, -1].argmax()))
    found, account = largest_parts(model, torch.tensor([tokens])), widget.account
    rivals = found.rivals.tolist()
    assert account["typed"] == typed
    assert account["names"] == [
        tokenizer.decode([each], skip_special_tokens=False) for each in tokens + rivals
    ]
    assert len(account["steps"]) == len(tokens) - 1
    for place, step in enumerate(account["steps"]):
        *rows, rest = step["rows"]
        assert step["rival"] == len(tokens) + place
        assert [row["part"] for row in rows] == found.largest[place].tolist()
        assert rest["part"] == -1
        assert_close(torch.tensor(step["logits"]), found.logits[place], atol=1e-3, rtol=0)
        sums = torch.tensor([row["shares"] for row in step["rows"]]).sum(0)
        assert_close(sums, found.logits[place], atol=1e-2, rtol=0)
        for row in rows:
            is_head = "head" in widget.page["parts"][row["part"]]
            assert (row["weights"] is not None) == is_head
            assert not is_head or (len(row["weights"]), round(sum(row["weights"]), 1)) == (place + 1, 1)


def test_a_text_that_is_typed_is_answered(widget):
    first = widget.account
    assert asked(widget, "the other 1") == json.loads(json.dumps(first))
    drawn = [asked(widget, "the", temperature=1.5, seed=seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert asked(widget, " ") == {"problem": WORDS["nothing"]}
    assert asked(widget, "1" * 13) == {"problem": WORDS["too_long"].format(count=13, most=MOST)}
    widget._model = None
    assert asked(widget, "the")["problem"].startswith(WORDS["failed"].format(error=""))


@pytest.mark.parametrize(("variable", "alone"), [("", False), ("1", True)])
def test_a_page_without_python_is_told_so(real, monkeypatch, variable, alone):
    monkeypatch.setenv("MHA_FOR_A_PAGE", variable)
    model, tokenizer = real
    widget = who_said_large(model, tokenizer, "the", most=3)
    assert widget.alone is alone
    widget.close()


def test_without_a_model_a_reader_chooses_among_the_accounts_that_were_kept(real):
    model, tokenizer = real
    kept = {text: account_of(model, tokenizer, text, 6, 0.0, WORDS) for text in ("the", "other")}
    widget = who_said_large(None, None, "other", kept=kept)
    assert (widget.account, widget.kept, widget.alone) == (kept["other"], kept, True)
    both = who_said_large(model, tokenizer, "other", kept=kept)
    assert (both.page, both.account, both.alone) == (widget.page, widget.account, False)
    widget.close()
    both.close()


def test_the_text_ends_where_the_model_ends_it(real, widget):
    model, tokenizer = real
    count, typed = len(widget.account["steps"]) + 1, widget.account["typed"]
    written = widget.account["names"][typed:count]
    end = tokenizer.encode(written[2]).ids[0]
    ends = {end: SimpleNamespace(special=True), 0: SimpleNamespace(special=False)}
    own = SimpleNamespace(
        encode=tokenizer.encode, decode=tokenizer.decode, get_added_tokens_decoder=lambda: ends
    )
    ended = who_said_large(model, own, "the other 1", most=MOST)
    length = typed + written.index(written[2]) + 1
    assert len(ended.account["steps"]) + 1 == length < count
    assert ended.account["names"][:length] == widget.account["names"][:length]
    ended.close()


REFUSED: dict[str, dict[str, Any]] = {
    "start must be a text of one token or more": {"start": " "},
    "most must be 2 tokens or more": {"most": 1},
    "head must be None or one of": {"head": (9, 9)},
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_arguments_that_do_not_fit_are_refused(real, sentence):
    model, tokenizer = real
    options = {"start": "the"} | REFUSED[sentence]
    with pytest.raises(ValueError, match=sentence):
        who_said_large(model, tokenizer, **options)
