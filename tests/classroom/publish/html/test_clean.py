"""The one pass over a finished page: what it mends, what it puts in and what it leaves out."""

import json
import os
import time
from urllib.parse import unquote

import pytest
from bs4 import BeautifulSoup

from mha_lib.classroom.publish.html import Cleaner, closed, plain, to_html
from mha_lib.classroom.publish.html.tree import inside

DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><text>keys</text></svg>'


class Cleaning:
    """Cleans a piece of HTML; what it complains of is kept."""

    def __init__(self, folder):
        self.folder = folder
        self.complaints: list[str] = []

    def __call__(self, html, folder=None, language="en"):
        return inside(Cleaner(folder or self.folder, language, self.complaints.append).clean(html))


@pytest.fixture
def clean(tmp_path):
    return Cleaning(tmp_path)


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
    tree = BeautifulSoup(closed(piece), "html.parser")
    assert " ".join(tree.get_text().split()) == words


@pytest.mark.parametrize("opened", ["<!-- a", "<style>p {", "<script>if (a", "<title>", "<table><tr><td>"])
def test_what_a_piece_leaves_open_swallows_nothing_after_it(opened):
    page = BeautifulSoup(f"<div>{closed(opened)}</div><p>after</p>", "html.parser")
    assert [element.name for element in page.find_all(recursive=False)] == ["div", "p"]


def test_html_around_markdown_holds_all_of_it():
    source = '<div class="box"><img src="data:image/gif;base64,R0lG">\n\nsome *text*\n\n</div>\n\nbelow'
    box, below = BeautifulSoup(closed(to_html(source)), "html.parser").find_all(recursive=False)
    assert plain(str(box)) == "some text"
    assert below.get_text() == "below"


# ---- paragraphs ----


@pytest.mark.parametrize(
    ("html", "mended"),
    [
        ("<p>a<pre>b</pre>c</p>", "<p>a</p><pre>b</pre><p>c</p>"),
        ("<p><div>a</div></p>", "<div>a</div>"),
        (
            "<p>a<b>b<table></table>c</b>d</p>",
            "<p>a<b>b</b></p><table></table><p><b>c</b>d</p>",
        ),
        ("<p>a<ul></ul>b<ol></ol>c</p>", "<p>a</p><ul></ul><p>b</p><ol></ol><p>c</p>"),
        ("<p class=x id=y>a<hr>b</p>", '<p class="x" id="y">a</p><hr><p class="x">b</p>'),
        ("<p>a<p>b", "<p>a</p><p>b</p>"),
        ("<div><p>a</p></div>", "<div><p>a</p></div>"),
    ],
)
def test_a_block_is_taken_out_of_a_paragraph(clean, html, mended):
    assert clean(html) == mended


@pytest.mark.parametrize("piece", ["<p><b>", "a</p>", "<div>a</div></p>", "<p>a<hr>b</p>"])
def test_no_html_takes_long(clean, piece):
    start = time.process_time()
    clean(closed(piece * 1000))
    assert time.process_time() - start < 5, "half a second"


def test_a_formula_in_a_sentence_of_markdown_stands_between_two_paragraphs(clean):
    page = BeautifulSoup(clean(to_html("so **that $$x$$ and** on")), "html.parser")
    elements = page.find_all(recursive=False)
    assert [element.name for element in elements] == ["p", "div", "p"]
    assert elements[1]["class"] == ["formula"]
    before, after = elements[0], elements[2]
    assert [before.get_text().split(), after.get_text().split()] == [["so", "that"], ["and", "on"]]
    assert [before.strong.get_text().split(), after.strong.get_text().split()] == [["that"], ["and"]]


def test_a_page_within_the_page_gives_its_content_alone(clean):
    page = clean("<html style='color:red'><head></head><body class=dark><p>a</p></body></html>")
    assert page == "<p>a</p>"


# ---- pictures ----


