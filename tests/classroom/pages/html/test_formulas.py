"""TeX as teachers write it: it is set right, or it stays as it is and is said."""

import re
from pathlib import Path

import pytest
from math_core import LatexError, LatexToMathML

from mha_lib.classroom.pages.html import converter, formulas
from tests.classroom.pages.pages import Cleaning, read
from tests.counting import growth_of_work

LINES = Path(__file__).with_name("formulas.txt").read_text(encoding="utf-8").splitlines()
FORMULAS = [tuple(line.split("\t")) for line in LINES if not line.startswith("#")]


def letters(page):
    """The letters of the formulas, without spaces and without the text for screen readers."""
    return "".join(read(page).get_text().replace("\u2061", "").split())


def test_what_stands_in_each_formula_of_the_list_is_shown(clean):
    page = clean.markdown("\n\n".join(f"$${tex}$$" for tex, _ in FORMULAS))
    shown = [letters(str(formula)) for formula in read(page).select(".formula")]
    assert clean.complaints == []
    assert list(zip(FORMULAS, shown, strict=True)) == [((tex, right), right) for tex, right in FORMULAS]


def mathml(tex):
    try:
        return converter.make_converter().convert_with_global_state(
            converter.prepared(tex, True), displaystyle=True
        )
    except LatexError:
        return None


@pytest.fixture(scope="module")
def whole():
    return [(tex, mathml(tex)) for tex, _ in FORMULAS]


@pytest.mark.parametrize("rewrite", converter.REWRITES, ids=lambda rewrite: rewrite[0])
def test_a_formula_of_the_list_needs_each_rewrite(monkeypatch, whole, rewrite):
    monkeypatch.setattr(converter, "REWRITES", [kept for kept in converter.REWRITES if kept is not rewrite])
    assert any(mathml(tex) != before for tex, before in whole)


@pytest.mark.parametrize("name", converter.MACROS)
def test_a_formula_of_the_list_needs_each_macro(name):
    assert any(re.search(rf"\\{name}\b", tex) for tex, _ in FORMULAS)
    with pytest.raises(LatexError, match="Unknown command"):
        LatexToMathML().convert_with_local_state(rf"\{name}{{x}}", displaystyle=True)


@pytest.mark.parametrize(
    ("tex", "reason"),
    [
        (r"\nosuchcommand{x}", "unknown command \\nosuchcommand"),
        (r"\ce{H2O}", "unknown command \\ce"),
        (r"\colorbox{url(x)}{$x$}", "unknown command \\colorbox"),
        (r"\href{javascript:alert(1)}{x}", "unknown command \\href"),
        (r"\ref{eq:nowhere}", "no equation has the label eq:nowhere"),
        (r"\begin{nothing}x\end{nothing}", "unknown command nothing"),
        (r"\eqref{eq:nowhere}", "no equation has the label eq:nowhere"),
        (r"\frac{1", "reached end of input"),
        ("a_b_c", "subscript"),
        (r"\newcommand{\a}{\a\a}\a", "expansions"),
    ],
)
def test_what_cannot_be_set_stays_as_its_tex_and_is_said(clean, tex, reason):
    page = read(clean.markdown(f"so ${tex}$ and $x$"))
    assert page.find("code", class_="tex").get_text() == tex
    assert len(page.find_all("math")) == 1
    assert len(clean.complaints) == 1
    assert clean.complaints[0].startswith(f"formula left as TeX: {tex} (")
    assert reason in clean.complaints[0]
    assert reason in page.find("code").find_next_sibling(class_="reason").get_text()


def test_a_complaint_is_one_short_line(clean):
    clean.markdown("$$a\n" + r"\foo{x}" + " + y" * 1000 + "$$")
    assert "\n" not in clean.complaints[0]
    assert len(clean.complaints[0]) < 400


@pytest.mark.parametrize(
    ("size", "tex"),
    [
        (2500, lambda n: "+".join(f"x_{{{i}}}" for i in range(n))),
        (10, lambda n: r"\frac{1}{1+" * n + "x" + "}" * n),
        (1000, lambda n: r"\frac{1}{1+" * n + "x" + "}" * n),
        (10_000, lambda n: "{" * n + "x" + "}" * n),
        (4500, lambda n: r"\sqrt" * n + "x"),
        (2500, lambda n: r"\left(" * n + r"\right)" * n),
        (450, lambda n: r"\def\a{" + "x" * 40_000 + "}" + r"\a" * n),
        (2500, lambda n: r"\text{" * n + "$" * n),
        (1500, lambda n: r"\color{#123456}{" * n),
    ],
    ids=["sum", "fractions", "deep fractions", "groups", "roots", "parentheses", "macro", "text", "colours"],
)
def test_no_formula_takes_long_or_takes_everything_down(tmp_path, size, tex):
    def write(count):
        clean = Cleaning(tmp_path)
        page = clean.markdown(f"$${tex(count)}$$\n\nafter")
        assert ("<math" in page) != bool(clean.complaints)
        assert "after" in page
        assert len(page) < 10_000_000

    assert growth_of_work(write, size) < 2.2


ENDLESS = r"\def\a#1{{{{{{{{{{#1}}}}}}}}}}" + "".join(
    rf"\def\{name}#1{{\{inner}{{\{inner}{{\{inner}{{\{inner}{{\{inner}{{\{inner}{{#1}}}}}}}}}}}}}}"
    for name, inner in ("ba", "cb", "dc", "ed")
)


