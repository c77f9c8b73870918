"""A handout from a file, walked in Firefox, in WebKit, and in Chromium without what came after 2022."""

import pytest
import torch
from ipywidgets.embed import embed_data
from nbformat.v4 import new_notebook
from playwright.sync_api import expect

from evidence.layers import LETTERS, AttentionLayers
from mha_lib.classroom import explore
from mha_lib.classroom.explorer.typed_text import TypedText
from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.lesson.outputs import FOR_A_PAGE
from mha_lib.classroom.pages.handout import HandoutExporter
from tests.browser.explorers import some_explorer
from tests.browser.tabs import ENGINES, tab_in
from tests.classroom.pages.handout.cells import code, text, widget
from tests.offline_notebook.pages import STATE, printed

WORDS = words_in("en")
HEARS = """<script>
window.faults = [];
addEventListener("error", ({ message }) => faults.push(message));
addEventListener("unhandledrejection", ({ reason }) => faults.push(String(reason)));
addEventListener("securitypolicyviolation", ({ blockedURI }) => faults.push(blockedURI));
</script>"""
# Takes away all that Safari 15.4, Chrome 99 or Firefox 100 lacks.
TAKES_AWAY = """<script>
for (const kind of [Array, Object.getPrototypeOf(Uint8Array)])
  for (const name of ["findLast", "findLastIndex", "with", "toReversed", "toSorted", "toSpliced"])
    delete kind.prototype[name];
for (const name of Object.getOwnPropertyNames(Element.prototype))
  if (/^(aria[A-Z]|role$)/.test(name)) delete Element.prototype[name];
for (const name of ["scale", "rotate", "translate"])
  Object.defineProperty(CSSStyleDeclaration.prototype, name, { set() {} });
for (const name of ["DecompressionStream", "OffscreenCanvas", "structuredClone", "navigation"]) {
  Object.defineProperty(globalThis, name, { value: undefined, configurable: true });
  delete globalThis[name];
}
</script>"""


@pytest.fixture(scope="module")
def typed():
    torch.manual_seed(0)
    model = AttentionLayers(num_layers=2, num_heads=2).eval()
    model.load_state_dict({name: x.half().float() for name, x in model.state_dict().items()})
    return TypedText(model, LETTERS)


