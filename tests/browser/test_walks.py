"""Every handout and every kind of page of the site, from its file, in each engine, theme and width.

Chromium walks the handouts without what came after 2022.
"""

import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mha_lib.classroom.lesson import language_in
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.pages.build import Build
from mha_lib.classroom.pages.handout.handouts import address_of_run, page_of, run_lessons
from mha_lib.classroom.pages.site import whole_site
from mha_lib.classroom.pages.sources import is_current
from tests.browser.pages import ENGINES, ChromiumTab, expect_accessible, tab_in
from tests.classroom.pages.site.course import small_course
from tests.lessons import ENGLISH, MADE, ROOT, TRANSLATED, name_of

LESSONS = [*ENGLISH, *TRANSLATED, *MADE]
PAPER = {"light": "rgb(253, 252, 249)", "dark": "rgb(21, 23, 27)"}
ALIVE = "() => document.querySelectorAll('.widget:not(.alive)').length === 0"
TOO_WIDE = """() => innerWidth < document.documentElement.scrollWidth &&
  [...document.querySelectorAll("main *")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
    .map((one) => one.outerHTML.slice(0, 99)).slice(0, 3)"""
# A table may be wider, in a box that scrolls and in which its first column stays.
FITS_ITS_COLUMN = """(rightOf = (one) => one.getBoundingClientRect().right) =>
  [...document.querySelectorAll("main :is(img, canvas, .mha-explorer, .mha-explorer table)")]
  .every((one) => rightOf(one) <= rightOf(one.closest(".cell, main")) + 1)"""
WALK = Path(__file__).with_name("handout_walk.js").read_text(encoding="utf-8")
# Takes away all that Safari 15.4, Chrome 99 or Firefox 100 lacks.
TAKES_AWAY = """
for (const kind of [Array, Object.getPrototypeOf(Uint8Array)])
  for (const name of ["findLast", "findLastIndex", "with", "toReversed", "toSorted", "toSpliced"])
    delete kind.prototype[name];
for (const name of Object.getOwnPropertyNames(Element.prototype))
  if (/^(aria[A-Z]|role$)/.test(name)) delete Element.prototype[name];
for (const name of ["scale", "rotate", "translate"])
  Object.defineProperty(CSSStyleDeclaration.prototype, name, { set() {} });
for (const name of ["DecompressionStream", "OffscreenCanvas", "structuredClone", "navigation"]) {
  Object.defineProperty(globalThis, name, { value: undefined, configurable: true });
  delete globalThis[name];
}"""


def as_of_2022(html: str) -> str:
    """The page as browsers of 2022 read it: in place of what they lack, names that no browser knows."""
    html = re.sub(r"light-dark\(|color-mix\(", "unknown(", html).replace(":has(", ":unknown(")
    return html.replace("<head>", f"<head><script>{TAKES_AWAY}</script>", 1)


def handout_of(kept: Path, lesson: Path) -> str:
    """The handout with the script of the walk. A lesson whose sources have changed since it ran runs now."""
    run, build = address_of_run(kept, lesson), Build(kept, language_in(lesson))
    if not is_current(run, lesson):
        with ThreadPoolExecutor(1) as own_loop:  # Playwright has the loop of this thread
            own_loop.submit(run_lessons, kept, [lesson], build).result()
        assert not build.end()
    names = {file.stem for file in lesson.parent.glob("*.ipynb")}
    return with_walk(page_of(read_lesson(lesson), read_lesson(run).copy(), names, build).render())


def with_walk(html: str) -> str:
    return html.replace("<head>", f"<head><script>(() => {{\n{WALK}}})();</script>", 1)


