"""The site: its pages, their sources, and the messages where something is missing."""

import base64
import json
import os
import re
import shutil
from urllib.parse import unquote, urldefrag

import nbformat
import pytest
from bs4 import BeautifulSoup

from mha_lib.classroom import __main__ as command_line
from mha_lib.classroom.lesson import CourseError
from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.pages.handout import handouts
from mha_lib.classroom.pages.site import whole_site
from mha_lib.classroom.pages.site.notebook import students_notebook
from mha_lib.classroom.pages.sources import sources_of, write_made
from offline_notebook import to_html
from tests.brackets import outside_brackets, speak_in_brackets
from tests.classroom.pages.site.course import LANGUAGES, ROOT, small_course


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A course whose site was written from what lay in build/."""
    root = tmp_path_factory.mktemp("kept")
    by_language = small_course(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(handouts, "run_lessons", refuse)
        patch.setattr(whole_site, "print_decks", refuse)
        patch.setattr(whole_site, "require_browser", lambda: "a browser")
        assert whole_site.write_site(root, by_language, "en") == 0
    return root, by_language


def refuse(*arguments):
    pytest.fail(f"nothing had changed, and yet it was written again: {arguments}")


@pytest.fixture
def course(kept, tmp_path, monkeypatch):
    """A copy of the course, of which no browser is asked to print anything."""
    root = tmp_path / "course"
    shutil.copytree(kept[0], root)
    monkeypatch.setattr(whole_site, "require_browser", lambda: "a browser")
    return root, [[root / lesson.relative_to(kept[0]) for lesson in lessons] for lessons in kept[1]]


def read(file):
    return BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")


def test_what_was_made_from_the_sources_as_they_are_is_taken_as_it_is(kept):
    site = kept[0] / "build" / "site"
    assert {path.name for path in site.iterdir()} == {"index.html", *LANGUAGES}
    for lang in LANGUAGES:
        names = {path.name for path in (site / lang).iterdir()}
        kinds = ("html", "pdf", "ipynb")
        lessons = {f"{stem}.{kind}" for stem in ("01_single", "03_multi") for kind in kinds}
        assert names == {
            "index.html",
            "search.html",
            "glossary.html",
            *lessons,
        }


def test_the_site_has_the_pages_of_docs_and_none_of_those_for_instructors(course):
    root, by_language = course
    for language in ("en", "zh"):
        shutil.copytree(ROOT / "docs" / language, root / "docs" / language)
    sites = [
        whole_site.read_site(root, lessons, whole_site.Build(root, "en"), True, False)
        for lessons in by_language
    ]
    whole_site.lay_out(root, root / "site", sites)
    for language in ("en", "zh"):
        front = read(root / "site" / language / "index.html")
        listed = {link["href"] for link in front.select(".front > .files a")}
        documents = {f"{file.stem}.html" for file in (ROOT / "docs" / language).glob("*.md")}
        assert listed == documents >= {"questions_before.html", "questions_after.html"}
    written = {file.stem for file in (root / "site").rglob("*")}
    for_instructors = {file.stem for file in ROOT.glob("docs/*/instructors/*.md")}
    assert for_instructors
    assert not for_instructors & written


def change(source):
    """Change the content of a file, and nothing else about it."""
    before = source.stat()
    source.write_bytes(source.read_bytes() + b"\n")
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("changed", ["notebooks/zh/03_multi.ipynb", "img/masks.svg"])
def test_what_was_made_from_another_source_is_written_first(course, monkeypatch, changed):
    root, by_language = course
    change(root / changed)
    written, printed = [], []

    def run(root, lessons, _):
        written.extend(lessons)
        for lesson in lessons:
            file = handouts.address_of_run(root, lesson)
            write_made(file, file.read_bytes(), sources_of(lesson))

    monkeypatch.setattr(handouts, "run_lessons", run)
    monkeypatch.setattr(whole_site, "print_decks", lambda root, lessons, _: printed.extend(lessons))
    whole_site.write_site(root, by_language, "en")
    everything = [lesson for lessons in by_language for lesson in lessons]
    assert written == printed == (everything if changed.startswith("img") else [root / changed])


def test_a_lesson_that_fails_is_not_on_the_site_and_the_others_are(course, monkeypatch):
    root, by_language = course
    lesson = by_language[0][0]
    change(lesson)

    def fail(root, lessons, run):
        with run.attempt(lesson):
            raise CourseError("kernel_died", lesson=lesson)

    monkeypatch.setattr(handouts, "run_lessons", fail)
    monkeypatch.setattr(whole_site, "print_decks", lambda *_: None)
    assert whole_site.write_site(root, by_language, "en") == 1
    front = root / "build" / "site" / "en" / "index.html"
    assert [link.text for link in read(front).select(".lessons .title")] == ["Several heads"]
    assert not front.with_name("01_single.html").exists(), "nor is what lay there from before"
    bar = read(front.parents[1] / "zh" / "01_single.html").select_one(".bar a[hreflang=en]")
    assert bar["href"] == "../en/index.html", "the language has no such page"


def test_without_a_browser_the_site_has_no_slides_and_says_so_in_one_line(course, monkeypatch, capsys):
    root, by_language = course

    def no_browser():
        raise CourseError("no_browser")

    monkeypatch.setattr(whole_site, "require_browser", no_browser)
    assert whole_site.write_site(root, by_language[:1], "en") == 0
    assert re.fullmatch(r"The site is written without slides: .* Chromium .*\n", capsys.readouterr().err)
    assert not list((root / "build" / "site").rglob("*.pdf"))
    assert "Slides" not in (root / "build" / "site" / "en" / "index.html").read_text(encoding="utf-8")


PAGES_OF_MULTI = ("index", "search", "glossary", "03_multi")


def test_the_command_takes_some_lessons_and_some_languages(course, monkeypatch):
    root, _ = course
    monkeypatch.chdir(root)
    assert command_line.main(["site", "3", "--languages", "zh", "zh-Hant"]) == 0
    names = {path.relative_to(root / "build" / "site").as_posix() for path in root.rglob("site/*/*.html")}
    assert names == {f"{lang}/{page}.html" for lang in ("zh", "zh-Hant") for page in PAGES_OF_MULTI}


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


def test_the_front_page_opens_with_the_last_lessons_picture_and_guess_and_carries_no_other(kept):
    page = read(kept[0] / "build" / "site" / "en" / "index.html")
    figure = page.select_one("h1 ~ .opening figure[data-widget]")
    assert figure.find_previous("em").text == "Why a mask?"
    assert figure.find_next("h2")["id"] == "lessons"
    stored = json.loads(page.select_one("#widgets").string)
    assert list(stored["models"]) == [figure["data-widget"]]
    model = stored["models"][figure["data-widget"]]
    assert model["state"]["controls"][0]["texts"] == ["1", "2", "4", "8"]
    assert set(stored["sources"]) == {model["module"], model["style"]}


def test_a_lesson_says_its_question_and_its_minutes(kept):
    front = read(kept[0] / "build" / "site" / "zh-Hant" / "index.html")
    lesson = front.select_one(".lessons > li")
    assert lesson.select_one(".title").text == "單頭注意力"
    assert lesson.p.text == "單頭注意力?"
    assert lesson.select_one(".minutes").text == "5 分鐘，另有選讀 3 分鐘"
    assert [link.text for link in lesson.select(".files a")] == ["講義", "投影片（PDF）", "筆記本"]


def test_a_downloaded_notebook_is_whole_and_has_neither_notes_nor_outputs(course):
    root, by_language = course
    file = root / "downloaded.ipynb"
    file.write_text(students_notebook(by_language[1][0], solutions=True), encoding="utf-8")
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


def test_another_folder_is_replaced_only_if_it_holds_nothing_but_a_site(
    course, tmp_path, monkeypatch, capsys
):
    root, _ = course
    monkeypatch.chdir(root)
    for _ in range(2):
        assert command_line.main(["site", "--languages", "en", "--output", str(tmp_path / "mine")]) == 0
    assert (tmp_path / "mine" / "en" / "index.html").exists()
    (tmp_path / "mine" / ".git").mkdir()
    assert command_line.main(["site", "--languages", "en", "--output", str(tmp_path / "mine")]) == 2
    assert "mine holds other files (.git)" in capsys.readouterr().err
    assert (tmp_path / "mine" / ".git").exists()


def test_downloads_hold_no_solutions_where_the_course_chose_so_and_the_front_page_says_it(
    course, monkeypatch
):
    root, by_language = course
    for each in (whole_site, handouts):
        monkeypatch.setattr(each, "is_current", lambda file, lesson: file.exists())
    (root / "notebooks" / "en" / "course.json").write_text(json.dumps({"solutions": "none"}))
    assert whole_site.write_site(root, by_language, "en") == 0
    for lang in LANGUAGES:
        site = root / "build" / "site" / lang
        cells = json.loads((site / "01_single.ipynb").read_text(encoding="utf-8"))["cells"]
        assert "answer = 42" not in json.dumps(cells)
        assert words_in(lang)["site"]["without_solutions"] in read(site / "index.html").main.text


@pytest.mark.parametrize(
    ("lang", "terms"),
    {
        "en": ["attention 注意力", "mask 掩码 遮罩", "padding 填充"],  # in alphabetical order
        "zh-Hant": ["遮罩 mask 掩码", "注意力 attention", "填充 padding"],  # as in the lesson
    }.items(),
)
def test_the_glossary_has_each_term_in_all_languages_with_its_sentence(kept, lang, terms):
    file = kept[0] / "build" / "site" / lang / "glossary.html"
    page = read(file)
    assert [entry.text for entry in page.select("dt")] == terms
    for entry in page.select("dd"):
        term = entry.find_previous("dt").contents[0].strip()
        assert term in [bold.text for bold in entry.select("strong")]
        assert entry.select_one(".formula math"), "formulas of a sentence are drawn"
        name, _, anchor = entry.a["href"].partition("#")
        assert name == "01_single.html", "the first lesson that defines it"
        assert read(file.with_name(name)).find("dfn", id=unquote(anchor)).text == term
    bar = page.select_one(".bar a[hreflang=en]")
    assert bar["href"] == "../en/glossary.html"


DOCUMENT = """[中文](../zh/teach.md)

