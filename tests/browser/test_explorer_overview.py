"""The overview of an explorer: all heads as small pictures, a click opens one, measures sort them."""

import re
from importlib.resources import files

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from mha_lib.classroom.live.explorer import Explorer
from mha_lib.classroom.live.explorer.controls import make_control
from mha_lib.classroom.live.explorer.table import Overview, Picture, Source
from tests.browser.explorers import HEADS, SPY_ON_TEXT, assert_shows, handout_page
from tests.browser.test_explorer_room import give_room

LAYERS, HEADS_OF_LAYER, Q, K = 3, 4, 5, 5
OPENERS = ".mha-explorer [role=group] > [role=button]"
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
    )


def some_overview(**budget):
    layers = make_control("layer", {"all": None} | {f"layer {at}": at for at in range(LAYERS)}, None)
    return Explorer(Source(picture_of, [layers], {}), **budget)


@pytest.fixture
def shown(page, tmp_path):
    page.add_init_script(SPY_ON_TEXT)
    page.goto(handout_page(some_overview(), tmp_path / "it.html"))
    expect(page.locator(OPENERS)).to_have_count(LAYERS * HEADS_OF_LAYER)
    return page


def names_of(page):
    return [head.get_attribute("aria-label") for head in page.locator(OPENERS).all()]


def test_layers_are_rows_and_heads_are_columns(shown):
    boxes = [head.bounding_box() for head in shown.locator(OPENERS).all()]
    rows = np.array([box["y"] for box in boxes]).reshape(LAYERS, HEADS_OF_LAYER)
    columns = np.array([box["x"] for box in boxes]).reshape(LAYERS, HEADS_OF_LAYER)
    assert (rows == rows[:, :1]).all()
    assert (np.diff(rows[:, 0]) > 0).all()
    assert (columns == columns[:1]).all()
    assert (np.diff(columns[0]) > 0).all()
    assert {"layer 0", "layer 2", "head", "0", "3"} <= {*shown.evaluate("window.written")}


def test_each_small_picture_is_its_head(shown):
    shown.evaluate("document.querySelectorAll('[role=button]').forEach((one) => (one.role = 'application'))")
    assert_shows(shown, WEIGHTS.flatten(0, 1)[None], ALLOWED)


def test_a_click_opens_a_head_and_the_button_returns(shown):
    shown.locator(OPENERS).nth(HEADS_OF_LAYER + 2).click()
    expect(shown.locator(HEADS)).to_have_count(1)
    expect(shown.locator(HEADS)).to_have_attribute("aria-label", "layer 1, head 2")
    assert_shows(shown, WEIGHTS[1, 2][None, None], ALLOWED)
    expect(shown.get_by_label("layer", exact=True)).to_have_value("2")
    shown.get_by_role("button", name="overview").click()
    expect(shown.locator(OPENERS)).to_have_count(LAYERS * HEADS_OF_LAYER)
    shown.get_by_label("layer", exact=True).select_option("layer 0")
    shown.locator(HEADS).nth(3).click()
    expect(shown.get_by_role("button", name="all heads")).to_be_visible()


def test_keys_move_through_the_overview_open_a_head_and_return(shown):
    openers = shown.locator(OPENERS)
    openers.first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowRight"):
        shown.keyboard.press(key)
    expect(openers.nth(HEADS_OF_LAYER + 1)).to_be_focused()
    expect(shown.get_by_role("status")).to_have_text(
        re.compile(rf"layer 1, head 1: size {NUMBERS[5]:.2f}, other 0.50")
    )
    shown.keyboard.press("ArrowUp")
    shown.keyboard.press("ArrowUp")  # beyond the edge: it stays
    expect(openers.nth(1)).to_be_focused()
    shown.keyboard.press("Enter")
    expect(shown.locator(HEADS)).to_be_focused()
    expect(shown.locator(HEADS)).to_have_attribute("aria-label", "layer 0, head 1")
    shown.keyboard.press("Escape")
    expect(openers.nth(1)).to_be_focused()


