"""The one pass over a finished page: what it mends, what it puts in and what it leaves out."""

import json
import os
from urllib.parse import unquote

import pytest

from mha_lib.classroom.pages.html import closed, plain, to_html
from tests.classroom.pages.pages import read
from tests.counting import growth_of_work

DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><text>keys</text></svg>'
GIF = "data:image/gif;base64,R0lG"
FAR = "https://example.org/x"
LINK = f'<a href="{FAR}">{FAR}</a>'


# ---- closed within itself ----


@pytest.mark.parametrize(
    ("piece", "whole"),
    [
        ("<b>bold", "<b>bold</b>"),
        ("</div>a</b>", "a"),
        ("<div>a</b></div>", "<div>a</div>"),
        ("<details><summary>s", "<details><summary>s</summary></details>"),
        ("<textarea>a", "<textarea>a</textarea>"),
        ("<img src=x><br>", '<img src="x"><br>'),
        ("a &lt; b &amp; c", "a &lt; b &amp; c"),
        ("<i data-b=1 class='y x' id=z>a</i>", '<i data-b="1" class="y x" id="z">a</i>'),
        ("notes.html", "notes.html"),
        ("<?xml version='1.0'?><svg></svg>", "<svg></svg>"),
        ("<svg viewBox='0 0 1 1'/>", '<svg viewBox="0 0 1 1"></svg>'),
        ("<svg><style>a &lt;b></style></svg>", "<svg><style>a &lt;b&gt;</style></svg>"),
        ("<xmp>a <b></xmp><pre>\n\na</pre>", "<xmp>a <b></xmp><pre>\n\na</pre>"),
        ("a <b title='c", "a "),
        ("<p><b>" * 5, "".join(f"<p>{'<b>' * n}{'</b>' * n}</p>" for n in (1, 2, 3, 4, 4))),
    ],
)
def test_a_piece_of_html_is_closed_within_itself(piece, whole):
    assert closed(piece) == whole


@pytest.mark.parametrize(
    ("piece", "words"),
    [
        ("<style> one", "<style> one"),
        ("<style>p {} </style> one <style> two", "one <style> two"),
        ("<!-- one", "<!-- one"),
        ("<!-- gone --> one <!----> two <!--> three", "one two three"),
        ("<script>let a = '<!--'</script> one", "one"),
        ("<plaintext> one", "<plaintext> one"),
        ("<textarea> one", "one"),
        ("<noscript> one", "one"),
    ],
)
def test_what_stands_after_something_left_open_is_still_read(piece, words):
    tree = read(closed(piece))
    assert " ".join(tree.get_text().split()) == words


@pytest.mark.parametrize("opened", ["<!-- a", "<style>p {", "<script>if (a", "<title>", "<table><tr><td>"])
def test_what_a_piece_leaves_open_swallows_nothing_after_it(opened):
    page = read(f"<div>{closed(opened)}</div><p>after</p>")
    assert [element.name for element in page.find_all(recursive=False)] == ["div", "p"]


def test_html_around_markdown_holds_all_of_it():
    source = '<div class="box"><img src="data:image/gif;base64,R0lG">\n\nsome *text*\n\n</div>\n\nbelow'
    box, below = read(closed(to_html(source))).find_all(recursive=False)
    assert plain(str(box)) == "some text"
    assert below.get_text() == "below"


# ---- a page without faults ----

FIGURE = f'<img src="{GIF}" class="paper" alt="">'


