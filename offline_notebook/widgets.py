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

from offline_notebook.clean import Cleaner
from offline_notebook.markdown import formulas_in
from offline_notebook.sanitise import escaped
from offline_notebook.tree import parse

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
REFERENCE = "IPY_MODEL_"
# A module that a widget's module imports, by a name such as "d3" or by an address: no page has it.
IMPORTED = re.compile(r"""\b(?:from|import)\s*\(?\s*["'](?!data:|blob:)(?P<name>[^"'\n]+)["']""")
NO_WORDS = ("img", "table", "video", "audio")  # nothing of these is left in words
MOST_STILLS = 10_000  # on a page


class Widgets:
    """The widgets of one page; two views of one widget share its state, two widgets their module."""

    def __init__(
        self,
        metadata: dict[str, Any],
        cleaner: Cleaner,
        output: Callable[[dict[str, Any]], str],
    ):
        self.models = stored_models(metadata)
        self.not_stored = 0  # widgets without a stored state
        self.within: list[str] = []  # the widgets whose stills are being made
        self.stills = 0  # how many were made
        self.cleaner = cleaner
        self.sentences = cleaner.sentences
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
            return (
                f'<figure class="group">{still}<figcaption>{self.sentences["still"]}</figcaption></figure>\n'
            )
        kind = str(self.models.get(model_id, {}).get("model_name", ""))
        if "<img" in fallback or not kind:
            return fallback or self.note("lost")
        return fallback + self.unknown(kind)

    def state(self, model_id: str) -> dict[str, Any]:
        return self.models.get(model_id, {}).get("state", {})

    def note(self, sentence: str) -> str:
        return f'<p class="note">{self.sentences[sentence]}</p>\n'

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
            self.cleaner.complain(self.sentences["widget_fetches"].format(name=named["name"]))

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
            return "".join(self.still(child, is_child=True) for child in children)
        kind = str(self.models.get(model_id, {}).get("model_name", ""))
        if kind.startswith("HTML"):
            return self.cleaner.html(str(state.get("value") or ""))
        return control(state) or (self.unknown(kind) if is_child else "")

    def unknown(self, kind: str) -> str:
        """Say that a control is missing."""
        name = kind.removesuffix("Model")
        self.cleaner.complain(self.sentences["widget_left"].format(kind=name))
        return f'<p class="note">{html.escape(self.sentences["widget_left_here"].format(kind=name))}</p>\n'

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


def control(state: dict[str, Any]) -> str:
    """A slider, a menu, a text box and the like: its name and its value; "" for a value without words."""
    label, value = html.escape(str(state.get("description") or "")), state.get("value")
    if "_options_labels" in state:
        value = chosen(state["_options_labels"], state.get("index"))
    text = words_for(value)
    if text is None and (value is not None or not label):
        return ""
    equals = " = " if label and text else ""
    return f'<p class="control">{label}{equals}{formulas_in(escaped(text or ""))}</p>\n'


def words_for(value: Any) -> str | None:
    """The value of a control as a reader sees it in the notebook; None for one that has no words."""
    if isinstance(value, bool):
        return "☑" if value else "☐"
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return ", ".join(map(str, value))
    return None


def chosen(options: list[Any], index: Any) -> list[Any]:
    """The options at an index, at several or at none."""
    places = index if isinstance(index, list) else [index]
    return [options[place] for place in places if isinstance(place, int) and 0 <= place < len(options)]
