"""The translator that a handout runs itself: what somebody types is read, written and drawn as in Python."""

import copy

import pytest
import torch

from mha_lib.classroom.lesson.language import words_here
from mha_lib.classroom.translator import make_translator, train_translator, translate
from mha_lib.classroom.translator.data import held_out_numbers
from mha_lib.classroom.translator.numerals import (
    ENGLISH_WORDS,
    NotUnderstood,
    in_chinese,
    in_english,
    read_number,
)
from mha_lib.classroom.translator.typed_number import TypedNumber
from tests.browser.in_page import ask_function, assert_weighed, open_empty


def rounded(model):
    """The model with the weights that the page has."""
    model = copy.deepcopy(model)
    model.load_state_dict({name: x.half().float() for name, x in model.state_dict().items()})
    return model


@pytest.fixture(scope="module")
def model():
    return make_translator()


@pytest.fixture(scope="module")
def in_page(model):
    return TypedNumber(model).in_page()


@pytest.fixture
def ask(page, tmp_path):
    """Asks a function in the page several questions."""
    open_empty(page, tmp_path)
    return lambda function, *questions: ask_function(page, function, *questions)


def asked(number, attention="cross", silenced="none"):
    return {"number": number, "attention": attention, "silenced": silenced}


def test_the_page_writes_and_weighs_what_python_does(ask, model, in_page):
    typed = TypedNumber(rounded(model))
    numbers = [0, 7, 10, 105, 20_045, 99_999_999, *held_out_numbers(20).tolist()]
    questions = [
        asked(str(number), ("encoder", "decoder", "cross")[place % 3], ["none", 0, 3][place % 4 % 3])
        for place, number in enumerate(numbers)
    ]
    for question, found in zip(questions, ask(in_page, *questions), strict=True):
        assert_weighed(found, typed, question)


TEXTS = [
    "", " ", "23,045", "２３０４５", "1 000 000", "100000000", "-5", "−3", "12.", "twenty-three",
    "Twenty  Ten", "a hundred and five", "fifteen hundred", "twenty hundred", "zero", "zero one",
    "and five", "a", "a five", "five a hundred", "hundred", "one thousand million",
    "one million one million", "nine billion", "twenti", "23 apples", "apples 23", "thousend", "fourty",
    "x", "ten ten", "one hundred and", "一百五", "一百零五", "两万", "二百五", "三万五", "一千零十二",
    "一百十二", "105万", "1亿", "万", "十", "二十百", "一〇五", "壹百", "萬",
    "九千九百九十九万九千九百九十九", "一百零零五", "一千五百零", "twenty " * 100,
    "ninety nine million nine hundred ninety nine thousand",
]  # fmt: skip


def read(text):
    """The words of the number that a text means, or the sentence that refuses it."""
    try:
        return in_english(read_number(text)).split()
    except NotUnderstood as error:
        return f"NotUnderstood: {error}"


def test_the_page_reads_a_text_as_python_does_and_refuses_it_in_the_same_words(ask, in_page):
    generator = torch.Generator().manual_seed(0)

    def drawn(*letters):
        count = int(torch.randint(1, 7, (), generator=generator))
        places = torch.randint(0, len(letters), (count,), generator=generator).tolist()
        return [letters[place] for place in places]

    numbers = held_out_numbers(40).tolist()
    texts = [*TEXTS, *map(in_english, numbers), *map(in_chinese, numbers)]
    texts += [" ".join(drawn(*ENGLISH_WORDS, "a", "and", "-")) for _ in range(150)]
    texts += ["".join(drawn(*"零一二三四五六七八九十百千万两5")) for _ in range(150)]
    texts += [
        word[:at] + letter + word[at + 1 :] for word in ENGLISH_WORDS for at, letter in [(1, "x"), (3, "")]
    ]
    answers = ask(in_page, *(asked(text, "encoder") for text in texts))
    for text, found in zip(texts, answers, strict=True):
        assert found.get("error", found.get("queryLabels")) == read(text), text
    assert len({found.get("error", "").split(":")[-1][:20] for found in answers}) > 9, (
        "few sentences are tried"
    )
    assert words_here()["numerals"]["mixed"]


@pytest.mark.whole
def test_a_trained_translator_writes_the_same_thousand_numbers(ask, tmp_path):
    trained = train_translator(folder=tmp_path).model.cpu()
    numbers = held_out_numbers(1000).tolist()
    in_python = translate(rounded(trained), numbers)
    answers = ask(TypedNumber(trained).in_page(), *(asked(str(number)) for number in numbers))
    in_page = ["".join(name.removesuffix(" ✗") for name in found["queryLabels"][:-1]) for found in answers]
    assert in_page == in_python
    changed = sum(one != other for one, other in zip(in_python, translate(trained, numbers), strict=True))
    assert changed <= 1, "rounding the weights to float16 changes none of 1,000 with the seed of the lesson"
