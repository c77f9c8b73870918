"""The text of a handout's page: things that must stand in it, and things that must not."""

import html
import json
import re
from urllib.parse import unquote

import nbformat
import pytest
from nbconvert.exporters import get_exporter
from nbformat.v4 import new_notebook, new_output

from mha_lib.classroom.lesson.outputs import check_metadata, progress_metadata, report_metadata
from mha_lib.classroom.pages.handout import HandoutExporter
from tests.classroom.pages.handout.cells import Handout, code, page_of, text, widget
from tests.lessons import ENGLISH, TRANSLATED, in_whole_runs, name_of
from tests.offline_notebook.pages import PIXEL, printed, read, shown, stored

HOSTILE = "</pre></script><script>alert(1)</script><img src=x onerror=alert(2)>"


def export(*cells, **about):
    return Handout(*cells, **about).html


# ---- slides and guesses ----


def test_what_follows_a_guess_is_its_result_but_for_the_code():
    source = "x = 6 * 7\ntick(\n    x == 42,\n    'so it is',\n)\nprint(x)\ntick(x, 'and not 0')"
    page = Handout(
        text("## One\n\nShown.", slide="slide"),
        code("1", printed("one"), slide="fragment"),
        text("## Two\n\n*Guess!*", slide="slide", tags=["guess"]),
        code(source, printed("42"), slide="fragment", id="code"),
        code("y = x - 42\ntick(y == 0, 'none')", printed("✓"), slide="skip", id="check"),
        text("Forty-two.", slide="skip", tags=["why"], id="because"),
        text("Ask the class.", slide="notes", id="notes"),
        text("## Three", slide="subslide", id="three"),
        audience="instructor",
    ).soup
    first, second, third = page.select("main > section.slide")
    assert not first.select(".result, .guess")
    assert second.select_one(".guess").get_text().startswith("\nTwo")
    assert "result" in second.select_one("#because")["class"]
    assert "result" in second.select_one("#check")["class"], "what prepares a check tells what it finds"
    assert "result" not in second.select_one("#notes")["class"]
    assert "result" in second.select_one("#code .outputs")["class"]
    lines = [line.get_text() for line in second.select("#code .code .result")]
    assert lines == ["tick(\n    x == 42,\n    'so it is',\n)\n", "tick(x, 'and not 0')"]
    assert second.select_one("#code code").get_text() == source
    assert not third.select(".result")


# ---- audiences ----


def test_a_why_stands_open_and_helpers_are_folded_under_the_line_that_names_them():
    def helper(source):
        cell = code(source, slide="skip", tags=["setup"])
        cell.metadata["jupyter"] = {"source_hidden": True}
        return cell

    page = export(
        text("# A"),
        text(
            "<details><summary>Why</summary>\n\nBecause $x$ is *small*.\n\n</details>",
            slide="skip",
            tags=["why"],
        ),
        helper("# Helper: imports <all>\nimport x"),
        code("secret", slide="skip"),
        helper("import y"),
        code("class Shown: ...", slide="skip", tags=["setup"]),
    )
    soup = read(page)
    opened, folded = soup.select_one(".why details[open]"), soup.select("details.fold-code:not([open])")
    assert opened.select_one("p em").get_text() == "small"
    assert opened.select_one("p .formula")
    assert [one.summary.get_text() for one in folded] == ["Helper: imports <all>", "Code"]
    assert ["import x" in folded[0].get_text(), "import y" in folded[1].get_text()] == [True, True]
    assert not soup.find(string="Shown").find_parent("details")
    assert "secret" not in page


def test_code_folds_behind_what_it_draws_as_in_the_deck_unless_the_slide_is_about_it():
    table = shown({"text/html": "<table><tr><td>1</td></tr></table>"})
    page = Handout(
        code("drawn", shown({"image/png": PIXEL}), id="drawn"),
        code("set", table, id="set"),
        code("read", table, tags=["about-code"], id="read"),
        code("printed", printed("<table>"), id="printed"),
    )
    assert [cell["id"] for cell in page.cells if cell.find("details")] == ["drawn", "set"]


def test_a_lesson_opens_with_its_first_live_picture_and_asks_a_guess_of_it():
    mha = {"lesson": "03_x", "language": "en"}
    cells = [
        text("# A", "slide"),
        text("## B", "slide"),
        widget("live"),
        text("## C", "slide"),
        widget("late"),
    ]
    lives = ("AnyModel", {"_esm": ""})
    about = {"mha": mha, "widgets": stored(live=lives, late=lives)}
    page = Handout(*cells, guess="*Who?*", **about)
    opening = page.main.select_one("h1").find_next(id="opening")
    assert opening.em.text == "Who?"
    assert [one["data-widget"] for one in page.main.select("figure")] == ["live", "live", "late"]
    answer = opening.find_next_sibling(class_="result")
    assert page.main.find(id=answer.a["href"][1:]).find_next("h2").text.startswith("B")
    assert not Handout(*cells, **about).main.find(id="opening"), "nothing is asked"


