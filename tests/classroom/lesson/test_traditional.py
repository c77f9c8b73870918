"""Traditional Chinese is made from simplified: texts for people are converted, data are not."""

import ast
import json
import re

import pytest

from mha_lib.classroom.lesson import (
    list_languages,
    list_lessons,
    make_traditional,
    make_working_copy,
)
from mha_lib.classroom.lesson.chinese import to_traditional
from mha_lib.classroom.lesson.language import words_in
from mha_lib.classroom.lesson.slides import read_lesson, source
from mha_lib.classroom.lesson.traditional import code_to_traditional
from tests.lessons import MADE, ROOT, name_of

TAIWANS = {
    # terms of the field are Taiwan's
    "注意力机制、查询、键、值、权重": "注意力機制、查詢、鍵、值、權重",
    "掩码盖住一个词元": "遮罩蓋住一個詞元",
    "软件和内存": "軟體和記憶體",  # words, not characters alone
    "层规范化、暂退法、滑块、幻灯片": "層正規化、丟棄法、滑桿、投影片",
    "线性映射、残差连接、查找": "線性映射、殘差連接、查找",
    "参数的方差、评分函数、函数": "參數的變異數、評分函數、函式",
    "返回 16 位的值，按 Escape 返回": "回傳 16 位元的值，按 Escape 返回",
    "函数报错：报错信息说它没有实现": "函式回報錯誤：錯誤訊息說它沒有實作",
    "一个类，用这个库；这个类型": "一個類別，用這個函式庫；這個類型",
    "舍入误差": "捨入誤差",
    "把词元联系起来": "把詞元聯繫起來",
    "滑动窗口，窗口里的键": "滑動視窗，視窗裡的鍵",
    "问“他”：代词": "問「他」：代名詞",
    "num_hiddens=8, ½ ≤ √d": "num_hiddens=8, ½ ≤ √d",
    # rows and columns are called as in Taiwan
    "行和列互换了：第 i 行": "列和欄互換了：第 i 列",
    "行向量；每一行的和；遮住右边一列": "列向量；每一列的和；遮住右邊一欄",
    "三列表示类别，列名和行数": "三欄表示類別，欄名和列數",
    "由这样的列表组成的列表": "由這樣的串列組成的串列",
    "进行、执行、不行、命令行；序列、排列、列出": "進行、執行、不行、命令列；序列、排列、列出",
    "三行代码，只要一行": "三行程式碼，只要一行",  # lines, not rows
    "第 {line} 行有 SyntaxError": "第 {line} 行有 SyntaxError",
    # no word is found where two words meet
    "一个中文数字，一个旧版本": "一個中文數字，一個舊版本",
    "投影后，最后一个词元后面": "投影後，最後一個詞元後面",
    "版本里，十个数里最大的": "版本裡，十個數裡最大的",
    "还是只有形状相同，这只有，零只说": "還是只有形狀相同，這只有，零只說",
    "没有点在线的上方": "沒有點在線的上方",
    "什么也不复制；先不看表格": "什麼也不複製；先不看表格",
    "哪个词表示它": "哪個詞表示它",
    "运行了三个单元格": "執行了三個儲存格",
    "两个进程，激活，配置，仓库": "兩個行程，活化，設定檔，儲存庫",
    "随机水平，评分，神秘，这台机器": "隨機水準，評分，神祕，這台機器",
    "教室供暖；地址的二维码": "教室開暖氣；網址的 QR 碼",
    "反过来行吗？还行": "反過來行嗎？還行",
    "只要一行，供所有查询共用": "只要一列，供所有查詢共用",
}


@pytest.mark.parametrize("simplified", TAIWANS)
def test_words_and_characters_are_taiwans(simplified):
    assert to_traditional(simplified) == TAIWANS[simplified]


@pytest.mark.usefixtures("made_lessons")
@pytest.mark.parametrize("lesson", MADE, ids=name_of)
def test_a_lesson_has_no_character_that_taiwan_writes_otherwise(lesson):
    read = "\n".join(source(cell) for cell in read_lesson(lesson)["cells"])
    assert not re.findall(r".?[箇隻].?|(?<!公)里|后|復制|[“”]", read)


# Taiwan says 行程, 儲存庫, 打開, 做事, 開暖氣, 設定檔, 函式庫, 活化, 隨機水準, 神祕, 這台.
# The model of lesson 05 writes 万, not 萬.
OTHER_WORDS = (
    "程序|倉庫|開啟一個|教學 6|幹活|供暖|配置|組態|程式庫|啟用|激活|隨機水平|神秘|這臺"
    "|萬：|「萬」旁|[\u4e00-\u9fff]QR"
)


def test_no_lesson_and_no_sentence_has_a_word_that_taiwan_does_not_use(made_lessons):
    texts = {file.name: file.read_text(encoding="utf-8") for file in made_lessons.iterdir()}
    assert [(name, word) for name, text in texts.items() for word in re.findall(OTHER_WORDS, text)] == []
    assert "多頭注意力" in texts["course.css"]


def test_each_phrase_of_the_lessons_stands_in_one():
    lessons = [read_lesson(file) for file in list_lessons(ROOT, "zh")]
    said = [source(cell) for lesson in lessons for cell in lesson["cells"]]
    said.append((ROOT / "notebooks" / "zh" / "course.css").read_text(encoding="utf-8"))
    phrases = json.loads((ROOT / "notebooks" / "zh" / "taiwan.json").read_text(encoding="utf-8"))
    assert [phrase for phrase in phrases if not any(phrase in text for text in said)] == []