@pytest.mark.parametrize(
    ("html", "mended"),
    [
        ("<p>a<pre>b</pre>c</p>", "<p>a</p><pre>b</pre><p>c</p>"),
        ("<p><div>a</div></p>", "<div>a</div>"),
        ("<p>a<b>b<table></table>c</b>d</p>", "<p>a<b>b</b></p><table></table><p><b>c</b>d</p>"),
        ("<p>a<ul></ul>b<ol></ol>c</p>", "<p>a</p><ul></ul><p>b</p><ol></ol><p>c</p>"),
        ("<p class=x id=y>a<hr>b</p>", '<p class="x" id="y">a</p><hr><p class="x">b</p>'),
        ("<p>a<p>b", "<p>a</p><p>b</p>"),
        ("<html style='color:red'><head></head><body class=dark><p>a</p></body></html>", "<p>a</p>"),
        (f'<p> <img src="{GIF}"> </p>', f'<figure class="picture"> {FIGURE} </figure>'),
        (f'<p><img src="{GIF}"> a</p>', f"<p>{FIGURE} a</p>"),
        *(
            (right, right)
            for right in (
                "<div><p>a</p></div>",
                '<img id="animation">',  # a script fills it
                '<script>let a = 1 < 2;</script><video src="data:video/mp4;base64,AAAA"></video>',
                f'<style>p > a {{ }}</style><a href="{FAR}">a link that a reader may click</a>',
                '<a href="b.html">b</a> <a href="#c">c</a> javascript: a word',
            )
        ),
    ],
)
def test_paragraphs_and_pictures_are_mended_and_what_the_page_itself_holds_stays(clean, html, mended):
    assert clean(html) == mended
    assert clean.complaints == []


@pytest.mark.parametrize("piece", ["<p><b>", "a</p>", "<div>a</div></p>", "<p>a<hr>b</p>"])
def test_twice_the_html_takes_twice_the_work(clean, piece):
    assert growth_of_work(lambda count: clean(closed(piece * count)), 150) < 2.2


def test_a_formula_in_a_sentence_of_markdown_stands_between_two_paragraphs(clean):
    page = read(clean.markdown("so **that $$x$$ and** on"))
    elements = page.find_all(recursive=False)
    assert [element.name for element in elements] == ["p", "div", "p"]
    assert elements[1]["class"] == ["formula"]
    before, after = elements[0], elements[2]
    assert [before.get_text().split(), after.get_text().split()] == [["so", "that"], ["and", "on"]]
    assert [before.strong.get_text().split(), after.strong.get_text().split()] == [["that"], ["and"]]


# ---- pictures ----


def test_a_picture_keeps_what_its_author_gave_it(clean, tmp_path):
    (tmp_path / "x.svg").write_text(DRAWING)
    page = clean('<img src="x.svg?raw#top" width="40%" class="round" style="opacity: .5" srcset="y.svg 2x">')
    image = read(page).img
    assert image["width"] == "40%"
    assert image["class"] == ["round", "paper"]
    assert image["style"] == "opacity: .5"
    assert "srcset" not in image.attrs
    assert clean.complaints == []


@pytest.mark.parametrize(
    "address", ["data:image/png;base64,a", "data:image/png", "x" * 5000 + ".png", "a\0b.png", "text.txt", "."]
)
def test_a_picture_that_cannot_be_read_is_left_out_and_said(clean, tmp_path, address):
    (tmp_path / "text.txt").write_text("no picture")
    page = clean(f'<img src="{address}" alt="what it shows">')
    assert read(page).a.get_text() == "what it shows"
    assert "<img" not in page
    assert len(clean.complaints) == 1
    assert len(clean.complaints[0]) < 300


def test_a_picture_in_its_address_is_taken_however_it_is_written(clean):
    page = clean("<img src=\"data:image/svg+xml;utf8,<svg viewBox='0 0 7 5'/>\">")
    image = read(page).img
    assert image["src"] == "data:image/svg+xml,<svg viewBox='0 0 7 5'/>"
    assert image["width"] == "7"


