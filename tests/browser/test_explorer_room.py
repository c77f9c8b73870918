"""The explorer on a slide: the deck tells it in --explorer-room how much of the slide is left."""

import itertools
from typing import Any

import pytest
import torch
from playwright.sync_api import Page, expect

from mha_lib import causal_mask, masked_softmax
from mha_lib.classroom.live.explorer import explore
from tests.browser.explorers import HEADS, assert_shows, slider, some_explorer, weights_of

pytestmark = pytest.mark.ci

WINDOWS = [(1024, 600), (1280, 720), (1920, 1080), (3440, 1440)]
SIZES, HEAD_COUNTS = [4, 13, 64], [1, 3, 8, 16]

# The explorer as wide as a slide's content, with the font of a deck.
GIVE_ROOM = """([room, letters]) => {
  const root = document.querySelector(".mha-explorer"), slide = root.parentElement;
  slide.style.cssText = `position: fixed; z-index: 9; inset: 10vh 4vw auto; --explorer-room: ${room}px;
                         font-size: ${letters}px; max-width: none; background: #fff`;
}"""
HAS_TAKEN_ROOM = "room => document.querySelector('.mha-explorer').style.maxHeight === room"
LAYOUT = """() => {
  const root = document.querySelector(".mha-explorer"), box = root.getBoundingClientRect();
  const heads = [...root.querySelectorAll("[role=application]")].map((head) => head.getBoundingClientRect());
  return {
    height: box.height,
    hidden: [root.scrollHeight - root.clientHeight, root.scrollWidth - root.clientWidth],
    width: (Math.max(...heads.map(({ right }) => right)) - heads[0].left) / box.width,
    rowsOfHeads: new Set(heads.map(({ y }) => y)).size,
    headHeight: heads[0].height,
    statusEnd: root.querySelector("[role=status]").getBoundingClientRect().bottom - box.top,
    letters: parseFloat(getComputedStyle(root.querySelector("label")).fontSize),
  };
}"""


def give_room(page: Page, room: int, letters: float = 18) -> None:
    page.evaluate(GIVE_ROOM, [room, letters])
    page.wait_for_function(HAS_TAKEN_ROOM, arg=f"{room}px")


def maps_of(num_heads, size, is_causal):
    scores = 3 * torch.randn(num_heads, size, size, generator=torch.Generator().manual_seed(size))
    mask = causal_mask(size, size) if is_causal else torch.ones(size, size, dtype=torch.bool)
    return masked_softmax(scores, mask), mask


def names_of(num_heads, size, is_causal):
    return ["chased", "the", "extraordinarily", "cat"] * (size // 4) + ["."] * (size % 4)


@pytest.mark.parametrize("labels", [None, names_of])
def test_it_takes_the_room_that_the_slide_has_left(page, show, labels):
    controls: dict[str, Any] = {"num_heads": HEAD_COUNTS, "size": SIZES, "is_causal": False}
    show(explore(maps_of, **controls, query_labels=labels, key_labels=labels))
    for (width, height), share in itertools.product(WINDOWS, (0.4, 0.7)):
        page.set_viewport_size({"width": width, "height": height})
        room = int(share * height)
        give_room(page, room, letters=height / 40)
        for heads, size in itertools.product(range(len(HEAD_COUNTS)), range(len(SIZES))):
            slider(page, "num_heads").fill(str(heads))
            slider(page, "size").fill(str(size))
            at = f"{HEAD_COUNTS[heads]} heads of {SIZES[size]} tokens in {width} x {height}, room {room}"
            layout = page.evaluate(LAYOUT)
            assert layout["height"] <= room, at
            assert max(layout["hidden"]) <= 0, at
            assert layout["statusEnd"] <= room, at
            maps = layout["rowsOfHeads"] * layout["headHeight"]
            # The least are 16 maps above names of 7 em in 40 % of a slide: the letters stay legible.
            assert layout["width"] > 0.75 or maps > 0.18 * room, (at, layout)
            assert layout["letters"] >= 0.6 * height / 40 - 0.1, at


def test_its_letters_are_those_of_the_slide(page, show):
    show(some_explorer())
    for letters in (14, 18, 36):
        give_room(page, 30 * letters, letters)
        assert page.evaluate(LAYOUT)["letters"] == letters
        height, width = (slider(page, "num_heads").bounding_box()[side] for side in ("height", "width"))
        assert height > 0.9 * letters
        assert any(width == pytest.approx(ems * letters, abs=1) for ems in (9, 6)), "6 to save a line"


def test_a_small_room_shows_the_weights_cell_by_cell(page, show):
    show(some_explorer())
    give_room(page, 260)
    slider(page, "num_heads").fill("2")
    expect(page.locator(HEADS)).to_have_count(8)
    assert_shows(page, *weights_of(8))


def test_an_error_stays_in_the_room(page, show):
    def broken(n):
        return torch.ones(n, 2, 2) / 2 if n == 1 else broken(n)

    show(explore(broken, n=[1, 2]))
    give_room(page, 300)
    slider(page, "n").press("ArrowRight")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("RecursionError")
    alert.locator("summary").click()
    expect(alert.locator("pre")).to_be_visible()
    assert page.evaluate(LAYOUT.replace("heads[0]", "box"))["height"] <= 300


def test_without_the_property_the_page_scrolls_and_nothing_is_squeezed(page, show):
    show(explore(maps_of, num_heads=[16], size=[64], is_causal=False))
    give_room(page, 300)
    small = page.evaluate(LAYOUT)
    page.evaluate("document.querySelector('.mha-explorer').parentElement.style.cssText = ''")
    page.wait_for_function(HAS_TAKEN_ROOM, arg="")
    assert page.evaluate(LAYOUT)["headHeight"] > 1.5 * small["headHeight"]
