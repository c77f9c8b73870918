"""The widget "Who said this token?" in a handout, which computes alone what Python would."""

import random
import re
from typing import Any

import pytest
import torch
from playwright.sync_api import Page, expect
from torch import nn

from mha_lib import EncoderLayer, LanguageModel
from mha_lib.classroom.heads import logit_shares, who_said, who_said_large
from mha_lib.classroom.heads.who_said import WhoSaid
from mha_lib.classroom.heads.who_said_large import account_of
from mha_lib.classroom.lesson.language import words_in
from mha_lib.language_model import from_gguf
from tests.browser.explorers import handout_page
from tests.browser.in_page import rounded
from tests.browser.waiting import becomes, measure, texts_of
from tests.mha_lib.small_gguf import write as write_gguf

VOCABULARY = ["once", "the", "fox", "met", "pu", "za", "su", "ki", "<i>", ".", "don't", "a", "now"]
MOST, D = 14, 12
HEIGHTS = """function see() {
  const height = document.querySelector(".mha-who-said:has(.text > *)")?.offsetHeight;
  window.heights ??= [];
  if (height && height !== heights.at(-1)) heights.push(height);
  requestAnimationFrame(see);
}"""
PARTS = 9  # the table, 3 and 2 heads, 2 networks, and the sum


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(3)
    kind: Any = {"rotary": True, "gated": True, "norm": nn.RMSNorm}
    layers = [EncoderLayer(D, 3, 17, **kind, head_dim=4, window=3), EncoderLayer(D, 2, 17, **kind)]
    model = LanguageModel(nn.Embedding(len(VOCABULARY), D), layers, nn.RMSNorm(D)).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.7)
    return model


@pytest.fixture(scope="module")
def made(model):
    return who_said(model, VOCABULARY, "once the fox met su", most=MOST)


@pytest.fixture
def opened(page, tmp_path, made):
    """The page, when it has written its first text."""
    page.goto(handout_page(made, tmp_path / "handout.html"))
    expect_written(page)
    return page


def expect_written(page: Page) -> None:
    expect(page.locator(".text")).to_have_attribute("aria-busy", "false")
    expect(page.locator(".text span")).to_have_count(MOST)


def write(page: Page, text: str) -> None:
    page.get_by_label("beginning").fill(text)
    page.get_by_label("beginning").press("Enter")


def tokens_on(page: Page) -> list[str]:
    return texts_of(page.locator(".text span"))


@pytest.mark.parametrize("width", [1280, 390])
def test_what_stands_below_stays_where_it_is_while_the_page_writes(width, page, tmp_path, made):
    page.set_viewport_size({"width": width, "height": 844})
    page.add_init_script(f"({HEIGHTS})()")
    page.goto(handout_page(made, tmp_path / "handout.html"))
    expect_written(page)
    assert measure(page, "() => heights.length") == 1


@torch.no_grad()
def test_the_page_writes_what_python_does(opened, model):
    expect(opened.get_by_text("a kept text"), "there is none to choose").to_be_hidden()
    chosen, written, model = random.Random(0), set(), rounded(model)
    for length in 2 * (1, 1, 2, 3, 5, 8, MOST - 1, MOST):
        tokens = chosen.choices(range(len(VOCABULARY)), k=length)
        write(opened, " ".join(VOCABULARY[token] for token in tokens))
        while len(tokens) < MOST:  # the likeliest each time
            tokens.append(int(logit_shares(model, torch.tensor([tokens])).logits[0, -1].argmax()))
        expect(opened.locator(".text span")).to_have_text([VOCABULARY[token] for token in tokens])
        written |= {*tokens[length:]}
    assert len(written) > 4, "a model that always writes the same token shows nothing"


def number_of(text: str) -> float:
    return float(text.replace("−", "-"))