def test_notes_skipped_cells_and_solutions_are_in_no_students_file():
    cells = [
        text("# Shown"),
        text("secret-note", slide="notes"),
        code("secret_skip", slide="skip"),
        code("secret_solution", printed("secret-output"), slide="skip", tags=["solution"]),
        text("## secret-heading", tags=["solution"]),
    ]
    student, instructor = export(*cells), export(*cells, audience="instructor")
    assert "Shown" in student
    assert "secret" not in student
    assert "secret_skip" not in instructor
    for kept in ("secret-note", "secret_solution", "secret-output", "secret-heading"):
        assert kept in instructor
    assert instructor.count('<details class="fold fold-solution">') == 2


@pytest.mark.parametrize("lesson", [ENGLISH[0], *in_whole_runs([*ENGLISH[1:], *TRANSLATED])], ids=name_of)
def test_no_text_of_a_lessons_solutions_is_anywhere_in_the_students_file(lesson):
    notebook = nbformat.read(lesson, as_version=4)
    models, others = {}, ""
    for cell in notebook.cells:
        if "solution" not in cell.metadata.get("tags", []):
            others += cell.source
        elif cell.cell_type == "code":  # as if it had been run: it printed, and it showed a widget
            models[f"w-{cell.id}"] = ("AnyModel", {"_esm": "secret module", "label": "secret label"})
            cell.outputs = [printed("secret output"), widget(f"w-{cell.id}").outputs[0]]
    notebook.metadata["widgets"] = stored(**models)
    page = page_of(notebook, lesson.stem, lesson.parent)
    assert "secret" not in page
    lines = [
        line.strip()
        for cell in notebook.cells
        if "solution" in cell.metadata.get("tags", [])
        for line in cell.source.splitlines()
        if len(line.strip()) > 12 and line.strip() not in others
    ]
    assert lines
    words = html.unescape(re.sub(r"<[^>]*>", "", page))
    assert [line for line in lines if line in words or line in page] == []


def test_an_exercise_that_the_page_cannot_judge_names_the_step_in_which_it_is_answered():
    lesson = ENGLISH[0]
    page = page_of(nbformat.read(lesson, as_version=4), lesson.stem, lesson.parent)
    exercises = [cell for cell in read(page).select(".exercise") if cell.select("pre, .small")]
    for exercise in exercises:
        section = exercise.find_parent("section")
        address = section.select_one(".address").get_text()
        said = [line.get_text() for line in section.select(".where")]
        line = f"Answer it in the notebook, which checks it: step {address}."
        assert said == ([] if exercise.select(".small") else [line])
    assert {bool(exercise.select(".small")) for exercise in exercises} == {True, False}


# ---- terms ----

SECOND = {
    "en": (
        "A **head** looks at keys. A **softmax mix** of $keys$ is a sum.",
        "## Heads and keys\n\nHeads `head` [head](x) $head$ self-head: a head start. Softmax mixes, heads.",
    ),
    "zh": ("**头**看键。**多头**是几个头。", "## 头\n\n箭头、多头与头、`键`、键。"),
}
LINKED = {
    "en": [["01_x.html#term-key"], ["#term-head", "#term-softmax-mix"]],
    "zh": [["01_x.html#term-键"], ["#term-多头", "#term-头", "01_x.html#term-键"]],
}


@pytest.mark.parametrize("lang", SECOND)
def test_a_term_is_marked_where_it_is_defined_and_linked_once_on_each_later_slide(tmp_path, lang):
    first = {"en": "A **key** is found.", "zh": "**键**供人查找。"}[lang]
    cells = [text(first, slide="slide", id="one")]
    earlier = new_notebook(cells=cells, metadata={"mha": {"lesson": "01_x", "language": lang}})
    (tmp_path / "01_x.ipynb").write_text(nbformat.writes(earlier), encoding="utf-8")
    (tmp_path / "00_none.ipynb").write_text("no notebook")
    slides = [text(said, slide="slide", id=f"s-{number}") for number, said in enumerate(SECOND[lang])]
    about = {"mha": {"lesson": "02_x", "language": lang}}
    linked = {
        handouts: Handout(*slides, name="02_x", folder=tmp_path, handouts=handouts, **about)
        for handouts in (("00_none", "01_x"), ())
    }
    page = linked["00_none", "01_x"]
    links = [[link["href"] for link in slide.select("a.term")] for slide in page.main.select(".slide")]
    assert [[unquote(href) for href in hrefs] for hrefs in links] == LINKED[lang]
    assert page.main.select_one("a.term")["title"] == first.replace("*", "")
    for definition in page.main.select("dfn"):
        assert f"#{definition['id']}" in LINKED[lang][1]
    assert len(page.main.select("dfn")) == 2
    assert not linked[()].main.select("a[href*='01_x']"), "that lesson has no handout"
    plain = Handout(*slides, name="02_x", folder=tmp_path, handouts=["01_x"])
    assert not plain.main.select("dfn, a.term"), "a notebook that is no lesson"


