"""Pages of a few cells for the tests of this folder: no course, its own sentences."""

from bs4 import BeautifulSoup
from nbformat import from_dict
from nbformat.v4 import new_output

from offline_notebook import Cleaner, Outputs, Pictures, inside

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
COLOURS = {"#0067A5": "var(--q)", "#B04500": "var(--k)"}
SENTENCES = {
    "figure": "Figure drawn by the code above",
    "formula_left": "formula left as TeX: {tex} ({reason})",
    "left_out": "left out: {elements}",
    "link_left": "no page for {address}",
    "link_nowhere": "nothing is called {address}",
    "lost": "Something interactive is missing here.",
    "not_among": "Not among the pages: {address}",
    "not_set": " (not set: {reason})",
    "not_shown": "left out: {reason} (cell {cell})",
    "not_shown_here": "Something is missing here: {reason}.",
    "picture_left_out": "picture left out: {address}",
    "program": "an output that needs {elements}",
    "script": "It needs JavaScript.",
    "too_long": "too long, or nested too deeply",
    "unknown_command": "unknown command {about}",
    "unknown_type": "an output of the type {type}",
    "widget_left": "widget left out: {kind}",
    "widget_left_here": "A widget stands here ({kind}).",
}


def read(html):
    return BeautifulSoup(html, "html.parser")


class Cleaning:
    """Cleans pieces of one page, and keeps what is complained of."""

    def __init__(self, folder):
        self.complaints: list[str] = []
        self.cleaner = Cleaner(SENTENCES, Pictures(folder).read, self.complaints.append, COLOURS)

    def __call__(self, html):
        """A page that holds HTML of a stranger."""
        return inside(self.cleaner.clean(self.cleaner.html(html)))

    def markdown(self, source, attachments=None):
        return inside(self.cleaner.clean(self.cleaner.markdown(source, attachments)))


def shown(data, **metadata):
    return new_output("display_data", data=data, metadata=metadata)


def printed(text):
    return new_output("stream", text=text)


def stored(**models):
    """The widgets in a notebook's metadata: of each its kind, its state, and its buffers."""
    state = {
        name: {"model_name": kind, "state": state, "buffers": buffers}
        for name, (kind, state, *buffers) in models.items()
    }
    return {STATE: {"state": state}}


class Shown:
    """The page of one cell's outputs, and what was said while it was made."""

    def __init__(self, *outputs, metadata=None):
        self.said: list[str] = []
        cleaner = Cleaner(SENTENCES, Pictures("nowhere").read, self.said.append)
        self.outputs = Outputs(metadata or {}, cleaner)
        cell = from_dict({"id": "figure", "outputs": list(outputs)})
        self.html = inside(cleaner.clean(self.outputs.of(cell)))
        self.page = read(self.html)
        self.notes = [note.get_text() for note in self.page.find_all(class_="note")]
