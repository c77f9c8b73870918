"""Outputs of notebooks: each is shown, or the page and the terminal say that it is not."""

import re

import pytest

from offline_notebook import plain
from offline_notebook.outputs import SHOWN, VIEW
from tests.offline_notebook.pages import PIXEL, Shown, printed, shown

PLOTLY = "application/vnd.plotly.v1+json"
SCRIPT, FRAME = "<script>", "<iframe>"
CDN = "https://cdn.example.org/figures@5?noext"
LOADER = f"<div id=a></div><script>load({{vega: '{CDN}'}}, (e) => a.innerHTML = e)</script>"
PANDAS = """<div><style scoped>.dataframe td {vertical-align: top}</style><table border="1" class="dataframe">
<thead><tr style="text-align: right;"><th>price</th></tr></thead><tr><td>$5 and $6, $x^2$</td></tr></table>
</div>"""


@pytest.mark.parametrize(
    ("bundle", "reason"),
    [
        ({PLOTLY: {"data": []}, "text/plain": "Figure({" + "0, " * 100}, PLOTLY),
        ({"application/vnd.vegalite.v5+json": {}, "text/plain": "<VegaLite 5 object>"}, "vegalite"),
        ({"application/javascript": "draw()", "text/plain": "<Javascript object>"}, "javascript"),
        ({"application/pdf": "AAAA"}, "application/pdf"),
        ({"text/html": LOADER, "text/plain": "alt.Chart(...)"}, SCRIPT),
        ({"text/html": f"<script src='{CDN}'></script><div></div>", PLOTLY: {}}, SCRIPT),
        ({"text/html": f"<iframe srcdoc='&lt;script src={CDN}&gt;'></iframe>"}, FRAME),
        ({"text/html": "<div data-root-id=p1></div>", "application/vnd.bokehjs_exec.v0+json": ""}, "bokeh"),
    ],
)
def test_a_figure_that_needs_jupyter_or_the_network_is_said(bundle, reason):
    page = Shown(shown(bundle))
    assert len(page.notes) == len(page.said) == 1
    assert reason in page.notes[0]
    assert reason in page.said[0]
    assert "cell figure" in page.said[0]
    assert "object" not in page.page.get_text()
    assert page.page.find(["script", "iframe"]) is None


def test_a_picture_stands_in_for_what_only_jupyter_shows():
    sources: list[dict[str, object]] = [{PLOTLY: {}}, {"text/html": LOADER}]
    for source in sources:
        page = Shown(shown({**source, "image/png": PIXEL}))
        assert page.page.find("img")["src"].endswith(PIXEL)
        assert page.notes == page.said == []


def test_the_rest_of_an_output_that_runs_a_program_stays():
    page = Shown(shown({"text/html": f"<table><td>kept</table><script src='{CDN}'></script>"}))
    assert page.page.table.get_text() == "kept"
    assert len(page.notes) == len(page.said) == 1


@pytest.mark.parametrize(
    ("source", "formulas", "words"),
    [
        (r"$\displaystyle \frac{1}{2}$", 1, ""),
        (r"\begin{align}a&=b\\c&=d\end{align}", 1, ""),
        (r"Let $x^2$ & $y$ be", 2, "Let & be"),
        (r"$x$ and $y$", 2, "and"),
        (r"$$\text{cost } \$5$$", 1, ""),
    ],
)
def test_latex_is_a_formula_or_words_with_formulas(source, formulas, words):
    page = Shown(shown({"text/latex": source, "text/plain": "<Latex object>"}))
    assert len(page.page.find_all("math")) == formulas
    for formula in page.page.find_all("math"):
        formula.decompose()
    assert plain(str(page.page)) == words
    assert page.said == []


def test_a_picture_has_the_text_and_the_width_that_its_cell_gave_it():
    about = {"image/png": {"alt": "Two curves", "width": 120.4}}
    image = Shown(shown({"image/png": PIXEL}, **about)).page.img
    assert (image["alt"], image["width"]) == ("Two curves", "120")
    assert Shown(shown({"image/png": PIXEL})).page.img["alt"] == "Figure drawn by the code above"


@pytest.mark.parametrize("codes", ["\x1b[38m", "\x1b[48;5m", "\x1b[38;2;1m", "\x1b[999m", "\x1b[;;m"])
def test_odd_colours_of_a_terminal_stop_no_page(codes):
    page = Shown(printed(f"a{codes}b<i>"))
    assert re.fullmatch(r"a.*b<i>", page.page.find("pre").get_text())


@pytest.mark.parametrize("tex", ["$$", "$", "", "$$$$"])
def test_an_empty_formula_stops_no_page(tex):
    Shown(shown({"text/latex": tex}))


def test_a_table_of_pandas_is_shown_as_it_is():
    page = Shown(shown({"text/html": PANDAS, "text/plain": "price"}))
    assert page.page.tr["style"] == "text-align:right"
    assert "$5 and $6, " in page.page.td.get_text()
    assert page.page.td.math.get_text() == "x2"
    assert page.page.find("style") is None
    assert page.said == page.notes == []


def test_a_terminals_own_commands_are_left_out_and_its_colours_and_first_line_end_stay():
    text = "\n\x1b]8;;https://e.org\x1b\\a \x1b[31mlink\x1b[0m\x1b]8;;\x1b\\ <i>\x1b]0;title\x07"
    pre = Shown(printed(text)).page.pre
    assert pre.get_text() == "\n\na link <i>", "of two, a browser shows one"
    assert pre.select_one(".ansi-red-fg").get_text() == "link"


@pytest.mark.parametrize("kind", sorted(SHOWN - {VIEW}))
def test_every_kind_that_counts_as_shown_shows_something(kind):
    is_pixels = kind.startswith("image/") and kind != "image/svg+xml"
    content = PIXEL if is_pixels else "<b>1</b>"
    page = Shown(shown({kind: content}))
    assert page.said == []
    assert page.page.find(["img", "svg"]) or page.page.get_text().strip()
