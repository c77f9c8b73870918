"""Widgets without a kernel: an anywidget comes alive from its stored state, any other shows its last one.

Everything here comes from the widget state that the notebook stores, so it is data: it is escaped.
"""

import hashlib
import html
import re
from collections.abc import Callable
from typing import Any

from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from nbformat import NotebookNode, from_dict

from mha_lib.classroom.pages.html import plain
from mha_lib.classroom.pages.html.markdown import formulas_in
from mha_lib.classroom.pages.html.tree import parse

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
REFERENCE = "IPY_MODEL_"
# These show nothing of their own.
SILENT = {"LayoutModel", "BoxModel", "OutputModel", "ControllerModel", "ControllerButtonModel"}
# A module that a widget's module imports, by a name such as "d3" or by an address: no page has it.
IMPORTED = re.compile(r"""\b(?:from|import)\s*\(?\s*["'](?!data:|blob:)(?P<name>[^"'\n]+)["']""")
NO_WORDS = ("img", "svg", "canvas", "table", "video", "audio", "iframe")  # nothing of these is left in words
MOST_STILLS = 10_000  # on a page
# The element for a widget's bytes, the first half of their type, the second where the widget names none.
MEDIA = {
    "ImageModel": ("img", "image", "png", 'alt=""'),
    "AudioModel": ("audio", "audio", "mp3", "controls"),
    "VideoModel": ("video", "video", "mp4", "controls"),
}


class Widgets:
    """The widgets of one page; two views of one widget share its state, two widgets their module."""

    def __init__(
        self,
        metadata: dict[str, Any],
        words: dict[str, str],
        output: Callable[[dict[str, Any]], str],
        complain: Callable[[str], object],
    ):
        self.models = stored_models(metadata)
        self.not_stored = 0  # widgets without a stored state
        self.within: list[str] = []  # the widgets whose stills are being made
        self.stills = 0  # how many were made
        self.words = words
        self.complain = complain
        self.output = output  # the HTML of a cell's output, for the widgets that hold some
        self.sources: dict[str, str] = {}  # modules and style sheets, by their hash
        self.alive: dict[str, Any] = {}

    def render(self, model_id: str, fallback: str) -> str:
        """The widget alive, or else its last state, or else what the notebook kept beside it."""
        if " object at 0x" in fallback:  # the text of a Python object says nothing to a reader
            fallback = ""
        try:
            if "_esm" in self.state(model_id):
                return self.live(model_id, fallback)
            still = self.still(model_id)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):  # it can be anything
            self.models.pop(model_id, None)
            still = ""
        self.not_stored += model_id not in self.models
        if still:
            return f'<figure class="group">{still}<figcaption>{self.words["still"]}</figcaption></figure>\n'
        kind = str(self.models.get(model_id, {}).get("model_name", ""))
        if "<img" in fallback or not kind:
            return fallback or self.note("lost")
        return fallback + self.unknown(kind)

    def state(self, model_id: str) -> dict[str, Any]:
        return self.models.get(model_id, {}).get("state", {})

    def note(self, sentence: str) -> str:
        return f'<p class="note">{self.words[sentence]}</p>\n'

    def live(self, model_id: str, fallback: str) -> str:
        """The place of a widget that the page's script brings alive, with a still picture until then."""
        if model_id not in self.alive:
            self.alive[model_id] = self.model(model_id)
            self.say_imports(self.state(model_id)["_esm"])
        still = fallback
        if not parse(fallback).find(NO_WORDS):  # words, which may say what to do in Jupyter
            still = f'<div class="words">{fallback}</div><noscript>{self.note("script")}</noscript>'
        return (
            f'<figure class="widget" data-widget="{html.escape(model_id)}">'
            f'<div class="still">{still}</div></figure>\n'
        )

    def say_imports(self, module: str) -> None:
        """Say that a widget will not come alive, since its module asks for others; the page says it too."""
        named = re.fullmatch(r"\s*(?P<name>https?://\S+)\s*", module) or IMPORTED.search(module)
        if named:
            self.complain(self.words["widget_fetches"].format(name=named["name"]))

    def model(self, model_id: str) -> dict[str, Any]:
        """A widget as the page's script takes it; names that begin with _ are Jupyter's own."""
        state = self.state(model_id)
        buffers = self.models[model_id].get("buffers", [])
        return {
            "module": self.source(state["_esm"]),
            "style": self.source(state.get("_css") or ""),
            "state": {name: value for name, value in state.items() if not name.startswith("_")},
            "buffers": [[buffer["path"], buffer["data"]] for buffer in buffers],
        }

    def source(self, text: str) -> str:
        name = hashlib.sha256(text.encode()).hexdigest()[:12]
        self.sources[name] = text
        return name

    def still(self, model_id: str, is_child: bool = False) -> str:
        """The last state of a widget as pictures and text; nothing for one that holds itself."""
        if model_id in self.within:
            return ""
        self.stills += 1
        if self.stills > MOST_STILLS:
            raise ValueError("boxes that hold the same boxes twice have no end")
        self.within.append(model_id)
        try:
            return self.still_of(model_id, self.state(model_id), is_child)
        finally:
            self.within.pop()

    def still_of(self, model_id: str, state: dict[str, Any], is_child: bool) -> str:
        """The still picture of one widget; "" for a kind that shows nothing."""
        if "_esm" in state:
            return self.live(model_id, "")
        if "outputs" in state:
            return "".join(map(self.output, with_whole_streams(state["outputs"])))
        if "children" in state:
            children = [str(child).removeprefix(REFERENCE) for child in state["children"]]
            stills = [self.still(child, is_child=True) for child in children]
            return "".join(map(titled, titles_of(state, len(children)), stills))
        kind = str(self.models.get(model_id, {}).get("model_name", ""))
        if kind.startswith("HTML") and parse(str(state.get("value"))).find(NO_WORDS):
            return control(kind, state) + self.unknown(kind)
        media = medium(kind, state, self.models.get(model_id, {}).get("buffers", []))
        return media or control(kind, state) or (self.unknown(kind) if is_child else "")

    def unknown(self, kind: str) -> str:
        """Say that a control is missing; most have no words of their own."""
        if kind in SILENT or not kind:
            return ""
        self.complain(self.words["widget_left"].format(kind=kind.removesuffix("Model")))
        sentence = self.words["widget_left_here"].format(kind=kind.removesuffix("Model"))
        return f'<p class="note">{html.escape(sentence)}</p>\n'

    def data(self, *names: str) -> dict[str, Any]:
        """The data that bring these widgets alive, or all of the page."""
        models = {name: self.alive[name] for name in names or self.alive}
        used = {model[part] for model in models.values() for part in ("module", "style")}
        sources = {name: text for name, text in self.sources.items() if name in used}
        return {"sources": sources, "models": models}


