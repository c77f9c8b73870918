"""The explorer on a slide: the deck tells it in --explorer-room how much of the slide is left."""

import itertools
from typing import Any

import pytest
import torch
from playwright.sync_api import expect

from mha_lib import causal_mask, masked_softmax
from mha_lib.classroom.explorer import explore
from tests.browser.explorers import HEADS, assert_shows, give_room, slider, some_explorer, weights_of
from tests.browser.waiting import act, answer_of, box_of, measure

pytestmark = pytest.mark.ci

WINDOWS = [(1024, 600), (1280, 720), (1920, 1080), (3440, 1440)]
SIZES, HEAD_COUNTS = [4, 13, 64], [1, 3, 8, 16]

LAYOUT = """() => {
  const root = document.querySelector(".mha-explorer"), box = root.getBoundingClientRect();
  const heads = [...root.querySelectorAll("[role=application]")].map((head) => head.getBoundingClientRect());
  return {
    heads: heads.length,
    height: box.height,
    hidden: [root.scrollHeight - root.clientHeight, root.scrollWidth - root.clientWidth],
    width: (Math.max(...heads.map(({ right }) => right)) - heads[0]?.left) / box.width,
    rowsOfHeads: new Set(heads.map(({ y }) => y)).size,
    headHeight: heads[0]?.height,
    statusEnd: root.querySelector("[role=status]").getBoundingClientRect().bottom - box.top,
    letters: parseFloat(getComputedStyle(root.querySelector("label")).fontSize),
  };
}"""
LAYOUTS = f"""async (settings) => {{  // at rest, at each setting of the first sliders
  const layouts = [], layoutOf = {LAYOUT};
  for (const setting of settings) {{
    for (const [index, value] of setting.entries()) {{
      const input = document.querySelectorAll(".mha-explorer input")[index];
      Object.assign(input, {{ value }}).dispatchEvent(new Event("input"));
    }}
    let before, layout;
    do {{
      before = layout;
      await new Promise(requestAnimationFrame);
      layout = JSON.stringify(layoutOf());
    }} while (layout !== before);
    layouts.push(JSON.parse(layout));
  }}
  return layouts;
}}"""


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
        settings = [*itertools.product(range(len(HEAD_COUNTS)), range(len(SIZES)))]
        for (heads, size), layout in zip(settings, answer_of(page, LAYOUTS, settings), strict=True):
            at = f"{HEAD_COUNTS[heads]} heads of {SIZES[size]} tokens in {width} x {height}, room {room}"
            assert layout["heads"] == HEAD_COUNTS[heads], at
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
        assert measure(page, LAYOUT)["letters"] == letters
        box = box_of(slider(page, "num_heads"))
        assert box["height"] > 0.9 * letters
        assert any(box["width"] == pytest.approx(ems * letters, abs=1) for ems in (9, 6)), "6 to save a line"


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
    assert measure(page, LAYOUT)["height"] <= 300


def test_without_the_property_the_page_scrolls_and_nothing_is_squeezed(page, show):
    show(explore(maps_of, num_heads=[16], size=[64], is_causal=False))
    give_room(page, 300)
    small = measure(page, LAYOUT)
    act(page, "document.querySelector('.mha-explorer').parentElement.style.cssText = ''")
    expect(page.locator(".mha-explorer")).to_have_css("max-height", "none")
    assert measure(page, LAYOUT)["headHeight"] > 1.5 * small["headHeight"]
