"""The overview of an explorer: all heads as small pictures, a click opens one, measures sort them."""

import re

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from mha_lib.classroom.explorer import Explorer
from mha_lib.classroom.explorer.controls import make_control
from mha_lib.classroom.explorer.table import Overview, Picture, Source
from tests.browser.explorers import (
    HEADS,
    SPY_ON_TEXT,
    assert_shows,
    boxes_of,
    expect_written,
    give_room,
    handout_page,
)
from tests.browser.pages import expect_accessible
from tests.browser.waiting import act, becomes, box_of, measure, until

LAYERS, HEADS_OF_LAYER, Q, K = 3, 4, 5, 5
OPENERS = ".mha-explorer [role=group] > [role=button]"
NAMES = "(heads) => [...document.querySelectorAll(heads)].map((head) => head.ariaLabel.split(':')[0])"
WEIGHTS = torch.rand(LAYERS, HEADS_OF_LAYER, Q, K, generator=torch.Generator().manual_seed(0))
WEIGHTS /= WEIGHTS.sum(-1, keepdim=True)
NUMBERS = torch.randperm(LAYERS * HEADS_OF_LAYER, generator=torch.Generator().manual_seed(1)) / 100
ALLOWED = torch.ones(1, 1, Q, K, dtype=torch.bool)


def picture_of(layer):
    which = range(LAYERS) if layer is None else [layer]
    heads = [(at, head) for at in which for head in range(HEADS_OF_LAYER)]
    of_all = Overview(
        [f"layer {at}" for at in which],
        [str(head) for head in range(HEADS_OF_LAYER)],
        "head",
        [({"layer": at}, head) for at, head in heads],
    )
    return Picture(
        WEIGHTS[[at for at, _ in heads], [head for _, head in heads]],
        head_labels=[f"layer {at}, head {head}" for at, head in heads],
        short_labels=[f"L{at} H{head}" for at, head in heads],
        measures={
            "size": [float(NUMBERS[at * HEADS_OF_LAYER + head]) for at, head in heads],
            "other": [0.5 for _ in heads],
        },
        overview=of_all if layer is None else None,
        call="" if layer is None else f"explorer.show(layer={layer}{{head}})",
    )


def some_overview(**budget):
    layers = make_control("layer", {"all": None} | {f"layer {at}": at for at in range(LAYERS)}, None)
    return Explorer(Source(picture_of, [layers], {}), **budget)


@pytest.fixture
def open_overview(page, tmp_path):
    """Opens a handout with one picture, an overview, or with the explorer that is given."""

    def open_overview(picture, heads=LAYERS * HEADS_OF_LAYER):
        is_picture = isinstance(picture, Picture)
        explorer = Explorer(Source(lambda: picture, [], {})) if is_picture else picture
        page.add_init_script(SPY_ON_TEXT)
        page.goto(handout_page(explorer, tmp_path / "it.html"))
        expect(page.locator(OPENERS)).to_have_count(heads)

    return open_overview


@pytest.fixture
def shown(page, open_overview):
    open_overview(some_overview())
    return page


def test_layers_are_rows_heads_are_columns_and_each_small_picture_is_its_head(shown):
    boxes = boxes_of(shown, OPENERS)
    rows, columns = (np.array([box[side] for box in boxes]).reshape(LAYERS, HEADS_OF_LAYER) for side in "yx")
    assert np.all(rows == rows[:, :1])
    assert np.all(np.diff(rows[:, 0]) > 0)
    assert np.all(columns == columns[:1])
    assert np.all(np.diff(columns[0]) > 0)
    expect_written(shown, "layer 0", "layer 2", "head", "0", "3")
    act(shown, "document.querySelectorAll('[role=button]').forEach((one) => (one.role = 'application'))")
    assert_shows(shown, WEIGHTS.flatten(0, 1)[None], ALLOWED)


def test_a_click_opens_a_head_above_the_call_that_shows_it_again_and_the_button_returns(shown):
    call, layer = shown.locator(".mha-explorer code"), shown.get_by_label("layer", exact=True)
    expect(call).to_have_text("")
    shown.locator(OPENERS).nth(HEADS_OF_LAYER + 2).click()
    expect(shown.locator(HEADS)).to_have_count(1)
    expect(shown.locator(HEADS)).to_have_accessible_name("layer 1, head 2")
    assert_shows(shown, WEIGHTS[1, 2][None, None], ALLOWED)
    expect(layer).to_have_value("2")
    expect(call).to_have_text("explorer.show(layer=1, head=2)")
    call.click()
    until(shown, "String(getSelection()) === 'explorer.show(layer=1, head=2)'")
    layer.select_option("layer 0")
    expect(call).to_have_text("explorer.show(layer=0, head=2)")
    shown.get_by_role("button", name="all heads").click()
    expect(call).to_have_text("explorer.show(layer=0)")
    shown.locator(HEADS).nth(3).click()
    expect(shown.get_by_role("button", name="all heads")).to_be_visible()
    layer.select_option("all")
    shown.locator(OPENERS).first.click()
    shown.get_by_role("button", name="overview").click()
    expect(shown.locator(OPENERS)).to_have_count(LAYERS * HEADS_OF_LAYER)
    expect(call).to_have_text("")


