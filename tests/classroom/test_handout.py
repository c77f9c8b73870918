"""The handout's page, as text: what stands in it and what must not."""

import json
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from mha_lib.classroom.handout import HandoutExporter, write_handouts

pytestmark = pytest.mark.filterwarnings("ignore:path is deprecated")  # in ziamath, on Python 3.11

FIGURE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="4"/></svg>'


def export(*cells, edition="student", name="03_lesson", folder=".", **metadata):
    notebook = new_notebook(cells=list(cells), metadata=metadata)
    exporter = HandoutExporter(edition=edition)
    page, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": name, "path": str(folder)}})
    return page


def text(source, slide="-", tags=()):
    return new_markdown_cell(source, metadata={"slideshow": {"slide_type": slide}, "tags": list(tags)})


def code(source, *outputs, slide="-", tags=()):
    metadata = {"slideshow": {"slide_type": slide}, "tags": list(tags)}
    return new_code_cell(source, outputs=list(outputs), metadata=metadata)


def result(**data):
    return new_output("display_data", data={name.replace("_", "/", 1): value for name, value in data.items()})


def test_notes_skipped_cells_and_solutions_are_in_no_students_file():
    cells = [
        text("# Shown"),
        text("secret-note", slide="notes"),
        code("secret-skip", slide="skip"),
        code(
            "secret_solution",
            new_output("stream", text="secret-output"),
            slide="skip",
            tags=["solution"],
        ),
        text("secret_solution in words", tags=["solution"]),
    ]
    student, instructor = export(*cells), export(*cells, edition="instructor")
    assert "Shown" in student
    assert "secret" not in student
    assert "secret_solution" in instructor
    assert '<details class="fold fold-solution">' in instructor
    assert "secret-output" in instructor
    assert "secret-note" in instructor
    assert "secret-skip" not in instructor


def test_formulas_are_drawn_and_can_be_read_aloud():
    page = export(text(r"Weights $\frac{QK^\top}{\sqrt{d}}$ and $$\sum_i \alpha_i v_i$$"))
    assert page.count('class="formula"') == 2
    assert page.count("<math ") == 2
    assert r'alttext="\frac{QK^\top}{\sqrt{d}}"' in page
    assert "<mfrac" in page
    assert "<use " in page


def test_a_dollar_in_a_price_or_in_code_is_no_formula():
    prices = export(text("An hour costs $5 to $10, a year $ 300 $; `echo $HOME $PATH`\n\n    a = '$x$'\n"))
    assert 'class="formula"' not in prices
    assert "$5 to $10" in prices
    fenced = export(text("```sh\n$$x$$ \\begin{aligned}a\\end{aligned} $y$\n```"))
    assert 'class="formula"' not in fenced


def test_a_formula_nobody_can_read_stays_tex(caplog):
    page = export(text(r"so $\nosuchcommand{x}$ and $\frac{1$ and $x$"))
    assert r'<code class="tex">\nosuchcommand{x}</code>' in page
    assert r'<code class="tex">\frac{1</code>' in page
    assert page.count('class="formula"') == 1
    assert "unknown command" in caplog.text


def test_pictures_beside_the_notebook_are_inlined_with_their_alt_text(tmp_path):
    (tmp_path / "img").mkdir()
    (tmp_path / "img" / "x.svg").write_text(FIGURE)
    folder = tmp_path / "notebooks" / "en"
    folder.mkdir(parents=True)
    page = export(text("![a *round* thing](../../img/x.svg)"), folder=folder)
    assert 'src="data:image/svg+xml;base64,' in page
    assert 'alt="a round thing"' in page


def test_what_a_program_prints_stays_text():
    hostile = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>"
    page = export(
        code(
            "1",
            new_output("stream", text=hostile),
            new_output("error", ename=hostile, evalue=hostile, traceback=[hostile]),
            result(text_plain=hostile),
            result(text_markdown=hostile),
            result(text_latex=hostile),
            result(**{"image_svg+xml": f"<svg>{hostile}</svg>"}),
        ),
        name=hostile,
    )
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert export(text("<b class=mine>bold</b>")).count("<b class=mine>bold</b>") == 1


def test_widget_state_cannot_end_its_element():
    state = {"_esm": "export default {render() {}}", "label": "</script><script>alert(1)</script>"}
    model = {"model_name": "AnyModel", "model_module": "anywidget", "state": state}
    widgets = {"application/vnd.jupyter.widget-state+json": {"state": {"abc": model}}}
    view = result(**{"application_vnd.jupyter.widget-view+json": {"model_id": "abc"}})
    page = export(code("explorer", view), widgets=widgets)
    assert 'data-widget="abc"' in page
    assert "</script><script>alert" not in page
    stored = page.split('id="widgets">')[1].split("</script>")[0]
    assert json.loads(stored)["models"]["abc"]["state"]["label"] == state["label"]


def test_write_handouts_reads_lessons_afresh_and_lists_them(tmp_path, capsys):
    import nbformat

    folder = tmp_path / "notebooks" / "en"
    folder.mkdir(parents=True)
    good, broken = folder / "01_good.ipynb", folder / "02_broken.ipynb"
    cells = [
        text("# Good one\n\nA summary."),
        code("print(6 * 7)"),
        code("print('sec' + 'ret')", tags=["solution"]),
    ]
    nbformat.write(new_notebook(cells=cells), good)
    broken.write_text("no json")
    before = good.read_bytes()
    assert write_handouts([good, broken], tmp_path / "build") == 1
    assert "02_broken.ipynb is not a notebook" in capsys.readouterr().err
    page = (tmp_path / "build" / "en" / "01_good.html").read_text()
    assert "42" in page
    assert "secret" not in page
    assert good.read_bytes() == before
    assert 'href="en/01_good.html"' in (tmp_path / "build" / "index.html").read_text()
    assert sorted(path.name for path in (tmp_path / "build" / "en").iterdir()) == ["01_good.html"]


def test_nbconvert_finds_the_exporter():
    pytest.importorskip("nbconvert")
    from nbconvert.exporters import get_exporter

    assert get_exporter("handout") is HandoutExporter


def test_the_package_carries_its_page():
    import mha_lib.classroom.handout as handout

    assert {"page.html", "page.css", "page.js", "index.html"} <= {
        path.name for path in Path(handout.__file__).parent.iterdir()
    }
