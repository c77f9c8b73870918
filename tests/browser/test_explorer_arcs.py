"""The explorer's second view on a handout page: tokens and arcs as thick as weights."""

import itertools

import pytest
import torch
from playwright.sync_api import expect

from mha_lib import causal_mask
from mha_lib.classroom.explorer import Picture, explore
from tests.browser.explorers import HEADS, slider
from tests.browser.pages import expect_accessible
from tests.browser.waiting import measure, until

FRENCH, ENGLISH = ["le", "chat", "noir", "dort"], ["the", "black", "cat", "sleeps", "now"]
ARCS = """() => [...document.querySelectorAll(".arcs [data-key]")].map((arc) => [
  ...["head", "query", "key"].map((name) => Number(arc.dataset[name])),
  Number(arc.getAttribute("stroke-width"))])"""


def weights_of(step=0, num_heads=1):
    scores = (1 + step) * torch.randn(num_heads, 4, 5, generator=torch.Generator().manual_seed(3))
    return scores.softmax(-1)


def arcs_of(page):
    """The thickness of each arc, by its head, query and key."""
    return {(head, query, key): wide for head, query, key, wide in measure(page, ARCS)}


def assert_as_thick_as(found, weights):
    """All arcs have one thickness for each unit of weight."""
    units = [wide / weights[place].item() for place, wide in found.items()]
    assert max(units) - min(units) < 0.01 * min(units)
    assert min(units) > 5, "a weight of 1 is a thick arc"


@pytest.fixture
def french(show):
    def french(arcs, **controls):
        show(explore(weights_of, query_labels=FRENCH, key_labels=ENGLISH, arcs=arcs, **controls))

    return french


def test_arcs_are_as_thick_as_the_weights_of_the_words_written_so_far(page, french):
    french({"query": 1})
    found = arcs_of(page)
    weights = weights_of()
    assert_as_thick_as(found, weights)
    written = itertools.product([0], range(2), range(5))
    assert set(found) == {place for place in written if weights[place] >= 0.01}


def test_space_writes_the_next_word_and_shift_takes_it_back(page, watch, french):
    french({})
    word = slider(page, "word")
    word.focus()
    for key, said in [("Space", "chat"), ("Space", "noir"), ("Shift+Space", "chat"), ("ArrowRight", "noir")]:
        page.keyboard.press(key)
        expect(word).to_have_attribute("aria-valuetext", said)
        last = FRENCH.index(said)
        until(page, f"() => Math.max(...({ARCS})().map((arc) => arc[1])) === {last}")
    expect(page.get_by_role("img", name="“noir” looks at")).to_be_visible()
    assert watch.requests_beyond("file:") == watch.errors == []


def test_v_changes_between_the_map_and_the_arcs_which_have_no_part_of_the_map_alone(page, french):
    french(None)
    arcs, of_map = page.locator(".arcs"), page.get_by_role("button", name="save PNG")
    expect(arcs).to_be_hidden()
    expect(of_map).to_be_visible()
    page.locator(HEADS).focus()
    page.keyboard.press("v")
    expect(arcs).to_be_visible()
    expect(of_map).to_be_hidden()
    expect(page.get_by_label("colours 0–max")).to_be_hidden()
    page.get_by_role("button", name="map (V)").click()
    expect(arcs).to_be_hidden()


def test_space_goes_through_a_training_whose_arcs_are_those_of_one_query(page, french):
    french({"steps": "step", "query": 2}, step=[0, 1, 7])
    slider(page, "step").focus()
    for step in (1, 7):
        page.keyboard.press("Space")
        expect(slider(page, "step")).to_have_attribute("aria-valuetext", str(step))
        until(
            page, f"() => document.querySelector('.mha-explorer').dataset.taken === '{[0, 1, 7].index(step)}'"
        )
        assert_as_thick_as(arcs_of(page), weights_of(step))
        assert {query for _, query, _ in arcs_of(page)} == {2}


def test_keys_that_the_query_may_not_see_are_struck_and_have_no_arc(page, show):
    words = ["we", "see", "what", "was"]
    even = torch.full((4, 4), 0.25)
    show(explore(lambda: (even, causal_mask(4, 4)), query_labels=words, key_labels=words, arcs={"query": 1}))
    expect(page.locator(".arcs .hidden")).to_have_text(["what", "was"])
    assert {key for _, query, key in arcs_of(page) if query == 1} == {0, 1}


def test_heads_of_layers_are_nodes_that_a_click_turns_off(page, show):
    words = ["a", "b", "c"]

    def weights_without(on=(1, 1, 1, 1)):
        weights = (torch.eye(3)[[0, 0, 1]] * 0.75 + 0.25 / 3).expand(4, 3, 3)
        return Picture(weights, None, words, words, bars={"right": sum(on) / 4})

    explorer = explore(weights_without, on=[range(2)] * 4, arcs={"layers": 2, "heads": "on", "query": 2})
    show(explorer)
    nodes = page.get_by_role("group", name="heads: a click turns one off").get_by_role("button")
    expect(nodes).to_have_text(["1.0", "1.1", "0.0", "0.1"])
    assert_as_thick_as(arcs_of(page), explorer.weights)
    assert {head for head, _, _ in arcs_of(page)} == {0, 1, 2, 3}
    page.get_by_role("button", name="0.1").press("Enter")
    expect(page.get_by_role("button", name="0.1")).to_have_attribute("aria-pressed", "false")
    expect(page.locator(".bars")).to_contain_text("right 0.75")
    assert {head for head, _, _ in arcs_of(page)} == {0, 2, 3}


@pytest.mark.parametrize("width", [320, 390])
@pytest.mark.parametrize("heads", [1, 4])
def test_arcs_fit_a_phone_and_can_be_heard(page, show, width, heads):
    page.set_viewport_size({"width": width, "height": 700})
    shown = explore(lambda: weights_of(num_heads=heads), query_labels=FRENCH, key_labels=ENGLISH, arcs={})
    show(shown)
    until(page, "() => document.querySelectorAll('.arcs [data-key]').length > 0")
    assert measure(page, "() => document.documentElement.scrollWidth") <= width
    assert measure(page, "() => document.querySelector('.arcs svg').getBoundingClientRect().right") <= width
    expect_accessible(page)


def test_a_control_that_is_not_there_is_refused():
    with pytest.raises(
        ValueError, match=r"steps must be the name of a control, got 'epoch'; controls: \['step'\]"
    ):
        explore(weights_of, step=[0, 1], arcs={"steps": "epoch"})
    with pytest.raises(ValueError, match="layers=3 must divide the number of heads"):
        explore(lambda: torch.ones(4, 2, 2), arcs={"layers": 3})
    with pytest.raises(ValueError, match=r"arcs may have .*, got \['step'\]"):
        explore(weights_of, arcs={"step": "step"})  # type: ignore[arg-type]
