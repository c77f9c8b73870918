"""The explorer's picture on a handout page, where it has only its table."""

import itertools
import re

import matplotlib as mpl
import numpy as np
import pytest
import torch
from matplotlib.image import imread
from playwright.sync_api import expect

from mha_lib import causal_mask, masked_softmax
from mha_lib.classroom import look
from mha_lib.classroom.explorer import explore
from mha_lib.classroom.lesson.language import words_in
from tests.browser.explorers import (
    HEADS,
    SPY_ON_TEXT,
    WORDS,
    B,
    K,
    Q,
    assert_shows,
    boxes_of,
    expect_paper,
    expect_written,
    middle_of,
    slider,
    some_explorer,
    weights_of,
)
from tests.browser.pages import expect_accessible
from tests.browser.waiting import act, box_of, measure
from tests.colours import contrast


def test_every_setting_shows_its_weights_cell_by_cell(page, show):
    show(some_explorer())
    for (i, num_heads), (a, b) in itertools.product(enumerate([1, 4, 8]), [(0, 0), (6, 3), (7, 1)]):
        slider(page, "num_heads").fill(str(i))
        slider(page, "valid_lens[0]").fill(str(a))
        slider(page, "valid_lens[1]").fill(str(b))
        for sample in range(B):
            slider(page, "sample").fill(str(sample))
            expect(page.locator(HEADS)).to_have_count(num_heads)
            weights, mask = weights_of(num_heads, [a + 1, b])
            assert_shows(page, weights, mask, sample)


def test_the_scale_ends_at_one_or_at_the_largest_weight_and_says_so(page, show):
    page.add_init_script(SPY_ON_TEXT)
    weights = torch.full((2, Q, K), 0.125)
    weights[1, 2, 3] = 0.25
    show(explore(lambda: weights))
    nothing = torch.ones(1, 2, Q, K, dtype=torch.bool)
    assert_shows(page, weights[None], nothing)
    expect_written(page, "1 weight")
    switch = page.get_by_label("colours 0–max")
    expect(switch).to_have_accessible_description(words_in("en")["explorer"]["to_max_means"])
    switch.check()
    assert_shows(page, weights[None], nothing, top=0.25)
    expect_written(page, "0.25 largest weight")


def test_the_legend_of_a_masked_map_fits_a_phone(page, show):
    page.add_init_script(SPY_ON_TEXT)
    page.set_viewport_size({"width": 320, "height": 700})
    show(explore(lambda: (torch.full((1, Q, K), 1 / 3).tril(), causal_mask(Q, K))))
    page.get_by_label("colours 0–max").check()
    expect_written(page, "0.333 largest weight", "masked")
    assert measure(page, "window.endOf.masked - document.querySelector('canvas').width") < 1


def test_a_single_map_has_no_number_and_is_not_enlarged(page, show):
    show(explore(lambda: masked_softmax(torch.zeros(1, Q, K))))
    head = page.locator(HEADS)
    expect(head).to_have_accessible_name("weights")
    status, largest = page.get_by_role("status"), "Largest weight: query 0 → key 0: 0.125"
    expect(status).to_have_text(f"Queries: {Q}, keys: {K}. {largest}")
    head.click()
    head.press("ArrowDown")
    expect(status).to_have_text(re.compile(r"^query \d → key \d: 0.125$"))
    expect(page.get_by_role("button", name="all heads")).to_be_hidden()


def test_where_nothing_may_be_attended_to_no_weight_is_called_the_largest(page, show):
    show(explore(lambda: (torch.zeros(1, Q, K), torch.zeros(1, Q, K, dtype=torch.bool))))
    expect(page.get_by_role("status")).to_have_text(f"Queries: {Q}, keys: {K}. All weights are 0")


def test_a_map_of_other_things_names_its_axes(page, show):
    page.add_init_script(SPY_ON_TEXT)
    show(explore(lambda: torch.eye(3, 5), xlabel="distance", ylabel="head"))
    head, status = page.locator(HEADS), page.get_by_role("status")
    expect(head).to_have_accessible_name("head × distance")
    expect(status).to_have_text("Rows (head): 3, columns (distance): 5. Largest: head 0, distance 0: 1.000")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        head.press(key)
    expect(status).to_have_text("head 1, distance 1: 1.000")
    expect_written(page, "distance", "head", "1")
    assert not [text for text in measure(page, "written") if re.search("quer|key|weight", text)]


