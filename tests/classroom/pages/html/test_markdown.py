"""Markdown as Jupyter reads it, where the parser's own ways would lose something."""

import pytest

from mha_lib.classroom.pages.html import to_html, with_formulas
from mha_lib.classroom.pages.html.tree import parse
from tests.classroom.pages.pages import read


def formulas(page):
    elements = read(page).select("[data-formula]")
    return [(element.name, element.get_text().strip()) for element in elements]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("so $ x $ and $y$, $ 2x + 1 $", ["x", "y", "2x + 1"]),
        ("$ 300 $, a day $ 5 or 7$ more, $5 or 7 $ less, $5 to $10", []),
        ("$HOME and $PATH, costs $ a lot and $b", []),
        ("`echo $HOME $PATH`\n\n    a = '$x$'\n\n```sh\n$$x$$ \\begin{aligned}a\\end{aligned} $y$\n```", []),
        (r"$\text{if $x$}$ and $\colorbox{red}{$y$}$", [r"\text{if $x$}", r"\colorbox{red}{$y$}"]),
        (r"`$x$` and \$x\$", []),
        (r"A $n$$\times$$m$ matrix, 设$x$$y$，$a$ $b$", ["n", r"\times", "m", "x", "y", "a", "b"]),
        (r"$\text{a $$ b}$$c_{d$$e}$", [r"\text{a $$ b}", "c_{d$$e}"]),
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
    found = [("span", "a < b"), ("span", "c < d"), ("span", "x"), ("div", "y")]
    assert formulas(to_html(source)) == formulas(with_formulas(source)) == found
    assert with_formulas("<td>$5 and $6</td>") == "<td>$5 and $6</td>"
    escaped = to_html("<b>$x$</b>", escape=True)
    assert formulas(escaped) == [("span", "x")]
    assert "&lt;b&gt;" in escaped


def test_formulas_that_touch_each_other_stand_in_tables_and_html_too():
    found = [("span", "n"), ("span", "m")]
    assert formulas(to_html("| a |\n|---|\n| $n$$m$ |")) == found
    assert formulas(to_html("<div>\n$n$$m$\n</div>")) == found


def rows(source):
    table = read(to_html(source)).table
    return table and [
        [cell.get_text() for cell in row.find_all(["th", "td"])] for row in table.find_all("tr")
    ]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("| a | b |\n|---|:-:|\n| $|x|$ | 1 |", [["a", "b"], ["|x|", "1"]]),
        ("|a|b|\n|-|-|\n|short|\n|1|2|3|", [["a", "b"], ["short", ""], ["1", "2", "3"]]),
        ("a | b\n--|--\n1 | \\| `x\\|y`\n| | 2 |", [["a", "b"], ["1", "| x|y"], ["", "2"]]),
        ("| a |\n|---|\n| $5 | ", [["a"], ["$5"]]),
        ("| a | b |\n|---|\n| 1 | 2 |", None),
        ("title\n---\n1 | 2", None),
    ],
)
def test_a_table_keeps_its_formulas_and_its_ragged_rows(source, found):
    assert rows(source) == found


def test_what_follows_a_table_is_no_row():
    assert to_html("| a |\n|---|\n| 1 |\nafter").endswith("<p>after</p>\n")


def test_footnotes_lead_to_their_own_cell():
    pages = [to_html(f"{letter}[^1]\n\n[^1]: the *{letter}*") for letter in "ab"]
    for page in pages:
        soup = read(page)
        note, back = soup.find("a"), soup.find("li").find("a")
        assert soup.find(id=note["href"][1:]) is soup.find("li")
        assert soup.find(id=back["href"][1:]) is soup.find("sup")
    assert pages[0].split("href=")[1] != pages[1].split("href=")[1]


@pytest.mark.parametrize(
    "source",
    [
        "- item <details><summary>s</summary>\n\n  ![](x.png)\n\n  within\n\n  </details>\n- next",
        "text <details><summary>s</summary>\n\n![](x.png)\n\nwithin\n\n</details>\n\nafter",
        "<b><details><summary>s</summary>\n\n![](x.png)\n\nwithin</details></b> after",
        "<details><summary>s</summary>\n\n![](x.png)\n\nwithin\n\n</details>\n\nafter",
    ],
)
def test_details_hold_all_that_stands_before_their_end(source):
    details = parse(to_html(source)).details
    assert details.img is not None
    assert "within" in details.get_text()
    assert "after" not in details.get_text()
    assert "next" not in details.get_text()


def test_a_diagram_stays_as_its_text_and_is_marked():
    block = read(to_html("```mermaid\ngraph TD\n```")).div
    assert block["data-diagram"] == "mermaid"
    assert block.get_text().strip() == "graph TD"
