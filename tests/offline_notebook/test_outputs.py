"""Outputs of notebooks: each is shown, or the page and the terminal say that it is not."""

import pytest

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
        ({"application/javascript": "draw()", "text/plain": "<Javascript object>"}, "javascript"),
        ({"text/html": LOADER, "text/plain": "alt.Chart(...)"}, SCRIPT),
        ({"text/html": f"<iframe srcdoc='&lt;script src={CDN}&gt;'></iframe>"}, FRAME),
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


def test_a_picture_has_the_text_and_the_width_that_its_cell_gave_it():
    about = {"image/png": {"alt": "Two curves", "width": 120.4}}
    image = Shown(shown({"image/png": PIXEL}, **about)).page.img
    assert (image["alt"], image["width"]) == ("Two curves", "120")
    assert Shown(shown({"image/png": PIXEL})).page.img["alt"] == "Figure drawn by the code above"


def test_odd_colours_of_a_terminal_stop_no_page():
    assert Shown(printed("a\x1b[38mb<i>")).page.pre.get_text() == "ab<i>"


def test_a_table_of_pandas_is_shown_as_it_is():
    page = Shown(shown({"text/html": PANDAS, "text/plain": "price"}))
    assert page.page.tr["style"] == "text-align:right"
    assert "$5 and $6, " in page.page.td.get_text()
    assert page.page.td.math.get_text() == "x2"
    assert page.page.find("style") is None
    assert page.said == page.notes == []


@pytest.mark.parametrize("kind", sorted(SHOWN - {VIEW}))
def test_every_kind_that_counts_as_shown_shows_something(kind):
    is_pixels = kind.startswith("image/") and kind != "image/svg+xml"
    content = PIXEL if is_pixels else "<b>1</b>"
    page = Shown(shown({kind: content}))
    assert page.said == []
    assert page.page.find(["img", "svg"]) or page.page.get_text().strip()


def test_latex_that_a_program_puts_out_is_set():
    source = "The loss is $L < 1$ and\n\\begin{align}a&=b\\end{align}"
    page = Shown(shown({"text/latex": source, "text/plain": "<Latex object>"}))
    set_there = [formula["alttext"] for formula in page.page.find_all("math")]
    assert set_there == ["L < 1", r"\begin{align}a&=b\end{align}"]
    assert "The loss is" in page.page.get_text()
    assert page.notes == page.said == []