@pytest.mark.parametrize(
    "tex",
    [ENDLESS + r"\e{\e{x}}", r"\def\a{" + r"\sqrt" * 140 + r"}\def\b{" + r"\a" * 140 + r"}\b x"],
    ids=["groups", "roots"],
)
def test_what_commands_make_too_deep_takes_no_other_formula_down(clean, tex):
    clean.markdown(r"$$\newcommand{\R}{\mathbb{R}}x = y \label{first}$$")
    page = clean.markdown(f"so ${tex}$ and $\\R$, \\eqref{{first}}")
    assert len(clean.complaints) == 1
    assert "too long, or nested too deeply" in clean.complaints[0]
    assert [formula.get_text() for formula in read(page).find_all("math")] == [
        "ℝ",
        "(1)",
    ]


def test_a_formula_that_takes_too_long_is_ended(clean, monkeypatch):
    monkeypatch.setattr(formulas, "LONGEST_WAIT", 0.001)
    endless = "+".join(f"x_{{{i}}}" for i in range(5000))
    page = clean.markdown(f"$${endless}$$")
    assert "<math" not in page
    assert "too long" in clean.complaints[0]


def test_commands_hold_for_later_cells_and_their_cell_leaves_no_hole(clean):
    assert clean.markdown(r"$$\newcommand{\R}{\mathbb{R}} \newcommand{\vect}[1]{\mathbf{#1}}$$").strip() == ""
    assert clean.markdown(r"$\DeclareMathOperator{\softmin}{softmin}$").strip() == ""
    assert letters(clean.markdown(r"$\vect{x} \in \R^n$, $\softmin(x)$")) == "𝐱∈ℝn,softmin(x)"
    assert letters(clean.markdown(r"$\newcommand{\R}{R}\R$ and $\R$")) == "RandR", "the newest holds"
    assert clean.complaints == []


def test_an_equation_is_referred_to_from_before_and_after_it(clean):
    page = read(
        clean.markdown(
            r"See $\eqref{later}$ and \eqref{own}, \ref{own}, $\ref{later}$."
            "\n\n$$x = y \\label{later}$$\n\n"
            r"\begin{align}a &= b \tag{A}\label{own}\\ c &= d\end{align}"
            "\n\n" + r"As \ref{later} says"
        )
    )
    assert clean.complaints == []
    links = [(link.get_text(), link["href"]) for link in page.find_all("a")]
    assert [text for text, _ in links] == ["(1)", "(A)", "A", "1", "1"]
    for _, address in links:
        assert page.find(id=address[1:]) is not None


def test_a_link_and_a_coloured_box_hold_their_part_of_a_formula(clean):
    source = r"$\href{https://e.org/?a=1&b=\%22}{x^2 + \colorbox{yellow}{$y$ or \fcolorbox{red}{#ffe}{z}}}$"
    page = read(clean.markdown(source))
    link = page.a
    assert link["href"] == "https://e.org/?a=1&b=%22"
    assert letters(str(link)) == "x2+yorz"
    outer, inner = link.find_all("mrow", class_="coloured")
    assert outer["style"] == "background:yellow"
    assert letters(str(outer)) == "yorz"
    assert inner["style"] == "border:0.06em solid red;background:#ffe"
    assert letters(str(inner)) == "z"
    assert letters(str(page)) == "x2+yorz"


def test_the_relations_of_an_eqnarray_stand_below_each_other(clean):
    page = clean.markdown(r"\begin{eqnarray}a&=&b+1\\&\approx&c\\x \& y&\le&z\end{eqnarray}")
    rows = read(page).find_all("mtr")
    assert [[letters(str(cell)) for cell in row.find_all("mtd")] for row in rows] == [
        ["a", "=b+1"],
        ["", "≈c"],
        ["x&y", "≤z"],
    ]


def test_a_displayed_formula_that_cannot_be_set_is_a_paragraph(clean):
    page = read(clean.markdown("so $$\\nosuch$$ and"))
    assert [element.name for element in page.find_all(recursive=False)] == ["p", "p", "p"]
    assert page.find_all("p")[1].get_text() == r"\nosuch (not set: unknown command \nosuch)"


def test_a_text_keeps_its_spaces(clean):
    page = read(clean.markdown(r"$\text{50\% of a \& B, \textbf{5\$ off}}$"))
    assert page.math.get_text().replace("\xa0", " ") == "50% of a & B, 5$ off"


def test_the_letters_that_mark_a_box_are_no_way_to_open_one(clean):
    page = clean.markdown("$\\text{\ue000box\ue000}\\text{\ue000link\ue000zz}\\text{\ue001link}$")
    assert "coloured" not in page
    assert "<a" not in page


def test_only_what_is_referred_to_has_a_number(clean):
    assert letters(clean.markdown(r"\begin{equation}E=mc^2\end{equation}")) == "E=mc2"
    assert letters(clean.markdown(r"\begin{align}a&=b\\c&=d\label{x}\end{align}")) == "a=b(1)c=d(2)"


def test_an_array_keeps_its_rules_to_the_last(clean):
    page = clean.markdown(r"$$\begin{array}{|c|c|}\hline a&b\\ \hline c&d\\ \hline\end{array}$$")
    rows = read(page).find_all("mtr")
    assert page.count("border-right") == 4
    assert [row.find("mtd").get("columnspan") for row in rows] == [None, None, "2"]
    assert "border-top" in rows[2].find("mtd")["style"]


def test_what_stands_in_a_formula_is_no_html(clean):
    page = clean.markdown(
        r"$\text{<script>alert(1)</script>}$ $<img src=x onerror=alert(1)>$ $x\"onclick=\"y$"
    )
    soup = read(page)
    assert not soup.find_all(["script", "img"])
    assert not [tag for tag in soup.find_all(True) if any(name.startswith("on") for name in tag.attrs)]
