"""README, CONTRIBUTING and docs/ lead to what exists, and say the same in each language."""

import io
import re
import shlex
from contextlib import redirect_stderr
from pathlib import Path

import pytest

import mha_lib
from mha_lib.classroom.__main__ import make_parser
from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.lesson.slides import addresses_of
from tests import test_house

ROOT = Path(__file__).parents[1]
BESIDE = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "hub/README.md"]  # README.zh.md and so on
ENGLISH = [*BESIDE, *sorted((ROOT / "docs" / "en").rglob("*.md"))]
LANGUAGES = sorted(folder.name for folder in (ROOT / "docs").iterdir() if folder.name != "en")


def in_language(page, language):
    """The page of another language that says the same as this English one."""
    if page in BESIDE:
        return page.with_suffix(f".{language}.md")
    return ROOT / "docs" / language / page.relative_to(ROOT / "docs" / "en")


TRANSLATED = [(page, in_language(page, language)) for language in LANGUAGES for page in ENGLISH]
PAGES = [*ENGLISH, *(page for _, page in TRANSLATED)]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def name_of(value):
    return value.relative_to(ROOT).as_posix() if isinstance(value, Path) else str(value)


each_page = pytest.mark.parametrize("page", PAGES, ids=name_of)


def read(page):
    return page.read_text(encoding="utf-8")


def prose_of(page):
    """The text without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", read(page), flags=re.MULTILINE | re.DOTALL)


def code_of(page):
    """The pieces of code: each line of a block, and each span in the text."""
    blocks = re.findall(r"^```\n(.*?)^```$", read(page), re.MULTILINE | re.DOTALL)
    return ["\n".join(blocks), *re.findall(r"`([^`\n]+)`", prose_of(page))]


def headings_of(page):
    return re.findall(r"^(#+) (.+)$", prose_of(page), re.MULTILINE)


def anchors_of(page):
    """The anchors that GitHub gives to the headings."""
    bare = [re.sub(r"[^\w\- ]", "", title.lower()) for _, title in headings_of(page)]
    return {title.replace(" ", "-") for title in bare}


@each_page
def test_every_link_leads_to_a_file_and_a_heading(page):
    links = re.findall(r"\]\(([^)\s]+)\)", prose_of(page))
    assert links
    for link in links:
        address, _, anchor = link.partition("#")
        if ":" in address:
            assert address.startswith("https://"), link
            continue
        target = page.parent / address if address else page
        assert target.exists(), link
        if target.suffix != ".ipynb":
            assert not anchor or anchor in anchors_of(target), link


@each_page
def test_every_address_of_a_step_is_the_one_that_the_step_has(page):
    for address, file, step in re.findall(r"\[([^\]]+)\]\((\S+\.ipynb)#([\w-]+)\)", prose_of(page)):
        lesson = read_lesson(page.parent / file)
        assert lesson.language == page.parent.name, file
        addresses = addresses_of(lesson.slides, lesson.identity)
        assert step in addresses, f"{file} has no step {step}"
        assert address == addresses[step], f"{step} is {addresses[step]} now, and not {address}"


@each_page
def test_every_target_and_setting_of_make_exists(page):
    targets = set(re.findall(r"^([a-z-]+):.* ## ", MAKEFILE, re.MULTILINE))
    for code in code_of(page):
        for command in re.findall(r"^(?:sudo )?make ((?:-C \S+ )?[A-Za-z].*)", code, re.MULTILINE):
            words = shlex.split(command, comments=True)
            named = words[2:] if words[0] == "-C" else words
            assert named[0] in targets, command
            settings = [word.partition("=")[0] for word in named if re.match("[A-Z_]+=", word)]
            for setting in settings:
                assert re.search(rf"\$\((or \$\(|if \$\(|filter no,\$\()?{setting}\b", MAKEFILE), command


@each_page
def test_every_command_is_one_that_the_program_takes(page):
    parser = make_parser(words_in("en")["command_line"], "en")
    for code in code_of(page):
        for command in re.findall(r"(?:-m mha_lib\.classroom|^mha) (.+)", code, re.MULTILINE):
            given = shlex.split(command.partition(" -- ")[0], comments=True)
            if given == ["…"] or given == ["--help"]:
                continue
            with redirect_stderr(io.StringIO()) as said:
                try:
                    parser.parse_args(given)
                except SystemExit:
                    pytest.fail(f"{command}: {said.getvalue()}")


@pytest.mark.parametrize(("english", "translated"), TRANSLATED, ids=name_of)
def test_languages_have_the_same_headings_tables_links_and_code(english, translated):
    def shape_of(page):
        text = read(page)
        lines = [line for line in prose_of(page).splitlines() if line]
        return {
            "headings": [marks for marks, _ in headings_of(page)],
            "rows": [line.count("|") for line in lines if line.startswith("|")],
            "items": re.findall(r"^(?:-|\d\.) ", prose_of(page), re.MULTILINE),
            "blocks": len(re.findall(r"^```", text, re.MULTILINE)),
            "outside": sorted(re.findall(r"\]\((https:[^)]+)\)", text)),
        }

    assert shape_of(translated) == shape_of(english)


@pytest.mark.parametrize(("page", "language"), [("README.md", "en"), ("README.zh.md", "zh")])
def test_a_readme_and_the_sites_front_page_say_in_one_sentence_what_the_course_is(page, language):
    title, first = read(ROOT / page).split("\n\n")[1:3]
    assert first.replace("`", "") == words_in(language)["site"]["lead"]
    assert title.startswith("# ")


@pytest.mark.parametrize("page", [page for page in PAGES if page.name == "library.md"], ids=name_of)
def test_the_library_page_names_everything_that_is_public(page):
    named = set(re.findall(r"`(\w+)`", read(page)))
    assert set(mha_lib.__all__) <= named


@pytest.mark.parametrize("page", sorted(ROOT.glob("CONTRIBUTING*.md")), ids=name_of)
def test_the_map_of_the_house_is_the_one_that_is_tested(page):
    drawn = re.findall(r"^\| `(\w+)` \|", read(page), re.MULTILINE)
    assert [room for room in drawn if room not in test_house.WITHOUT_PYTHON] == test_house.ROOMS
    assert {*drawn} == {*test_house.ROOMS} | test_house.WITHOUT_PYTHON
