"""Notebooks of other people: each output is shown, or the page and the terminal say that it is not."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

from mha_lib.classroom.pages.handout import HandoutExporter
from mha_lib.classroom.pages.html import plain
from tests.classroom.pages.handout.cells import PIXEL, VIEW, Handout, shown, stored

PLOTLY = "application/vnd.plotly.v1+json"
CDN = "https://cdn.example.org/figures@5?noext"
LOADER = f"<div id=a></div><script>load({{vega: '{CDN}'}}, (e) => a.innerHTML = e)</script>"
ANIMATION = """<div class="animation"><img id="picture"><div class="anim-buttons">
<button title="Play" onclick="play()"><i class="fa fa-play"></i></button></div></div>
<script>const frames = ["data:image/png;base64,AAAA"]; function play() {}</script>"""


def outputs(*bundles):
    return new_code_cell("", outputs=[shown(bundle) for bundle in bundles], id="figure")


@pytest.mark.parametrize(
    ("bundle", "reason"),
    [
        ({PLOTLY: {"data": []}, "text/plain": "Figure({" + "0, " * 100}, PLOTLY),
        ({"application/vnd.vegalite.v5+json": {}, "text/plain": "<VegaLite 5 object>"}, "vegalite"),
        ({"application/javascript": "draw()", "text/plain": "<Javascript object>"}, "javascript"),
        ({"application/pdf": "AAAA"}, "application/pdf"),
        ({"text/html": LOADER, "text/plain": "alt.Chart(...)"}, CDN),
        ({"text/html": f"<script src='{CDN}'></script><div style='height:9em'></div>", PLOTLY: {}}, CDN),
        ({"text/html": f"<script>import('{CDN}')</script>"}, CDN),
        ({"text/html": f"<iframe srcdoc='&lt;script src=\"{CDN}\"&gt;&lt;/script&gt;'></iframe>"}, CDN),
        ({"text/html": "<div data-root-id=p1></div>", "application/vnd.bokehjs_exec.v0+json": ""}, "bokeh"),
    ],
)
def test_a_figure_that_needs_jupyter_or_the_network_is_said(bundle, reason):
    page = Handout(outputs(bundle))
    assert len(page.notes) == len(page.said) == 1
    assert reason in page.notes[0]
    assert reason in page.said[0]
    assert "cell figure" in page.said[0]
    assert "object" not in page.main.get_text()
    assert page.main.find(["script", "iframe"]) is None


def test_a_picture_stands_in_for_what_only_jupyter_shows():
    sources: list[dict[str, object]] = [{PLOTLY: {}}, {"text/html": LOADER}]
    for source in sources:
        page = Handout(outputs({**source, "image/png": PIXEL}))
        assert page.main.find("img")["src"].endswith(PIXEL)
        assert page.notes == page.said == []


def test_the_rest_of_an_output_that_fetches_a_program_stays():
    page = Handout(outputs({"text/html": f"<table><td>kept</table><script src='{CDN}'></script>"}))
    assert page.main.table.get_text() == "kept"
    assert len(page.notes) == len(page.said) == 1


def test_an_animation_keeps_its_picture_its_buttons_and_its_frames():
    page = Handout(outputs({"text/html": ANIMATION}))
    assert page.main.find("img", id="picture") is not None
    assert page.main.find("button", title="Play").get_text() == "▶", "its font is in the network"
    assert "frames" in page.main.find("script").string
    assert page.notes == page.said == []


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
    page = Handout(outputs({"text/latex": source, "text/plain": "<Latex object>"}))
    assert len(page.main.find_all("math")) == formulas
    for formula in page.main.find_all("math"):
        formula.decompose()
    assert plain(str(page.cells[0])) == words
    assert page.said == []


def test_a_frame_keeps_its_style_and_its_prices():
    styled = "<style>#t {color: red}</style><table id=t><tr><td>$5 and $6</td><td>$x^2$</td></tr></table>"
    page = Handout(outputs({"text/html": styled}))
    assert "#t {color: red}" in page.html
    assert "$5 and $6" in page.main.table.get_text()
    assert len(page.main.table.find_all("math")) == 1


@pytest.mark.parametrize(
    ("metadata", "alt"), [({"image/png": None}, "Figure drawn"), ({"width": float("nan"), "alt": "a"}, "a")]
)
def test_odd_metadata_of_a_picture_stop_no_page(metadata, alt):
    page = Handout(new_code_cell("", outputs=[shown({"image/png": PIXEL}, **metadata)]))
    assert page.main.find("img")["alt"].startswith(alt)


@pytest.mark.parametrize("codes", ["\x1b[38m", "\x1b[48;5m", "\x1b[38;2;1m", "\x1b[999m", "\x1b[;;m"])
def test_odd_colours_of_a_terminal_stop_no_page(codes):
    page = Handout(new_code_cell("", outputs=[new_output("stream", text=f"a{codes}b<i>")]))
    assert re.fullmatch(r"a.*b<i>", page.main.find("pre").get_text())


def printed(text):
    return Handout(new_code_cell("", outputs=[new_output("stream", text=text)])).main.find("pre")


@pytest.mark.parametrize(
    ("text", "words", "links"),
    [
        (
            "see \x1b]8;id=1;https://e.org/?a=1&b\x1b\\\x1b[31mred\x1b[0m <i>\x1b]8;;\x1b\\, \x1b]0;title\x07"
            "\x1b]8;;javascript:alert(1)\x07plain\x1b]8;;\x07 end",
            "see red <i>, plain end",
            [("https://e.org/?a=1&b", "red <i>")],
        ),
        (
            "\x1b]8;;https://e.org/1\x07one\x1b]8;;https://e.org/2\x07two",
            "onetwo",
            [("https://e.org/1", "one"), ("https://e.org/2", "two")],
        ),
    ],
)
def test_links_of_a_terminal_lead_where_they_led_and_end_with_their_output(text, words, links):
    shown = printed(text)
    assert shown.get_text() == words
    assert [(link["href"], link.get_text()) for link in shown.find_all("a")] == links
    assert [found.get_text() for found in shown.select("a .ansi-red-fg")] == ["red"] * words.count("red")


@pytest.mark.parametrize(("kind", "name"), [("video/mp4", "video"), ("audio/x-wav", "audio")])
def test_films_and_sounds_are_played(kind, name):
    page = Handout(outputs({kind: "AAAA", "text/plain": "<Film object>"}))
    player = page.main.find(name)
    assert player["src"] == f"data:{kind};base64,AAAA"
    assert player.has_attr("controls")
    assert page.said == page.notes == []


@pytest.mark.parametrize("written", ["{}-{}", "{}_{}"])
@pytest.mark.parametrize(
    ("what", "open_", "in_folds"),
    [
        (("hide", "input"), {"result"}, {"source"}),
        (("hide", "output"), {"source"}, {"result"}),
        (("hide", "cell"), set(), {"source", "result"}),
        (("remove", "input"), {"result"}, set()),
        (("remove", "output"), {"source"}, set()),
        (("remove", "cell"), set(), set()),
    ],
)
def test_a_cell_is_folded_or_left_out_as_jupyter_book_does(written, what, open_, in_folds):
    metadata = {"tags": [written.format(*what)]}
    result = [shown({"text/plain": "result"})]
    page = Handout(new_code_cell("source", outputs=result, metadata=metadata))
    folds = page.main.find_all("details")
    seen = {word for fold in folds for word in ("source", "result") if word in fold.get_text()}
    for fold in folds:
        fold.decompose()
    left = {word for word in ("source", "result") if word in page.main.get_text()}
    assert (left, seen) == (open_, in_folds)


def test_without_javascript_a_widget_says_that_it_needs_it():
    for beside, words in (
        ({"text/plain": "alive in a trusted notebook"}, "needs JavaScript"),
        ({"text/plain": "a", "image/png": PIXEL}, None),
    ):
        models = stored(w=("AnyModel", {"_esm": "export default {}"}))
        page = Handout(outputs({VIEW: {"model_id": "w"}, **beside}), widgets=models)
        still = page.main.find(class_="still")
        assert (still.find(class_="words") is None) == (words is None), "the style sheet hides it"
        assert words is None or words in still.noscript.get_text()
        assert (still.find("img") is None) == (words is not None)


@pytest.mark.parametrize("tex", ["$$", "$", "", "$$$$"])
def test_an_empty_formula_stops_no_page(tex):
    Handout(outputs({"text/latex": tex}), new_markdown_cell(tex))


# ---- cells ----


def test_a_raw_cell_is_shown_as_its_format_says():
    page = Handout(
        new_raw_cell("as *it* is"),
        new_raw_cell("**bold**", metadata={"format": "text/markdown"}),
        new_raw_cell("<i>html</i>", metadata={"raw_mimetype": "text/html"}),
        new_raw_cell(r"\LaTeX", metadata={"format": "text/latex"}, id="tex"),
        new_raw_cell("---\ntitle: for a converter\n---", id="front"),
    )
    assert [cell.find(["pre", "strong", "i"]).get_text() for cell in page.cells] == [
        "as *it* is",
        "bold",
        "html",
    ]
    assert len(page.said) == 2
    assert "tex, of the type text/latex" in page.said[0]


def test_a_footnote_of_another_cell_is_shown_and_one_that_nobody_names_is_said():
    page = Handout(
        new_markdown_cell("a[^1] b[^far]"),
        new_markdown_cell("c[^1]\n\n[^1]: own\n[^lost]: nobody"),
        new_markdown_cell("[^Far]: the *far* one\n\n[^1]: other"),
        new_markdown_cell("notes\n\n[^secret]: for instructors", metadata={"tags": ["solution"]}),
    )
    notes = [[note.get_text().strip(" ↩") for note in cell.select(".footnotes li")] for cell in page.cells]
    assert notes[:2] == [["other", "the far one"], ["own"]]
    for link in page.main.select("sup a"):
        assert page.main.find(id=link["href"][1:]) is not None
    assert page.said == ["left out: the footnote lost, to which no text on the page refers"]
    assert "instructors" not in page.html


@pytest.mark.parametrize("fence", [":::", "```", "~~~~"])
def test_callouts_and_figures_of_myst_are_shown(fence):
    source = f"""{fence}{{warning}}