# Teach with it

![A mask](../../img/masks.svg)

## Hand out

[to itself](#hand-out) [the library](library.md#the-table) [the front](../../README.md)
[a lesson](../../notebooks/en/03_multi.ipynb) [a figure](../../img/masks.svg)
[elsewhere](https://example.org/x.md) [not written](nowhere.md)
"""


def test_documents_are_pages_of_the_site_and_their_links_work_there_or_are_words(course, capsys):
    root, by_language = course
    for name, text in {"teach": DOCUMENT, "library": "# The library\n\n## The table\n\nAll names."}.items():
        file = root / "docs" / "en" / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert whole_site.write_site(root, by_language[:2], "en") == 0
    site = root / "build" / "site" / "en"
    listed = {link.text: link["href"] for link in read(site / "index.html").select(".front > .files a")}
    names = {"The library": "library", "Teach with it": "teach", "Glossary": "glossary"}
    assert listed == {title: f"{name}.html" for title, name in names.items()}
    page = read(site / "teach.html")
    assert page.title.text == "Teach with it"
    assert page.main.img["src"].startswith("data:image/svg+xml")
    assert {link.text: link["href"] for link in page.main.select("p a")} == {
        "to itself": "#hand-out",
        "the library": "library.html#the-table",
        "the front": "index.html",
        "a lesson": "03_multi.html",
        "elsewhere": "https://example.org/x.md",
    }
    assert "a figure" in page.main.text
    assert [words.text for words in page.main.select("span.beyond")] == ["not written"]
    assert read(site / "library.html").find(id="the-table")
    said = capsys.readouterr().err
    assert re.fullmatch(r"teach\.md: a link leads to nowhere\.md.*\n", said)
    assert page.select_one(".bar a[hreflang=zh]")["href"] == "../zh/index.html"
    assert not page.select(".kicker, footer"), "it is no handout"


def test_the_site_says_nothing_in_english(course, tmp_path, monkeypatch):
    root, _ = course
    speak_in_brackets(tmp_path / "words", monkeypatch)
    for kind in ("notebooks", "build/executed", "build/slides"):
        shutil.copytree(root / kind / "zh", root / kind / "xx")
    for lesson in root.glob("*/**/xx/*.ipynb"):
        lesson.write_text(lesson.read_text(encoding="utf-8").replace('"language": "zh"', '"language": "xx"'))
    for each in (whole_site, handouts):
        monkeypatch.setattr(each, "is_current", lambda file, lesson: file.exists())
    lessons = sorted((root / "notebooks" / "xx").glob("*.ipynb"))
    assert whole_site.write_site(root, [lessons], "xx") == 0
    words_in.cache_clear()
    site = root / "build" / "site"
    for page in (read(site / "index.html"), read(site / "xx" / "index.html")):
        for unseen in page.find_all(["script", "style", "pre"]):
            unseen.decompose()
        said = " ".join([page.get_text(" "), *(tag.get("aria-label", "") for tag in page.find_all(True))])
        assert re.findall(r"[A-Za-z]{3,}", outside_brackets(said)) == []
        assert "⟦" in said