def test_a_picture_alone_in_a_paragraph_is_a_figure(clean):
    gif = "data:image/gif;base64,R0lG"
    image = f'<img src="{gif}" class="paper" alt="">'
    assert clean(f'<p> <img src="{gif}"> </p>') == f'<figure class="picture"> {image} </figure>'
    assert clean(f'<p><img src="{gif}"> a</p>') == f"<p>{image} a</p>"


def test_a_picture_keeps_what_its_author_gave_it(clean, tmp_path):
    (tmp_path / "x.svg").write_text(DRAWING)
    page = clean('<img src="x.svg?raw#top" width="40%" class="round" style="opacity: .5" srcset="y.svg 2x">')
    image = BeautifulSoup(page, "html.parser").img
    assert image["width"] == "40%"
    assert image["class"] == ["round", "paper"]
    assert image["style"] == "opacity: .5"
    assert "srcset" not in image.attrs
    assert clean.complaints == []


def test_a_picture_that_a_script_fills_stays(clean):
    assert clean('<img id="animation">') == '<img id="animation">'


@pytest.mark.parametrize(
    "address", ["data:image/png;base64,a", "data:image/png", "x" * 5000 + ".png", "a\0b.png", "text.txt", "."]
)
def test_a_picture_that_cannot_be_read_is_left_out_and_said(clean, tmp_path, address):
    (tmp_path / "text.txt").write_text("no picture")
    page = clean(f'<img src="{address}" alt="what it shows">')
    assert BeautifulSoup(page, "html.parser").a.get_text() == "what it shows"
    assert "<img" not in page
    assert len(clean.complaints) == 1
    assert len(clean.complaints[0]) < 300


def test_a_picture_in_its_address_is_taken_however_it_is_written(clean):
    page = clean("<img src=\"data:image/svg+xml;utf8,<svg viewBox='0 0 7 5'/>\">")
    image = BeautifulSoup(page, "html.parser").img
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
    image = BeautifulSoup(clean("<img src='x.svg'>"), "html.parser").img
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
        data = BeautifulSoup(page, "html.parser").img["src"].split(",", 1)[1]
        return plain(unquote(data))

    assert words("zh") == words("zh-CN") == "键"
    assert words("en") == "keys"


# ---- what would be fetched ----

FAR = "https://example.org/x"


@pytest.mark.parametrize(
    ("html", "left"),
    [
        (f'<video src="{FAR}">x</video>', f'<a href="{FAR}">{FAR}</a>'),
        (f'<video><source src="{FAR}">x</video>', f'<a href="{FAR}">{FAR}</a>'),
        (f'<audio src="{FAR}"></audio>', f'<a href="{FAR}">{FAR}</a>'),
        (f'<object data="{FAR}"><p>x</p></object>', f'<a href="{FAR}">{FAR}</a>'),
        (f'<iframe src="{FAR}"></iframe>', f'<a href="{FAR}">{FAR}</a>'),
        (f'<script src="{FAR}"></script>', ""),
        (f'<link rel="stylesheet" href="{FAR}">', ""),
        (f'<picture><source srcset="{FAR} 2x"></picture>', "<picture></picture>"),
    ],
)
def test_what_would_be_fetched_is_left_out_whole_and_said(clean, html, left):
    assert clean(f"<div>a{html}b</div>") == f"<div>a{left}b</div>"
    assert len(clean.complaints) == 1
    assert FAR in clean.complaints[0]


def test_what_is_in_the_page_itself_stays(clean):
    html = '<script>let a = 1 < 2;</script><video src="data:video/mp4;base64,AAAA"></video>'
    html += '<style>p > a { }</style><a href="https://example.org">a link</a>'
    assert clean(html) == html
    assert clean.complaints == []


