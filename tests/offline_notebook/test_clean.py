"""What a page takes from HTML of strangers, and what it puts in its place."""

import pytest

from offline_notebook import Pictures
from tests.offline_notebook.pages import read

DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><text>keys</text></svg>'
GIF = "data:image/gif;base64,R0lG"
FAR = "https://example.org/x"


# ---- closed within itself ----


HARMLESS = f"""<div><p>a</p></div>
<a href="{FAR}">a</a> <a href="b.html">b</a> <a href="#c">c</a> javascript: a word
<table class="dataframe"><tbody><tr><td style="width:9px;color:red">1</td></tr></tbody></table>
<math display="block"><mfrac><mi mathvariant="normal">x</mi><mn>2</mn></mfrac></math>"""


def test_what_is_harmless_stays(clean):
    assert read(clean(HARMLESS)) == read(HARMLESS)
    assert clean.complaints == []


def test_an_empty_paragraph_is_removed_and_a_picture_alone_is_a_figure(clean):
    page = clean(f'<p>a<div>b</div></p><p> <img src="{GIF}"> </p>')
    figure = f'<figure class="picture"> <img alt="" class="paper" src="{GIF}"> </figure>'
    assert page == f"<p>a</p><div>b</div>{figure}"


def test_a_formula_in_a_sentence_has_a_line_of_its_own_within_the_paragraph(clean):
    page = read(clean.markdown("so **that $$x$$ and** on\n\n$$y$$"))
    paragraph, alone = page.find_all(recursive=False)
    assert paragraph.strong.span["class"] == ["formula", "display"]
    assert paragraph.math["display"] == "block"
    assert (alone.name, alone["class"]) == ("div", ["formula"])


# ---- pictures ----


def test_a_picture_keeps_what_its_author_gave_it(clean, tmp_path):
    (tmp_path / "x.svg").write_text(DRAWING)
    page = clean('<img src="x.svg?raw#top" width="40%" class="round" style="opacity:.5" srcset="y.svg 2x">')
    image = read(page).img
    assert image["width"] == "40%"
    assert image["class"] == ["round", "paper"]
    assert image["style"] == "opacity:0.5"
    assert "srcset" not in image.attrs
    assert clean.complaints == []


@pytest.mark.parametrize("address", ["data:image/png;base64,a", "x" * 5000 + ".png", "text.txt"])
def test_a_picture_that_cannot_be_read_is_left_out_and_said(clean, tmp_path, address):
    (tmp_path / "text.txt").write_text("no picture")
    page = clean(f'<img src="{address}" alt="what it shows">')
    assert read(page).a.get_text() == "what it shows"
    assert "<img" not in page
    assert len(clean.complaints) == 1
    assert len(clean.complaints[0]) < 300


@pytest.mark.parametrize(
    ("size", "width"),
    [
        ("width='345.6pt' height='300pt' viewBox='0 0 9 9'", "461"),
        ("width='100%' height='100%' viewBox='-1 -1 640 480'", "640"),
        ("width='100%'", None),
    ],
)
def test_a_drawing_has_the_width_that_browsers_give_it(clean, tmp_path, size, width):
    (tmp_path / "x.svg").write_text(f"<?xml version='1.0'?><svg {size}><a/></svg>")
    image = read(clean("<img src='x.svg'>")).img
    assert image.get("width") == width
    assert image.get("style") == (f"--natural:{width}" if width else None)
    assert clean.complaints == []


# ---- what would be fetched ----


@pytest.mark.parametrize(
    ("html", "left"),
    [
        (f'<video src="{FAR}"></video>', ""),
        (f'<link rel="stylesheet" href="{FAR}">', ""),
        (f"<style>@import '{FAR}'; p {{background: url({FAR})}}</style>", ""),
        (f"<svg onload='alert(1)'><text>x</text><image href={FAR}></image></svg>", ""),
        (f"<img src={FAR}>", f'<a class="missing" href="{FAR}">{FAR}</a>'),
        (f"<p style='color:red;background:url({FAR})'>x</p>", "<p>x</p>"),
        (f"<p style='color:red;background:u\\72l({FAR})'>x</p>", "<p>x</p>"),
        (f"<p style='list-style:-webkit-cross-fade({FAR});position:fixed'>x</p>", '<p style="">x</p>'),
    ],
)
def test_nothing_is_left_that_would_be_fetched(clean, html, left):
    page = read(clean(f"<div>a{html}b</div>"))
    assert page == read(f"<div>a{left}b</div>")


@pytest.mark.parametrize("name", ["video", "iframe", "script", "svg"])
def test_what_readers_may_miss_is_said(clean, name):
    clean(f"<{name} src='{FAR}' srcset='{FAR}'></{name}>")
    assert len(clean.complaints) == 1
    assert f"<{name}>" in clean.complaints[0]


# ---- ways out of the page ----


@pytest.mark.parametrize(
    "way_out",
    [
        "<meta http-equiv=refresh content='0;url=https://example.org'>",
        "<base href='https://example.org'>",
        "<a href=' java&#10;Script:alert(1)'>a</a>",
        "<a href='data:text/html,&lt;script>alert(1)&lt;/script>'>a</a>",
        "<a href=' data:text/html,a'>a</a>",
        "<a href='DATA:text/html,a'>a</a>",
        "<a href='&#1;da&Tab;ta&#10;:text/html,a'>a</a>",
        "<img alt=a src='data:text/html,a'>",
        "<form action='javascript:alert(1)'><button formaction='javascript:alert(1)'>a</button></form>",
        "<iframe src='javascript:alert(1)'></iframe>",
    ],
)
def test_no_way_out_that_needs_no_click_and_no_link_that_is_a_program(clean, way_out):
    page = clean(f"{way_out} after")
    squeezed = "".join(page.split()).lower()
    for sign in ("data:", "http-equiv", "<base", "script:", "<form", "action", "https:"):
        assert sign not in squeezed
    assert "after" in page


def test_no_attribute_runs_a_program_or_hides_a_member_of_the_document(clean):
    page = read(clean(f"<b onclick=1 onfocus=1 autofocus>a</b><img name=body src={GIF}><a name=forms>x</a>"))
    left = {name for element in page.find_all(True) for name in element.attrs}
    assert left <= {"alt", "class", "src"}


def test_pictures_come_from_the_notebooks_folder_and_those_named_and_not_from_elsewhere(tmp_path):
    mine = tmp_path / "mine"
    for name in ("mine/sub/a.svg", "shared/b.svg", "c.svg"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(DRAWING)
    (mine / "link.svg").symlink_to(tmp_path / "c.svg")
    elsewhere = ["../c.svg", "link.svg", "%2e%2e/c.svg", f"{tmp_path}/c.svg", f"file://{tmp_path}/c.svg"]
    pictures = Pictures(mine, [tmp_path / "shared"])
    for address in ("sub/a.svg", "sub/../sub/a.svg", "../shared/b.svg"):
        assert pictures.read(address), address
    assert not any(map(pictures.read, elsewhere))
    assert Pictures(mine).read("../shared/b.svg") is None


def test_what_stands_beside_a_formula_goes_with_it(clean):
    page = clean.markdown("a ($x$), $n$th and “$y$”: 由$z$，再 $w$ and $v$—so")
    texts = [span.get_text() for span in read(page).select("span.formula")]
    assert texts == ["(x),", "nth", "“y”:", "z，", "w", "v"]
