"""Widgets without a kernel: an anywidget comes alive from its stored state, any other is said to be missing.

Everything here comes from the widget state that the notebook stores, so it is data: it is escaped.
"""

import hashlib
import html
from typing import Any

from offline_notebook.clean import Cleaner
from offline_notebook.tree import entry, parse

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
NO_WORDS = ("img", "table")  # nothing of these is left in words


class Widgets:
    """The widgets of one page; two views of one widget share its state, two widgets their module."""

    def __init__(self, metadata: dict[str, Any], cleaner: Cleaner):
        self.models = entry(dict, metadata, "widgets", STATE, "state")
        self.not_stored = 0  # widgets without a stored state
        self.cleaner = cleaner
        self.sentences = cleaner.sentences
        self.sources: dict[str, str] = {}  # modules and style sheets, by their hash
        self.alive: dict[str, Any] = {}

    def render(self, model_id: str, fallback: str) -> str:
        """The widget alive, or else what the notebook kept beside it, with a sentence that it is missing."""
        if " object at 0x" in fallback:  # the text of a Python object says nothing to a reader
            fallback = ""
        if isinstance(self.state(model_id).get("_esm"), str):
            return self.live(model_id, fallback)
        self.not_stored += model_id not in self.models
        kind = entry(str, self.models, model_id, "model_name")
        if "<img" in fallback or not kind:
            return fallback or self.note("lost")
        return fallback + self.unknown(kind)

    def unknown(self, kind: str) -> str:
        """Say that a widget is missing."""
        name = kind.removesuffix("Model")
        self.cleaner.complain(self.sentences["widget_left"].format(kind=name))
        return f'<p class="note">{html.escape(self.sentences["widget_left_here"].format(kind=name))}</p>\n'

    def state(self, model_id: str) -> dict[str, Any]:
        return entry(dict, self.models, model_id, "state")

    def note(self, sentence: str) -> str:
        return f'<p class="note">{self.sentences[sentence]}</p>\n'

    def live(self, model_id: str, fallback: str) -> str:
        """The place of a widget that the page's script brings alive, with a still picture until then."""
        if model_id not in self.alive:
            self.alive[model_id] = self.model(model_id)
        still = fallback
        if not parse(fallback).find(NO_WORDS):  # words, which may say what to do in Jupyter
            still = f'<div class="words">{fallback}</div><noscript>{self.note("script")}</noscript>'
        return (
            f'<figure class="widget" data-widget="{html.escape(model_id)}">'
            f'<div class="still">{still}</div></figure>\n'
        )

    def model(self, model_id: str) -> dict[str, Any]:
        """A widget as the page's script takes it; names that begin with _ are Jupyter's own."""
        state = self.state(model_id)
        buffers = entry(list, self.models, model_id, "buffers")
        return {
            "module": self.source(state["_esm"]),
            "style": self.source(entry(str, state, "_css")),
            "state": {name: value for name, value in state.items() if not name.startswith("_")},
            "buffers": [[entry(list, buffer, "path"), entry(str, buffer, "data")] for buffer in buffers],
        }

    def source(self, text: str) -> str:
        name = hashlib.sha256(text.encode()).hexdigest()[:12]
        self.sources[name] = text
        return name

    def data(self, *names: str) -> dict[str, Any]:
        """The data that bring these widgets alive, or all of the page."""
        models = {name: self.alive[name] for name in names or self.alive}
        used = {model[part] for model in models.values() for part in ("module", "style")}
        sources = {name: text for name, text in self.sources.items() if name in used}
        return {"sources": sources, "models": models}
