"""Handouts of notebooks of other people: cells that no lesson has, and links."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

from mha_lib.classroom.pages.handout import HandoutExporter
from tests.classroom.pages.handout.cells import Handout


def test_a_raw_cell_is_text_and_settings_for_a_converter_and_cells_to_remove_are_left_out():
    page = Handout(
        new_raw_cell("as *it* <is>"),
        new_raw_cell("---\ntitle: for a converter\n---"),
        new_code_cell("secret", metadata={"tags": ["remove-cell"]}),
    )
    assert [cell.get_text().strip() for cell in page.cells] == ["as *it* <is>"]


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
