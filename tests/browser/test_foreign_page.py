"""The page of a notebook that is no lesson: boxes and strikes, colours in the dark, paper."""

import pytest
from nbformat.v4 import new_notebook

from tests.browser.foreign import COLOURS, CONTRAST, SUM
from tests.browser.pages import new_page
from tests.browser.waiting import act, box_of, each_of, measure
from tests.classroom.pages.handout.cells import code, page_of, text
from tests.offline_notebook.pages import shown

TABLE = "<table>" + "".join(f"<td>column_{number}</td>" for number in range(30)) + "</table>"
CELLS = [
    text(r"$\boxed{x}$ $\cancel{x}$ $\bcancel{x}$ $\xcancel{x}$"),
    text(r"\begin{align}a&=b\\c&=d\end{align}"),
    text(COLOURS),
    code("table", shown({"text/html": TABLE})),
    text(f"$${SUM}$$"),
]
STYLES = """(part) => { const { borderTopStyle, backgroundImage } = getComputedStyle(part);
    return [borderTopStyle, backgroundImage.split("linear-gradient").length - 1]; }"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "foreign.html"
    file.write_text(page_of(new_notebook(cells=CELLS)), encoding="utf-8")
    return file.as_uri()


def test_boxes_strikes_and_numbered_lines_are_seen(browser, address):
    with new_page(browser) as page:
        page.goto(address)
        enclosed = [measure(part, STYLES) for part in each_of(page.locator(".enclosed"))]
        assert enclosed == [["solid", 0], ["none", 1], ["none", 1], ["none", 2]]
        line = page.locator("math[display=block]").first
        first, number = box_of(line.locator("mi").first), box_of(line.locator("mtext").first)
        assert 0 < first["x"] < number["x"] < 1280


def test_what_an_author_has_coloured_can_be_read_in_the_dark(browser, address):
    with new_page(browser, color_scheme="dark") as page:
        page.goto(address)
        coloured = each_of(page.locator("main [style*=color]:not(math *), main div[style] code"))
        assert len(coloured) == 4
        assert min(measure(part, CONTRAST) for part in coloured) > 4.5


def test_nothing_wide_is_cut_on_paper(browser, address):
    with new_page(browser) as page:
        page.goto(address)
        act(page, "() => dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 643, "height": 900})  # A4, without its margins
        edges = "(part) => part.getBoundingClientRect().right"
        for part in (page.locator("td").last, page.locator("math[display=block]").last.locator("mn").last):
            assert measure(part, edges) <= 643 + 1
            hides = measure(
                part,
                """(part) => { for (let node = part; node !== document.body; node = node.parentElement)
                if (getComputedStyle(node).overflowX !== "visible") return node.outerHTML.slice(0, 99); }""",
            )
            assert not hides