# ---- text ----


def test_headings_have_anchors_of_their_own_and_stand_in_the_contents():
    page = export(
        text("# Title"),
        text("## Same `code` $x$\n\n### Same"),
        text("## Same"),
        text("## 多头注意力"),
        code("", shown({"text/markdown": "## Printed"})),
    )
    contents = page[page.index("<nav") : page.index("</nav>")]
    anchors = re.findall(r'<a href="#([^"]+)"', contents)
    assert len(set(anchors)) == 4
    assert "多头注意力" in anchors
    for anchor in anchors:
        assert page.count(f'id="{anchor}"') == 1
    assert not re.search("Title|Printed", contents)
    assert "<title>Title</title>" in page


@pytest.mark.parametrize(
    ("language", "said", "contents", "is_known"),
    [
        ("en", "en", "Contents", True),
        ("zh-TW", "zh-TW", "目录", True),
        ("fr", "fr", "Contents", False),
    ],
)
def test_the_language_is_said_once_and_spoken_or_its_words_are_english(language, said, contents, is_known):
    page = Handout(text("## a"), lang=language)
    assert f'<html lang="{said}"' in page.html
    assert contents in page.html
    unknown = f"No words are known for the language {language}: what the software says is in English."
    assert page.said == ([] if is_known else [unknown])


@pytest.mark.parametrize(
    ("cells", "title", "headings"),
    [
        ([text("# A *lesson*\n\n## Part")], "A lesson", ["A lesson", "Part"]),
        ([text("## Part")], "Part", ["Part"]),
        ([text("words")], "03_lesson", ["03_lesson"]),
        ([text("# Secret", slide="notes"), text("## Part")], "Part", ["Part"]),
    ],
)
def test_the_title_is_said_once(cells, title, headings):
    page = Handout(*cells).soup
    assert page.title.get_text() == title
    assert [heading.get_text().rstrip("#") for heading in page.main.find_all(["h1", "h2"])] == headings


# ---- outputs that only a notebook needs ----


@pytest.mark.parametrize(("state", "is_shown"), [("not yet", False), ("wrong", True)])
def test_what_an_answer_was_told_is_in_a_handout_but_not_that_there_is_none(state, is_shown):
    states = {"split_heads": state, "multi_head": "not yet"}
    verdict = shown({"text/plain": "said of split_heads"}, **check_metadata("split_heads", state))
    report = shown({"text/plain": "said in the report"}, **report_metadata(states))
    page = Handout(
        text("## Exercise"),
        code("def answer(): ...", tags=["exercise"]),
        code("check.it(answer)", verdict),
        code("line = ...  # yours", verdict, tags=["exercise"]),
        text("## What you have solved"),
        code("check.report()", report),
        text("## Sources"),
    )
    words = page.main.get_text()
    for kept in ("Exercise", "def answer", "# yours", "Sources"):
        assert kept in words
    for said in ("said of split_heads", "check.it", "said in the report", "What you have solved"):
        assert (said in words) == is_shown, said


# ---- hostile text ----


def test_what_a_program_prints_stays_text():
    page = export(
        code(
            "1",
            printed(HOSTILE),
            new_output("error", ename=HOSTILE, evalue=HOSTILE, traceback=[HOSTILE]),
            new_output("error", ename=HOSTILE, evalue=HOSTILE, traceback=[]),
            shown({"text/markdown": "[a link](javascript:alert(1))"}),
            *(shown({mime: HOSTILE}) for mime in ("text/plain", "text/markdown")),
            shown({"application/json": {"a": HOSTILE}}),
            shown({"application/javascript": "alert(1)"}),
            shown({"image/svg+xml": f"<svg>{HOSTILE}</svg>"}),
            shown({"image/png": f'"><script>alert(1)</script>{PIXEL}'}, alt=f'"{HOSTILE}'),
        ),
        name=HOSTILE,
        title=HOSTILE,
        lang='en"><script>alert(1)</script>',
        summary=f'"{HOSTILE}',
    )
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    for tag in read(page).find_all(True):
        assert not [name for name in tag.attrs if name.startswith("on")], tag
        assert not str(tag.get("href", "")).startswith("javascript:"), tag