def test_one_stop_of_tab_is_enough_for_all_heads(shown):
    stops = shown.locator(f"{OPENERS}[tabindex='0']")
    expect(stops).to_have_count(1)
    shown.locator(OPENERS).first.focus()
    shown.keyboard.press("ArrowRight")
    expect(stops).to_have_count(1)
    expect(stops).to_be_focused()


@pytest.mark.parametrize(("order", "is_descending"), [("highest first", True), ("lowest first", False)])
def test_the_grid_is_sorted_by_the_measure_and_opens_what_it_shows(shown, order, is_descending):
    shown.get_by_label("order").select_option(order)
    expected = NUMBERS.argsort(descending=is_descending).tolist()
    names = [f"layer {head // HEADS_OF_LAYER}, head {head % HEADS_OF_LAYER}:" for head in expected]
    assert [name.partition(":")[0] + ":" for name in names_of(shown)] == names
    best = expected[0]
    title = f"L{best // HEADS_OF_LAYER} H{best % HEADS_OF_LAYER}  {NUMBERS[best]:.2f}"
    assert title in shown.evaluate("window.written")
    shown.locator(OPENERS).first.click()
    expect(shown.locator(HEADS)).to_have_attribute("aria-label", names[0].rstrip(":"))
    assert_shows(shown, WEIGHTS.flatten(0, 1)[best][None, None], ALLOWED)


def test_the_heads_of_a_layer_are_sorted_and_each_has_its_measure(shown):
    shown.get_by_label("layer", exact=True).select_option("layer 2")
    shown.get_by_label("order").select_option("highest first")
    own = NUMBERS[-HEADS_OF_LAYER:]
    order = own.argsort(descending=True).tolist()
    expect(shown.locator(HEADS)).to_have_count(HEADS_OF_LAYER)
    assert [head.get_attribute("aria-label") for head in shown.locator(HEADS).all()] == [
        f"layer 2, head {head}" for head in order
    ]
    assert_shows(shown, WEIGHTS[2][order][None], ALLOWED)
    assert f"layer 2, head {order[0]}  {own[order[0]]:.2f}" in shown.evaluate("window.written")
    shown.get_by_label("beside each head").select_option("other")
    shown.wait_for_function("window.written.includes('layer 2, head 0  0.50')")


def test_a_cell_says_what_its_tokens_attend_to_and_who_attends_to_them(shown):
    shown.locator(OPENERS).first.click()
    shown.locator(HEADS).focus()
    shown.keyboard.press("ArrowDown")
    shown.keyboard.press("ArrowDown")
    weights = WEIGHTS[0, 0]

    def three(of):
        return ", ".join(f"{place} {of[place]:.2f}" for place in of.argsort(descending=True)[:3].tolist())

    expect(shown.get_by_role("status")).to_contain_text(
        f"1 attends most to {three(weights[1])}; 0 gets most from {three(weights[:, 0])}"
    )


def test_a_handout_says_that_it_lacks_a_head_and_keeps_the_overview(page, tmp_path):
    page.goto(handout_page(some_overview(most=0), tmp_path / "it.html"))
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
    shown.wait_for_function("window.written.includes('1 weight, √ scale')")
    assert_shows(shown, WEIGHTS[1].sqrt()[None], ALLOWED)
    shown.get_by_label("colours 0–max").check()
    top = float(WEIGHTS[1].half().max())
    shown.wait_for_function(f"window.written.includes('{top:.3g} largest weight, √ scale')")
    assert_shows(shown, (WEIGHTS[1] / top).sqrt()[None], ALLOWED)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(browser, tmp_path, theme):
    page = browser.new_page(color_scheme=theme, bypass_csp=True)
    page.goto(handout_page(some_overview(), tmp_path / "it.html"))
    expect(page.locator(OPENERS)).to_have_count(LAYERS * HEADS_OF_LAYER)
    page.add_script_tag(path=files("axe_playwright_python") / "axe.min.js")
    audit = "async () => (await axe.run('.mha-explorer')).violations.map((found) => found.id)"
    assert page.evaluate(audit) == []
    page.close()


