"""Differences between a translated lesson and the English one are found, and mended where possible."""

from copy import deepcopy

import pytest

from mha_lib.classroom.lesson.translations import (
    brought_in_step,
    hash_of,
    marked_as_translated,
    out_of_step,
    without_words,
)


def cell(name, text, kind="markdown", slide="slide", tags=()):
    return {"id": name, "cell_type": kind, "source": [text], "metadata": metadata(slide, tags)}


def metadata(slide, tags):
    return {"slideshow": {"slide_type": slide}} | ({"tags": list(tags)} if tags else {})


ENGLISH = {
    "metadata": {"title": "Heads"},
    "cells": [
        cell("title", "# Heads"),
        cell("count", 'print(f"{n} heads")  # all of them', "code", "fragment"),
        cell("same", "n = 4", "code", "fragment", ["setup"]),
    ],
}
TEXTS = {"title": "# 注意力头", "count": 'print(f"共 {n} 个头")  # 全部', "same": "n = 4"}


@pytest.fixture
def chinese():
    cells = deepcopy(ENGLISH["cells"])
    for each in cells:
        each["metadata"]["english"] = hash_of(each)
        each["source"] = [TEXTS[each["id"]]]
    return {"metadata": {"title": "注意力头"}, "cells": cells}


@pytest.fixture
def english():
    return deepcopy(ENGLISH)


def named(english, translated):
    return list(out_of_step(english, translated))


def test_a_changed_cell_is_stale_until_it_is_marked_as_translated(english, chinese):
    english["cells"][0]["source"] = ["# Many heads"]
    assert named(english, chinese) == [("title", "stale")]
    updated = brought_in_step(english, chinese)
    assert updated["cells"][0]["source"] == ["# 注意力头"], "the translator's text stays"
    assert named(english, updated) == [("title", "stale")]
    assert named(english, marked_as_translated(english, updated, ["title"])) == []
    assert named(english, marked_as_translated(english, updated, ["count"])) == [("title", "stale")]


def test_code_without_words_and_highlighted_lines_follow_by_themselves(english, chinese):
    english["cells"][1]["metadata"]["highlight"] = "1"
    english["cells"][2]["source"] = ["n = 8"]
    assert sorted(named(english, chinese)) == [("count", "slide"), ("same", "stale")]
    updated = brought_in_step(english, chinese)
    assert named(english, updated) == []
    assert updated["cells"][1]["metadata"]["highlight"] == "1"
    assert updated["cells"][2]["source"] == ["n = 8"]


def test_the_choices_of_a_guess_are_the_translators_and_as_many_as_in_english(english, chinese):
    english["cells"][0]["metadata"]["choices"] = ["one", "four"]
    assert named(english, brought_in_step(english, chinese)) == [("title", "slide")]
    chinese["cells"][0]["metadata"]["choices"] = ["一个", "四个"]
    assert brought_in_step(english, chinese) == chinese


def test_slide_types_tags_and_order_follow_by_themselves(english, chinese):
    english["cells"][0]["metadata"] = metadata("subslide", ["why"])
    english["cells"].reverse()
    assert named(english, chinese) == [("title", "slide"), ("same", "moved"), ("title", "moved")]
    updated = brought_in_step(english, chinese)
    assert named(english, updated) == []
    assert [each["id"] for each in updated["cells"]] == ["same", "count", "title"]


def test_new_cells_come_in_english_and_stale_and_old_ones_go(english, chinese):
    english["cells"][1] = cell("new", "# New")
    assert named(english, chinese) == [("new", "missing"), ("count", "gone")]
    updated = brought_in_step(english, chinese)
    assert named(english, updated) == [("new", "stale")]
    assert updated["cells"][1]["source"] == ["# New"]
    assert updated["metadata"] == {"title": "注意力头"}


@pytest.mark.parametrize("code", ['print(f"共 {n:3} 个头")', 'print(f"共 {m} 个头")', 'print(f"{n} 头", 2)'])
def test_code_that_differs_in_more_than_words_is_named(english, chinese, code):
    chinese["cells"][1]["source"] = [code]
    assert named(english, chinese) == [("count", "code")]


def test_words_may_stand_in_another_order():
    assert without_words('f"{a} of {b}"') == without_words('f"{b} 中的 {a}"')
    assert without_words('assert n, "why"') == without_words('assert n, "为什么"  # 注释')
    assert without_words("%time x") == "%time x"
