"""The site: what is on it, what it is made from, and what is said where something is missing."""

import base64
import json
import os
import re
import shutil
from urllib.parse import unquote, urldefrag, urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup

from mha_lib.classroom import __main__ as command_line
from mha_lib.classroom.course import CourseError
from mha_lib.classroom.course.language import words_in
from mha_lib.classroom.publish.html import to_html
from mha_lib.classroom.publish.site import build, pages
from mha_lib.classroom.publish.site.notebook import students_notebook
from tests.brackets import outside_brackets, speak_in_brackets
from tests.classroom.publish.site.course import LANGUAGES, ROOT, small_course


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A course whose site was written from what lay in build/."""
    root = tmp_path_factory.mktemp("kept")
    editions = small_course(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build.handout, "write_handouts", refuse)
        patch.setattr(build.slides, "write_slides", refuse)
        patch.setattr(build, "require_browser", lambda: "a browser")
        assert build.write_site(root, editions, "en") == 0
    return root, editions


def refuse(*arguments):
    pytest.fail(f"nothing had changed, and yet it was written again: {arguments}")


@pytest.fixture
def course(kept, tmp_path, monkeypatch):
    """A copy of the course, of which no browser is asked to print anything."""
    root = tmp_path / "course"
    shutil.copytree(kept[0], root)
    monkeypatch.setattr(build, "require_browser", lambda: "a browser")
    return root, [[root / lesson.relative_to(kept[0]) for lesson in lessons] for lessons in kept[1]]


def read(file):
    return BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")


def test_what_is_newer_than_its_sources_is_taken_as_it_is(kept):
    site = kept[0] / "build" / "site"
    assert {path.name for path in site.iterdir()} == {"index.html", "pagefind", *LANGUAGES}
    assert not list(site.rglob("*ui.*")), "Pagefind's own search box"
    assert "CloudCannon" in (site / "pagefind" / "LICENSE.txt").read_text(encoding="utf-8")
    for lang in LANGUAGES:
        names = {path.name for path in (site / lang).iterdir()}
        lessons = {
            f"{stem}{kind}" for stem in ("01_single", "03_multi") for kind in (".html", ".pdf", ".ipynb")
        }
        assert names == {"index.html", *lessons}


@pytest.mark.parametrize("changed", ["notebooks/zh/03_multi.ipynb", "img/masks.svg"])
def test_what_is_older_than_a_source_is_written_first(course, monkeypatch, changed):
    root, editions = course
    os.utime(root / changed, (2e9, 2e9))
    written, printed = [], []
    monkeypatch.setattr(build.handout, "write_handouts", lambda lessons, folder: written.extend(lessons) or 0)
    monkeypatch.setattr(build.slides, "write_slides", lambda r, lessons, f: printed.extend(lessons) or 0)
    build.write_site(root, editions, "en")
    everything = [lesson for lessons in editions for lesson in lessons]
    assert written == printed == (everything if changed.startswith("img") else [root / changed])


def test_a_lesson_that_fails_is_not_on_the_site_and_the_others_are(course, monkeypatch):
    root, editions = course
    (root / "build" / "handouts" / "en" / "01_single.html").unlink()
    monkeypatch.setattr(build.handout, "write_handouts", lambda lessons, folder: 1)
    assert build.write_site(root, editions, "en") == 1
    front = root / "build" / "site" / "en" / "index.html"
    assert [link.text for link in read(front).select(".lessons .title")] == ["Several heads"]
    assert not front.with_name("01_single.html").exists(), "nor is what lay there from before"
    bar = read(front.parents[1] / "zh" / "01_single.html").select_one(".bar a[hreflang=en]")
    assert bar["href"] == "../en/index.html", "the language has no such page"


def test_ctrl_c_ends_it_and_leaves_the_site_of_before(course, monkeypatch):
    root, editions = course
    before = (root / "build" / "site" / "index.html").stat().st_mtime_ns
    os.utime(editions[0][0], (2e9, 2e9))
    monkeypatch.setattr(build.handout, "write_handouts", lambda lessons, folder: build.STOPPED)
    assert build.write_site(root, editions, "en") == build.STOPPED
    assert (root / "build" / "site" / "index.html").stat().st_mtime_ns == before


def test_without_a_browser_the_site_has_no_slides_and_says_so_in_one_line(course, monkeypatch, capsys):
    root, editions = course

    def no_browser():
        raise CourseError("no_browser")

    monkeypatch.setattr(build, "require_browser", no_browser)
    assert build.write_site(root, editions[:1], "en") == 0
    assert re.fullmatch(r"The site is written without slides: .* Chromium .*\n", capsys.readouterr().err)
    assert not list((root / "build" / "site").rglob("*.pdf"))
    assert "Slides" not in (root / "build" / "site" / "en" / "index.html").read_text(encoding="utf-8")


def test_without_pagefind_nothing_is_begun(course, monkeypatch, capsys):
    root, _ = course
    monkeypatch.chdir(root)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(build.handout, "write_handouts", refuse)
    assert command_line.main(["site", "--languages", "en"]) == 2
    assert "pip install -e '.[site]'" in capsys.readouterr().err


def test_the_command_takes_some_lessons_and_some_languages(course, monkeypatch):
    root, _ = course
    monkeypatch.chdir(root)
    assert command_line.main(["site", "3", "--languages", "zh", "zh-Hant"]) == 0
    names = {path.relative_to(root / "build" / "site").as_posix() for path in root.rglob("site/*/*.html")}
    assert names == {f"{lang}/{page}.html" for lang in ("zh", "zh-Hant") for page in ("index", "03_multi")}


def test_every_link_leads_to_a_page_and_a_place_on_it(kept):
    site = (kept[0] / "build" / "site").resolve()
    count = 0
    for page in site.rglob("*.html"):
        for link in read(page).select(".bar a, .front a"):
            path, anchor = urldefrag(link["href"])
            target = (page.parent / unquote(path)).resolve()
            assert target.is_file(), f"{page}: {link['href']}"
            assert site in target.parents
            assert not anchor or read(target).find(id=anchor), f"{page}: {link['href']}"
            count += 1
    assert count > 50


def test_the_front_page_shows_lesson_threes_explorer_and_carries_no_other(kept):
    page = read(kept[0] / "build" / "site" / "en" / "index.html")
    figure = page.select_one("figure[data-widget]")
    stored = json.loads(page.select_one("#widgets").string)
    assert list(stored["models"]) == [figure["data-widget"]]
    assert stored["models"][figure["data-widget"]]["state"]["controls"][0]["texts"] == ["1", "2", "4", "8"]
    assert set(stored["sources"]) == {
        stored["models"][figure["data-widget"]][part] for part in ("module", "style")
    }


def test_a_lesson_says_its_question_and_its_minutes(kept):
    front = read(kept[0] / "build" / "site" / "zh-Hant" / "index.html")
    lesson = front.select_one(".lessons > li")
    assert lesson.select_one(".title").text == "單頭注意力"
    assert lesson.p.text == "單頭注意力?"
    assert lesson.select_one(".minutes").text == "5 分鐘，另有選讀 3 分鐘"
    assert [link.text for link in lesson.select(".files a")] == ["講義", "投影片（PDF）", "筆記本"]


def test_a_repository_that_is_set_leads_to_hosted_notebooks(course):
    root, (lessons, *_) = course
    (root / "notebooks" / "en" / "course.json").write_text('{"repository": "https://github.com/OWNER/NAME"}')
    handouts = root / "build" / "handouts" / "en"
    edition = pages.read_edition(
        lessons, lambda lesson: handouts / f"{lesson.stem}.html", lambda lesson: None
    )
    front = BeautifulSoup(pages.front_page(edition, [edition]), "html.parser")
    links = front.select_one(".files").select("a[href^=https]")
    assert {link.text: urlsplit(link["href"]).hostname for link in links} == {
        "Open in Colab": "colab.research.google.com",
        "Open in Binder": "mybinder.org",
    }


def test_the_root_lists_the_languages_for_a_browser_without_scripts(kept):
    page = read(kept[0] / "build" / "site" / "index.html")
    assert page.html["lang"] == "en"
    links = {link["hreflang"]: link.text for link in page.select("a[hreflang]")}
    assert links == {"en": "English", "zh": "中文", "zh-Hant": "繁體中文"}


def test_a_handout_is_framed_and_otherwise_as_it_was(kept):
    site, handouts = kept[0] / "build" / "site", kept[0] / "build" / "handouts"
    framed = (site / "zh" / "03_multi.html").read_text(encoding="utf-8")
    plain = (handouts / "zh" / "03_multi.html").read_text(encoding="utf-8")
    bar = re.search(r'<header class="bar">.*?</header>\n', framed, re.DOTALL)[0]
    style = re.search(r'<link rel="icon".*?</style>\n', framed, re.DOTALL)[0]
    rest = framed.replace(bar, "").replace(style, "").replace("<main data-pagefind-body>", "<main>")
    assert rest.strip() == plain.strip()


def test_a_downloaded_notebook_is_whole_and_has_neither_notes_nor_outputs(course):
    root, editions = course
    file = root / "downloaded.ipynb"
    file.write_text(students_notebook(editions[1][0]), encoding="utf-8")
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    assert [cell.id for cell in notebook.cells] == ["title", "why-a-mask", "explorer", "solution"]
    assert not any(cell.get("outputs") for cell in notebook.cells)
    picture = BeautifulSoup(to_html(notebook.cells[1].source), "html.parser").img
    assert picture["alt"] == "A mask"
    kind, data = picture["src"].split(",")
    assert kind == "data:image/svg+xml;base64"
    drawing = base64.b64decode(data).decode()
    assert "键" in drawing, "the words of its language"


@pytest.mark.parametrize(("lang", "readme"), [("en", "README.md"), ("zh", "README.zh.md")])
def test_how_to_run_it_is_what_the_readme_says(kept, lang, readme):
    """The README, and the page to which it leads where there is no make."""
    pages = (ROOT / readme, ROOT / "docs" / lang / "run-elsewhere.md")
    said = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    commands = "\n".join(
        block.text for block in read(kept[0] / f"build/site/{lang}/index.html").select("pre")
    )
    assert len(commands.splitlines()) == 4
    for line in commands.splitlines():
        assert re.search(rf"^{re.escape(line)}( |$)", said, re.MULTILINE), line


def test_the_site_says_nothing_in_english(course, tmp_path, monkeypatch):
    root, _ = course
    speak_in_brackets(tmp_path / "words", monkeypatch)
    for kind in ("notebooks", "build/handouts", "build/slides"):
        shutil.copytree(root / kind / "zh", root / kind / "xx")
    lessons = sorted((root / "notebooks" / "xx").glob("*.ipynb"))
    assert build.write_site(root, [lessons], "xx") == 0
    words_in.cache_clear()
    site = root / "build" / "site"
    for page in (read(site / "index.html"), read(site / "xx" / "index.html")):
        for unseen in page.find_all(["script", "style", "pre"]):
            unseen.decompose()
        said = " ".join([page.get_text(" "), *(tag.get("aria-label", "") for tag in page.find_all(True))])
        assert re.findall(r"[A-Za-z]{3,}", outside_brackets(said)) == []
        assert "⟦" in said