def cases():
    """Each engine with each handout. In CI each lesson in one language and engine, lesson 07 in each.

    Lesson 05, whose numbers are Chinese data, is walked as the conversion to traditional Chinese has it.
    """
    for number, lesson in enumerate(LESSONS):
        place, language = number % len(ENGLISH), number // len(ENGLISH)
        for at, engine in enumerate(ENGINES):
            theme = ("light", "dark")[(place + at) % 2]
            is_sample = language == (place + 1) % 3 and (lesson.stem.startswith("07") or at == place % 3)
            mark = pytest.mark.ci if is_sample else pytest.mark.whole
            yield pytest.param(engine, theme, lesson, marks=mark, id=f"{name_of(lesson)}-{engine}-{theme}")


def walk(tab, file, theme):
    """Walk a page as a reader might; at 200 % and 400 %, and on a phone, nothing is too wide."""
    tab.resize(1200, 900)
    tab.goto(file.as_uri())
    tab.until(ALIVE)
    assert tab.answer_of("() => getComputedStyle(document.body).backgroundColor") == PAPER[theme]
    tab.answer_of("() => guess()")
    tab.answer_of("() => void begin()")
    assert tab.until("() => window.walked && JSON.stringify(walked)") == "[]"
    if isinstance(tab, ChromiumTab):
        expect_accessible(tab.page)
    for width in (640, 390, 320):
        tab.resize(width, 844)
        is_narrow = "(width) => innerWidth <= Math.max(width, 500)"  # Firefox has no narrower window
        tab.until(is_narrow, width)
        assert not tab.answer_of(TOO_WIDE)
    tab.resize(390, 844)
    tab.goto(file.as_uri())  # as a phone opens it
    tab.until(ALIVE)
    tab.until(FITS_ITS_COLUMN)


@pytest.mark.parametrize(("engine", "theme", "lesson"), list(cases()))
def test_a_handout_is_walked(engine, theme, lesson, browser, tmp_path, whole_course, pytestconfig):
    html = handout_of(pytestconfig.cache.mkdir("handouts"), whole_course / lesson.relative_to(ROOT))
    file = tmp_path / "handout.html"
    file.write_text(as_of_2022(html) if engine == "chromium" else html, encoding="utf-8")
    with tab_in(engine, browser, tmp_path / engine, theme) as tab:
        walk(tab, file, theme)
        if (pdf := tab.pdf()) is not None:
            assert pdf.startswith(b"%PDF")
            assert len(pdf) > 200_000, "pictures and all"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site of a small course with the real documents; each page walks itself."""
    root = tmp_path_factory.mktemp("site")
    for language in ("en", "zh"):
        shutil.copytree(ROOT / "docs" / language, root / "docs" / language)
    assert whole_site.write_site(root, small_course(root), "en") == 0
    for page in (root / "build" / "site").rglob("*.html"):
        page.write_text(with_walk(page.read_text(encoding="utf-8")), encoding="utf-8")
    return root / "build" / "site"


def of_the_site():
    """Each engine in the light, in Chinese, and in the dark, in English. In CI each in one of them."""
    for number, engine in enumerate(ENGINES):
        for at, theme in enumerate(PAPER):
            mark = pytest.mark.ci if at == number % 2 else pytest.mark.whole
            yield pytest.param(engine, theme, marks=mark, id=f"{engine}-{theme}")


@pytest.mark.parametrize(("engine", "theme"), list(of_the_site()))
def test_the_site_is_walked(engine, theme, browser, tmp_path, site):
    language = {"light": "zh", "dark": "en"}[theme]
    pages = sorted((site / language).glob("*.html"))
    names = {page.name for page in pages}
    assert {"index.html", "01_single.html", "glossary.html", "teach.html"} <= names
    with tab_in(engine, browser, tmp_path / engine, theme) as tab:
        for page in pages:
            walk(tab, page, theme)
        if engine == "chromium":  # test_site.py has what follows
            return
        tab.goto((site / "index.html").as_uri())  # leads to the reader's language
        tab.until("() => location.pathname.endsWith('/en/index.html')")
        tab.answer_of("() => document.querySelector('main a[href*=\"03_\"]').click()")
        tab.until("() => location.pathname.endsWith('/en/03_multi.html')")