@pytest.mark.parametrize(
    "frame",
    ["<iframe src='{}'></iframe>", "<object data='{}'><p>x</p></object>", "<embed src='{}'>"],
)
def test_a_frame_that_holds_its_content_is_shown_or_can_be_saved(clean, frame):
    page = BeautifulSoup(clean(frame.format("data:application/pdf;base64,AAAA")), "html.parser")
    assert page.a.attrs == {"href": "data:application/pdf;base64,AAAA", "download": ""}
    assert "application/pdf" in page.a.get_text()
    assert page.find(["iframe", "object", "embed"]) is None
    assert len(clean.complaints) == 1
    assert "application/pdf" in clean.complaints[0]
    assert "AAAA" not in clean.complaints[0]
    page = BeautifulSoup(clean(frame.format("data:image/gif;base64,R0lG")), "html.parser")
    assert page.img["src"] == "data:image/gif;base64,R0lG"
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


def test_a_link_that_a_reader_may_click_stays(clean):
    kept = '<a href="https://example.org">a</a> <a href="b.html">b</a> <a href="#c">c</a> javascript: a word'
    assert clean(kept) == kept
    assert clean.complaints == []


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
    ("folder", "address"),
    [
        ("notebooks/en", "b.svg"),
        ("notebooks/en", "../../img/a.svg"),
        ("work/en", "../../img/a.svg"),
        ("work/deck-en", "../../img/a.svg"),
        ("work/en", "sub/c.svg"),
        ("work/en", "sub/../sub/c.svg"),
        ("mine", "notebooks/d.svg"),
    ],
)
def test_pictures_come_from_the_notebooks_folder_and_from_the_figures_of_its_course(
    clean, disk, folder, address
):
    assert 'src="data:image/svg' in clean(f"<img src='{address}'>", folder=disk / folder)
    assert clean.complaints == []


@pytest.mark.parametrize(
    ("folder", "address"),
    [
        ("notebooks/en", "../../e.svg"),
        ("notebooks/en", "../../img/../e.svg"),
        ("notebooks/en", "../../work/en/sub/c.svg"),
        ("mine", "../e.svg"),
        ("mine", "../img/a.svg"),
        ("mine", "link.svg"),
        ("mine", "%2e%2e/e.svg"),
        ("mine", "{disk}/e.svg"),
        ("mine", "file://{disk}/e.svg"),
    ],
)
def test_no_picture_is_taken_from_elsewhere_on_the_disk(clean, disk, folder, address):
    page = clean(f"<img src='{address.format(disk=disk)}'>", folder=disk / folder)
    assert "data:" not in page
    assert len(clean.complaints) == 1


@pytest.mark.parametrize(
    "element",
    [
        "<input type=image src={}>",
        "<svg><image href={}></image></svg>",
        "<svg><use xlink:href={}></use></svg>",
        "<video poster={}></video>",
        "<table background={}></table>",
    ],
)
def test_a_picture_that_is_elsewhere_is_said_wherever_it_stands(clean, element):
    page = clean(element.format("https://example.org/x.png"))
    assert "example.org" not in page
    assert len(clean.complaints) == 1
    assert "https://example.org/x.png" in clean.complaints[0]


def test_a_choice_of_pictures_is_one_of_them_and_a_pipe_is_none(clean, tmp_path):
    (tmp_path / "a.svg").write_text(DRAWING)
    assert 'src="data:image/svg+xml' in clean('<img srcset="a.svg 1x, b.svg 2x">')
    assert clean.complaints == []
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.png")
        assert "pipe.png" in clean("<img src=pipe.png>")
        assert len(clean.complaints) == 1


def test_what_stands_beside_a_formula_goes_with_it(clean):
    page = clean(to_html("a ($x$), $n$th and “$y$”: 由$z$，再 $w$ and $v$—so"))
    texts = [span.get_text() for span in BeautifulSoup(page, "html.parser").select("span.formula")]
    assert texts == ["(𝑥),", "𝑛th", "“𝑦”:", "𝑧，", "𝑤", "𝑣"] or texts == [
        "(x),",
        "nth",
        "“y”:",
        "z，",
        "w",
        "v",
    ]
