"""Twice the notebook takes twice the work, whatever stands in it: calls are counted, no time is measured."""

from functools import partial

import pytest
from nbformat import from_dict

from offline_notebook import (
    Cleaner,
    Outputs,
    add_anchors,
    code_block,
    inside,
    mend_anchors,
    parse,
    say_where_figures_are,
)
from offline_notebook.links import free_anchor
from offline_notebook.markdown import LONGEST_CODE, MOST_MARKS
from offline_notebook.sanitise import DEEPEST
from tests.counting import growth_of_work
from tests.offline_notebook.pages import SENTENCES, shown

MARKDOWN = ["# a\n\n", "a\n\n", "a\n", "- a\n", "> ", "- ", "|a", "[a](#b) ", "![](x.png) ", "($a$) "]
MARKDOWN += ["*a **b ", "```\na\n```\n", "`a``", "<b>a</b>", "a <b ", "&amp;"]
HTML = [
    "<div><video>a</video></div>",
    "<p>a",
    "<li>a",
    "<p><b>",
    "a</p>",
    "<div>a</div></p>",
    "<p>a<hr>b</p>",
]
HTML += ["$$x$$ $y$"]
NESTED = ["<div>", "<i>a", "<b><p>a", "<table><tr><td>", "<svg>"]


def write(markdown="", outputs=()):
    cleaner = Cleaner(SENTENCES, lambda address: None, lambda complaint: None)
    cell = from_dict({"id": "a", "outputs": outputs})
    page = parse(f"<div data-cell='a'>{cleaner.markdown(markdown)}{Outputs({}, cleaner).of(cell)}</div>")
    cleaner.clean_tree(page)
    say_where_figures_are(page, SENTENCES)
    add_anchors(page, "link")
    mend_anchors(page, SENTENCES, lambda complaint: None)
    return inside(page)


@pytest.mark.parametrize("piece", MARKDOWN)
def test_twice_the_markdown_takes_twice_the_work(piece):
    assert growth_of_work(lambda n: write(piece * n), 150) < 2.2


@pytest.mark.parametrize("piece", HTML)
def test_twice_the_html_of_an_output_takes_twice_the_work(piece):
    assert growth_of_work(lambda n: write(outputs=[shown({"text/html": piece * n})]), 150) < 2.2


@pytest.mark.parametrize("piece", NESTED)
def test_twice_the_elements_without_an_end_take_twice_the_work(piece):
    assert growth_of_work(lambda n: write(piece * n), DEEPEST + 1) < 2.2
    assert growth_of_work(lambda n: write(outputs=[shown({"text/html": piece * n})]), DEEPEST + 1) < 2.2


def test_twice_the_figures_below_one_heading_take_twice_the_work():
    figure = f'<img alt="{SENTENCES["figure"]}">'
    write_names = partial(say_where_figures_are, words=SENTENCES)
    assert growth_of_work(lambda n: write_names(parse("<h1>a</h1>" + figure * n)), 150) < 2.2


class Anchors(dict):
    def __contains__(self, anchor):  # written in Python, so that it counts as a call
        return super().__contains__(anchor)


def test_twice_the_headings_of_one_name_take_twice_the_work():
    def name(count):
        taken = Anchors()
        return [free_anchor("a", taken) for _ in range(count)]

    assert name(3) == ["a", "a-2", "a-3"]
    assert growth_of_work(name, 150) < 2.2


class Seen(list):
    """A list that counts how often somebody looks into it."""

    looks = 0

    def __getitem__(self, place):
        self.looks += 1
        return super().__getitem__(place)

    def __iter__(self):
        return (self[place] for place in range(len(self)))


def test_a_child_is_found_near_the_one_that_was_found_before():
    paragraph = parse("<p>" + "<b></b>a" * 500 + "</p>").p
    paragraph.contents = Seen(paragraph.contents)
    for child in paragraph.find_all("b"):
        child.replace_with("b")
    assert paragraph.get_text() == "ba" * 500
    assert paragraph.contents.looks < 10 * 1000


SLOW = ["$" * (MOST_MARKS + 1), "`a" * 20_000, "*a_b" * 20_000, "# a" + " " * 1000]


@pytest.mark.parametrize("source", SLOW)
def test_markdown_that_a_parser_takes_the_square_of_is_shown_as_its_source_and_said(clean, source):
    assert clean.markdown(source) == f"<pre>{source}</pre>\n"
    assert clean.complaints == [SENTENCES["as_source"]]


def test_code_of_any_length_is_shown_and_has_colours_up_to_a_limit():
    assert "<span" in code_block("a = 1", "python")
    assert "<span" not in code_block("a = 1\n" * LONGEST_CODE, "python")