def test_keys_move_through_the_overview_open_a_head_and_return(shown):
    openers, stops = shown.locator(OPENERS), shown.locator(f"{OPENERS}[tabindex='0']")
    expect(stops, "one stop of Tab is enough for all heads").to_have_count(1)
    openers.first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowRight"):
        shown.keyboard.press(key)
    expect(openers.nth(HEADS_OF_LAYER + 1)).to_be_focused()
    expect(stops).to_have_count(1)
    expect(stops).to_be_focused()
    expect(shown.get_by_role("status")).to_have_text(
        re.compile(rf"layer 1, head 1: size {NUMBERS[5]:.2f}, other 0.50")
    )
    shown.keyboard.press("ArrowUp")
    shown.keyboard.press("ArrowUp")  # beyond the edge: it stays
    expect(openers.nth(1)).to_be_focused()
    shown.keyboard.press("Enter")
    expect(shown.locator(HEADS)).to_be_focused()
    expect(shown.locator(HEADS)).to_have_accessible_name("layer 0, head 1")
    shown.keyboard.press("Escape")
    expect(openers.nth(1)).to_be_focused()


def test_the_grid_is_sorted_by_the_measure_and_opens_what_it_shows(shown):
    shown.get_by_label("order").select_option("lowest first")
    expected = NUMBERS.argsort().tolist()
    names = [f"layer {head // HEADS_OF_LAYER}, head {head % HEADS_OF_LAYER}" for head in expected]
    becomes(shown, NAMES, names, OPENERS)
    best = expected[0]
    expect_written(shown, f"L{best // HEADS_OF_LAYER} H{best % HEADS_OF_LAYER}  {NUMBERS[best]:.2f}")
    shown.locator(OPENERS).first.click()
    expect(shown.locator(HEADS)).to_have_accessible_name(names[0])
    assert_shows(shown, WEIGHTS.flatten(0, 1)[best][None, None], ALLOWED)


def test_the_heads_of_a_layer_are_sorted_and_each_has_its_measure(shown):
    shown.get_by_label("layer", exact=True).select_option("layer 2")
    shown.get_by_label("order").select_option("highest first")
    own = NUMBERS[-HEADS_OF_LAYER:]
    order = own.argsort(descending=True).tolist()
    becomes(shown, NAMES, [f"layer 2, head {head}" for head in order], HEADS)
    assert_shows(shown, WEIGHTS[2][order][None], ALLOWED)
    expect_written(shown, f"layer 2, head {order[0]}  {own[order[0]]:.2f}")
    shown.get_by_label("beside each head").select_option("other")
    expect_written(shown, "layer 2, head 0  0.50")


def test_a_handout_says_that_it_lacks_a_head_and_keeps_the_overview(page, open_overview):
    open_overview(some_overview(most=0))
    page.locator(OPENERS).nth(5).click()
    expect(page.get_by_role("status")).to_contain_text("Not in this handout")
    page.get_by_role("button", name="overview").click()
    expect(page.get_by_role("status")).to_contain_text("Heads: 12,")
    page.locator(OPENERS).nth(5).press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Not in this handout")
    page.keyboard.press("Escape")
    expect(page.locator(OPENERS).nth(5)).to_be_focused()
    expect(page.get_by_role("status")).to_contain_text("Heads: 12,")
    expect(page.get_by_role("button", name="overview")).to_be_hidden()


def test_colours_by_the_square_root_and_their_scale(shown):
    shown.get_by_label("layer", exact=True).select_option("layer 1")
    shown.get_by_label("colours √").check()
    expect_written(shown, "1 weight, √ scale")
    assert_shows(shown, WEIGHTS[1].sqrt()[None], ALLOWED)
    shown.get_by_label("colours 0–max").check()
    top = float(WEIGHTS[1].half().max())
    expect_written(shown, f"{top:.3g} largest weight, √ scale")
    assert_shows(shown, (WEIGHTS[1] / top).sqrt()[None], ALLOWED)


def test_axe_finds_nothing_in_the_dark(page, open_overview):
    page.emulate_media(color_scheme="dark")
    open_overview(some_overview())
    expect_accessible(page, ".mha-explorer")


@pytest.mark.ci
def test_forced_colours_leave_the_picture_its_own_and_the_focus_a_ring(page, open_overview):
    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    open_overview(some_overview())
    page.get_by_label("layer", exact=True).select_option("layer 1")
    expect_written(page, "queries", "keys")
    assert measure(page, "colourOf.queries") != measure(page, "colourOf.keys")
    page.locator(HEADS).first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(HEADS).first).to_have_css("outline-style", "solid")


@pytest.mark.ci
def test_a_slide_shows_as_many_sorted_heads_as_have_room_and_says_so(page, open_overview):
    order = torch.randperm(144, generator=torch.Generator().manual_seed(0)).tolist()
    picture = Picture(
        torch.eye(32).expand(144, 32, 32),
        head_labels=[f"head {number}" for number in range(144)],
        measures={"place": order},
        overview=Overview([f"layer {row}" for row in range(24)], [*"012345"], "head", [({}, 0)] * 144),
    )
    open_overview(picture, 144)
    give_room(page, 370)
    page.get_by_label("order").select_option("lowest first")
    status = page.get_by_role("status")
    expect(status).to_contain_text(re.compile(r"The first \d+ of 144 heads in this order"))
    boxes = boxes_of(page, OPENERS)
    assert len(boxes) >= 18  # three rows of six: letters of 18 px leave room for no more
    assert min(box["height"] for box in boxes) > 40
    root = box_of(page.locator(".mha-explorer"))
    assert max(box["bottom"] for box in boxes) < root["y"] + root["height"]
    expect(status).to_contain_text(f"The first {len(boxes)} of 144")
    becomes(page, NAMES, [f"head {order.index(place)}" for place in range(len(boxes))], OPENERS)
    page.locator(OPENERS).last.focus()
    page.keyboard.press("ArrowRight")  # beyond the last: it stays
    expect(page.locator(OPENERS).last).to_be_focused()
