"""The handout in a browser: one file from disk, alive, asking for nothing, on any screen and on paper."""

import base64
import io
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import quote

import numpy as np
import pytest
from ipywidgets.embed import embed_data
from matplotlib.figure import Figure
from matplotlib.image import imread
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from playwright.sync_api import expect

from mha_lib.classroom import explore
from mha_lib.classroom.live.theme import to_svg
from mha_lib.classroom.publish.browser import find_browser
from mha_lib.classroom.publish.handout import HandoutExporter
from mha_lib.classroom.publish.handout.outputs import shorter
from mha_lib.classroom.publish.handout.pdf import write_pdf

VIEW = "application/vnd.jupyter.widget-view+json"
ESM = """
export default {
  render({ model, el }) {
    const slider = Object.assign(document.createElement("input"), { type: "range", max: 9 });
    const bar = document.createElement("p");
    const draw = () => {
      const table = new Float32Array(model.get("table").buffer);
      bar.textContent = `${model.get("label")} ${table[model.get("n")]}`;
    };
    slider.value = model.get("n");
    slider.oninput = () => { model.set("n", Number(slider.value)); model.save_changes(); };
    model.on("change:n", draw);
    el.append(slider, bar, Object.assign(document.createElement("button"), { textContent: "save" }));
    draw();
  },
};
"""
HOSTILE = "</script><img src=x onerror='window.hacked=1'>"
LONG = "x = " + " + ".join(str(i) for i in range(80))


def stored(esm=ESM, **state):
    table = base64.b64encode(np.arange(10, dtype="f4").tobytes()).decode()
    return {
        "model_module": "anywidget",
        "model_name": "AnyModel",
        "model_module_version": "*",
        "state": {"_esm": esm, "_css": "p { --from-widget: 1 }", "n": 3, "label": HOSTILE, **state},
        "buffers": [{"encoding": "base64", "path": ["table"], "data": table}],
    }


def show(model_id, text="a widget"):
    data = {VIEW: {"model_id": model_id, "version_major": 2, "version_minor": 0}, "text/plain": text}
    return new_code_cell("", outputs=[new_output("display_data", data=data)])