def test_masked_cells_take_the_colour_of_a_new_theme(page, tmp_path):
    page.emulate_media(color_scheme="light")
    picture = Picture(
        torch.eye(5).expand(4, 5, 5),
        torch.ones(5, 5).tril().bool(),
        overview=Overview(["layer 0"], [*"0123"], "head", [({}, 0)] * 4),
    )
    page.goto(handout_page(Explorer(Source(lambda: picture, [], {})), tmp_path / "it.html"))
    expect(page.locator(OPENERS)).to_have_count(4)
    masked = """() => {
      const canvas = document.querySelector("canvas"), { style } = document.querySelector("[role=button]");
      const [left, top, width] = ["left", "top", "width"].map((name) => parseFloat(style[name]));
      return canvas.getContext("2d").getImageData(left + 0.9 * width, top + 3, 1, 1).data[0];
    }"""
    assert page.evaluate(masked) > 200
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"({masked})() < 100")


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_the_overview_of_twelve_layers_fits_the_window(page, tmp_path, width, height):
    page.set_viewport_size({"width": width, "height": height})
    weights = torch.eye(32).expand(144, 32, 32)
    names = [str(number) for number in range(12)]
    opens: list = [({}, 0)] * 144
    picture = Picture(weights, head_labels=["a"] * 144, overview=Overview(names, names, "head", opens))
    page.goto(handout_page(Explorer(Source(lambda: picture, [], {})), tmp_path / "it.html"))
    expect(page.locator(OPENERS)).to_have_count(144)
    boxes = [head.bounding_box() for head in page.locator(OPENERS).all()]
    assert len(boxes) == 144
    assert max(box["x"] + box["width"] for box in boxes) <= width
    assert min(box["width"] for box in boxes) > 20
    canvas = page.locator("canvas").bounding_box()
    assert canvas is not None
    assert canvas["height"] < height


def test_a_slide_shows_as_many_sorted_heads_as_have_room_and_says_so(page, tmp_path):
    order = torch.randperm(144, generator=torch.Generator().manual_seed(0)).tolist()
    picture = Picture(
        torch.eye(32).expand(144, 32, 32),
        head_labels=[f"head {number}" for number in range(144)],
        measures={"place": order},
        overview=Overview([f"layer {row}" for row in range(24)], [*"012345"], "head", [({}, 0)] * 144),
    )
    page.add_init_script(SPY_ON_TEXT)
    page.goto(handout_page(Explorer(Source(lambda: picture, [], {})), tmp_path / "it.html"))
    expect(page.locator(OPENERS)).to_have_count(144)
    page.evaluate("window.written = []")
    give_room(page, 360)
    page.wait_for_function("window.written.includes('layer 23') || window.written.includes('layer 22')")
    assert "layer 0" in page.evaluate("window.written")
    assert "layer 1" not in page.evaluate("window.written")  # each second name: there is room for no more
    page.get_by_label("order").select_option("lowest first")
    status = page.get_by_role("status")
    expect(status).to_contain_text(re.compile(r"The first \d+ of 144 heads in this order"))
    names = names_of(page)
    assert f"The first {len(names)} of 144" in status.inner_text()
    expected = [order.index(place) for place in range(len(names))]
    assert [name.partition(":")[0] for name in names] == [f"head {number}" for number in expected]
    boxes = [head.bounding_box() for head in page.locator(OPENERS).all()]
    assert len(boxes) > 20
    assert min(box["height"] for box in boxes) > 40
    end = page.locator(".mha-explorer").evaluate("(root) => root.getBoundingClientRect().bottom")
    assert max(box["y"] + box["height"] for box in boxes) < end
    page.locator(OPENERS).last.focus()
    page.keyboard.press("ArrowRight")  # beyond the last: it stays
    expect(page.locator(OPENERS).last).to_be_focused()
