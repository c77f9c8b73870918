"""The translator that a handout runs itself: what somebody types is read, written and drawn as in Python."""

import copy

import pytest

from mha_lib.classroom.translator import make_translator
from mha_lib.classroom.translator.data import held_out_numbers
from mha_lib.classroom.translator.numerals import NotUnderstood, in_english, read_number
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
    "", " ", "0", "000", "23,045", "２３０４５", "1 000 000", "99999999", "100000000", "-5", "−3", "12.",
    "3.5", "0" * 100 + "7", "9" * 400, "twenty", "23 apples", "二十三", "105万", ",", "1,,2", "1\u00a0000",
    "3万", "３万５千", "1.5万", "3萬5百20", "3万5", "3万5000", "0.0003万", "0.00005万", "10000万",
    "9999.9999万", "1亿", "万",
]  # fmt: skip


def read(text):
    """The words of the number that a text means, or the sentence that refuses it."""
    try:
        return in_english(read_number(text)).split()
    except NotUnderstood as error:
        return str(error)


def test_the_page_reads_a_text_as_python_does_and_refuses_it_in_the_same_words(ask, in_page):
    texts = [*TEXTS, *map(str, held_out_numbers(40).tolist())]
    for text, found in zip(texts, ask(in_page, *(asked(text, "encoder") for text in texts)), strict=True):
        assert found.get("error", found.get("queryLabels")) == read(text), text
