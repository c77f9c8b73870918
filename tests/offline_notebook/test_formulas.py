"""TeX as teachers write it: it is set right, or it stays as it is and is said."""

import re

import pytest

from offline_notebook import formulas
from tests.offline_notebook.pages import read


def letters(page):
    """The letters of the formulas, without spaces and without what readers do not see."""
    return "".join(re.sub("[\u2061-\u2064]", "", read(page).get_text()).split())


FORMULAS = {
    r"\operatorname*{arg\,max}_\theta x": "argmaxθx",
    r"\begin{cases}0 & j \le n\\ -\infty & \text{otherwise}\end{cases}": "{0j≤n−∞otherwise",
    r"\begin{align*}a&=b\\&=c\end{align*}": "a=b=c",
    r"1{,}050{,}624 \text{ 注意力}": "1,050,624注意力",
    r"\underbrace{W_1 \cdots W_h}_{h \text{ heads}}": "W1⋯Wh⏟hheads",
    r"\begin{bmatrix}1&2\\3&4\end{bmatrix} \in \mathbb{R}^{2 \times 2}": "[1234]∈ℝ2×2",
    r"\textcolor{#0067A5}{\mathbf{Q}_i} {\color{#B04500}{K}} \textcolor{red}{y}": "𝐐iKy",
    r"\begin{array}{c}\Huge\texttt{E T ?}\\[1em]\small\text{key}\end{array}": "ET?key",
    r"\frac{\partial^2 L}{\partial \theta_i \partial \theta_j}": "∂2L∂θi∂θj",
}


def test_what_stands_in_each_formula_is_shown(clean):
    page = clean.markdown("\n\n".join(f"$${tex}$$" for tex in FORMULAS))
    assert clean.complaints == []
    assert [letters(str(formula)) for formula in read(page).select(".formula")] == list(FORMULAS.values())
    assert re.findall(r'style="color:([^;"]+)', page) == ["var(--q)", "var(--k)", "#FF0000"]


@pytest.mark.parametrize(
    ("tex", "reason"),
    [
        (r"\nosuchcommand{x}", "unknown command \\nosuchcommand"),
        (r"\href{javascript:alert(1)}{x}", "unknown command \\href"),
        (r"\frac{1", "reached end of input"),
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


DEEP = {
    "roots by commands": r"\def\a{" + r"\sqrt" * 140 + r"}\def\b{" + r"\a" * 140 + r"}\b x",
    "fractions": r"\frac{1}{1+" * 1000 + "x" + "}" * 1000,
}


@pytest.mark.parametrize("tex", DEEP.values(), ids=DEEP)
def test_what_is_too_deep_or_too_long_takes_no_other_formula_down(clean, tex):
    clean.markdown(r"$$\newcommand{\R}{\mathbb{R}}x = y$$")
    page = clean.markdown(f"so ${tex}$ and $\\R$")
    assert len(clean.complaints) == 1
    assert "too long, or nested too deeply" in clean.complaints[0]
    assert [formula.get_text() for formula in read(page).find_all("math")] == ["ℝ"]


def test_a_formula_that_takes_too_long_is_ended(clean, monkeypatch):
    monkeypatch.setattr(formulas, "LONGEST_WAIT", 0.001)
    endless = "+".join(f"x^{{{i}}}" for i in range(5000))
    page = clean.markdown(f"$${endless}$$")
    assert "<math" not in page
    assert "too long" in clean.complaints[0]


def test_commands_hold_for_later_cells_and_their_cell_leaves_no_hole(clean):
    assert clean.markdown(r"$$\newcommand{\R}{\mathbb{R}} \newcommand{\vect}[1]{\mathbf{#1}}$$").strip() == ""
    assert letters(clean.markdown(r"$\vect{x} \in \R^n$")) == "𝐱∈ℝn"
    assert clean.complaints == []


def test_what_stands_in_a_formula_is_no_html(clean):
    page = clean.markdown(
        r"$\text{<script>alert(1)</script>}$ $<img src=x onerror=alert(1)>$ $x\"onclick=\"y$"
    )
    soup = read(page)
    assert not soup.find_all(["script", "img"])
    assert not [tag for tag in soup.find_all(True) if any(name.startswith("on") for name in tag.attrs)]