def test_maps_keep_their_size_while_a_slider_is_dragged(page, show):
    """Whatever the widths of its labels and of its values, and whatever the legend says."""

    def weights_at(n):
        weights = torch.full((2, 3, 5), 1 / n)
        return weights, torch.ones(3, 5, dtype=torch.bool).tril(n % 3)

    show(
        explore(
            weights_at,
            n=[1, 2, 300, 40_000],
            query_labels=lambda n: [f"{'row ' * (n % 7)}{n}"] * 3,
            key_labels=lambda n: [str(n) * (n % 3)] * 5,
        )
    )
    before = boxes_of(page, HEADS)
    for setting, value in enumerate(["2", "300", "40000"], start=1):
        slider(page, "n").fill(str(setting))
        expect(slider(page, "n")).to_have_attribute("aria-valuetext", value)
        assert boxes_of(page, HEADS) == before


def test_labels_are_text(page, show, watch):
    show(some_explorer(query_labels=WORDS[:Q], key_labels=WORDS))
    page.locator(HEADS).first.focus()
    page.keyboard.press("Tab")  # to the second map; test_heard.py walks to the first by keys alone
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("status")).to_contain_text(f"head 1, query 0 “{WORDS[0]}” → key 0 “{WORDS[0]}”")
    expect(page.locator(".mha-explorer img")).to_have_count(0)
    assert measure(page, "window.hacked") is None
    assert watch.errors == []


def test_an_error_is_shown_in_place_with_its_traceback(page, show):
    def broken(num_heads):
        return torch.ones(num_heads, 2, 2) / 2 if num_heads != 3 else 1 / 0

    show(explore(broken, num_heads=[1, 3, 4]))
    slider(page, "num_heads").press("ArrowRight")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("ZeroDivisionError: division by zero")
    alert.locator("summary").click()
    expect(alert.locator("pre")).to_contain_text("else 1 / 0")
    expect(alert).not_to_contain_text("classroom/explorer/")
    slider(page, "num_heads").press("ArrowRight")
    expect(alert).to_be_hidden()
    expect(page.locator(HEADS)).to_have_count(4)


def test_the_keyboard_alone_is_enough_and_nobody_is_asked(page, watch, show):
    page.context.set_offline(True)
    show(some_explorer())
    page.keyboard.press("Tab")
    expect(slider(page, "num_heads")).to_be_focused()
    page.keyboard.press("End")
    expect(slider(page, "num_heads")).to_have_attribute("aria-valuetext", "8")
    for _ in range(5):  # the other sliders, the scale
        page.keyboard.press("Tab")
    first, second = page.locator(HEADS).nth(0), page.locator(HEADS).nth(1)
    expect(first).to_be_focused()
    page.keyboard.press("Tab")
    expect(second).to_be_focused()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    weight = weights_of(8)[0][0, 1, 1, 1].item()
    expect(page.get_by_role("status")).to_have_text(f"head 1, query 1 → key 1: {weight:.3f}")
    page.keyboard.press("Enter")
    expect(page.locator(HEADS)).to_have_count(1)
    expect(page.get_by_label("head 1")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(HEADS)).to_have_count(8)
    expect(page.locator(HEADS).nth(0)).to_be_focused()
    assert watch.requests_beyond(page.url) == []
    assert watch.errors == []


def test_pointing_outlines_row_and_column_in_all_heads(page, show):
    show(some_explorer())
    white = """(canvas, [row, queries]) => {
      const heads = [...canvas.parentElement.querySelectorAll("[role=application]")];
      return heads.map(({ style }) => {
        const [x, y, w, h] = ["left", "top", "width", "height"].map((name) => parseFloat(style[name]));
        return canvas.getContext("2d").getImageData(x + w / 2, y + row * h / queries, 1, 1).data[0];
      });
    }"""
    assert max(measure(page.locator("canvas"), white, [2, Q])) < 255
    page.mouse.move(*middle_of(page, 1, 2, 4))
    weight = weights_of()[0][0, 1, 2, 4].item()
    expect(page.get_by_role("status")).to_have_text(f"head 1, query 2 → key 4: {weight:.3f}")
    assert min(measure(page.locator("canvas"), white, [2, Q])) > 128
    page.mouse.move(0, 0)
    expect(page.get_by_role("status")).to_contain_text("Largest weight")
    assert_shows(page, *weights_of())


