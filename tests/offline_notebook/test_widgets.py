"""Widgets without a kernel: alive, as a still picture, or said to be missing."""

import re

import pytest

from offline_notebook import plain
from tests.offline_notebook.pages import PIXEL, SENTENCES, VIEW, Shown, shown, stored


def test_without_javascript_a_widget_says_that_it_needs_it():
    for beside, words in (
        ({"text/plain": "alive in a trusted notebook"}, "needs JavaScript"),
        ({"text/plain": "a", "image/png": PIXEL}, None),
    ):
        models = stored(w=("AnyModel", {"_esm": "export default {}"}))
        page = Shown(shown({VIEW: {"model_id": "w"}, **beside}), metadata={"widgets": models})
        still = page.page.find(class_="still")
        assert (still.find(class_="words") is None) == (words is None), "the style sheet hides it"
        assert words is None or words in still.noscript.get_text()
        assert (still.find("img") is None) == (words is not None)


def stills(**models):
    return Shown(shown({VIEW: {"model_id": "top"}}), metadata={"widgets": stored(**models)})


@pytest.mark.parametrize(
    ("kind", "state", "words"),
    [
        ("CheckboxModel", {"description": "on", "value": True}, "on = ☑"),
        ("ButtonModel", {"description": "Run"}, "Run"),
        ("TagsInputModel", {"value": ["a", "b"]}, "a, b"),
        ("FloatProgressModel", {"description": "done", "value": 7.0, "max": 9.0}, "done = 7.0"),
        ("SelectionRangeSliderModel", {"_options_labels": ["a", "b", "c"], "index": [0, 2]}, "a, c"),
        ("LabelModel", {"value": "a < b"}, "a < b"),
        ("IntSliderModel", {"description": "seed", "value": 4}, "seed = 4"),
        (
            "DropdownModel",
            {"description": "how", "_options_labels": ["slow", "fast"], "index": 1},
            "how = fast",
        ),
    ],
)
def test_a_control_shows_its_value(kind, state, words):
    page = stills(top=(kind, state))
    assert plain(str(page.page.find(class_="control"))) == words
    assert page.said == []


def test_a_widget_without_words_is_said():
    page = stills(
        top=("VBoxModel", {"children": ["IPY_MODEL_a", "IPY_MODEL_b"]}),
        a=("IntTextModel", {"value": 1}),
        b=("DatePickerModel", {"description": "day", "value": {"year": 2024}}),
    )
    assert page.notes == ["A widget stands here (DatePicker)."]
    assert page.said == ["widget left out: DatePicker"]
    assert not re.search("IPY_MODEL", page.html)


def holding(*held):
    return ("OutputModel", {"outputs": [shown(data) for data in held]})


@pytest.mark.parametrize(
    "models",
    [
        {"top": holding({VIEW: {"model_id": "top"}}, {"text/plain": "kept"})},
        {
            "top": ("VBoxModel", {"children": ["IPY_MODEL_out", "IPY_MODEL_top"]}),
            "out": holding({VIEW: {"model_id": "top"}}, {"text/plain": "kept"}),
        },
    ],
)
def test_a_widget_that_holds_itself_is_shown_once(models):
    page = stills(**models)
    assert page.page.get_text().count("kept") == 1


def test_boxes_without_end_are_said():
    twice = {f"b{i}": ("VBoxModel", {"children": [f"IPY_MODEL_b{i + 1}"] * 2}) for i in range(30)}
    deep = {f"d{i}": ("VBoxModel", {"children": [f"IPY_MODEL_d{i + 1}"]}) for i in range(3000)}
    for models, top in ((twice, "b0"), (deep, "d0")):
        page = stills(top=("VBoxModel", {"children": [f"IPY_MODEL_{top}"]}), **models)
        assert page.notes == [SENTENCES["lost"]]
        assert page.outputs.widgets.not_stored == 1


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("https://esm.sh/a", "https://esm.sh/a"),
        ("import c from 'https://esm.sh/c'\nexport default {}", "https://esm.sh/c"),
        ('const d3 = await import("d3"); export default {}', "d3"),
        ("export default { render() {} } // from here", None),
    ],
)
def test_a_widget_that_asks_for_another_program_is_said(module, name):
    page = stills(top=("AnyModel", {"_esm": module}))
    assert page.said == ([f"a widget asks for {name}"] if name else [])


def test_html_in_a_widget_is_shown_as_any_other_html():
    page = stills(
        top=("HTMLModel", {"value": f"<b>bold</b><img src='data:image/png;base64,{PIXEL}'><script>"})
    )
    assert page.page.b.get_text() == "bold"
    assert page.page.img
    assert page.page.script is None
    assert page.said == ["left out: <script>"]
