"""Models that a handout runs itself: a number or text that one types is read and drawn as in Python."""

import pytest
import torch
from playwright.sync_api import expect

from evidence.layers import LETTERS, AttentionLayers
from mha_lib import MultiHeadAttention
from mha_lib.classroom import explore
from mha_lib.classroom.explorer.typed_text import MOST, TypedText
from mha_lib.classroom.lesson.outputs import FOR_A_PAGE
from mha_lib.classroom.translator import make_translator
from mha_lib.classroom.translator.data import held_out_numbers
from mha_lib.classroom.translator.numerals import NotUnderstood, in_english, read_number
from mha_lib.classroom.translator.typed_number import TypedNumber
from tests.browser.explorers import SPY_ON_TEXT, assert_shows, expect_written, handout_page
from tests.browser.in_page import ask_function, assert_weighed, open_empty, rounded
from tests.browser.pages import tab_in

# ---- a number, for the translator ----


@pytest.fixture(scope="module")
def translator():
    return make_translator()


@pytest.fixture(scope="module")
def in_page(translator):
    return TypedNumber(translator).in_page()


def asked(number, attention="cross", silenced="none"):
    return {"number": number, "attention": attention, "silenced": silenced}


def test_the_page_writes_and_weighs_what_python_does(page, tmp_path, translator, in_page):
    open_empty(page, tmp_path)
    typed = TypedNumber(rounded(translator))
    numbers = [0, 7, 10, 105, 20_045, 99_999_999, *held_out_numbers(20).tolist()]
    questions = [
        asked(str(number), ("encoder", "decoder", "cross")[place % 3], ["none", 0, 3][place % 4 % 3])
        for place, number in enumerate(numbers)
    ]
    for question, found in zip(questions, ask_function(page, in_page, *questions), strict=True):
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


def test_the_page_reads_a_text_as_python_does_and_refuses_it_in_the_same_words(page, tmp_path, in_page):
    open_empty(page, tmp_path)
    texts = [*TEXTS, *map(str, held_out_numbers(40).tolist())]
    questions = [asked(text, "encoder") for text in texts]
    for text, found in zip(texts, ask_function(page, in_page, *questions), strict=True):
        assert found.get("error", found.get("queryLabels")) == read(text), text


# ---- a text, for the model of layers ----


@pytest.fixture(scope="module")
def typed():
    """Layers of one and of two heads, made as in lesson 04. Their weights are rounded as for a page."""
    torch.manual_seed(0)
    model = AttentionLayers(num_layers=2, num_heads=2).eval()
    model.layers[0].attention = MultiHeadAttention(64, 1, rotary=True)
    return TypedText(rounded(model), LETTERS)


GOOD = ("AB", "P y thon IC PYTHONI", "27", "ZYX" * 21, "Q" * MOST)
REFUSED = ("", " ", "A", "A" * (MOST + 1), "AB!", "AB1", "é", "字")


def test_the_page_reads_and_weighs_what_python_does_and_refuses_the_rest_in_its_words(page, tmp_path, typed):
    open_empty(page, tmp_path)
    questions = [{"text": text, "layer": layer} for layer in (0, 1) for text in GOOD + REFUSED]
    for question, found in zip(questions, ask_function(page, typed.in_page(), *questions), strict=True):
        if question["text"] in GOOD:
            assert_weighed(found, typed, question)
            continue
        with pytest.raises(NotUnderstood) as refused:
            typed.read(question["text"])
        assert found["error"] == str(refused.value)


@pytest.fixture(scope="module")
def explorer(typed):
    """As the lesson makes it where its outputs become a handout."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOR_A_PAGE, "1")
        return explore(
            typed.maps,
            text="PYTHONIC PYTHONI",
            layer=[0, 1],
            query_labels=typed.rows,
            key_labels=typed.columns,
            in_page=typed.in_page,
        )


def test_a_handout_computes_what_is_typed_and_asks_nobody(page, watch, tmp_path, typed, explorer):
    page.context.set_offline(True)
    page.add_init_script(SPY_ON_TEXT)
    address = handout_page(explorer, tmp_path / "handout.html")
    page.goto(address)
    expect(page.get_by_text("Computed in this page, by the lesson's own model")).to_be_visible()
    text, layer, stage = page.get_by_label("text"), page.get_by_label("layer"), page.locator(".stage")

    def expect_drawn(typed_text: str, of_layer: int) -> None:
        expect(stage).to_have_attribute("aria-busy", "false")
        maps, allowed = typed.maps(typed_text, of_layer)
        expect(stage.get_by_role("application")).to_have_count(len(maps))
        assert_shows(page, maps[None], allowed[None, None])
        expect_written(page, *typed.rows(typed_text, of_layer))

    expect_drawn("PYTHONIC PYTHONI", 1)
    text.fill("badge badg")
    expect_drawn("badge badg", 1)
    layer.press("ArrowLeft")
    expect_drawn("badge badg", 0)
    text.fill("badge b1")
    expect(page.get_by_role("alert")).to_contain_text("“1” was not understood: the letters are A")
    expect(text).to_have_value("badge b1")
    text.fill("2727")
    expect_drawn("2727", 0)
    expect(page.get_by_role("alert")).to_be_hidden()
    assert watch.requests_beyond(address) == []
    assert watch.errors == []


TYPE = """(text) => {
  const input = document.querySelector("[aria-label=text]");
  input.value = text;
  input.dispatchEvent(new Event("input", { bubbles: true }));
}"""
NEXT_QUERY = """() => document.querySelector("[role=application]").dispatchEvent(
  new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }))"""
SAYS = """(words) => {
  const said = document.querySelector("[role=status]").textContent;
  return said.includes(words) && said;
}"""


@pytest.mark.ci
@pytest.mark.parametrize("engine", ["firefox", "webkit"])
def test_other_engines_weigh_what_is_typed_as_python_does(engine, browser, tmp_path, typed, explorer):
    address = handout_page(explorer, tmp_path / "handout.html")
    with tab_in(engine, browser, tmp_path / engine) as tab:
        tab.goto(address)
        tab.until("() => document.querySelector('.widget.alive')")
        tab.answer_of(TYPE, "badge badg")
        tab.until(SAYS, "queries: 9")
        tab.answer_of(NEXT_QUERY)  # to the first
        for query, weights in enumerate(typed.maps("badge badg", 1)[0][0]):
            said = tab.until(SAYS, f"query {query} ")
            assert float(said.split(": ")[1].split()[0]) == pytest.approx(float(weights[0]), abs=1.1e-3)
            tab.answer_of(NEXT_QUERY)


def test_where_a_kernel_answers_no_model_is_exported(typed, monkeypatch):
    monkeypatch.delenv(FOR_A_PAGE, raising=False)
    made = explore(typed.maps, text="AB", layer=[0, 1], in_page=typed.in_page)
    assert made.page == {}