@torch.no_grad()
def test_each_token_chosen_by_a_key_shows_its_shares_which_sum_to_its_logit(opened, model):
    places = [VOCABULARY.index(name) for name in tokens_on(opened)]
    found = logit_shares(rounded(model), torch.tensor([places]))
    buttons = opened.locator(".text button")
    expect(buttons.nth(5)).to_have_attribute("aria-pressed", "true")  # the first one that was written
    buttons.nth(5).press("Home")
    expect(opened.get_by_role("status")).to_have_text(
        "“once” comes first: no token stands before it that could have said it. Choose a later one."
    )
    expect(opened.locator("table")).to_be_hidden()
    expect(opened.get_by_label("a kept text")).to_be_hidden()  # there are none
    for place in range(1, MOST):
        buttons.nth(place - 1).press("ArrowRight")
        expect(buttons.nth(place)).to_be_focused()
        expect(buttons.nth(place)).to_have_attribute("tabindex", "0")
        expect(opened.locator(".text [tabindex='0']")).to_have_count(1)
        expect(opened.locator(".query span")).to_have_text(VOCABULARY[places[place - 1]])
        logits = found.logits[0, place - 1]
        rival = int(logits.index_fill(0, torch.tensor(places[place]), -torch.inf).argmax())
        named = "likelier" if logits[rival] > logits[places[place]] else "rival"
        expect(opened.locator("thead th")).to_have_text(
            [f"“{VOCABULARY[places[place]]}”", f"{named} “{VOCABULARY[rival]}”"]
        )
        for column, token in ((1, places[place]), (2, rival)):
            column_of = opened.locator(f"tbody td:nth-of-type({column}) b")
            *shares, logit = map(number_of, texts_of(column_of))
            assert len(shares) == PARTS - 1
            assert abs(sum(shares) - logit) <= 0.005 * PARTS + 1e-9
            expected = [*found.shares[:, 0, place - 1, token].tolist(), float(logits[token])]
            assert [*shares, logit] == pytest.approx(expected, abs=0.0051)


@torch.no_grad()
def test_a_click_opens_a_token_and_a_head_whose_weights_shade_the_text(opened, model):
    place, layer, head = 9, 0, 1
    tokens = [VOCABULARY.index(name) for name in tokens_on(opened)]
    opened.locator(".text button").nth(place).click()
    opened.locator("tbody tr").filter(has_text=f"head {layer}.{head}").click()
    button = opened.get_by_role("button", name=f"head {layer}.{head}")
    expect(button).to_have_attribute("aria-pressed", "true")
    weights = logit_shares(rounded(model), torch.tensor([tokens])).weights[layer][0, head, place - 1]
    assert int((weights > 0).sum()) == 3, "the window"
    shaded = (
        "(root) => [...root.querySelectorAll('button')].map(({ style }) => "
        "Number(style.getPropertyValue('--weight')).toFixed(2))"
    )
    becomes(
        opened.locator(".text"),
        shaded,
        [f"{weight:.2f}" for weight in [*weights.tolist(), 0, 0, 0, 0]][:MOST],
    )
    named = [weight for weight in weights.tolist() if weight >= 0.005]
    assert [number_of(text) for text in texts_of(opened.locator(".text sub"))] == pytest.approx(
        named, abs=0.0051
    )
    told = opened.get_by_role("status")
    best = VOCABULARY[tokens[int(weights.argmax())]]
    expect(told).to_contain_text(f"From “{VOCABULARY[tokens[place - 1]]}”")
    expect(told).to_contain_text(f"read “{best}” ({weights.max():.2f})")
    button.press("ArrowDown")
    expect(opened.get_by_role("button", name="head 0.2")).to_be_focused()
    expect(opened.get_by_role("button", name="head 0.2")).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("once the Ferret met", "does not know “Ferret”. It knows 13 tokens, such as fox, once"),
        ("", "The beginning is empty"),
        ("the " * 15, "has 15 tokens, and the page shows 14 at most"),
    ],
)
def test_what_can_not_be_read_is_named_and_nothing_is_lost(opened, text, sentence):
    before = tokens_on(opened)
    write(opened, text)
    expect(opened.get_by_role("alert")).to_contain_text(sentence)
    expect(opened.get_by_label("beginning")).to_have_value(text)
    expect(opened.locator(".text span")).to_have_text(before)
    write(opened, "the fox")
    expect(opened.get_by_role("alert")).to_be_hidden()


