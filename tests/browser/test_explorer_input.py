"""The explorer answers mouse, finger and keys, and describes its picture in words."""

import re

import numpy as np
import torch
from playwright.sync_api import Page, expect

from mha_lib import masked_softmax, padding_mask
from mha_lib.classroom.explorer import explore
from mha_lib.classroom.lesson.language import words_in
from tests.browser.explorers import (
    HEADS,
    SPY_ON_TEXT,
    B,
    K,
    Q,
    assert_shows,
    expect_written,
    middle_of,
    slider,
    some_explorer,
    weights_of,
)
from tests.browser.pages import new_page
from tests.browser.waiting import act, becomes, box_of, measure, until

SAID = words_in("en")["explorer"]


def press(page: Page, *keys: str) -> None:
    """Press keys on the only map."""
    for key in keys:
        page.locator(HEADS).press(key)


def status(page: Page):
    return page.get_by_role("status")


# ---- a finger ----


def test_a_tap_shows_a_cell_and_keeps_it_and_a_second_one_enlarges(browser, show):
    with new_page(browser, viewport={"width": 412, "height": 915}, has_touch=True, is_mobile=True) as phone:
        show(some_explorer(), phone)
        expect(status(phone)).to_contain_text(SAID["to_enlarge_by_touch"])
        phone.touchscreen.tap(*middle_of(phone, 1, 2, 4))
        weight = weights_of()[0][0, 1, 2, 4].item()
        expect(status(phone)).to_have_text(f"head 1, query 2 → key 4: {weight:.3f}")
        phone.touchscreen.tap(*middle_of(phone, 1, 5, 0))  # another cell
        expect(status(phone)).to_contain_text("head 1, query 5 → key 0")
        slider(phone, "valid_lens[0]").fill("0")  # it stays, while the setting moves
        expect(status(phone)).to_have_text("head 1, query 5 → key 0: 1.000")
        phone.touchscreen.tap(*middle_of(phone, 1, 5, 0))
        expect(phone.locator(HEADS)).to_have_count(1)
        expect(status(phone)).to_contain_text("Head 1 alone")
        expect(status(phone)).to_contain_text(SAID["to_return_by_touch"])
        phone.get_by_role("button", name="all heads").tap()
        expect(phone.locator(HEADS)).to_have_count(4)


# ---- a mouse ----


def test_the_way_to_enlarge_and_back_is_said_and_the_status_is_of_the_head_that_is_shown(page, show):
    weights = torch.full((3, Q, K), 1 / K)
    weights[2] = torch.eye(K)[:Q]
    weights[1, 3, 5] = 0.5
    show(explore(lambda: weights))
    largest = "Largest weight: head 2, query 0 → key 0: 1.000"
    expect(status(page)).to_have_text(f"Heads: 3, queries: {Q}, keys: {K}. {largest}{SAID['to_enlarge']}")
    before = box_of(page.locator(HEADS).nth(1))
    page.locator(HEADS).nth(1).click()
    assert box_of(page.get_by_label("head 1"))["width"] > 1.2 * before["width"]
    assert_shows(page, weights[None, 1:2], torch.ones(1, 1, Q, K))
    expect(status(page)).to_have_text(re.compile("^Head 1 alone.*head 1, query 3 → key 5: 0.500"))
    expect(status(page)).to_contain_text(SAID["to_return"])
    page.get_by_role("button", name="all heads").click()
    expect(page.locator(HEADS)).to_have_count(3)
    expect(page.get_by_role("button", name="all heads")).to_be_hidden()


# ---- keys: as a deck has them, the explorer is in an element of Reveal's ----

DECK = """() => {
  window.passed = []; // to the deck
  window.hidden = []; // from JupyterLab, whose shortcuts act on the element with the focus
  const isKey = ({ key }) => !["Control", "Shift", "Alt"].includes(key);
  document.addEventListener("keydown", (event) => isKey(event) && passed.push(event.key));
  const isHidden = ({ target }) => target.hasAttribute("data-lm-suppress-shortcuts");
  addEventListener("keydown", (event) => isKey(event) && hidden.push([event.key, isHidden(event)]), true);
}"""


