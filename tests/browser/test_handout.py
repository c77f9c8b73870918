"""The handout in a browser: one file from disk, alive, asking for nothing, on any screen and on paper."""

import base64
import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import pytest
from nbformat.v4 import new_notebook
from playwright.sync_api import expect

from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.pages.handout import HandoutExporter
from mha_lib.classroom.pictures.tables import show_table
from tests.browser.pages import new_page
from tests.browser.waiting import act, becomes, box_of, each_of, measure, until
from tests.classroom.pages.handout.cells import code, page_of, text, widget
from tests.offline_notebook.pages import STATE, printed, shown
from tests.waiting import eventually

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
DRAWING = base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg' width='894' height='280'/>").decode()
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


def notebook_of(cells, models):
    return new_notebook(cells=cells, metadata={"widgets": {STATE: {"state": models or {}}}})


def write(path, cells, models=None):
    notebook = notebook_of(cells, models)
    path.write_text(page_of(notebook, HOSTILE), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A page with formulas, long code, a wide table, a live widget, a broken one and hostile text."""
    wide = "| " + " | ".join(["column"] * 20) + " |\n" + "|---" * 20 + "|\n"
    cells = [
        text("# A lesson\n\nWeights $\\frac{QK^\\top}{\\sqrt{d}}$ and $\\color{#0067A5}{Q}$."),
        text(f"## First section\n\n$${'a + ' * 60}b$$\n\n{wide}"),
        widget("good"),
        widget("bad", **{"text/plain": "the bad one as text"}),
        text(f"## Second section\n\nIn a line: ${'x + ' * 60}y$."),
        code(LONG, printed(HOSTILE + LONG)),
        text(f"![a plot](data:image/svg+xml;base64,{DRAWING})"),
        *(text("Some words. " * 60) for _ in range(5)),
        text("<details><summary>Answer</summary>\n\nForty.\n\n</details>"),
    ]
    models = {"good": stored(), "bad": stored(esm="export default { render() { throw new Error('no') } }")}
    return write(tmp_path_factory.mktemp("handout") / "lesson.html", cells, models)


def test_the_page_is_alive_asks_for_nothing_and_a_widget_that_fails_leaves_its_still_and_a_line(
    page, watch, file
):
    page.context.set_offline(True)
    page.goto(file.as_uri())
    figure = page.locator("[data-widget=good]")
    figure.get_by_text(f"{HOSTILE} 3").wait_for()
    figure.locator("input").focus()
    page.keyboard.press("ArrowRight")
    figure.get_by_text(f"{HOSTILE} 4").wait_for()
    broken = page.locator("[data-widget=bad]")
    broken.get_by_text("could not start here: no").wait_for()
    expect(broken.get_by_text("the bad one as text")).to_be_visible()
    assert watch.requests_beyond(file.as_uri()) == []
    assert watch.errors == []
    assert measure(page, "window.hacked") is None


def test_a_small_exercise_that_asks_for_a_number_is_answered_in_the_page(page, watch, tmp_path):
    small = code("factor = ...\ncheck.cost_factor(factor)")
    small.metadata["checks"] = "cost_factor"
    page.goto(write(tmp_path / "small.html", [text("## Twice the queries"), small]).as_uri())
    said, sentences = page.locator(".small output"), words_in("en")
    expect(page.get_by_text("check.cost_factor")).to_have_count(0)
    for typed, verdict in {
        "2": f"✓ {sentences['remarks']['cost_factor']['right']}",
        " 4,0 ": f"✗ {sentences['mistakes']['cost_factor']['both_twice']}",
        "3": f"✗ {sentences['handout']['another_value'].format(given=3)}",
        "two": sentences["handout"]["no_number"],
    }.items():
        page.get_by_label(sentences["handout"]["your_answer"]).fill(typed)
        page.get_by_role("button", name=sentences["handout"]["judge"]).click()
        expect(said).to_have_text(verdict)
    assert watch.errors == []


def test_after_the_second_miss_the_page_offers_a_hint_in_the_words_of_an_earlier_slide(page, watch, tmp_path):
    small = code("first = ...\ncheck.block_parameters(first)", slide="slide")
    small.metadata["checks"] = "block_parameters"
    network = text("## The network\n\nIt has **two matrices** of $4 D^2$ numbers.", "slide", id="network")
    notebook = new_notebook(cells=[network, small])
    notebook.metadata["mha"] = {"lesson": "04_layers", "language": "en", "kind": "source"}
    (tmp_path / "hint.html").write_text(page_of(notebook), encoding="utf-8")
    page.goto((tmp_path / "hint.html").as_uri())
    hint, words = page.locator(".hint"), words_in("en")
    for typed, is_offered in {"3": False, "two": False, "4": True, "196608": True}.items():
        page.get_by_label(words["handout"]["your_answer"]).fill(typed)
        page.get_by_role("button", name=words["handout"]["judge"]).click()
        expect(hint).to_be_visible(visible=is_offered)
    expect(hint.locator("p")).not_to_be_visible()
    hint.get_by_text(words["checks"]["hint"].format(address="4.1")).click()
    expect(hint.locator("p")).to_contain_text("It has two matrices")
    assert watch.errors == []


def test_below_the_line_one_sentence_is_said_and_widgets_stand_still(page, file):
    page.add_init_script("delete Array.prototype.at")
    page.goto(file.as_uri())
    expect(page.get_by_text(words_in("en")["handout"]["older"], exact=True)).to_be_visible()
    expect(page.get_by_text("the bad one as text")).to_be_visible()
    expect(page.locator(".widget > .note").first).to_be_hidden()


def test_formulas_have_the_size_the_font_and_the_colours_of_the_page(page, file):
    page.goto(file.as_uri())
    box = box_of(page.locator(".formula math").first)
    assert 15 < box["height"] < 60
    assert 15 < box["width"] < 100
    loaded = "[...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family)"
    becomes(page, loaded, ["Formulas"])
    letter, body = page.locator("span.formula").nth(1).locator("mi"), page.locator("body")
    expect(letter).to_have_css("color", "rgb(0, 103, 165)")
    page.emulate_media(color_scheme="dark")
    expect(letter).to_have_css("color", "rgb(86, 180, 233)")
    expect(body).to_have_css("background-color", "rgb(21, 23, 27)")
    page.emulate_media(color_scheme="dark", media="print")
    expect(letter).to_have_css("color", "rgb(0, 103, 165)")
    expect(body).to_have_css("color", "rgb(32, 36, 42)")


LEFT_OPEN = [
    "<div>" * 600,
    *(
        f"<{tag}>"
        for tag in ["style", "textarea", "title", "iframe", "script", "table", "svg", "math", "form", "pre"]
    ),
    *("<!-- a", "<table><b>", "<svg><style><b></style></svg>", "<b class='", "</div></div></main>"),
    *("<b><i><u>", "<font size=7>", "<body style='font-size:3em'>"),
]
IN_ORDER = """() => [...document.querySelectorAll("main > .slide > .cell[id^=after]")].filter((cell) => {
  const style = cell.firstElementChild ? getComputedStyle(cell.firstElementChild) : {};
  const plain = style.fontWeight === "400" && style.fontStyle === "normal" && style.fontSize === "19px";
  return plain && cell.innerHTML.trim() === "<p>after</p>" && cell.innerText.trim() === "after";
}).map((cell) => Number(cell.id.slice(5)))"""


def test_no_cell_swallows_or_colours_the_next(page, tmp_path):
    cells = []
    for number, opened in enumerate(LEFT_OPEN):
        cells += [text(f"{opened} text"), text("after", id=f"after{2 * number}")]
        output = shown({"text/html": f"{opened} shown"})
        cells += [code("", output), text("after", id=f"after{2 * number + 1}")]
    page.goto(write(tmp_path / "open.html", cells).as_uri())
    becomes(page, IN_ORDER, list(range(2 * len(LEFT_OPEN))))
    expect(page.locator("main > footer")).to_have_count(1)


@pytest.mark.parametrize("width", [320, 1280])
def test_nothing_is_wider_than_the_screen(page, file, width):
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(file.as_uri())
    page.locator("[data-widget=good].alive").wait_for()
    assert measure(page, "document.documentElement.scrollWidth") == width
    lines = box_of(page.locator("main > .slide > .cell > p").last)
    assert 280 < lines["width"] < 680, "a line one can read"
    # a box that cuts its content off can be scrolled, by keyboard too
    expect(page.locator("pre[tabindex='0']")).to_have_count(1 if width == 320 else 2)  # checks wrap there
    expect(page.locator("div.formula[tabindex='0'], .table[tabindex='0']")).to_have_count(2)
    expect(page.locator("span.formula.wide[tabindex='0']")).to_have_count(1)
    # and shows that it can: on the side on which there is more, it fades out
    for box in each_of(page.locator("main [tabindex='0']")):
        expect(box).to_have_attribute("data-more", "right")
        expect(box).to_have_css("mask-image", re.compile("gradient"))
        act(box, "(box) => { box.scrollLeft = 50; }")
        expect(box).to_have_attribute("data-more", "left right")
        act(box, "(box) => { box.scrollLeft = box.scrollWidth; }")
        expect(box).to_have_attribute("data-more", "left")


def test_on_a_phone_a_picture_shrinks_and_a_wide_table_keeps_its_first_column(page, file):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(file.as_uri())
    column, picture = box_of(page.locator("main h1")), box_of(page.get_by_alt_text("a plot"))
    assert picture["width"] == column["width"]
    first = page.locator(".table th").first
    before = box_of(first)
    act(page.locator(".table"), "(box) => { box.scrollLeft = 300; }")
    expect(page.locator(".table th").nth(1)).not_to_be_in_viewport()
    assert box_of(first) == before


def test_checks_and_tables_fit_a_phone_and_marks_have_no_box_in_the_dark(page, tmp_path):
    table = show_table(["claim: at most 0.1 is right", "it holds"], [["without the heads 0.0 and 1.0", "✓"]])
    checked = printed("✓ the query at 0, 10, 100, 1000, the key two further on: the same score\n")
    cells = [code("tick()", checked), code("table", shown({"text/html": table.data}))]
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    page.goto(write(tmp_path / "lesson.html", cells).as_uri())
    letters = "(part) => getComputedStyle(part).fontSize"
    assert measure(page.locator("td").first, letters) == measure(page.locator("main"), letters)
    for part in (page.locator(".stdout"), page.locator(".html")):
        assert measure(part, "(part) => part.scrollWidth - part.clientWidth") <= 0
    expect(page.locator("td b")).to_have_css("background-color", "rgba(0, 0, 0, 0)")


@pytest.fixture(scope="module")
def questions(tmp_path_factory):
    """The address of a page with four slides: two ask for a guess."""

    def slide(name, words, minutes, result=""):
        yield text(f"## {name}\n\n{words}", "slide", ["guess"] if result else [])
        if result:
            yield code("tick(1 + 1 == 2, 'two')", printed(result), slide="fragment")
            yield text(f"### Why {name}\n\nBecause. " * 20, "skip", ["why"])
        yield text(minutes, "notes")

    cells = [
        *slide("First", "Some words. " * 99, "2 min."),
        *slide("Second", "*Guess!*", "3 min.", "the second result"),
        *slide("Third", "*Guess again.*", "4 min.", "the third result"),
        *slide("Last", "More words. " * 300, "5 min."),
    ]
    return write(tmp_path_factory.mktemp("handout") / "questions.html", cells).as_uri()


def result(page, name):
    return page.get_by_text(f"the {name} result")


def test_a_result_is_shown_when_it_is_asked_for_and_the_place_stays(page, watch, questions):
    page.emulate_media(reduced_motion="reduce")  # nothing scrolls smoothly, and still when it is measured
    page.goto(questions)
    slide = page.locator(".slide").nth(1)
    button = slide.get_by_role("button", name="Show the result")
    parts = [result(page, "second"), slide.locator(".code"), slide.locator(".why")]
    for part in parts:
        expect(part).not_to_be_visible()
    slide.get_by_label("Your guess").press_sequentially("seven")
    before = box_of(button)
    slide.get_by_label("Your guess").press("Enter")
    for part in parts:
        expect(part).to_be_visible()
    button = slide.get_by_role("button", name="Hide the result", expanded=True)
    assert box_of(button)["y"] == before["y"]
    expect(slide.get_by_label("Your guess")).to_have_value("seven")
    expect(result(page, "third")).not_to_be_visible()
    button.press("Space")
    expect(result(page, "second")).not_to_be_visible()
    assert watch.errors == []


def test_everything_is_opened_at_once_and_that_is_remembered(page, questions):
    page.emulate_media(reduced_motion="reduce")  # the page scrolls at once
    page.goto(questions)
    last = page.get_by_role("heading", name="Last")
    page.keyboard.press("End")  # so that the last slide is the one that is read
    until(page, "scrollY + innerHeight > document.documentElement.scrollHeight - 2")
    everything = page.get_by_role("checkbox", name="Open everything")
    everything.focus()  # which scrolls, as the bar is sticky
    before = box_of(last)
    everything.press("Space")
    for name in ("second", "third"):
        expect(result(page, name)).to_be_visible()
    assert abs(box_of(last)["y"] - before["y"]) < 2
    page.reload()
    expect(everything).to_be_checked()
    expect(result(page, "second")).to_be_visible()
    everything.uncheck()
    expect(result(page, "second")).not_to_be_visible()


# No file of this page's answers: of another form, a report, and what another lesson saved.
OTHER_FILES = [
    *(
        "no answers",
        "[]",
        "null",
        "7",
        '"七"',
        "{}",
        '{"texts": [], "open": []}',
        '{"texts": null, "open": []}',
    ),
    '{"texts": {"second": "一"}, "open": "second"}',
    '{"texts": {"second": 1}, "open": []}',
    '{"name": "Anna", "lesson": "03_multi_head_attention", "exercises": {}}',
    '{"texts": {"of-another-lesson": "一"}, "open": []}',
]


@pytest.mark.parametrize("stored", ["[]", "null", '{"open": 3}', '{"texts": [], "open": ["a"]}', "no JSON"])
def test_whatever_another_page_has_put_into_the_storage_the_page_is_alive(page, watch, questions, stored):
    page.goto(questions)
    act(page, f"for (const name of Object.keys(localStorage)) localStorage[name] = {json.dumps(stored)}")
    page.reload()
    page.get_by_label("Your guess").first.fill("seven")
    expect(page.locator(".own output")).to_have_text(words_in("en")["handout"]["kept"])
    assert watch.errors == []


def test_answers_go_into_a_file_and_come_back_from_it(page, questions, tmp_path):
    page.goto(questions)
    guess, button = page.get_by_label("Your guess"), page.get_by_role("button", name="Hide the result")
    guess.first.fill("七")
    guess.first.press("Enter")
    guess.last.fill("eight")  # and its result stays hidden
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save them as a file").click()
    file = tmp_path / saved.value.suggested_filename
    saved.value.save_as(file)
    assert file.name == "answers.json"
    assert [*json.loads(file.read_text(encoding="utf-8"))["texts"].values()] == ["七", "eight"]
    page.get_by_role("button", name="Clear my answers").click()
    expect(button).to_have_count(0)
    for line in each_of(guess):
        expect(line).to_have_value("")
    page.reload()
    expect(guess.first).to_have_value("")
    chooser = page.locator(".own input[type=file]")
    chooser.set_input_files(file)
    expect(guess.first).to_have_value("七")
    expect(guess.last).to_have_value("eight")
    expect(button).to_have_count(1)
    for other in OTHER_FILES:
        guess.last.fill("nine")  # which says that it is kept
        file.write_text(other, encoding="utf-8")
        chooser.set_input_files(file)
        expect(page.locator(".own output")).to_have_text("This file holds no saved answers.")
        expect(guess.first, other).to_have_value("七")
        expect(guess.last, other).to_have_value("nine")
    page.reload()
    expect(guess.first, "what was read from a file is kept").to_have_value("七")


def test_a_browser_that_refuses_its_storage_is_said_to_keep_nothing(page, watch, questions):
    page.add_init_script(
        "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError'); }"
    )
    page.goto(questions)
    said = page.locator(".own output")
    expect(said).to_contain_text("This browser keeps nothing here")
    page.get_by_label("Your guess").first.fill("seven")
    page.get_by_label("Your guess").first.press("Enter")
    expect(result(page, "second")).to_be_visible()
    expect(said).to_contain_text("Save them as a file")
    assert watch.errors == []


def test_search_and_links_open_what_they_find(page, questions):
    page.goto(f"{questions}#why-third")
    expect(page.get_by_role("heading", name="Why Third").first).to_be_in_viewport()
    expect(result(page, "third")).to_be_visible()
    expect(result(page, "second")).not_to_be_visible()
    result(page, "second").dispatch_event("beforematch")  # as the browser's search does, with bubbles
    expect(result(page, "second")).to_be_visible()
    expect(page.get_by_role("button", name="Hide the result")).to_have_count(2)


def test_without_a_script_a_fold_keeps_each_result_and_on_paper_everything_is_open(browser, page, questions):
    with new_page(browser, java_script_enabled=False) as plain:
        plain.goto(questions)
        slide = plain.locator(".slide").nth(1)
        for part in (result(plain, "second"), slide.locator(".code"), slide.locator(".why")):
            expect(part).to_be_hidden()
        slide.get_by_text("Show the result").click()
        for part in (result(plain, "second"), slide.locator(".code"), slide.locator(".why")):
            expect(part).to_be_visible()
        expect(result(plain, "third")).to_be_hidden()
        plain.emulate_media(media="print")
        expect(result(plain, "third")).to_be_visible()
    page.goto(questions)
    act(page, "dispatchEvent(new Event('beforeprint'))")
    expect(result(page, "second")).to_be_visible()
    act(page, "dispatchEvent(new Event('afterprint'))")
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
    act(page, "() => { window.setTimeout = (then) => { window.later = then; }; }")
    act(page, "() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; }")
    page.get_by_role("button", name="Copy").click()
    expect(page.locator(".copy")).to_have_text("Copied")
    becomes(page, "copied", LONG)
    act(page, "later()")
    expect(page.locator(".copy")).to_have_text("Copy")
    act(page, "() => { navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed')); }")
    page.get_by_role("button", name="Copy").click()
    becomes(page, "getSelection().toString().trim()", LONG)


def test_on_paper_nothing_is_cut_in_two_and_no_control_is_left(page, file):
    page.goto(file.as_uri())
    page.locator("[data-widget=good].alive").wait_for()
    page.emulate_media(media="print")
    for control in ("nav", ".copy", ".widget input", ".widget button", ".anchor"):
        expect(page.locator(control).first).to_be_hidden()
    expect(page.get_by_text("Answer", exact=True)).to_be_visible()  # says what the words below it are
    for whole in (".code", ".outputs > pre", ".widget", ".table tr", "div.formula"):
        expect(page.locator(whole).first, whole).to_have_css("break-inside", "avoid")
    expect(page.locator("pre code")).to_have_css("white-space", "pre-wrap")
    assert re.search(rb"/MediaBox ?\[0 0 59[45]\.?\d* 84[12]\.?\d*\]", page.pdf(prefer_css_page_size=True))


# ---- no way out ----

WAYS_OUT = (
    "<meta http-equiv=refresh content='0;url={server}/refresh'>",
    "<form id=form action='{server}/form'></form><script>form.submit()</script>",
    "<script>location = '{server}/location'</script>",
    "<a id=link href='{server}/link'></a><script>link.click()</script>",
    "<iframe srcdoc=\"<script>top.location = '{server}/frame'</script>\"></iframe>",
    "<script>document.body.append(Object.assign(new Image(), {{ src: '{server}/image' }}));"
    "fetch('{server}/fetch').catch(() => {{}}); navigator.sendBeacon('{server}/beacon')</script>",
)


# The program of a stored widget would do this if it ran; the HTML of a cell may not.
TRYING = """
export default { render({ el }) {
  el.innerHTML = WAY_OUT;
  for (const { text, type } of el.querySelectorAll("script")) {
    el.append(Object.assign(document.createElement("script"), { text, type }));
  }
} };
"""


@pytest.fixture
def listener():
    """A server that keeps what it was asked for."""
    asked = []

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        do_POST = do_GET

    with ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


def test_what_a_notebook_holds_leads_nowhere(page, listener, tmp_path, monkeypatch):
    """Beside each handout, a plain page shows that its way out is one, and that a request had its time."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))  # where no signatures are
    server, asked = listener
    handouts = []
    for number, way_out in enumerate(WAYS_OUT):
        source = way_out.format(server=f"{server}/handout/")
        program = TRYING.replace("WAY_OUT", json.dumps(source))
        tries = "<form" not in source  # sending one replaces the page, even where the policy blocks it
        cells = [code("", shown({"text/html": source})), *([widget("trying")] if tries else [])]
        notebook = notebook_of(cells, {"trying": stored(esm=program)})
        file = tmp_path / f"handout{number}.html"
        file.write_text(HandoutExporter().from_notebook_node(notebook)[0], encoding="utf-8")
        plain = tmp_path / f"plain{number}.html"
        plain.write_text(f"<main>{way_out.format(server=f'{server}/plain{number}/')}</main>")
        tabs = [page.context.new_page() for _ in range(2)]
        for tab, each in zip(tabs, (file, plain), strict=True):
            tab.goto(each.as_uri(), wait_until="commit")
        handouts.append((tabs[0], file.as_uri(), way_out))

    def left() -> set[str]:
        return {f"plain{number}" for number in range(len(WAYS_OUT))} - {path.split("/")[1] for path in asked}

    eventually(lambda: not left(), lambda: f"a request from {left()}")
    for tab, address, way_out in handouts:
        expect(tab, way_out).to_have_url(address)
        expect(tab.locator("footer")).to_be_visible()
    assert [path for path in asked if path.startswith("/handout")] == []


def test_a_readers_own_click_leads_where_the_link_says(page, listener, tmp_path):
    server, _ = listener
    file = write(tmp_path / "link.html", [text(f"# A\n\n[away]({server}/read)")])
    page.goto(file.as_uri())
    page.get_by_role("link", name="away").click()
    expect(page).to_have_url(f"{server}/read")
    page.go_back()
    page.get_by_role("link", name="away").wait_for()
    page.reload()
    page.get_by_role("link", name="away").wait_for()