def write(path, cells, models):
    metadata = {"widgets": {"application/vnd.jupyter.widget-state+json": {"state": models}}}
    notebook = new_notebook(cells=cells, metadata=metadata)
    page, _ = HandoutExporter().from_notebook_node(notebook, {"metadata": {"name": HOSTILE}})
    path.write_text(page, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A page with formulas, long code, a wide table, a live widget, a broken one and hostile text."""
    wide = "| " + " | ".join(["column"] * 20) + " |\n" + "|---" * 20 + "|\n"
    cells = [
        new_markdown_cell("# A lesson\n\nWeights $\\frac{QK^\\top}{\\sqrt{d}}$ and $\\color{#0067A5}{Q}$."),
        new_markdown_cell(f"## First section\n\n$${'a + ' * 60}b$$\n\n{wide}"),
        show("good"),
        show("bad", "the bad one as text"),
        new_markdown_cell(f"## Second section\n\nIn a line: ${'x + ' * 60}y$."),
        new_code_cell(LONG, outputs=[new_output("stream", text=HOSTILE + LONG)]),
        *(new_markdown_cell("Some words. " * 60) for _ in range(5)),
        new_markdown_cell("<details><summary>Answer</summary>\n\nForty.\n\n</details>"),
    ]
    models = {"good": stored(), "bad": stored(esm="export default { render() { throw new Error('no') } }")}
    return write(tmp_path_factory.mktemp("handout") / "lesson.html", cells, models)


def test_the_page_is_alive_and_asks_for_nothing(page, watch, file):
    page.context.set_offline(True)
    page.goto(file.as_uri())
    figure = page.locator("[data-widget=good]")
    figure.get_by_text(f"{HOSTILE} 3").wait_for()
    figure.locator("input").focus()
    page.keyboard.press("ArrowRight")
    figure.get_by_text(f"{HOSTILE} 4").wait_for()
    assert watch.requests_beyond(file.as_uri()) == []
    assert watch.errors == []
    assert page.evaluate("window.hacked") is None


def test_the_explorer_answers_its_sliders_without_a_kernel(page, watch, tmp_path):
    def weights_of(num_heads=2, valid_len=3):
        weights = np.full((num_heads, 3, 5), 0.0, "f4")
        weights[:, :, :valid_len] = 1 / valid_len
        return weights, np.arange(5) < valid_len

    explorer = explore(weights_of, num_heads=[1, 2, 4], valid_len=range(1, 6))
    models = embed_data([explorer], drop_defaults=False)["manager_state"]["state"]
    file = write(tmp_path / "explorer.html", [show(explorer.model_id)], models)
    page.context.set_offline(True)
    page.goto(file.as_uri())
    page.locator(f"[data-widget='{explorer.model_id}'].alive canvas").first.wait_for()
    drawn = "[...document.querySelectorAll('canvas')].map((canvas) => canvas.toDataURL()).join()"
    page.wait_for_function(f"() => new Set({drawn}).size > 20")
    before = page.evaluate(drawn)
    page.locator(".live input[type=range]").first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"(before) => {drawn} !== before", arg=before)
    assert watch.requests_beyond(file.as_uri()) == []
    assert watch.errors == []


def test_the_frame_of_an_explorer_is_as_wide_as_what_is_in_it_and_does_not_move(page, tmp_path):
    explorer = explore(lambda heads: np.full((heads, 9, 5), 0.2), heads=[1, 8, 2])
    models = embed_data([explorer], drop_defaults=False)["manager_state"]["state"]
    page.goto(write(tmp_path / "frame.html", [show(explorer.model_id)], models).as_uri())
    frame, heads = page.locator(".mha-explorer"), page.locator("[role=application]")
    expect(heads).to_have_count(1)
    widths: list[float] = []
    for count in (1, 8, 2):
        if widths:
            page.get_by_label("heads", exact=True).press("ArrowRight")
        expect(heads).to_have_count(count)
        box, last = frame.bounding_box(), heads.last.bounding_box()
        assert last["x"] + last["width"] < box["x"] + box["width"]
        widths.append(box["width"])
    assert widths[0] < 700
    assert widths == sorted(widths), "it only grows"
    page.set_viewport_size({"width": 360, "height": 700})
    page.wait_for_function("() => document.querySelector('.mha-explorer').clientWidth < 360")
    page.set_viewport_size({"width": 1280, "height": 700})
    page.wait_for_function("() => document.querySelector('.mha-explorer').clientWidth > 400")


def test_a_widget_that_fails_leaves_its_still_and_a_line(page, file):
    page.goto(file.as_uri())
    figure = page.locator("[data-widget=bad]")
    figure.get_by_text("could not start here: no").wait_for()
    expect(figure.get_by_text("the bad one as text")).to_be_visible()


def test_formulas_have_the_size_the_font_and_the_colours_of_the_page(page, file):
    page.goto(file.as_uri())
    box = page.locator(".formula math").first.bounding_box()
    assert 15 < box["height"] < 60
    assert 15 < box["width"] < 100
    families = "fonts => [...fonts].filter((font) => font.status === 'loaded').map((font) => font.family)"
    assert page.evaluate(f"document.fonts.ready.then({families})") == ["Formulas"]
    colour = "getComputedStyle(document.querySelectorAll('span.formula')[1].querySelector('mi')).color"
    assert page.evaluate(colour) == "rgb(0, 103, 165)"
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(colour) == "rgb(86, 180, 233)"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 27)"
    page.emulate_media(color_scheme="dark", media="print")
    assert page.evaluate(colour) == "rgb(0, 103, 165)"
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(32, 36, 42)"


LEFT_OPEN = [
    "<div>" * 600,
    *"""<!-- a
<!--> <b> -->
<style>
<style> p {
<textarea>
<title>
<xmp>
<plaintext>
<iframe>
<noembed>
<noscript><style></noscript><b></style></noscript>
<template>
<script>
<script><!--<script></script>
<script></script x><b>
<style></style/><b>
<![CDATA[ > <b> ]]>
<b>
<b><i><u>
<font size=7>
<a href=#x>
<a><div><a>
<b><p><b></p>
<center><tt>
<div>
</div></div></main>
<details>
<table>
<table><tr><td>
<table><b>
<svg>
<svg><b>
<svg><style><b></style></svg>
<svg><title><b>
<math>
<math><mi><style><b>
<select>
<option>
<button>
<form>
<h1>
<pre>
<ul><li>
<p><b>
<b
<b class='
<body style='font-size:3em'>
<frameset>
<object>
<marquee>
<dialog>
<canvas>
<video>""".splitlines(),
]
IN_ORDER = """() => [...document.querySelectorAll("main > .slide > .cell[id^=after]")].filter((cell) => {
  const style = cell.firstElementChild ? getComputedStyle(cell.firstElementChild) : {};
  const plain = style.fontWeight === "400" && style.fontStyle === "normal" && style.fontSize === "19px";
  return plain && cell.innerHTML.trim() === "<p>after</p>" && cell.innerText.trim() === "after";
}).map((cell) => Number(cell.id.slice(5)))"""


def test_no_cell_swallows_or_colours_the_next(page, tmp_path):
    cells = []
    for number, opened in enumerate(LEFT_OPEN):
        output = new_output("display_data", data={"text/html": f"{opened} shown"})
        cells += [new_markdown_cell(f"{opened} text"), new_markdown_cell("after", id=f"after{2 * number}")]
        cells += [new_code_cell("", outputs=[output])]
        cells += [new_markdown_cell("after", id=f"after{2 * number + 1}")]
    page.goto(write(tmp_path / "open.html", cells, {}).as_uri())
    assert page.evaluate(IN_ORDER) == list(range(2 * len(LEFT_OPEN)))
    assert page.evaluate("document.querySelector('main > footer') !== null")


@pytest.mark.parametrize("width", [320, 390, 1280, 2560])
def test_nothing_is_wider_than_the_screen(page, file, width):
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(file.as_uri())
    page.locator("[data-widget=good].alive").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    lines = page.locator("main > .slide > .cell > p").last.bounding_box()
    assert 280 < lines["width"] < 680, "a line one can read"
    # a box that cuts its content off can be scrolled, by keyboard too
    expect(page.locator("pre[tabindex='0']")).to_have_count(2)
    expect(page.locator("div.formula[tabindex='0'], .table[tabindex='0']")).to_have_count(2)
    expect(page.locator("span.formula.wide[tabindex='0']")).to_have_count(1)
    # and shows that it can: on the side on which there is more, it fades out
    for box in page.locator("main [tabindex='0']").all():
        expect(box).to_have_attribute("data-more", "right")
        assert "gradient" in box.evaluate("(box) => getComputedStyle(box).maskImage")
        box.evaluate("(box) => { box.scrollLeft = 50; }")
        expect(box).to_have_attribute("data-more", "left right")
        box.evaluate("(box) => { box.scrollLeft = box.scrollWidth; }")
        expect(box).to_have_attribute("data-more", "left")


NAMES = (
    new_markdown_cell(
        "## Widgets\n\n<h2 id='50%'>Half</h2>\n\n<form name=body></form><img name=querySelectorAll>"
    ),
    new_code_cell(
        "1",
        outputs=[
            new_output(
                "display_data",
                data={"text/html": "<script>const contents = 1, WORDS = 2; let boxes;</script>it"},
            )
        ],
    ),
)


def test_what_a_notebook_names_as_the_page_does_stops_nothing(page, watch, tmp_path):
    page.goto(write(tmp_path / "names.html", [*NAMES, show("good")], {"good": stored()}).as_uri())
    page.locator("[data-widget=good].alive").wait_for()
    expect(page.locator(".copy")).to_have_count(1)
    page.get_by_role("navigation").get_by_role("link", name="Half").click()
    page.locator("nav a[aria-current]", has_text="Half").wait_for()
    assert watch.errors == []


def test_what_stands_beside_a_formula_stays_in_its_line(page, tmp_path):
    words = " ".join("word" + "s" * (number % 7) + " ($x_1$), $y$-th, $z$." for number in range(60))
    page.goto(write(tmp_path / "lines.html", [new_markdown_cell(words)], {}).as_uri())
    torn = """() => [...document.querySelectorAll("span.formula")].filter((formula) => {
      const range = document.createRange();
      range.selectNodeContents(formula);
      return new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom / 20))).size > 2;
    }).length"""
    assert page.evaluate(torn) == 0
    assert page.locator("main p").last.inner_text().count("),") == 60


AS_FIREFOX = """Object.defineProperty(HTMLSpanElement.prototype, "scrollWidth", { get: () => 99 });
Object.defineProperty(HTMLSpanElement.prototype, "scrollHeight", { get: () => 99 });"""


def test_a_formula_within_a_line_does_not_fade_out(page, tmp_path):
    """Firefox measures what stands in a line."""
    page.add_init_script(AS_FIREFOX)
    page.goto(write(tmp_path / "line.html", [new_markdown_cell("so $x + y$, and")], {}).as_uri())
    formula = page.locator("span.formula")
    expect(formula).to_be_visible()
    page.evaluate("() => document.fonts.ready")
    expect(formula).to_have_css("mask-image", "none")


@pytest.mark.parametrize("width", [768, 1280, 2560])
def test_a_page_without_headings_is_as_wide_as_others(page, tmp_path, width):
    page.set_viewport_size({"width": width, "height": 844})
    cells = [new_markdown_cell("A few words."), new_code_cell("1 + 1")]
    page.goto(write(tmp_path / "short.html", cells, {}).as_uri())
    assert page.locator(".code").bounding_box()["width"] > 700


def test_copy_covers_no_code(page, file):
    page.goto(file.as_uri())
    page.locator(".code").hover()
    button = page.get_by_role("button", name="Copy")
    expect(button).to_have_css("opacity", "1")
    code = page.locator(".code code").bounding_box()
    covering = button.bounding_box()
    assert covering["y"] + covering["height"] <= code["y"]


@pytest.fixture
def questions(tmp_path):
    """The address of a page with four slides: two ask for a guess, the last one is optional."""

    def about(kind, *tags):
        return {"slideshow": {"slide_type": kind}, "tags": list(tags)}

    def slide(name, words, result, minutes):
        return [
            new_markdown_cell(
                f"## {name}\n\n{words}", metadata=about("slide", *(["guess"] if result else []))
            ),
            *(
                [
                    new_code_cell(
                        "assert 1 + 1 == 2, 'two'",
                        outputs=[new_output("stream", text=result)],
                        metadata=about("fragment"),
                    ),
                    new_markdown_cell(f"### Why {name}\n\nBecause. " * 20, metadata=about("skip", "why")),
                ]
                if result
                else []
            ),
            new_markdown_cell(minutes, metadata=about("notes")),
        ]

    cells = [
        *slide("First", "Some words. " * 99, "", "2 min."),
        *slide("Second", "*Guess!*", "the second result", "3 min."),
        *slide("Third", "*Guess again.*", "the third result", "4 min."),
        *slide("Aside", "Words that nobody needs. " * 30, "", "Optional, 1 min."),
        *slide("Last", "More words. " * 300, "", "5 min."),
    ]
    return f"file://{write(tmp_path / 'questions.html', cells, {})}"


def result(page, name):
    return page.get_by_text(f"the {name} result")


def test_a_result_is_shown_when_it_is_asked_for_and_the_place_stays(page, watch, questions):
    page.emulate_media(reduced_motion="reduce")  # nothing scrolls smoothly, and still when it is measured
    page.goto(questions)
    slide = page.locator(".slide").nth(1)
    button = slide.get_by_role("button", name="Show the result")
    for hidden in (result(page, "second"), slide.locator(".code"), slide.locator(".why")):
        expect(hidden).not_to_be_visible()
    slide.get_by_label("Your guess").press_sequentially("seven")
    before = button.bounding_box()
    slide.get_by_label("Your guess").press("Enter")
    for shown in (result(page, "second"), slide.locator(".code"), slide.locator(".why")):
        expect(shown).to_be_visible()
    button = slide.get_by_role("button", name="Hide the result", expanded=True)
    assert button.bounding_box()["y"] == before["y"]
    expect(slide.get_by_label("Your guess")).to_have_value("seven")
    expect(result(page, "third")).not_to_be_visible()
    button.press("Space")
    expect(result(page, "second")).not_to_be_visible()
    assert watch.errors == []


def test_everything_is_opened_at_once_and_that_is_remembered(page, questions):
    page.emulate_media(reduced_motion="reduce")  # the page scrolls at once
    page.goto(questions)
    last = page.get_by_role("heading", name="Last")
    last.scroll_into_view_if_needed()
    everything = page.get_by_role("checkbox", name="Open everything")
    everything.focus()  # which scrolls, as the bar is sticky
    before = last.bounding_box()
    everything.press("Space")
    for name in ("second", "third"):
        expect(result(page, name)).to_be_visible()
    assert abs(last.bounding_box()["y"] - before["y"]) < 2
    page.reload()
    expect(everything).to_be_checked()
    expect(result(page, "second")).to_be_visible()
    everything.uncheck()
    expect(result(page, "second")).not_to_be_visible()


def test_what_is_optional_is_hidden_by_one_click_and_a_link_into_it_shows_it(page, questions):
    page.goto(questions)
    aside = page.get_by_role("heading", name="Aside")
    expect(aside).to_be_visible()
    page.get_by_role("checkbox", name="Hide what is optional").check()
    expect(aside).not_to_be_visible()
    another = page.context.new_page()  # a reload would go back to where the page stood
    another.goto(f"{questions}#aside")
    expect(another.get_by_role("checkbox", name="Hide what is optional")).to_be_checked()
    expect(another.get_by_role("heading", name="Aside")).to_be_in_viewport()


def test_search_and_links_open_what_they_find(page, questions):
    page.goto(f"{questions}#why-third")
    expect(page.get_by_role("heading", name="Why Third").first).to_be_in_viewport()
    expect(result(page, "third")).to_be_visible()
    expect(result(page, "second")).not_to_be_visible()
    result(page, "second").dispatch_event("beforematch")  # as the browser's search does, with bubbles
    expect(result(page, "second")).to_be_visible()
    expect(page.get_by_role("button", name="Hide the result")).to_have_count(2)


def test_the_bar_says_where_one_is_on_the_core_path(page, questions):
    page.goto(questions)
    bar = page.locator(".reading")
    expect(bar).to_contain_text("Slide 1 of 4 · 14 min left")
    page.get_by_role("heading", name="Last").scroll_into_view_if_needed()
    page.get_by_role("heading", name="Last").evaluate("(heading) => heading.scrollIntoView()")
    expect(bar).to_contain_text("Slide 4 of 4 · 5 min left")
    expect(bar).to_be_in_viewport()


def test_without_a_script_and_on_paper_everything_is_open(browser, page, questions):
    plain = browser.new_context(java_script_enabled=False).new_page()
    plain.goto(questions)
    expect(result(plain, "second")).to_be_visible()
    page.goto(questions)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(result(page, "second")).to_be_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(result(page, "second")).not_to_be_visible()


def test_the_contents_lead_to_the_sections(page, file):
    page.goto(file.as_uri())
    contents = page.get_by_role("navigation", name="Contents")
    contents.get_by_role("link", name="Second section").click()
    page.locator("nav a[aria-current]", has_text="Second section").wait_for()
    expect(page).to_have_url(re.compile("#second-section$"))
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    expect(contents.get_by_role("link"), "folded on a phone").to_have_count(0)
    contents.get_by_text("Contents").click()
    contents.get_by_role("link", name="First section").click()
    expect(contents.get_by_role("link")).to_have_count(0)
    expect(page).to_have_url(re.compile("#first-section$"))


def test_code_can_be_copied(page, file):
    page.goto(file.as_uri())
    page.evaluate("() => { navigator.clipboard.writeText = async (text) => { window.copied = text } }")
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("window.copied") == LONG
    page.reload()
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed')) }")
    page.get_by_role("button", name="Copy").click()
    page.wait_for_function("() => getSelection().toString().trim() !== ''")
    assert page.evaluate("getSelection().toString().trim()") == LONG


def test_on_paper_nothing_is_cut_in_two_and_no_control_is_left(page, file):
    page.goto(file.as_uri())
    page.locator("[data-widget=good].alive").wait_for()
    page.emulate_media(media="print")
    for control in ("nav", ".copy", ".widget input", ".widget button", ".anchor"):
        expect(page.locator(control).first).to_be_hidden()
    expect(page.get_by_text("Answer", exact=True)).to_be_visible()  # says what the words below it are
    for whole in (".code", ".outputs > pre", ".widget", ".table tr", "div.formula"):
        assert page.locator(whole).first.evaluate("e => getComputedStyle(e).breakInside") == "avoid", whole
    assert page.locator("pre code").evaluate("e => getComputedStyle(e).whiteSpace") == "pre-wrap"


WIDE = """
export default { render({ el }) {
  const canvas = Object.assign(document.createElement("canvas"), { width: 4000, height: 1000 });
  canvas.style.width = "2000px"; // as a script sets it, for the window in which it draws
  el.append(canvas);
} };
"""


def test_on_paper_a_picture_that_was_drawn_for_a_wide_window_is_not_cut_off(page, tmp_path):
    file = write(tmp_path / "wide.html", [show("wide")], {"wide": stored(esm=WIDE)})
    page.goto(file.as_uri())
    page.locator("[data-widget=wide].alive canvas").wait_for()
    page.emulate_media(media="print")
    canvas, widget = (page.locator(f"[data-widget=wide]{part}").bounding_box() for part in (" canvas", ""))
    assert canvas["x"] + canvas["width"] <= widget["x"] + widget["width"]
    assert canvas["width"] / canvas["height"] == pytest.approx(4, rel=0.01)


def test_the_pdf_is_a4_and_has_the_headings_as_its_outline(file, browser):
    chromium = find_browser()
    assert chromium
    pdf = write_pdf(chromium, file).read_bytes()
    assert pdf.startswith(b"%PDF")
    assert re.search(rb"/MediaBox ?\[0 0 59[45]\.?\d* 84[12]\.?\d*\]", pdf)
    assert b"First section" in pdf or b"/Outlines" in pdf
    assert not list(file.parent.glob("*.part"))


# ---- no way out ----

WAYS_OUT = (
    "<meta http-equiv=refresh content='0;url={server}/refresh'>",
    "<form id=form action='{server}/form'></form><script>form.submit()</script>",
    "<form id=form></form><button form=form formaction='{server}/button'></button>"
    "<script>document.querySelector('main button').click()</script>",
    "<script>location = '{server}/location'</script>",
    "<script>addEventListener('load', () => location.replace('{server}/replace'))</script>",
    "<script>navigation.addEventListener('navigate', (event) => event.stopImmediatePropagation());"
    "location = '{server}/stopped'</script>",
    "<script>document.head.append(Object.assign(document.createElement('meta'),"
    "{{ httpEquiv: 'refresh', content: '0;url={server}/made' }}))</script>",
    "<a id=link href='{server}/link'></a><script>link.click()</script>",
    "<a id=link download href='{server}/download'></a><script>link.click()</script>",
    "<iframe srcdoc=\"<script>top.location = '{server}/frame'</script>\"></iframe>",
    "<base href='{server}'><img src=base.png>",
    "<script>document.body.append(Object.assign(new Image(), {{ src: '{server}/image' }}));"
    "fetch('{server}/fetch').catch(() => {{}}); navigator.sendBeacon('{server}/beacon')</script>",
    '<script type=speculationrules>{{"prefetch": [{{"source": "list", "urls": ["{server}/ahead"]}}]}}'
    "</script>",
)


@pytest.fixture
def listener():
    """A server that keeps what it was asked for; the last thing is always ``/end``, asked for by the test."""
    asked = []

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


def test_what_a_notebook_holds_leads_nowhere(page, listener, tmp_path):
    server, asked = listener
    opened = []
    for number, way_out in enumerate(WAYS_OUT):
        output = new_output("display_data", data={"text/html": way_out.format(server=server)})
        file = write(tmp_path / f"out{number}.html", [new_code_cell("", outputs=[output])], {})
        tab = page.context.new_page()
        tab.goto(file.as_uri(), wait_until="commit")
        opened.append((tab, file, way_out))
    for tab, _, _ in opened:
        expect(tab.locator("footer")).to_be_visible()
    page.evaluate("() => new Promise((done) => setTimeout(done, 500))")  # a late request gets its time
    for tab, file, way_out in opened:
        assert tab.url == file.as_uri(), way_out
    page.goto(f"{server}/end")
    assert [path for path in asked if path != "/favicon.ico"] == ["/end"]


def test_a_readers_own_click_leads_where_the_link_says(page, listener, tmp_path):
    server, _ = listener
    file = write(tmp_path / "link.html", [new_markdown_cell(f"# A\n\n[away]({server}/read)")], {})
    page.goto(file.as_uri())
    page.get_by_role("link", name="away").click()
    page.wait_for_url(f"{server}/read")
    page.go_back()
    page.get_by_role("link", name="away").wait_for()
    page.reload()
    page.get_by_role("link", name="away").wait_for()


def test_a_drawing_in_fewer_letters_looks_as_before(page):
    figure = Figure(figsize=(4, 2.5))
    axes = figure.subplots()
    axes.plot(np.sin(np.arange(60) / 9), "o--", label="$x^2$")
    axes.imshow(np.outer(np.arange(9.0), np.arange(9.0)), extent=(2, 30, -1, 0))
    axes.legend()
    drawing = to_svg(figure) or ""
    short = shorter(drawing)
    assert len(short) < 0.8 * len(drawing)
    pictures = []
    for source in (drawing, short):
        page.set_content(f'<img src="data:image/svg+xml,{quote(source)}">')
        expect(page.locator("img")).to_have_js_property("complete", True)
        pictures.append(imread(io.BytesIO(page.locator("img").screenshot())))
    assert pictures[0].std() > 0.1
    assert np.abs(pictures[0] - pictures[1]).mean() < 1e-3
