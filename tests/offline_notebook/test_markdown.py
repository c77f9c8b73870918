"""Markdown as Jupyter reads it, where the parser's own ways would lose something."""

import pytest

from offline_notebook.markdown import to_html, with_formulas
from tests.offline_notebook.pages import PIXEL, read


def formulas(page):
    elements = read(page).select("[data-formula]")
    return [(element["data-formula"] or "inline", element.get_text().strip()) for element in elements]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("so $ x $ and $y$, $ 2x + 1 $", ["x", "y", "2x + 1"]),
        ("so $ x^2$ and $y_1 $, costs $ a lot and $b", ["x^2", "y_1"]),
        ("$ 300 $, a day $ 5 or 7$ more, $5 or 7 $ less, $5 to $10", []),
        ("$HOME and $PATH, costs $ a lot and $b", []),
        ("`echo $HOME $PATH`\n\n    a = '$x$'\n\n```sh\n$$x$$ \\begin{aligned}a\\end{aligned} $y$\n```", []),
        ("a\n\n    echo $HOME $PATH $x$\n\n<pre>$x$</pre> <code>$y$</code> [$z$](a)", ["z"]),
        (r"$\text{if $x$}$ and $\colorbox{red}{$y$}$", [r"\text{if $x$}", r"\colorbox{red}{$y$}"]),
        (r"A $n$$\times$$m$ matrix, 设$x$$y$，$a$ $b$", ["n", r"\times", "m", "x", "y", "a", "b"]),
        ("of $$b$$ and $a$", ["b", "a"]),
        ("$ " + "{a}" * 5000, []),
    ],
)
def test_formulas_are_found_in_sentences(source, found):
    assert [tex for _, tex in formulas(to_html(source))] == found


def test_formulas_are_found_in_an_authors_html():
    source = (
        "<div title='$no$'>\n$a < b$, $c &lt; d$ <code>$no$</code> <b>$ x $</b> $$y$$ <!-- $no$ -->\n</div>"
    )
    found = [("inline", "a < b"), ("inline", "c < d"), ("inline", "x"), ("display", "y")]
    assert formulas(to_html(source)) == found
    assert formulas(with_formulas(source.replace("a < b", "a &lt; b"))) == found
    assert with_formulas("<td>$5 and $6</td>") == "<td>$5 and $6</td>"
    escaped = to_html("<b>$x$</b>", escape=True)
    assert formulas(escaped) == [("inline", "x")]
    assert "&lt;b&gt;" in escaped


TABLES = {"| a | b |\n|---|:-:|\n| $|x|$ | 1 |": ["|x|", "1"], "a | b\n--|--\n1 | $x|y$": ["1", "x|y"]}


@pytest.mark.parametrize("source", TABLES)
def test_a_table_keeps_its_formulas(source):
    cells = read(to_html(source)).table.find_all(["th", "td"])
    assert [cell.get_text() for cell in cells] == ["a", "b", *TABLES[source]]


@pytest.mark.parametrize(
    "source",
    [
        "- item <details><summary>s</summary>\n\n  ![](x.png)\n\n  within\n\n  </details>\n- next",
        "<details><summary>s</summary>\n\n![](x.png)\n\nwithin\n\n</details>\n\nafter",
    ],
)
def test_details_hold_all_that_stands_before_their_end(source):
    details = read(to_html(source)).details
    assert details.img is not None
    assert "within" in details.get_text()
    assert "after" not in details.get_text()
    assert "next" not in details.get_text()


def test_attachments_task_lists_and_code_are_shown_as_jupyter_does():
    source = "![a *b*](attachment:p.png 'c')\n\n- [x] done\n\n```python\nx = '<b>'\n```\n\n<div>\n\n~~d~~ https://e.org\n\n</div>"
    page = read(to_html(source, {"p.png": {"image/png": PIXEL}}))
    assert page.img.attrs == {"src": f"data:image/png;base64,{PIXEL}", "alt": "a b", "title": "c"}
    assert page.find("input", type="checkbox", checked=True, disabled=True)
    assert page.find("pre").get_text() == "x = '<b>'"
    assert page.select_one("pre .s1").get_text() == "'<b>'"
    assert page.select_one("div > p > s").get_text() == "d"
    assert page.a["href"] == "https://e.org"


@pytest.mark.parametrize("address", ["p.png", "my%20picture.png", "图.png"])
@pytest.mark.parametrize("form", ["![]({})", "<img src='{}' width='40'>", "| a |\n|---|\n| <img src={}> |"])
def test_a_picture_stored_in_its_cell_is_found_however_it_is_written(form, address):
    stored = {name: {"image/png": PIXEL} for name in ("p.png", "my picture.png", "图.png")}
    page = read(to_html(form.format(f"attachment:{address}"), stored))
    assert page.img["src"] == f"data:image/png;base64,{PIXEL}"


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        ("- item\n\n  | a | b |\n  |---|---|\n  | 1 | 2 |\n- next", [["a", "b"], ["1", "2"]]),
        ("a | b\n--|--\n1\n2 | 3 | 4", [["a", "b"], ["1", ""], ["2", "3"]]),
        ("words\n| a | b\n|---|---\n| 1 | 2", [["a", "b"], ["1", "2"]]),
    ],
)
def test_tables_are_read_as_github_reads_them(source, rows):
    table = read(to_html(source)).table
    assert [[cell.get_text() for cell in row.find_all(["th", "td"])] for row in table.find_all("tr")] == rows


def test_a_files_name_is_no_address():
    assert read(to_html("run setup.py, then www.e.org or a@b.org; see README.md")).find_all("a") == []


def test_letters_that_mark_a_formula_are_no_way_to_another_one():
    assert formulas(to_html("\ue0000\ue001 \ue0009\ue001 and $x$")) == [("inline", "x")]