def test_widget_state_is_text():
    page = export(
        widget("drop"),
        widget("live"),
        widget(f"x{HOSTILE}"),
        widgets=stored(
            drop=(f"{HOSTILE}Model", {}),
            live=("AnyModel", {"_esm": "export default {}", "label": HOSTILE}),
        ),
    )
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    data = json.loads(page.split('id="widgets">')[1].split("</script>")[0])
    assert data["models"]["live"]["state"]["label"] == HOSTILE


# ---- widgets ----


def test_explorers_share_one_copy_of_their_module():
    module = "export default { render() {} } // once"
    states = {name: ("AnyModel", {"_esm": module, "_css": "p {}", "n": 1}) for name in "ab"}
    page = export(widget("a"), widget("b"), widget("a"), widgets=stored(**states))
    assert page.count("// once") == 1
    assert page.count("data-widget=") == 3
    assert len(json.loads(page.split('id="widgets">')[1].split("</script>")[0])["models"]) == 2


def test_a_widget_nobody_knows_falls_back_on_what_lies_beside_it():
    states = stored(known=("CustomModel", {"secret": [1, 2]}))
    page = Handout(
        widget("known", **{"text/plain": "as text"}),
        widget("gone", **{"text/plain": "<Thing object at 0x7f00>"}),
        widgets=states,
    )
    assert "as text</pre>" in page.html
    assert "0x7f00" not in page.html
    assert "the notebook lacks its state, or was not saved on this machine by make lab" in page.html
    known, lacking = page.said
    assert known == "left out, since only Jupyter can show it: a widget of the kind Custom"
    assert "lacks their state" in lacking
    assert ": 1 widgets." in lacking


def test_nothing_is_left_of_the_line_of_a_training():
    line = shown({"text/plain": "█░ step 1 of 2"}, **progress_metadata(1, 2, "step 1 of 2"))
    assert not Handout(code("", line)).soup.select(".outputs")


def test_links_lead_to_handouts_or_say_that_there_is_none():
    source = "[a](02_next.ipynb#Part-One) [c](09_gone.ipynb) [e](https://e.org/x.ipynb)"
    page = Handout(text(source), handouts=["02_next"])
    links = [link["href"] for link in page.cells[0].find_all("a")]
    assert links == ["02_next.html#part-one", "https://e.org/x.ipynb"]
    gone = [span["title"] for span in page.cells[0].find_all(class_="beyond")]
    assert gone == ["Not among the handouts: 09_gone.ipynb"]
    assert len(page.said) == 1


def test_links_to_headings_are_understood_as_jupyter_names_them():
    page = Handout(text("## Part One\n\n[a](#Part-One) [c](#Nowhere)"))
    assert [link["href"] for link in page.main.select("p a")] == ["#part-one", "#Nowhere"]
    assert page.said == ["a link leads to #Nowhere, and nothing here is called that"]


def test_nbconvert_finds_the_exporter():
    assert get_exporter("handout") is HandoutExporter


# ---- notebooks of others ----


@pytest.mark.parametrize(
    ("tag", "open_", "folded"),
    [
        ("", "CODE OUT", ""),
        ("hide-input", "OUT", "CODE"),
        ("hide_output", "CODE", "OUT"),
        ("hide-cell", "", "CODE OUT"),
        ("remove_input", "OUT", ""),
        ("remove-output", "CODE", ""),
        ("remove_cell", "", ""),
    ],
)
def test_tags_hide_or_remove_what_they_name(tag, open_, folded):
    main = Handout(code("CODE", printed("OUT"), tags=[tag] if tag else [])).main
    inside = " ".join(part.get_text() for part in main.select("details :is(code, pre:not(.code pre))"))
    assert re.findall("CODE|OUT", inside) == folded.split()
    for part in main.select("details"):
        part.decompose()
    assert re.findall("CODE|OUT", main.get_text()) == open_.split()


def test_cells_on_no_slide_are_counted_in_a_notebook_that_is_no_lesson():
    cells = [text("# A deck"), code("import numpy", slide="skip"), text("To read at home.", slide="skip")]
    assert [said for said in Handout(*cells).said if "2 cells" in said]
    lesson = {"lesson": "03_lesson", "language": "en", "kind": "source"}
    assert Handout(*cells, mha=lesson).said == []


@pytest.mark.parametrize(
    ("words", "about", "language"),
    [
        ("# 注意力\n\n用 `softmax` 算权重。", {}, "zh"),
        ("# Attention, which Chinese texts call 注意力", {}, "en"),
        ("# 注意の仕組みについて", {}, "en"),
        ("# 注意力", {"lang": "en"}, "en"),
    ],
)
def test_a_page_names_the_language_of_its_letters_where_the_notebook_names_none(words, about, language):
    assert Handout(text(words), **about).soup.html["lang"] == language