def test_a_full_stop_may_touch_its_word_and_names_are_no_html(opened):
    write(opened, "Once  the fox. don't <i>")
    expect_written(opened)
    assert tokens_on(opened)[:6] == ["once", "the", "fox", ".", "don't", "<i>"]
    expect(opened.locator(".text i")).to_have_count(0)


def test_tokens_without_blanks_are_cut_by_the_longest_name(page, tmp_path, made):
    names = ["从前", "从", "前", "有", "一只", "狐狸", "一", "只", "普", "扎", "。", "叫", "苏"]
    state = {name: getattr(made, name) for name in ("words", "page", "most")}
    widget = WhoSaid(vocabulary=names, start="从前有一只 狐狸叫普扎。前一", spaced=False, **state)
    page.goto(handout_page(widget, tmp_path / "handout.html"))
    expect_written(page)
    assert tokens_on(page)[:10] == ["从前", "有", "一只", "狐狸", "叫", "普", "扎", "。", "前", "一"]
    write(page, "从前有虎")
    expect(page.get_by_role("alert")).to_contain_text("does not know “虎”")


def test_a_seed_draws_its_text_and_the_next_one_another(opened):
    again, temperature = opened.get_by_role("button", name="draw again"), opened.get_by_label("temperature")
    expect(again).to_be_disabled()
    temperature.fill("1.5")
    texts = []
    for button in ("write", "draw again", "write"):
        opened.get_by_role("button", name=button).click()
        expect_written(opened)
        texts.append(tokens_on(opened))
    first, second, third = texts
    assert first == third != second
    assert first[:5] == second[:5] == ["once", "the", "fox", "met", "su"]


def test_where_no_script_runs_a_text_says_how_it_begins(made):
    """JupyterLab keeps 110 letters of it beside the widget, and handouts show them."""
    (bundle, _) = made._repr_mimebundle_()
    assert bundle["text/plain"].endswith("and a model goes on with this text: once the fox met su")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"vocabulary": VOCABULARY[1:]}, "13 different names, one for each row of model.table, got 12"),
        ({"vocabulary": ["a"] * 13}, "got 13, 1 of them different"),
        ({"start": " "}, "start must be a text"),
        ({"most": 1}, "most must be 2 tokens or more, got 1"),
        ({"temperature": 2}, "from 0 to 1.5, got 2"),
        ({"head": (1, 2)}, "head must be None or one of"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(model, change, sentence):
    given = {"model": model, "vocabulary": VOCABULARY, "start": "once"} | change
    with pytest.raises(ValueError, match=re.escape(sentence)):
        who_said(**given)


def test_without_a_model_a_reader_chooses_among_kept_texts(page, tmp_path):
    model, tokenizer = from_gguf(write_gguf(tmp_path / "small.gguf"))
    words = words_in("en")["who_said"]
    kept = {text: account_of(model, tokenizer, text, 6, 0.0, words) for text in ("the", "other")}
    page.goto(handout_page(who_said_large(None, None, "the", kept=kept), tmp_path / "handout.html"))
    for text in ("other", "the"):
        page.get_by_label("a kept text").select_option(text)
        written = kept[text]["names"][: len(kept[text]["steps"]) + 1]
        expect(page.locator(".text span")).to_have_count(len(written))
        expect(page.locator(".text span").first).to_have_text(written[0].strip())
        expect(page.get_by_label("beginning")).to_be_hidden()
    expect(page.get_by_text(words_in("en")["real_model"]["kept"])).to_be_visible()