@pytest.fixture(scope="module")
def page_text(typed):
    """A handout with a guess, a small exercise, an explorer, and one that computes in the page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOR_A_PAGE, "1")
        labels = {"query_labels": typed.rows, "key_labels": typed.columns}
        explorers = [
            some_explorer(),
            explore(typed.maps, text="PYTHON", layer=[0, 1], in_page=typed.in_page, **labels),
        ]
        beside = [explorer._repr_mimebundle_()[0]["image/svg+xml"] for explorer in explorers]
    small = code("factor = ...\ncheck.cost_factor(factor)")
    small.metadata["checks"] = "cost_factor"
    views = [
        widget(explorer.model_id, **{"image/svg+xml": still})
        for explorer, still in zip(explorers, beside, strict=True)
    ]
    cells = [
        text("# A lesson\n\nWith $x^2$."),
        text("## A question\n\n*Guess!*", "slide", ["guess"]),
        code("assert 1 + 1 == 2, 'two'", printed("the result"), slide="fragment"),
        text("## Explorers", "slide"),
        *views,
        text("## Small", "slide"),
        small,
    ]
    states = {STATE: embed_data(explorers, drop_defaults=False)["manager_state"]}
    html, _ = HandoutExporter().from_notebook_node(new_notebook(cells=cells, metadata={"widgets": states}))
    return html.replace("<head>", f"<head>{HEARS}", 1)


def as_of_2022(html: str) -> str:
    """The page as browsers of 2022 read it: in their place, names that no browser knows."""
    html = html.replace("light-dark(", "unknown-pair(").replace(":has(", ":unknown(")
    return html.replace(HEARS, HEARS + TAKES_AWAY).replace("color-mix(", "unknown-mix(")


@pytest.fixture(params=ENGINES)
def tab(request, tmp_path, browser):
    """A page in each engine that this machine has."""
    with tab_in(request.param, browser, tmp_path / request.param) as tab:
        yield tab


SAID = "(at) => document.querySelectorAll('.mha-explorer')[at].querySelector('[role=status]').textContent"
MOVE = """(at, label, value) => {
  const root = document.querySelectorAll(".mha-explorer")[at];
  const input = root.querySelector(`[aria-label="${label}"]`);
  input.value = value;
  input.dispatchEvent(new Event("input"));
}"""
PRESS = """(at, key) => {
  const head = document.querySelectorAll(".mha-explorer")[at].querySelector("[role=application]");
  head.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}"""
INK = """(at) => {
  const canvas = document.querySelectorAll(".mha-explorer canvas")[at];
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
}"""
FILL = """(selector, text) => {
  const input = document.querySelector(selector);
  input.value = text;
  input.dispatchEvent(new Event("input", { bubbles: true }));
  input.form.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
}"""
IS_SHOWN = "(selector) => document.querySelector(selector).offsetHeight > 0"


def says(tab, at, *parts):
    tab.until(
        f"(at, parts) => {{ const said = ({SAID})(at); return parts.every((x) => said.includes(x)); }}",
        at,
        parts,
    )


def test_a_handout_of_2022_is_walked_in_each_engine(tab, tmp_path, page_text, typed):
    file = tmp_path / "handout.html"
    file.write_text(as_of_2022(page_text), encoding="utf-8")
    tab.goto(file.as_uri())
    tab.until("() => document.querySelectorAll('.widget.alive').length === 2")
    # explorers: both ends of a slider, keys, and words that can be read
    says(tab, 0, "Heads: 4")
    tab.answer_of(MOVE, 0, "num_heads", "0")
    says(tab, 0, "Heads: 1")
    assert tab.answer_of(INK, 0) > 40, "letters, hatching, colours"
    # the model in the page, by what Python says
    tab.answer_of(MOVE, 1, "text", "ICPYTHON")
    says(tab, 1, "queries: 8", f"query 0 “{typed.rows('ICPYTHON', 1)[0]}” → key 0 “I”: 1.000")
    for key in ("ArrowDown", "ArrowDown"):
        tab.answer_of(PRESS, 1, key)
    weight = typed.maps("ICPYTHON", 1)[0][0, 1, 0]
    found = tab.until(f"(at) => ({SAID})(at).includes('query 1') && ({SAID})(at)", 1)
    assert float(found.split(": ")[1].split()[0]) == pytest.approx(float(weight), abs=1.1e-3)
    tab.answer_of(MOVE, 1, "text", "A1")
    refused = "(said) => document.querySelectorAll('.mha-explorer [role=alert]')[1].textContent === said"
    tab.until(refused, WORDS["typed_text"]["unknown"].format(letter="1", letters=LETTERS))
    # a guess and a small exercise, kept when the page is loaded again
    assert not tab.answer_of(IS_SHOWN, ".outputs.result")
    tab.answer_of(FILL, ".ask input", "three")
    tab.answer_of(FILL, ".small input", "2")
    tab.until(IS_SHOWN, ".outputs.result")
    tab.reload()
    tab.until(IS_SHOWN, ".outputs.result")
    typed_now = "() => [...document.querySelectorAll('.ask:not(.own) input')].map(({ value }) => value)"
    assert tab.answer_of(typed_now) == ["three", "2"]
    tab.until("(said) => document.querySelector('.small output').textContent.includes(said)",
              WORDS["remarks"]["cost_factor"]["right"])  # fmt: skip
    tab.answer_of("() => document.querySelector('.own button').click()")
    tab.until(f"() => !({IS_SHOWN})('.outputs.result')")
    assert tab.answer_of(typed_now) == ["", ""]
    assert tab.answer_of("() => faults") == []


def test_below_the_line_one_sentence_is_said_and_explorers_stand_still(page, tmp_path, page_text):
    file = tmp_path / "handout.html"
    file.write_text(page_text.replace(HEARS, "<script>delete Array.prototype.at</script>"), encoding="utf-8")
    page.goto(file.as_uri())
    expect(page.get_by_text(WORDS["handout"]["older"], exact=True)).to_be_visible()
    expect(page.locator(".still img")).to_have_count(2)
    expect(page.locator(".widget > .note")).to_have_count(2)
    expect(page.locator(".still img").first).to_be_visible()
    expect(page.locator(".widget > .note").first).to_be_hidden()
