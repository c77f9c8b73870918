"""Runs the lessons and prints the slides whose sources have changed, and writes the site."""

import shutil
from pathlib import Path

from mha_lib.classroom.lesson import CourseError, hands_out_solutions, language_in, list_languages
from mha_lib.classroom.lesson.files import write_whole
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.pages.browser import require_browser
from mha_lib.classroom.pages.build import Build
from mha_lib.classroom.pages.handout.handouts import address_of_run, page_of, run_changed
from mha_lib.classroom.pages.site.documents import read_documents
from mha_lib.classroom.pages.site.glossary import add_glossaries
from mha_lib.classroom.pages.site.notebook import students_notebook
from mha_lib.classroom.pages.site.pages import (
    SEARCH,
    LessonRow,
    SiteInLanguage,
    framed,
    front_page,
    root_page,
    search_page,
)
from mha_lib.classroom.pages.site.search import entries_of
from mha_lib.classroom.pages.slides.pdf_decks import address_of_slides, print_decks, require_playwright
from mha_lib.classroom.pages.sources import is_current


def write_site(
    root: Path, lessons_by_language: list[list[Path]], language: str, folder: Path | None = None
) -> int:
    """Write ``build/site/`` with these lessons, a list for each language; returns the exit status.

    Lessons that have run and slides in ``build/`` are taken as they are where their sources have not changed
    since; the others are made first. A lesson that fails is not on the site, nor are slides that fail.
    Another ``folder`` must hold nothing but a site, for it is replaced.
    """
    solutions = hands_out_solutions(root)
    parts = {"index.html", *list_languages(root)}
    if folder and (others := sorted(file.name for file in folder.glob("*") if file.name not in parts)):
        raise CourseError("not_a_site", folder=folder, others=", ".join(others[:3]))
    build = Build(folder or root / "build" / "site", language)
    lessons = [lesson for in_one_language in lessons_by_language for lesson in in_one_language]
    with build.until_ctrl_c():
        ran = run_changed(root, lessons, build)
        with_slides = can_print(build)
        old = [lesson for lesson in ran if not is_current(address_of_slides(root, lesson), lesson)]
        if with_slides and old:
            with build.attempt("slides"):
                print_decks(root, old, build)
        sites = [read_site(root, one, build, solutions, with_slides) for one in lessons_by_language]
        sites = [site for site in sites if site.rows]
        if sites:
            add_glossaries(root, sites, build)
            lay_out(root, build.folder, sites)
            size = sum(file.stat().st_size for file in build.folder.rglob("*") if file.is_file())
            gaps = {"file": build.folder / "index.html", "megabytes": f"{size / 1e6:.1f}"}
            print(build.words["site_build"]["written"].format(**gaps))
    return build.end()


def can_print(build: Build) -> bool:
    """Whether there is a browser that prints slides; the site is written without them where there is none."""
    try:
        require_browser()
        require_playwright()
    except CourseError as error:
        reason = error.said_in(build.language)
        build.warnings.append(build.words["site_build"]["no_slides"].format(reason=reason))
        return False
    return True


def read_site(
    root: Path, lessons: list[Path], build: Build, solutions: bool, with_slides: bool
) -> SiteInLanguage:
    """The pages of one language: the lessons that have run since they were changed, and the documents."""
    language = language_in(lessons[0])
    ran = [lesson for lesson in lessons if is_current(address_of_run(root, lesson), lesson)]
    names = {lesson.stem for lesson in ran}
    rows = []
    for lesson in ran:
        run, slides = address_of_run(root, lesson), address_of_slides(root, lesson)
        with build.attempt(lesson):
            page = page_of(read_lesson(lesson), read_lesson(run).copy(), names, build)
            rows.append(
                LessonRow(lesson, page, slides if with_slides and is_current(slides, lesson) else None)
            )
    documents = read_documents(root, language, names, build)
    return SiteInLanguage(language, rows, documents, solutions)


def lay_out(root: Path, folder: Path, sites: list[SiteInLanguage]) -> None:
    """Write the site beside the folder and put it in its place: a reader never finds half of it."""
    beside = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(beside, ignore_errors=True)
    write_whole(beside / "index.html", root_page(sites))
    for site in sites:
        place = beside / site.language
        write_whole(place / "index.html", front_page(site, sites))
        write_whole(place / SEARCH, search_page(site, sites, entries_of(site)))
        for row in site.rows:
            write_whole(place / row.address, framed("pages/site/lesson.html", row, site, sites))
            write_whole(place / row.lesson.name, students_notebook(row.lesson, site.solutions))
            if row.slides:
                shutil.copyfile(row.slides, place / row.slides.name)
        for document in site.documents:
            text = framed("pages/site/document.html", document, site, sites)
            write_whole(place / document.address, text)
    shutil.rmtree(folder, ignore_errors=True)
    beside.rename(folder)