@pytest.mark.parametrize(
    ("size", "width"),
    [
        ("width='400' viewBox='0 0 1 1'", "400"),
        ("viewBox='0 0 1 1' width='400px' height='5'", "400"),
        ("width='254mm'", "960"),
        ("width='2.54 cm' viewBox='0 0 7 5'", "96"),
        ("width='6.5in'", "624"),
        ("width='345.6pt' height='300pt' viewBox='0 0 9 9'", "461"),
        ("width='10em'", "160"),
        ("width='.2'", "1"),
        ("height='50' viewBox='0,0,40,20'", "100"),
        ("width='100%' viewBox='0 0 640 480'", "640"),
        ("width='100%' height='100%' viewBox='-1 -1 6.4e2 480'", "640"),
        ("width='100%'", None),
        ("width='auto' viewBox='0 0 1.2.3 4'", None),
        ("viewBox='0 0 5'", None),
        ("viewBox='0 0 nan 4'", None),
        ("width='-5' viewBox='0 0 -5 4'", None),
        ("width='0' viewBox='0 0 0 4'", None),
        ("width='1e999'", None),
        ("width='3furlongs'", None),
    ],
)
def test_a_drawing_has_the_width_that_browsers_give_it(clean, tmp_path, size, width):
    (tmp_path / "x.svg").write_text(f"<?xml version='1.0'?><!-- <svg width='1'> --><svg {size}><a/></svg>")
    image = read(clean("<img src='x.svg'>")).img
    assert image.get("width") == width
    assert image.get("style") == (f"--natural:{width}" if width else None)
    assert clean.complaints == []


@pytest.mark.parametrize(
    "drawing", [b"", b"no drawing", b"<svg width=5>", b"\xff\xfe\0", b"<?xml encoding='x'?>"]
)
def test_a_broken_drawing_stops_no_page(clean, tmp_path, drawing):
    (tmp_path / "x.svg").write_bytes(drawing)
    assert "<img" in clean("<img src='x.svg'>")


def test_a_figure_has_the_words_of_the_pages_language(clean, tmp_path):
    lessons, images = tmp_path / "notebooks" / "zh", tmp_path / "img"
    lessons.mkdir(parents=True)
    (images / "words").mkdir(parents=True)
    (images / "x.svg").write_text(DRAWING)
    (images / "words" / "zh.json").write_text(json.dumps({"x.svg": {"keys": "键"}}))

    def words(language):
        page = clean("<img src='../../img/x.svg'>", lessons, language)
        data = read(page).img["src"].split(",", 1)[1]
        return plain(unquote(data))

    assert words("zh") == words("zh-CN") == "键"
    assert words("en") == "keys"


# ---- what would be fetched ----


@pytest.mark.parametrize(
    ("html", "left"),
    [
        (f'<video src="{FAR}">x</video>', LINK),
        (f'<video><source src="{FAR}">x</video>', LINK),
        (f'<audio src="{FAR}"></audio>', LINK),
        (f'<object data="{FAR}"><p>x</p></object>', LINK),
        (f'<iframe src="{FAR}"></iframe>', LINK),
        (f'<script src="{FAR}"></script>', ""),
        (f'<link rel="stylesheet" href="{FAR}">', ""),
        (f'<picture><source srcset="{FAR} 2x"></picture>', "<picture></picture>"),
        (f"<input type=image src={FAR}>", '<input type="image">'),
        (f"<svg><image href={FAR}></image></svg>", "<svg><image></image></svg>"),
        (f"<svg><use xlink:href={FAR}></use></svg>", "<svg><use></use></svg>"),
        (f"<video poster={FAR}></video>", "<video></video>"),
        (f"<table background={FAR}></table>", "<table></table>"),
    ],
)
def test_what_would_be_fetched_is_left_out_and_said(clean, html, left):
    assert read(clean(f"<div>a{html}b</div>")) == read(f"<div>a{left}b</div>")
    assert len(clean.complaints) == 1
    assert FAR in clean.complaints[0]


@pytest.mark.parametrize(
    "frame",
    ["<iframe src='{}'></iframe>", "<object data='{}'><p>x</p></object>", "<embed src='{}'>"],
)
def test_a_frame_that_holds_its_content_is_shown_or_can_be_saved(clean, frame):
    page = read(clean(frame.format("data:application/pdf;base64,AAAA")))
    assert page.a.attrs == {"href": "data:application/pdf;base64,AAAA", "download": ""}
    assert "application/pdf" in page.a.get_text()
    assert page.find(["iframe", "object", "embed"]) is None
    assert len(clean.complaints) == 1
    assert "application/pdf" in clean.complaints[0]
    assert "AAAA" not in clean.complaints[0]
    assert read(clean(frame.format(GIF))).img["src"] == GIF
    assert len(clean.complaints) == 1


