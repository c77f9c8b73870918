"""Whoever looks up a word of the usual lecture notes finds it: on slides, and where it is defined."""

import pytest

from mha_lib.classroom.lesson.glossary import glossary
from mha_lib.classroom.lesson.language import source_folder
from mha_lib.classroom.lesson.made import said_in
from mha_lib.classroom.lesson.prepare import phrases_of
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.lesson.slides import addresses_of, source
from mha_lib.classroom.pages.handout.notebook import STUDENT, cells_for
from mha_lib.classroom.pages.site.search import steps_in
from tests.lessons import ROOT, lessons_in

DEFINED = {  # in English and Chinese: each is the bold term of a sentence, and so in the glossary
    "additive attention": "加性注意力",
    "attention pooling": "注意力汇聚",
    "bottleneck": "信息瓶颈",
    "complexity": "计算复杂度",
    "concatenation": "拼接",
    "context vector": "上下文向量",
    "dependency": "依赖关系",
    "dimensions": "维度",
    "expressive power": "表达能力",
    "interpretability": "可解释性",
    "linear projection": "线性投影",
    "normalise": "归一化",
    "parallel computation": "并行计算",
    "probability distribution": "概率分布",
    "relevance": "相关性",
    "representation": "词的表示",
    "scaled dot-product attention": "缩放点积注意力",
    "share explained": "解释比例",
    "similarity": "相似度",
    "subspace": "子空间",
    "weighted average": "加权平均",
    "weighted sum": "加权求和",
}
SAID = {  # on slides, at least
    "advantage": "优点",
    "application": "应用",
    "ensemble": "集成",
    "expert": "专家",
    "limit": "局限",
    "long-range": "长距离",
    "semantic": "语义",
    "short-range": "短距离",
    "syntactic": "语法",
    "o(n^2)": "o(n^2)",
    "concatenate": "连结",
    "linear transformation": "线性变换",
    "learnt positional encoding": "可学习的位置编码",
    "metamorphic relation": "蜕变关系",
}


def words_in(language, table):
    if language == "en":
        return [*table]
    return said_in(language, [*table.values()], phrases_of(source_folder(ROOT, language)))


@pytest.mark.parametrize("language", ["en", "zh", "zh-Hant"])
def test_the_words_of_the_notes_are_defined_in_bold_and_stand_in_the_glossary(language, made_lessons):
    terms = {one.term for one in glossary(lessons_in([language]))}
    assert [word for word in words_in(language, DEFINED) if word not in terms] == []


@pytest.mark.parametrize("language", ["en", "zh", "zh-Hant"])
def test_the_other_words_of_the_notes_stand_on_slides(language, made_lessons):
    lessons = [read_lesson(lesson) for lesson in lessons_in([language])]
    cells = [cell for lesson in lessons for slide in lesson.slides for cell in slide.cells]
    said = "\n".join(source(cell) for cell in cells if cell["cell_type"] == "markdown").lower()
    assert [word for word in words_in(language, SAID) if word.lower() not in said] == []


@pytest.mark.parametrize("language", ["en", "zh", "zh-Hant"])
def test_the_words_of_the_notes_are_found_by_the_sites_search(language, made_lessons):
    defined, said = "", ""
    for lesson in map(read_lesson, lessons_in([language])):
        cells = cells_for(STUDENT, lesson.notebook)
        for step in steps_in(cells, addresses_of(lesson.slides, lesson.identity)):
            defined += "\n".join([*step.terms, ""])
            said += "\n".join([step.title, *step.lines, ""]).lower()
    assert [word for word in words_in(language, DEFINED) if word not in defined] == []
    assert [word for word in words_in(language, DEFINED | SAID) if word.lower() not in said] == []
