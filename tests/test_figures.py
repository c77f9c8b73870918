"""The drawings in img/: legible in both themes, self-contained, small, and right in their numbers."""

import math
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch

from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.look import DARK, LIGHT
from tests.lessons import ENGLISH, TRANSLATED, name_of

FIGURES = sorted((Path(__file__).parents[1] / "img").glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(params=FIGURES, ids=lambda path: path.stem)
def figure(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_figure_tells_in_words_what_it_shows(figure):
    root = ElementTree.parse(figure).getroot()
    assert len(root.findtext(f"{SVG}title", "")) > 20
    assert len(root.findtext(f"{SVG}desc", "")) > 100
    assert list(root.iter(f"{SVG}text")), "words are text, not outlines"


def test_figure_is_self_contained(figure):
    source = figure.read_text(encoding="utf-8")
    assert not re.search(r"<script|<foreignObject|<image|@import|@font-face|\bon\w+=", source)
    assert all(target.startswith("#") for target in re.findall(r'href="([^"]*)"', source))
    names = set(re.findall(r'\bid="(?!step-)([^"]+)"', source))
    used = set(re.findall(r"url\(([^)]*)\)", source)) | set(re.findall(r'href="([^"]*)"', source))
    assert used <= {f"#{name}" for name in names}, "an arrowhead or a hatching that isn't there"
    assert names <= {name.removeprefix("#") for name in used}, "a definition that nothing uses"


def test_figure_carries_its_own_panel_in_both_themes(figure):
    source = figure.read_text(encoding="utf-8")
    root = ElementTree.fromstring(source)
    panel = root.find(f"{SVG}rect")
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    assert panel is not None
    assert panel.get("class") == "panel"
    assert [float(panel.attrib[side]) for side in ("width", "height")] == [width - 1, height - 1]
    light, dark = root.findtext(f"{SVG}style", "").split("@media (prefers-color-scheme: dark)")
    for theme, colours in ((light, LIGHT), (dark, DARK)):
        assert {"panel", "ink", "mute", "soft"} <= set(re.findall(r"--(\w+):", theme))
        for name, colour in re.findall(r"--([qkvo]|forbidden|hatching):(#\w+)", theme):
            assert colour == colours[name]


def test_text_is_legible_from_the_last_row(figure):
    """Its letters, but for indices, have 18 pixels where it is narrowest: a slide of 1024 leaves it 928."""
    source = figure.read_text(encoding="utf-8")
    sizes = re.findall(r"(?:font-size[:=]\"?|font:[^;]*?)([\d.]+)(?:px|\")", source)
    assert sizes
    assert min(map(float, sizes)) * 928 / 960 >= 18


def test_the_mixture_is_computed_right():
    drawing = ElementTree.parse(FIGURES[0].parent / "scores_softmax_mixture.svg")
    words = ["".join(text.itertext()) for text in drawing.iter(f"{SVG}text")]
    weights = torch.tensor([2.0, 1.0, 0.0]).softmax(0)
    values = torch.tensor([[10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])
    for number in (f"{w:.2f}"[1:] for w in weights):
        assert number in words
    assert ", ".join(f"{x:.1f}" for x in weights @ values) in words
    assert f"sum {sum(map(math.exp, (2, 1, 0))):.2f}" in words


def steps_of(figure: Path) -> int:
    """How many steps a drawing has: empty groups at its top level end all but the last."""
    source, root = figure.read_text(encoding="utf-8"), ElementTree.parse(figure).getroot()
    ends = [name for element in root if (name := element.get("id", "")).startswith("step-")]
    assert ends == [f"step-{number}" for number, _ in enumerate(ends, 1)], "in order"
    assert source.count('id="step-') == len(ends), "a step that ends within a group hides nothing"
    rule = '[id^="step"]:target ~ * { visibility:hidden }'
    assert (rule in source) == bool(ends)
    return len(ends) + 1


@pytest.mark.parametrize("lesson", ENGLISH + TRANSLATED, ids=name_of)
def test_a_lesson_says_in_how_many_steps_its_figure_comes(lesson):
    for cell in read_lesson(lesson).cells:
        shown = re.findall(r"\]\(\.\./\.\./img/(\w+\.svg)\)", "".join(cell["source"]))
        drawn = max((steps_of(FIGURES[0].parent / name) for name in shown), default=1)
        assert cell["metadata"].get("steps", 1) == drawn, cell["id"]