def stored_models(metadata: dict[str, Any]) -> dict[str, Any]:
    """The widgets that a notebook has stored, by their names; without those stored in an unknown form."""
    try:
        models = dict(metadata["widgets"][STATE]["state"])
    except (KeyError, TypeError, ValueError):
        return {}
    return {
        name: model
        for name, model in models.items()
        if isinstance(model, dict) and isinstance(model.get("state"), dict)
    }


def with_whole_streams(outputs: list[Any]) -> list[NotebookNode]:
    """The outputs that a widget holds, as nbconvert prepares those of a cell: each stream is one text."""
    cell = from_dict({"outputs": outputs})
    cell, _ = CoalesceStreamsPreprocessor().preprocess_cell(cell, {}, 0)
    return list(cell.outputs)


def titles_of(state: dict[str, Any], count: int) -> list[str]:
    """The names of a widget's tabs or folds, of ipywidgets 8 or 7; "" for each child of another box."""
    old = state.get("_titles") or {}
    titles = [*(state.get("titles") or []), *(old[place] for place in sorted(old, key=int))]
    return [*map(str, titles[:count]), *[""] * (count - len(titles))]


def titled(title: str, still: str) -> str:
    return f'<p class="control title">{html.escape(title)}</p>\n{still}' if title and still else still


def medium(kind: str, state: dict[str, Any], buffers: list[dict[str, Any]]) -> str:
    """A picture, a sound or a film, whose bytes lie beside the state."""
    element = MEDIA.get(kind)
    data = next((buffer["data"] for buffer in buffers if buffer["path"] == ["value"]), "")
    if not element or not data:
        return ""
    type_ = f"{element[1]}/{state.get('format') or element[2]}"
    address = html.escape(f"data:{type_};base64,{data}")
    return f'<p class="control"><{element[0]} src="{address}" {element[3]}></{element[0]}></p>\n'


def control(kind: str, state: dict[str, Any]) -> str:
    """A slider, a menu, a text box and the like: its name and its value."""
    label, value = html.escape(str(state.get("description") or "")), state.get("value")
    if "Progress" in kind:
        low, high = float(state.get("min") or 0), float(state.get("max") or 1)
        bar = f'<progress value="{float(value or 0) - low:g}" max="{high - low or 1:g}"></progress>'
        return f'<p class="control">{label} {bar}</p>\n'
    if "_options_labels" in state:
        value = ", ".join(map(str, chosen(state["_options_labels"], state.get("index"))))
    elif kind.startswith("HTML"):
        value = plain(str(value or ""))
    text = words_for(value)
    if text is None and not label:
        return ""
    equals = " = " if label and text else ""
    return f'<p class="control">{label}{equals}{formulas_in(html.escape(text or "", quote=False))}</p>\n'


def words_for(value: Any) -> str | None:
    """The value of a control as a reader sees it in the notebook; None for one that has no words."""
    if isinstance(value, bool):
        return "☑" if value else "☐"
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, dict):
        return moment(value)
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        is_range = len(value) == 2 and not any(isinstance(item, str) for item in value)
        return (" – " if is_range else ", ").join(map(str, value))
    return None


def moment(value: dict[str, Any]) -> str | None:
    """A day, a time, or both, as ISO writes them; ipywidgets counts months from 0."""
    try:
        day = f"{value['year']:04d}-{value['month'] + 1:02d}-{value['date']:02d}" if "year" in value else ""
        hour = f"{value['hours']:02d}:{value['minutes']:02d}" if "hours" in value else ""
    except (KeyError, TypeError, ValueError):
        return None
    return f"{day} {hour}".strip() or None


def chosen(options: list[Any], index: Any) -> list[Any]:
    """The options at an index, at several or at none."""
    places = index if isinstance(index, list) else [index]
    return [options[place] for place in places if isinstance(place, int) and 0 <= place < len(options)]
