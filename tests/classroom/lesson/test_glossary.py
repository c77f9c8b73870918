"""The terms that small lessons define, their sentences and their translations; where a text uses terms."""

import json

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from mha_lib.classroom.lesson.glossary import Definition, definitions_in, glossary, pairs
from mha_lib.classroom.lesson.reading import Lesson
from mha_lib.classroom.lesson.terms import bold_terms, uses_of


def cell(source, slide="fragment", tags=(), *, id, make=new_markdown_cell):
    return make(source, id=id, metadata={"slideshow": {"slide_type": slide}, "tags": list(tags)})


def lesson(*cells, language="en", name="01_one"):
    return new_notebook(cells=list(cells), metadata={"mha": {"lesson": name, "language": language}})


def write(course, notebook):
    identity = notebook.metadata["mha"]
    file = course / "notebooks" / identity["language"] / f"{identity['lesson']}.ipynb"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(notebook), encoding="utf-8")
    return file


SENTENCES = {
    "A **query** asks. A **key** is found.": {
        "query": "A **query** asks.",
        "key": "A **key** is found.",
    },
    "*One, e.g. $d_v$. Its **Value** is `x. y`, of $a. b$ in Luong et al. (2015).* Next.": {
        "value": "Its **Value** is `x. y`, of $a. b$ in Luong et al. (2015)."
    },
    "“Stop.” (A **dot\nproduct**: 2.5!)": {"dot product": "(A **dot product**: 2.5!)"},
    "查询遇到键。**权重**（weight）是正数（和为 1。）**softmax** 给出权重！": {
        "权重": "**权重**（weight）是正数（和为 1。）",
        "softmax": "**softmax** 给出权重！",
    },
    "他说“好。”，即**头**。": {"头": "他说“好。”，即**头**。"},
    "# A **title**\nA **Head** looks\n\n- no **BLEU**": {"head": "A **Head** looks", "BLEU": "no **BLEU**"},
    "| **cell** |\n|---|\n| `**code**` |\n\n$a **b** c$ **q**, **10,000**, **`x`**, ![**alt**](x.svg)": {},
}


@pytest.mark.parametrize("markdown", SENTENCES)
def test_a_bold_term_has_the_sentence_around_it(markdown):
    assert dict(bold_terms(markdown)) == SENTENCES[markdown]


def test_a_lesson_defines_its_terms_on_slides_and_each_once(tmp_path):
    notebook = lesson(
        cell("A **query** asks. The **query** is a row. $\\sqrt{d}$ is a **Scale**.", "slide", id="one"),
        cell("a **note**", "notes", id="notes"),
        cell("a **helper**", "skip", id="skip"),
        cell("a **reason**", tags=["why"], id="why"),
        cell("# a **comment**", id="code", make=new_code_cell),
        cell("<details>\n\nAn **answer**.\n\n</details>\n\nA **key** too.", id="two"),
    )
    found = definitions_in(Lesson(tmp_path / "01_one.ipynb", notebook))
    assert [(one.term, one.cell, one.place) for one in found] == [
        ("query", "one", 0),
        ("scale", "one", 2),
        ("key", "two", 0),
    ]
    assert [one.text for one in found[:2]] == ["A query asks.", r"\sqrt{d} is a Scale."]
    assert found[1].anchor == "term-scale"
    assert definitions_in(Lesson(tmp_path / "01_one.ipynb", new_notebook(cells=notebook.cells))) == [], (
        "it is no lesson"
    )


def test_the_first_lesson_that_defines_a_term_wins_and_a_translation_defines_what_the_english_does(tmp_path):
    texts = {
        "en": ("A **query** asks.", "A **Query** again, a **head**."),
        "zh": ("**查询**提问，**着重**。", "**查询**，**头**。"),
    }
    one, other = [
        glossary(
            write(tmp_path, lesson(cell(text, "slide", id=name), language=language, name=f"0{number}_x"))
            for number, (name, text) in enumerate(zip(("first", "second"), said, strict=True), 1)
        )
        for language, said in texts.items()
    ]
    assert one == [
        Definition("query", "A **query** asks.", "01_x", "first", 0),
        Definition("head", "A **Query** again, a **head**.", "02_x", "second", 1),
    ]
    assert [(one.term, two.term) for one, two in pairs(one, other)] == [("query", "查询"), ("head", "头")]
    assert len(other) == 2, "着重 stresses a word: the English cell has no second term"


USES = [
    ("en", ["key", "query", "mask"], "Keys, queries, two MASKS; unmasked, key-value", "Keys|queries|MASKS"),
    ("en", ["head", "attention head"], "an attention\nhead, a head start, heads", "attention\nhead|heads"),
    ("zh", ["头", "键", "多头"], "多头，箭头指头；关键是键", "多头|头|键"),
    ("zh-Hant", ["頭", "值"], "箭頭指頭，數值值得", "頭"),
]


@pytest.mark.parametrize(("language", "terms", "text", "found"), USES)
def test_a_text_uses_whole_words_and_the_longest_term(language, terms, text, found):
    used = [text[start:end] for start, end, _ in uses_of(terms, text, language)]
    assert used == found.split("|")