def test_all_heads_fit_without_scrolling_sideways(page, show):
    show(explore(lambda: masked_softmax(torch.zeros(8, 64, 64), causal_mask(64, 64))))
    for width, height in ((320, 640), (1280, 720)):
        page.set_viewport_size({"width": width, "height": height})
        assert measure(page, "document.documentElement.scrollWidth") <= width
        stage, *boxes = boxes_of(page, f"canvas, {HEADS}")
        assert min(box["width"] for box in boxes) >= 90
        assert all(box["x"] + box["width"] <= stage["x"] + stage["width"] for box in boxes)
        rows = len({box["y"] for box in boxes})
        columns = len({box["x"] for box in boxes})
        assert rows * columns - 8 < columns  # no empty row
        if width >= 1280:
            assert box_of(page.locator(".mha-explorer"))["height"] <= 0.78 * height


DARK_BEHIND_A_CURTAIN = """async () => {
    document.body.style.display = "none"; // JupyterLab hides its content for less than a frame
    document.body.dataset.jpThemeLight = "false";
    await null; // the explorer has heard of it
    document.body.style.display = "";
}"""


def test_the_theme_follows_jupyter_and_paper_is_light(page, show):
    show(some_explorer())
    expect_paper(page, "light")
    act(page, DARK_BEHIND_A_CURTAIN)
    expect_paper(page, "dark")
    page.emulate_media(media="print")
    expect_paper(page, "light")
    page.emulate_media(media="screen", color_scheme="dark")
    act(page, "document.body.dataset.jpThemeLight = 'true'")
    expect_paper(page, "light")
    act(page, "delete document.body.dataset.jpThemeLight")
    expect_paper(page, "dark")
    page.emulate_media(media="print", color_scheme="dark")
    expect_paper(page, "light")
    assert_shows(page, *weights_of())


def test_the_saved_picture_is_the_one_on_show_on_white(page, show, tmp_path):
    show(some_explorer())
    act(page, "document.body.dataset.jpThemeLight = 'false'")
    expect_paper(page, "dark")
    with page.expect_download() as download:
        page.get_by_role("button", name="save PNG").click()
    download.value.save_as(tmp_path / "it.png")
    assert download.value.suggested_filename == "attention.png"
    image = (255 * imread(tmp_path / "it.png")[..., :3]).round().astype(int)
    assert image.shape[1] > 900
    assert np.all(image[[0, -1], [0, -1]] == 255)
    largest = 255 * np.array(mpl.colormaps["viridis"](round(255 * weights_of()[0][0].max().item()))[:3])
    assert (np.abs(image - largest).max(-1) <= 6).sum() > 100


def test_axe_finds_nothing(page, show):
    weights = torch.ones(2, 3, Q, K) / K
    show(explore(lambda n, on: 1 / (n - 1) * weights, n={"two": 2, "one": 1}, on=True))
    expect_accessible(page, ".mha-explorer")
    page.get_by_label("n", exact=True).select_option("one")
    expect(page.get_by_role("alert")).to_contain_text("ZeroDivisionError")
    expect_accessible(page, ".mha-explorer")


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.ci)])
def test_text_on_the_canvas_is_read_at_wcag_aa(page, show, theme):
    page.emulate_media(color_scheme=theme)
    page.add_init_script(SPY_ON_TEXT)
    show(some_explorer())
    colour_of_paper = """() => {
      const ctx = document.createElement("canvas").getContext("2d");
      ctx.fillStyle = getComputedStyle(document.querySelector(".mha-explorer")).backgroundColor;
      return ctx.fillStyle; // as "#ffffff"
    }"""
    paper = measure(page, colour_of_paper)
    expect_written(page, "queries", "keys")
    colours = {text.strip(): colour for text, colour in measure(page, "colourOf").items()}
    defined = look.LIGHT if theme == "light" else look.DARK
    assert (colours["queries"], colours["keys"]) == (defined["q"], defined["k"])
    for text, colour in colours.items():
        assert contrast(paper, colour) >= 4.5, text