Be *careful* with $x$.
{fence}

{fence}{{tip}} My title
- a
{fence}

{fence}{{figure}} attachment:a.png
:alt: what it shows
:width: 300px

A caption of $y$.
{fence}

{fence}{{figure}} attachment:a.png
{fence}

```{{mermaid}}
graph TD
```"""
    page = Handout(new_markdown_cell(source, attachments={"a.png": {"image/png": PIXEL}}))
    warning, tip = page.main.select(".alert")
    assert [line.get_text() for line in warning.find_all("p")] == ["Warning", "Be careful with x."]
    assert tip.p.get_text() == "My title"
    assert tip.li.get_text() == "a"
    first, second = page.main.select("figure.picture")
    assert first.figcaption.get_text() == "A caption of y."
    assert (first.img["alt"], first.img["width"]) == ("what it shows", "300")
    assert first.img["src"].endswith(PIXEL)
    assert second.figcaption is None
    assert "graph TD" in page.main.find("pre").get_text()
    assert page.notes == ["Jupyter draws this as a diagram (mermaid); this page shows its text."]
    assert page.said == ["diagram left as its text: mermaid"]


@pytest.mark.parametrize(
    "source",
    [":::{note}", ":::{note}\n:::", ":::{figure}\n:::", ":::{figure} x\n- a\n:::", "::::{note}\n:::{tip}\n"],
)
def test_an_odd_directive_stops_no_page_and_swallows_nothing(source):
    page = Handout(new_markdown_cell(source), new_markdown_cell("after"))
    assert page.cells[-1].get_text().strip() == "after"
    assert page.cells[-1].find_parent(class_="alert") is None


def test_a_callout_in_html_and_a_task_list_are_shown_and_a_callout_has_its_name_in_the_pages_language():
    page = Handout(new_markdown_cell('<div class="alert alert-info">Note</div>\n\n- [x] done'))
    assert page.main.find(class_="alert").get_text() == "Note"
    assert ".alert-warning" in page.html
    assert page.main.find("input", checked=True) is not None
    page = Handout(new_markdown_cell(":::{warning}\n当心\n:::"), lang="zh")
    assert page.main.select_one(".alert p").get_text() == "警告"


def test_a_cell_of_definitions_leaves_no_hole():
    page = Handout(new_markdown_cell(r"$$\newcommand{\R}{\mathbb{R}}$$"), new_markdown_cell(r"$\R$"))
    assert page.cells[0].find(True) is None
    assert page.cells[1].math.get_text() == "ℝ"
    assert page.said == []


# ---- links ----


def test_links_lead_to_handouts_or_say_that_there_is_none():
    source = "[a](02_next.ipynb) [b](02_next.ipynb#Part-One) [c](09_gone.ipynb) [d](data.csv) [e](https://e.org/x.ipynb)"
    page = Handout(new_markdown_cell(source), handouts=["02_next"])
    links = [link["href"] for link in page.cells[0].find_all("a")]
    assert links == ["02_next.html", "02_next.html#part-one", "https://e.org/x.ipynb"]
    assert [span["title"] for span in page.cells[0].find_all(class_="beyond")] == [
        "Not among the handouts: 09_gone.ipynb",
        "Not among the handouts: data.csv",
    ]
    assert len(page.said) == 2


def test_the_handouts_beside_a_notebook_are_found(tmp_path):
    (tmp_path / "02 next.html").touch()
    notebook = new_notebook(cells=[new_markdown_cell("[a](02%20next.ipynb) [b](lesson.ipynb)")])
    resources = {"metadata": {"name": "lesson", "path": str(tmp_path)}}
    page, _ = HandoutExporter().from_notebook_node(notebook, resources)
    assert 'href="02%20next.html"' in page
    assert 'href="lesson.html"' in page


def test_links_to_headings_are_understood_as_jupyter_names_them():
    page = Handout(new_markdown_cell("## Part One\n\n[a](#Part-One) [b](#part-one) [c](#Nowhere)"))
    assert [link["href"] for link in page.main.select("p a")] == ["#part-one", "#part-one", "#Nowhere"]
    assert page.said == ["a link leads to #Nowhere, and nothing here is called that"]


# ---- widgets ----


def stills(**models):
    return Handout(outputs({VIEW: {"model_id": "top"}}), widgets=stored(**models))


@pytest.mark.parametrize(
    ("kind", "state", "words"),
    [
        ("IntRangeSliderModel", {"description": "range", "value": [2, 5]}, "range = 2 – 5"),
        (
            "DatePickerModel",
            {"description": "day", "value": {"year": 2024, "month": 0, "date": 5}},
            "day = 2024-01-05",
        ),
        ("TimeModel", {"description": "at", "value": {"hours": 9, "minutes": 5}}, "at = 09:05"),
        ("DatePickerModel", {"description": "day", "value": None}, "day"),
        ("CheckboxModel", {"description": "on", "value": True}, "on = ☑"),
        ("ButtonModel", {"description": "Run"}, "Run"),
        ("TagsInputModel", {"value": ["a", "b"]}, "a, b"),
        ("SelectionRangeSliderModel", {"_options_labels": ["a", "b", "c"], "index": [0, 2]}, "a, c"),
        ("LabelModel", {"value": "a < b"}, "a < b"),
        ("IntSliderModel", {"description": "seed", "value": 4}, "seed = 4"),
        (
            "DropdownModel",
            {"description": "how", "_options_labels": ["slow", "fast"], "index": 1},
            "how = fast",
        ),
    ],
)
def test_a_control_shows_its_value(kind, state, words):
    page = stills(top=(kind, state))
    assert plain(str(page.main.find(class_="control"))) == words
    assert page.said == []


@pytest.mark.parametrize("titles", [{"titles": ["One", "Two"]}, {"_titles": {"0": "One", "1": "Two"}}])
def test_tabs_have_their_titles_and_what_is_in_them(titles):
    picture = {"path": ["value"], "encoding": "base64", "data": PIXEL}
    page = stills(
        top=("TabModel", {"children": ["IPY_MODEL_a", "IPY_MODEL_b"], **titles}),
        a=("IntTextModel", {"value": 1}),
        b=("ImageModel", {"format": "png"}, picture),
    )
    assert [line.get_text() for line in page.main.find_all(class_="control")] == ["One", "1", "Two"]
    assert page.main.find("img")["src"] == f"data:image/png;base64,{PIXEL}"


def test_html_of_which_more_than_words_is_lost_is_said():
    page = stills(top=("HTMLModel", {"value": f"<b>bold</b><img src='data:image/png;base64,{PIXEL}'>"}))
    assert page.said == ["left out, since only Jupyter can show it: a widget of the kind HTML"]
    assert "bold" in page.main.get_text()
    assert len(page.notes) == 1


def test_a_widget_without_words_is_said():
    page = stills(
        top=("VBoxModel", {"children": ["IPY_MODEL_a", "IPY_MODEL_b"]}),
        a=("IntTextModel", {"value": 1}),
        b=("OwnModel", {"x": [{}]}),
    )
    assert page.notes == ["A widget stands here in the notebook (Own); this page can't show it."]
    assert page.said == ["left out, since only Jupyter can show it: a widget of the kind Own"]
    assert not re.search("IPY_MODEL", page.html)


def holding(*held):
    return ("OutputModel", {"outputs": [shown(data) for data in held]})


@pytest.mark.parametrize(
    "models",
    [
        {"top": holding({VIEW: {"model_id": "top"}}, {"text/plain": "kept"})},
        {
            "top": ("VBoxModel", {"children": ["IPY_MODEL_out", "IPY_MODEL_top"]}),
            "out": holding({VIEW: {"model_id": "top"}}, {"text/plain": "kept"}),
        },
    ],
)
def test_a_widget_that_holds_itself_is_shown_once(models):
    page = stills(**models)
    assert page.main.get_text().count("kept") == 1


def test_boxes_without_end_are_said():
    twice = {f"b{i}": ("VBoxModel", {"children": [f"IPY_MODEL_b{i + 1}"] * 2}) for i in range(30)}
    deep = {f"d{i}": ("VBoxModel", {"children": [f"IPY_MODEL_d{i + 1}"]}) for i in range(3000)}
    for models, top in ((twice, "b0"), (deep, "d0")):
        page = stills(top=("VBoxModel", {"children": [f"IPY_MODEL_{top}"]}), **models)
        assert "saved without its state" in page.notes[0]
        assert len(page.said) == 1


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("https://esm.sh/a", "https://esm.sh/a"),
        ("import c from 'https://esm.sh/c'\nexport default {}", "https://esm.sh/c"),
        ('const d3 = await import("d3"); export default {}', "d3"),
        ("export default { render() {} } // from here", None),
    ],
)
def test_a_widget_that_asks_for_another_program_is_said(module, name):
    page = stills(top=("AnyModel", {"_esm": module}))
    assert page.said == (
        [f"a widget can't start on the page: its program asks for another one, {name}"] if name else []
    )


def test_half_a_letter_stops_no_page():
    page = Handout(new_markdown_cell("# a\ud800b $\ud800$"), new_code_cell("'\udc00'"), summary="\ud800")
    assert page.html.encode()
    assert "a\ufffdb" in page.main.get_text()