# ---- ways out of the page ----


@pytest.mark.parametrize(
    "way_out",
    [
        "<meta http-equiv=refresh content='0;url=https://example.org'>",
        "<META HTTP-EQUIV='Refresh' content='0;url=https://example.org'>",
        "<base href='https://example.org'>",
        "<script type=speculationrules>{}</script>",
        "<SCRIPT TYPE=SpeculationRules>{}</SCRIPT>",
        "<a href='javascript:alert(1)'>a</a>",
        "<a href=' JavaScript:alert(1)'>a</a>",
        "<a href='java&#10;script:alert(1)'>a</a>",
        "<a href='&#1;vbscript:alert(1)'>a</a>",
        "<img src='javascript:alert(1)'>",
        "<form action='javascript:alert(1)'><button formaction='javascript:alert(1)'>a</button></form>",
        "<svg><a xlink:href='javascript:alert(1)'>a</a></svg>",
        "<svg><a><set attributeName=href to='javascript:alert(1)'></set></a></svg>",
        "<iframe src='javascript:alert(1)'></iframe>",
        "<object data='javascript:alert(1)'></object>",
    ],
)
def test_no_way_out_that_needs_no_click_and_no_link_that_is_a_program(clean, way_out):
    page = clean(f"{way_out} after")
    squeezed = "".join(page.split()).lower()
    for sign in ("http-equiv", "<base", "speculationrules", 'script:alert(1)"'):
        assert sign not in squeezed
    assert "after" in page
    assert clean.complaints


@pytest.fixture
def disk(tmp_path):
    """A course with figures, a folder of one's own, and pictures elsewhere."""
    for name in ("img/a.svg", "notebooks/en/b.svg", "work/en/sub/c.svg", "mine/notebooks/d.svg", "e.svg"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(DRAWING)
    (tmp_path / "work" / "deck-en").mkdir()
    (tmp_path / "mine" / "link.svg").symlink_to(tmp_path / "e.svg")
    return tmp_path


@pytest.mark.parametrize(
    ("folder", "taken", "left_out"),
    [
        (
            "notebooks/en",
            ["b.svg", "../../img/a.svg"],
            ["../../e.svg", "../../img/../e.svg", "../../work/en/sub/c.svg"],
        ),
        ("work/en", ["../../img/a.svg", "sub/c.svg", "sub/../sub/c.svg"], []),
        ("work/deck-en", ["../../img/a.svg"], []),
        (
            "mine",
            ["notebooks/d.svg"],
            ["../e.svg", "../img/a.svg", "link.svg", "%2e%2e/e.svg", "{disk}/e.svg", "file://{disk}/e.svg"],
        ),
    ],
)
def test_pictures_come_from_the_notebooks_folder_and_the_figures_of_its_course_and_not_from_elsewhere(
    clean, disk, folder, taken, left_out
):
    for address in taken:
        assert 'src="data:image/svg' in clean(f"<img src='{address}'>", folder=disk / folder), address
    assert clean.complaints == []
    for address in left_out:
        assert "data:" not in clean(f"<img src='{address.format(disk=disk)}'>", folder=disk / folder), address
    assert len(clean.complaints) == len(left_out)


def test_a_choice_of_pictures_is_one_of_them_and_a_pipe_is_none(clean, tmp_path):
    (tmp_path / "a.svg").write_text(DRAWING)
    assert 'src="data:image/svg+xml' in clean('<img srcset="a.svg 1x, b.svg 2x">')
    assert clean.complaints == []
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.png")
        assert "pipe.png" in clean("<img src=pipe.png>")
        assert len(clean.complaints) == 1


def test_what_stands_beside_a_formula_goes_with_it(clean):
    page = clean.markdown("a ($x$), $n$th and “$y$”: 由$z$，再 $w$ and $v$—so")
    texts = [span.get_text() for span in read(page).select("span.formula")]
    assert texts == ["(𝑥),", "𝑛th", "“𝑦”:", "𝑧，", "𝑤", "𝑣"] or texts == [
        "(x),",
        "nth",
        "“y”:",
        "z，",
        "w",
        "v",
    ]
