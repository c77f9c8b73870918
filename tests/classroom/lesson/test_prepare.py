"""Traditional Chinese is made from simplified: texts for people are converted, data are not."""

import json
import re

import pytest

from mha_lib.classroom.lesson import list_languages, list_lessons, prepare_lessons
from mha_lib.classroom.lesson.chinese import to_traditional
from mha_lib.classroom.lesson.made import made_language
from mha_lib.classroom.lesson.prepare import converted_code

MADE = made_language("zh-Hant")
assert MADE

TAIWANS = {
    # terms of the field are Taiwan's
    "注意力机制、查询、键、值、权重": "注意力機制、查詢、鍵、值、權重",
    "掩码盖住一个词元": "遮罩蓋住一個詞元",
    "软件和内存": "軟體和記憶體",  # words, not characters alone
    "返回 16 位的值，按 Escape 返回": "回傳 16 位元的值，按 Escape 返回",
    "问“他”：代词": "問「他」：代名詞",
    # rows and columns are called as in Taiwan
    "行和列互换了：第 i 行": "列和欄互換了：第 i 列",
    "进行、执行、不行、命令行；序列、排列、列出": "進行、執行、不行、命令列；序列、排列、列出",
    "三行代码，只要一行": "三行程式碼，只要一行",  # lines, not rows
    # no word is found where two words meet
    "一个中文数字，一个旧版本": "一個中文數字，一個舊版本",
    "还是只有形状相同，这只有，零只说": "還是只有形狀相同，這只有，零只說",
}


@pytest.mark.parametrize("simplified", TAIWANS)
def test_words_and_characters_are_taiwans(simplified):
    assert to_traditional(simplified) == TAIWANS[simplified]


# Taiwan says 行程, 儲存庫, 打開, 做事, 開暖氣, 設定檔, 函式庫, 活化, 隨機水準, 神祕, 這台.
# The model of lesson 05 writes 万, not 萬.
OTHER_WORDS = (
    "程序|倉庫|開啟一個|教學 6|幹活|供暖|配置|組態|程式庫|啟用|激活|隨機水平|神秘|這臺"
    "|萬：|「萬」旁|[\u4e00-\u9fff]QR|[箇隻后]|(?<!公)里|復制"
)


def test_no_lesson_and_no_sentence_has_a_word_that_taiwan_does_not_use(made_lessons):
    texts = {file.name: file.read_text(encoding="utf-8") for file in made_lessons.iterdir()}
    assert [(name, word) for name, text in texts.items() for word in re.findall(OTHER_WORDS, text)] == []
    assert "多頭注意力" in texts["course.css"]


ENGLISH = """
# all of them
text = "二万三千"
print(f"{n} heads", text)  # the heads"""
CHINESE = """
# 所有的头
text = "二万三千"
print(f"共 {n} 个头", text)  # 这些头"""
TRADITIONAL = """
# 所有的頭
text = "二万三千"
print(f"共 {n} 個頭", text)  # 這些頭"""


def test_strings_that_were_not_translated_are_data_and_stay():
    assert converted_code(CHINESE, ENGLISH, MADE) == TRADITIONAL
    assert "二萬三千" in converted_code(CHINESE, "", MADE), "nothing tells that it is data"


def test_only_words_change_in_code_that_python_can_read():
    code = 'x = {"键": [1, 2]}\nfor 名 in x:\n    print("—", 名, x[名])\n'
    converted = converted_code(code, "", MADE)
    assert converted == code.replace("键", "鍵"), "names are not words"
    assert converted_code("%time 头", "%time heads", MADE) == "%time 头"


def write_lesson(course, language, *cells):
    folder = course / "notebooks" / language
    folder.mkdir(parents=True, exist_ok=True)
    made = [
        {"id": str(number), "cell_type": kind, "metadata": {"choices": ["查询", "3"]}, "source": [text]}
        for number, (kind, text) in enumerate(cells)
    ]
    notebook = {"cells": made, "metadata": {"title": "头"}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "01_heads.ipynb").write_text(json.dumps(notebook))


@pytest.fixture
def course(tmp_path):
    write_lesson(tmp_path, "en", ("markdown", "# Heads"), ("code", ENGLISH))
    write_lesson(tmp_path, "zh", ("markdown", "# 注意力头 `三万`"), ("code", CHINESE))
    (tmp_path / "notebooks" / "zh" / "course.css").write_text("b {}")
    return tmp_path


def test_lessons_are_made_when_a_command_says_so(course):
    assert list_languages(course) == ["en", "zh", "zh-Hant"]
    (lesson,) = list_lessons(course, "zh-Hant")
    assert not lesson.exists()
    prepare_lessons(course, "zh-Hant")
    notebook = json.loads(lesson.read_text())
    assert notebook["metadata"]["title"] == "頭"
    assert ["".join(cell["source"]) for cell in notebook["cells"]] == ["# 注意力頭 `三万`", TRADITIONAL]
    assert notebook["cells"][0]["metadata"]["choices"] == ["查詢", "3"]
    assert (lesson.parent / "course.css").read_text() == "b {}"

    (lesson.parent / "old.ipynb").write_text("{}")
    lesson.write_text("damaged")
    prepare_lessons(course, "zh-Hant")
    assert json.loads(lesson.read_text()) == notebook
    assert not (lesson.parent / "old.ipynb").exists()


def test_the_lessons_bring_phrases_of_their_own(course):
    file = course / "notebooks" / "zh" / "taiwan.json"
    file.write_text(json.dumps({"注意力头": "注意力之頭"}))
    folder = prepare_lessons(course, "zh-Hant")[0].parent
    assert "# 注意力之頭" in (folder / "01_heads.ipynb").read_text(encoding="utf-8")
    assert not (folder / file.name).exists(), "nobody needs it there"