LINES = {  # cells that speak of lines: of code, of output, of a formula, of a list
    "01_single_head_attention": {"print-options": "印成一行", "one-line": "只要一行"},
    "02_self_attention": {"learnt-notes": "最後一行"},
    "03_multi_head_attention": {
        "bound-proof-notes": "寫第一行",
        "equal-heads": "一行程式碼",
        "four-steps-notes": "逐行",
        "equal-starts": "那一行",
        "museum-notes": "錯一行",
    },
    "05_trained_heads": {"museum-notes": "只是一行", "patch-notes": "逐行"},
    "06_heads_today": {
        "tiles-code-notes": "兩行",
        "slide-cache-notes": "一行",
        "read-it-notes": "逐行",
        "exercises-notes": "二十行",
    },
    "07_small_language_model": {
        "objectives-notes": "最後一行",
        "ten-lines-asserted": "這幾行",
        "ten-lines-notes": "逐行",
    },
}


@pytest.mark.usefixtures("made_lessons")
@pytest.mark.parametrize("lesson", MADE, ids=name_of)
def test_a_line_is_no_row(lesson):
    cells = {cell["id"]: source(cell) for cell in read_lesson(lesson)["cells"]}
    assert [id for id, said in LINES.get(lesson.stem, {}).items() if said not in cells[id]] == []


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
    assert code_to_traditional(CHINESE, ENGLISH) == TRADITIONAL
    assert "二萬三千" in code_to_traditional(CHINESE, ""), "nothing tells that it is data"


def test_only_words_change_in_code_that_python_can_read():
    code = 'x = {"键": [1, 2]}\nfor 名 in x:\n    print("—", 名, x[名])\n'
    converted = code_to_traditional(code, "")
    assert converted == code.replace("键", "鍵"), "names are not words"
    ast.parse(converted)
    assert code_to_traditional("%time 头", "%time heads") == "%time 头"


def write_lesson(course, language, *cells):
    folder = course / "notebooks" / language
    folder.mkdir(parents=True, exist_ok=True)
    made = [
        {"id": str(number), "cell_type": kind, "metadata": {}, "source": [text]}
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


def test_reading_writes_nothing(course):
    before = sorted(course.rglob("*"))
    assert list_languages(course) == ["en", "zh", "zh-Hant"]
    assert list_lessons(course, "zh-Hant") == [course / "build" / "zh-Hant" / "01_heads.ipynb"]
    assert sorted(course.rglob("*")) == before


def test_lessons_are_made_when_a_command_says_so(course):
    make_traditional(course)
    (lesson,) = list_lessons(course, "zh-Hant")
    notebook = json.loads(lesson.read_text())
    assert notebook["metadata"]["title"] == "頭"
    assert ["".join(cell["source"]) for cell in notebook["cells"]] == ["# 注意力頭 `三万`", TRADITIONAL]
    assert (lesson.parent / "course.css").read_text() == "b {}"
    words = json.loads((lesson.parent / "words.json").read_text())
    assert words == words_in("zh-Hant")

    (lesson.parent / "old.ipynb").write_text("{}")
    lesson.write_text("damaged")
    make_traditional(course)
    assert json.loads(lesson.read_text()) == notebook
    assert not (lesson.parent / "old.ipynb").exists()


def test_the_choices_of_a_guess_are_words_too(course):
    file = course / "notebooks" / "zh" / "01_heads.ipynb"
    notebook = json.loads(file.read_text())
    notebook["cells"][0]["metadata"]["choices"] = ["查询", "键", "3"]
    file.write_text(json.dumps(notebook))
    lesson = make_traditional(course) / file.name
    assert json.loads(lesson.read_text())["cells"][0]["metadata"]["choices"] == ["查詢", "鍵", "3"]


def test_a_folder_that_was_made_in_notebooks_before_does_no_harm(course):
    before = course / "notebooks" / "zh-Hant"
    before.mkdir()
    (before / "01_heads.ipynb").write_text("damaged")
    (before / "words.json").write_text("damaged")
    assert list_languages(course) == ["en", "zh", "zh-Hant"]
    work, messages = make_working_copy(course, "zh-Hant")
    assert messages == []
    assert "# 注意力頭" in (work / "01_heads.ipynb").read_text(encoding="utf-8")
    (course / "notebooks" / "zh" / "01_heads.ipynb").unlink()
    assert list_languages(course) == ["en"]


def test_the_lessons_bring_phrases_of_their_own(course):
    file = course / "notebooks" / "zh" / "taiwan.json"
    file.write_text(json.dumps({"注意力头": "注意力之頭"}))
    folder = make_traditional(course)
    assert "# 注意力之頭" in (folder / "01_heads.ipynb").read_text(encoding="utf-8")
    assert not (folder / file.name).exists(), "nobody needs it there"


def test_files_that_are_as_they_should_be_are_not_written_again(course):
    lesson = make_traditional(course) / "01_heads.ipynb"
    before = lesson.stat().st_mtime_ns
    make_traditional(course)
    assert lesson.stat().st_mtime_ns == before
