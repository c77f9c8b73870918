"""The Chinese lessons keep the content of the English ones, and are written as the course writes Chinese."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from mha_lib.classroom.lesson.prepare import texts_in
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.lesson.slides import source
from tests.notebooks.chinese import english_runs, findings, unlike_a_lecturer, without_code

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
LESSONS = sorted((NOTEBOOKS / "zh").glob("*.ipynb"))
GLOSSARY = json.loads((NOTEBOOKS / "zh" / "glossary.json").read_text(encoding="utf-8"))
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)


@each_lesson
def test_keeps_numbers_formulas_and_names_and_is_written_as_chinese_is(lesson):
    english = {cell["id"]: source(cell) for cell in read_lesson(NOTEBOOKS / "en" / lesson.name).cells}
    wrong = [
        f"{cell['id']}: {found}"
        for cell in read_lesson(lesson).cells
        if cell["cell_type"] == "markdown"
        for found in findings(*map(figures_alike, (english[cell["id"]], source(cell))))
    ]
    assert wrong == []


def figures_alike(text):
    """Lesson 07 trains a model in each language, so a median and its range differ."""
    number = r"(?:0?\.\d\d|1)"
    own = rf"{number} ?[(（]{number} (?:to|到) {number}[)）]"
    return re.sub(own, lambda found: re.sub(number, "1", found[0]), text)


def test_the_terms_are_those_of_the_glossary():
    """Nearly every cell with an English term has its Chinese word; a few uses are loose."""
    cells: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    for lesson in LESSONS:
        english = {cell["id"]: cell for cell in read_lesson(NOTEBOOKS / "en" / lesson.name).cells}
        for cell in read_lesson(lesson).cells:
            if cell["cell_type"] != "markdown" or "sources" in cell["id"]:
                continue
            said, here = without_code(source(english[cell["id"]])).lower(), without_code(source(cell))
            for term, word in GLOSSARY.items():
                if re.search(rf"(?<![\w-]){re.escape(term.split(' (')[0])}s?(?![\w-])", said):
                    cells[term] += 1
                    kept[term] += any(each in here for each in word.split(" ")[0].split("、"))
    assert {term: kept[term] / count for term, count in cells.items() if kept[term] < 0.8 * count - 1} == {}
    assert len(cells) > 50


@each_lesson
def test_code_says_nothing_in_english(lesson):
    found = [
        f"{cell['id']}: {said}"
        for cell in read_lesson(lesson).cells
        if cell["cell_type"] == "code"
        for text in texts_in(source(cell))
        for said in english_runs(re.sub(r"\{[^}]*\}", " ", text.strip("\"' ")))
        if not NUMBER_WORDS.fullmatch(said)  # the data of lesson 05
    ]
    assert found == []


ROOT = NOTEBOOKS.parent
WORDS = ROOT / "mha_lib" / "classroom" / "words" / "zh"
SPOKEN = [
    *LESSONS,
    *sorted(WORDS.glob("*.json")),
    *(ROOT / "img" / "words" / "zh.json", NOTEBOOKS / "zh" / "course.json"),
    *sorted((ROOT / "docs" / "zh").rglob("*.*")),
    *sorted(each for folder in (".", "hub") for each in (ROOT / folder).glob("*.zh.md")),
]


def said_in(file):
    """All that a file says in Chinese, a paragraph for each text."""
    if file.suffix != ".ipynb":
        return file.read_text(encoding="utf-8").replace('"', "\n\n")
    cells = [(cell["cell_type"], source(cell)) for cell in read_lesson(file).cells]
    said = [[text] if kind == "markdown" else texts_in(text) for kind, text in cells]
    return "\n\n".join(text for texts in said for text in texts)


@pytest.mark.parametrize("file", SPOKEN, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_chinese_is_what_a_lecturer_says(file):
    assert [*unlike_a_lecturer(said_in(file))] == []


NUMBER_WORDS = re.compile(
    r"(one|two|three|four|five|six|seven|nine|ten|fourteen|twenty|forty|hundred|thousand|million| )+"
)


ENGLISH = "A **query** meets 3 keys: `scores` and $q k$, .98 of [d2l](x.html). Lesson 03 tells more."
CHINESE = "**查询**（query）遇到 3 个键：`scores` 和 $q k$，[d2l](x.html) 的 0.98。第 3 课讲得更多。"


def test_a_right_translation_has_no_findings():
    assert list(findings(ENGLISH, CHINESE)) == []


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("0.98", "0.89", "numbers lost"),
        ("`scores`", "`score`", "code"),
        ("$q k$", "$k q$", "formula"),
        ("x.html", "y.html", "link"),
        ("遇到 3", "遇到3", "space is missing"),
        ("：`scores` 和", "：`scores`和", "space is missing"),
        ("，[d2l]", ",[d2l]", "punctuation"),
        ("0.98。", "0.98 。", "space beside"),
        ("**查询**（", "**查询（查）**得", "does not see the emphasis"),
        ("讲得更多", "tells you even more", "English: "),
    ],
)
def test_what_is_wrong_is_found(right, wrong, said):
    assert right in CHINESE
    assert any(said in found for found in findings(ENGLISH, CHINESE.replace(right, wrong)))


@pytest.mark.parametrize(
    "said",
    [
        "一个头一种混合。",
        "每个词元 $D$ 个数。",
        "查询宽 8，值宽 32。",
        "每个音节一个词元。",
        "在考试上是 0.9。",
        "测量误差。",
        "答对的比例。",
        "去掉 11.1 对 0.45。",
        "四个头看法一样。",
        "卷积每层够到两个词元。",
        "推翻这个断言。",
        "- 说出要缩放的原因",
        "只用第 1 层加上的，看得到。",
        "它读它写它看。",
    ],
)
def test_what_no_lecturer_says_is_found(said):
    assert list(unlike_a_lecturer(said)) != []


def test_what_a_lecturer_says_is_not_found():
    assert list(unlike_a_lecturer("查询是 8 维的，思考题：“它”指什么？答案是加权平均，不是别的。")) == []
