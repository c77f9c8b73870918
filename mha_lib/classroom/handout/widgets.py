"""Widgets without a kernel: an anywidget comes alive from its stored state, any other gives its last state.

Everything here is taken from the notebook's stored widget state, so it is data: it is escaped.
"""

import hashlib
import html
import json
from collections.abc import Callable
from typing import Any

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
REFERENCE = "IPY_MODEL_"


class Widgets:
    def __init__(
        self,
        metadata: dict[str, Any],
        words: dict[str, str],
        render_output: Callable[[dict[str, Any]], str],
    ):
        self.words = words
        self.models: dict[str, Any] = metadata.get("widgets", {}).get(STATE, {}).get("state", {})
        self.render_output = render_output
        self.sources: dict[str, str] = {}  # modules and style sheets, by their hash
        self.alive: dict[str, Any] = {}

    def render(self, model_id: str, fallback: str) -> str:
        """The widget alive, or else its last state, or else what the notebook kept beside it."""
        model = self.models.get(model_id)
        if model is None:
            return fallback or note(self.words["lost"])
        if "_esm" in model.get("state", {}):
            return self._live(model_id, model, fallback)
        if still := self._still(model_id, set()):
            return f'<figure class="group">{still}<figcaption>{self.words["still"]}</figcaption></figure>\n'
        return fallback

    def _live(self, model_id: str, model: dict[str, Any], fallback: str) -> str:
        state = {name: value for name, value in model["state"].items() if not name.startswith("_")}
        if model_id not in self.alive:
            self.alive[model_id] = {
                "module": self._source(model["state"]["_esm"]),
                "style": self._source(model["state"].get("_css") or ""),
                "state": state,
                "buffers": [[buffer["path"], buffer["data"]] for buffer in model.get("buffers", [])],
            }
        return (
            f'<figure class="widget" data-widget="{html.escape(model_id)}">'
            f'<div class="still">{fallback}</div></figure>\n'
        )

    def _source(self, text: str) -> str:
        name = hashlib.sha256(text.encode()).hexdigest()[:12]
        self.sources[name] = text
        return name

    def _still(self, model_id: str, seen: set[str]) -> str:
        """The last state of an ipywidget as a picture or as text; nothing for one we don't know."""
        model = self.models.get(model_id)
        if model is None or model_id in seen:
            return ""
        seen.add(model_id)
        state = model.get("state", {})
        if "_esm" in state:
            return self._live(model_id, model, "")
        if "outputs" in state:
            return "".join(map(self.render_output, state["outputs"]))
        if "children" in state:
            children = [str(child).removeprefix(REFERENCE) for child in state["children"]]
            stills = [self._still(child, seen) for child in children]
            return "".join(stills)
        label = html.escape(str(state.get("description") or ""))
        name = str(model.get("model_name", ""))
        if "Progress" in name:
            value, low, high = (float(state.get(key) or 0) for key in ("value", "min", "max"))
            return (
                f'<p class="control">{label} <progress value="{value - low:g}" max="{high - low or 1:g}">'
                f"</progress></p>"
            )
        if "_options_labels" in state:
            options, index = state["_options_labels"], state.get("index")
            chosen = [index] if isinstance(index, int) else index or []
            shown = ", ".join(str(options[i]) for i in chosen if i < len(options))
        elif name == "HTMLModel":
            from mha_lib.classroom.handout.text import plain

            shown = plain(str(state.get("value", "")))
        elif isinstance(value := state.get("value"), str | int | float | bool):
            shown = str(value)
        else:
            return ""
        return f'<p class="control">{label}{" = " if label and shown else ""}{html.escape(shown)}</p>'

    def data(self) -> str:
        """What the page's script needs to bring the widgets alive: JSON that can't end its own element."""
        if not self.alive:
            return ""
        text = json.dumps({"sources": self.sources, "models": self.alive}, separators=(",", ":"))
        return text.replace("<", "\\u003c")


def note(text: str) -> str:
    return f'<p class="note">{html.escape(text)}</p>'