KEYS = {  # of each element: its own, and some of JupyterLab's
    "input[type=range]": (["ArrowLeft", "Home", "x", "Delete"], ["Control+s", "Shift+Enter", "F1"]),
    "[role=application]": (["ArrowLeft", "d", "Enter", "Enter"], ["Control+s", "Control+c", "Alt+a"]),
    "select": (["ArrowDown", "b"], ["Control+s", "Control+Shift+c"]),
    "input:not([type])": (["x", "Control+a", "Control+x", "Control+z"], ["Control+s", "Shift+Enter"]),
}


def test_keys_that_it_does_not_use_are_jupyters(page, show):
    show(explore(lambda a, c, t: torch.ones(2, 2, 2) / a, a=[2, 3, 4], c=["a", "b"], t="t"))
    act(page, DECK)
    for element, (own, others) in KEYS.items():
        act(page, "() => { window.passed.length = window.hidden.length = 0; }")
        page.locator(element).first.focus()
        for key in own + others:
            page.keyboard.press(key)
        pressed = [[key.split("+")[-1], key in own] for key in own + others]
        becomes(page, "hidden", pressed)
        becomes(page, "passed", [key for key, is_own in pressed if not is_own])


# ---- what is said and shown ----


def test_queries_beyond_the_length_are_told_apart(page, show):
    words = ["a", "cat", "sat", "on", "…", "…"]

    def padded(lens):
        mask = padding_mask(torch.tensor(lens), Q)[:, None]
        return masked_softmax(torch.zeros(B, 1, Q, Q), mask), mask

    show(explore(padded, lens=[[4, 6], [6]], query_labels=words, key_labels=words))
    press(page, *["ArrowDown"] * 5)
    expect(status(page)).to_have_text("query 4 “…” (beyond the length) → key 0 “a”: 0.250")
    slider(page, "lens[0]").fill("1")
    press(page, *["ArrowDown"] * 5)
    expect(status(page)).to_contain_text("query 4 “…” → key 0")


WATCH = """(status) => {
  const note = () => { window.isSaidAgain = true; };
  new MutationObserver(note).observe(status, { childList: true, subtree: true });
}"""


def test_a_slider_that_moves_nothing_says_why_even_in_a_window_of_a_new_size(page, show):
    show(some_explorer())
    slider(page, "valid_lens[1]").press("ArrowLeft")
    expect(status(page)).to_contain_text("Moving valid_lens[1] changed nothing in sample 0, but in sample 1.")
    act(status(page), WATCH)
    page.set_viewport_size({"width": 500, "height": 600})
    until(page, "window.isSaidAgain")
    expect(status(page)).to_contain_text("Moving valid_lens[1] changed nothing in sample 0, but in sample 1.")
    slider(page, "valid_lens[0]").press("ArrowLeft")
    expect(status(page)).to_have_text(re.compile("^Heads: 4"))
    slider(page, "sample").fill("1")
    slider(page, "valid_lens[0]").press("ArrowLeft")
    expect(status(page)).to_contain_text("Moving valid_lens[0] changed nothing in sample 1, but in sample 0.")


def test_a_mask_chosen_from_a_list_says_where_a_query_may_attend(page, show):
    masks = {"causal": np.tri(Q, K) > 0, "all": np.ones((Q, K), bool)}
    page.add_init_script(SPY_ON_TEXT)
    show(explore(lambda use: masks[use], use=list(masks)))
    expect(status(page)).to_have_text(f"Queries: {Q}, keys: {K}. May attend: 21 of {Q * K} cells")
    expect_written(page, "may attend", "masked")
    assert not any("weight" in text for text in measure(page, "written"))
    expect(page.get_by_label("0–max")).to_have_count(0)
    press(page, "ArrowDown")
    expect(status(page)).to_have_text("query 0 → key 0: may attend")
    press(page, "ArrowRight")
    expect(status(page)).to_have_text("query 0 → key 1: masked")
    choice = page.get_by_role("combobox", name="use")
    expect(choice.locator("option")).to_have_text(["causal", "all"])
    choice.press("ArrowDown")
    press(page, "ArrowDown", "ArrowRight")
    expect(status(page)).to_have_text("query 0 → key 1: may attend")


def test_many_long_labels_and_many_keys_are_drawn(page, show, watch):
    labels = [f"token number {number}" for number in range(4096)]
    show(explore(lambda: torch.ones(1, 4096) / 4096, key_labels=labels))
    expect(status(page)).to_contain_text("keys: 4096")
    assert watch.errors == []
