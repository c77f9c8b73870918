"""Files that a student could hand in, each made to do something in the name of whoever opens it.

A new way in is a function marked `@hostile`, which returns a notebook. Its code calls what `Traps` gives it,
with the name of the way: `traps.python(...)` where a kernel would run it, `traps.script(...)` where a page
would, `traps.address(...)` where something would be loaded. Files beside the notebooks are in `lay`. What
guards against it is a row of `DEFENCES`, which is taken away once to see the trap go off.
"""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anywidget
import nbformat
from ipywidgets.embed import dependency_state, embed_data
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
VEGA = "application/vnd.vega.v5+json"
# A button that covers the page, and is not seen, has any click.
EVERYWHERE = "position: fixed !important; inset: 0 !important; z-index: 2147483647 !important;"
COVER = f".mha-withheld button {{ {EVERYWHERE} opacity: 0 !important; width: 100vw; height: 100vh; }}"


@dataclass
class Traps:
    """Knows what went off: requests that reached a local listener, and marks that a kernel's code left."""

    folder: Path  # where kernels leave their marks
    port: int
    asked: list[str] = field(default_factory=list)  # of the listener, in order

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/{name}"

    def script(self, name: str) -> str:
        """JavaScript for a page: it has no double quotes, so that it fits into an attribute."""
        return f"fetch('{self.address(name)}', {{ mode: 'no-cors' }})"

    def python(self, name: str) -> str:
        return f"open({str(self.folder / name)!r}, 'w').close()"

    def sprung(self) -> set[str]:
        """Names of the ways in that worked; "last" is what a test itself asks for."""
        return {path.strip("/") for path in self.asked if path != "/last"} | {
            mark.name for mark in self.folder.iterdir()
        }


@contextmanager
def set_traps(folder: Path) -> Iterator[Traps]:
    """A listener on this machine, for as long as a test lasts, and a folder for marks."""

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            traps.asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        traps = Traps(folder, server.server_port)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield traps
        server.shutdown()


Make = Callable[[Traps], NotebookNode]
HOSTILE: dict[str, Make] = {}


def hostile(make: Make) -> Make:
    HOSTILE[make.__name__] = make
    return make


@dataclass
class Defence:
    """A guard, and how to take it away: a piece of a file in mha_lib/classroom/jupyter, and what replaces it.

    ``lets_in`` names what goes off without it: a notebook, or a file that is opened, and the view in which.
    """

    name: str
    file: str
    piece: str
    replacement: str
    lets_in: tuple[str, str]  # the name of a file, and 'lab' or 'rise'


TRUST, DECK = "shared/withheld.js", "deck/jupyterlab.js"
SERVER = "settings/jupyter_server_config.py"
DEFENCES = [
    Defence("outputs", SERVER, "if data.keys() <= INERT:", "if True:", ("outputs.ipynb", "rise")),
    Defence("state", SERVER, "not trusted:", "False:", ("widget.ipynb", "lab")),
    Defence("path", SERVER, '= "1"', '= ""', ("folder.ipynb", "lab")),
    Defence("policy", SERVER, '"; ".join(POLICY)', '""', ("pictures.ipynb", "rise")),
    Defence("trust", TRUST, "!metadataOf(notebook, WITHHELD)", "true", ("folded.ipynb", "lab")),
    Defence("trust-step", TRUST, "!metadataOf(notebook, WITHHELD)", "true", ("step.ipynb", "lab")),
    Defence("carried", TRUST, "isTrusted(notebook) && m", "m", ("command.ipynb", "rise")),
    Defence("code", TRUST, "cell.inputHidden = false;", "", ("folded.ipynb", "lab")),
    Defence("commands", DECK, "!== LINK", "=== LINK", ("command.ipynb", "rise")),
    Defence("styles", DECK, "if (!/id=", "if (/id=", ("command.ipynb", "rise")),
    Defence("files", "settings/labconfig/page_config.json", "true", "false", ("plot.vg", "lab")),
]


def notebook(*cells: NotebookNode, **metadata: object) -> NotebookNode:
    """A student's copy of a lesson: a heading, these cells, and a place to write, each on its slide."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    identity = {"lesson": "03_multi_head_attention", "language": "en", "kind": "student"}
    common = {"kernelspec": kernel, "mha": identity, "rise": {"theme": "white"}}
    made: NotebookNode = new_notebook(
        cells=[
            new_markdown_cell("# Anna's homework"),
            *cells,
            new_markdown_cell("## Notes"),
            new_code_cell("#"),
        ]
    )
    made.metadata.update(common | metadata)
    for cell in made.cells:
        cell.metadata.setdefault("slideshow", {"slide_type": "slide"})
    return made


def stored(*bundles: dict[str, object], **metadata: object) -> NotebookNode:
    """A cell with outputs of these types, which says of itself that it is trusted."""
    outputs = [new_output("display_data", data=bundle, metadata=metadata) for bundle in bundles]
    return new_code_cell("1", outputs=outputs, metadata={"trusted": True})


def vega(traps: Traps, name: str) -> dict[str, object]:
    """A chart with an input that runs a script, and with data from elsewhere."""
    bind = {"input": "image", "src": "nowhere", "onerror": traps.script(f"{name}-bind")}
    return {
        "$schema": "https://vega.github.io/schema/vega/v5.json",
        "width": 9,
        "height": 9,
        "data": [{"name": "table", "url": traps.address(f"{name}-data")}],
        "signals": [{"name": "picked", "value": 1, "bind": bind}],
    }


def vega_lite(traps: Traps, name: str) -> dict[str, object]:
    bind = {"input": "image", "src": "nowhere", "onerror": traps.script(f"{name}-bind")}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"url": traps.address(f"{name}-data")},
        "params": [{"name": "picked", "value": 1, "bind": bind}],
        "mark": "point",
    }


@hostile
def outputs(traps: Traps) -> NotebookNode:
    handler = f'<img src="nowhere" onerror="{traps.script("html")}">'
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" {}>{}</svg>'
    return notebook(
        stored({VEGA: vega(traps, "vega"), "text/plain": "a chart"}),
        stored({"application/vnd.vegalite.v5+json": vega_lite(traps, "vega-lite")}),
        stored({"application/vnd.vegalite.v2+json": vega_lite(traps, "vega-lite-2")}, mha_withheld={}),
        stored({VEGA: vega(traps, "isolated")}, isolated=True),
        stored({"application/javascript": traps.script("javascript")}, {"text/html": handler}),
        stored({"text/html": f"<script>{traps.script('script')}</script>"}, isolated=True),
        stored({"image/svg+xml": svg.format(f'onload="{traps.script("svg")}"', "<script>alert(1)</script>")}),
        stored({"image/svg+xml": svg.format("", f'<image href="{traps.address("svg-image")}"/>')}),
        stored({"image/svg+xml": "<svg/>"}, **{"image/svg+xml": {"alt": f'">{handler}'}}),
        stored({"text/markdown": handler, "text/plain": handler}),
        stored({"application/vnd.unknown+json": {"script": traps.script("unknown")}}),
        mha_withheld={"widgets": {}},
    )


@hostile
def widget(traps: Traps) -> NotebookNode:
    class Plot(anywidget.AnyWidget):
        _esm = f"{traps.script('widget')}; export default {{ render() {{}} }}"

    plot = Plot()
    state = embed_data([plot], state=dependency_state([plot], drop_defaults=False))["manager_state"]
    overlay = f'<img src="nowhere" onerror="{traps.script("overlay")}">'
    return notebook(
        stored({VIEW: {"model_id": plot.model_id, "version_major": 2, "version_minor": 0}}),
        widgets={STATE: state},
        rise={"theme": "white", "overlay": overlay, "header": overlay},
    )


@hostile
def pictures(traps: Traps) -> NotebookNode:
    """Addresses that a page would load without a click."""
    named = traps.address
    html = f"""<img src="{named("img")}"> <video src="{named("video")}" poster="{named("poster")}" autoplay>
</video> <audio src="{named("audio")}" autoplay></audio> <video><source src="{named("source")}"></video>
<div style="width: 9px; height: 9px; background: url({named("background")})"></div>
<input type="image" src="{named("input")}">"""
    diagram = f"flowchart LR\n  A[\"<img src='{named('mermaid')}' width='9'>\"] --> B"
    return notebook(
        new_markdown_cell(html),
        new_markdown_cell(f"![a figure]({named('markdown')})\n\n```mermaid\n{diagram}\n```"),
        stored({"text/html": html.replace(named(""), named("output-"))}),
        rise={"theme": "simple"},  # whose letters lie on a site for fonts
    )


def unseen(source: str, name: str, *tags: str) -> NotebookNode:
    """Code that is folded, and on no slide."""
    metadata = {"jupyter": {"source_hidden": True}, "slideshow": {"slide_type": "skip"}, "tags": list(tags)}
    return new_code_cell(source, id=name, metadata=metadata)


@hostile
def folded(traps: Traps) -> NotebookNode:
    """Code that no reader sees, below text on which a key is pressed, a guess, and a folded heading."""
    asks = new_markdown_cell("Guess!", metadata={"tags": ["guess"]})
    more = new_markdown_cell("## More", metadata={"jp-MarkdownHeadingCollapsed": True})
    along = unseen(traps.python("along"), "along")
    text, below = new_markdown_cell("I think that heads differ."), new_code_cell(traps.python("below"))
    below.metadata = {"slideshow": {"slide_type": "skip"}}
    return notebook(text, along, asks, unseen(traps.python("shown"), "shown"), more, below)


@hostile
def step(traps: Traps) -> NotebookNode:
    """A step that needs folded cells, and some that are in its metadata alone; opened at that step."""
    text = new_markdown_cell("I think that heads differ.")
    made = notebook(text, unseen(traps.python("needed"), "needed"))
    step = {"address": "3.1", "is_optional": False, "minutes": 1, "needs": ["needed", "deleted"]}
    made.cells[0].metadata["mha_step"] = step
    lost = [unseen(traps.python(name), name, *tags) for name, *tags in (("deleted",), ("setup", "setup"))]
    made.metadata["mha_original"] = {"cells": [*made.cells, *lost]}
    return made


@hostile
def command(traps: Traps) -> NotebookNode:
    """A button that runs a command of JupyterLab, and a style of its own for the page."""
    button = "<button data-commandlinker-command='notebook:run-all-cells'>My figure</button>"
    text, code = new_markdown_cell(button), unseen(traps.python("command"), "command")
    return notebook(text, code, mha_page={"style": COVER})


@hostile
def folder(traps: Traps) -> NotebookNode:
    """Harmless itself: it lies beside files that a kernel or a server may read."""
    return notebook(new_markdown_cell("Here is [my figure](plot.vg), and [another one](plot.vl)."))


# Modules that a kernel looks for when it starts, installed or not, beside those of Python itself.
IMPORTED = """
IPython appnope asyncio_mode cloudpickle comm debugpy decorator dill executing gi ipykernel ipykernel_launcher
ipyparallel ipywidgets jedi jupyter_client jupyter_core matplotlib matplotlib_inline nest_asyncio numpy pandas
parso pexpect platformdirs prompt_toolkit psutil pure_eval pygments pyarrow sitecustomize six stack_data
tornado traitlets trio usercustomize uvloop wcwidth zmq
"""


def lay(place: Path, traps: Traps, names: Iterator[str] | None = None) -> None:
    """Write the hostile notebooks, or those of these names, and what lies beside them."""
    place.mkdir()
    for name in names or HOSTILE:
        nbformat.write(HOSTILE[name](traps), place / f"{name}.ipynb")
    for name in {*IMPORTED.split(), *sys.stdlib_module_names}:
        (place / f"{name}.py").write_text(traps.python(f"import-{name}"))
    jupyter = [f"jupyter_{name}config" for name in ("", "server_", "lab_", "notebook_")]
    settings = ["ipython_config", "ipython_kernel_config", *jupyter]
    beside = {f"{name}.py": traps.python(name) for name in settings}
    beside |= {f".ipython/profile_default/{name}.py": traps.python(f"profile-{name}") for name in settings}
    beside |= {f"profile_default/{name}.py": traps.python(f"profile-here-{name}") for name in settings}
    beside[".ipython/profile_default/startup/00.py"] = traps.python("startup")
    beside["hostile.pth"] = f"import sys; {traps.python('pth')}\n"
    beside["matplotlibrc"] = "backend: module://matplotlib\n"
    kernel = {
        "argv": [sys.executable, "-c", traps.python("kernel")],
        "display_name": "x",
        "language": "python",
    }
    for where in ("", "kernels/python3/", "share/jupyter/kernels/python3/", ".jupyter/kernels/python3/"):
        beside[f"{where}kernel.json"] = json.dumps(kernel)
    overrides = json.dumps({"@jupyterlab/apputils-extension:sanitizer": {"allowedSchemes": ["javascript"]}})
    for where in ("", "labconfig/", ".jupyter/labconfig/", "share/jupyter/lab/settings/"):
        beside[f"{where}overrides.json"] = beside[f"{where}default_setting_overrides.json"] = overrides
    beside |= {f"{name}.css": COVER for name in ("rise", "course", *HOSTILE)}
    beside["plot.vg"] = json.dumps(vega(traps, "vg"))
    beside["plot.vl"] = json.dumps(vega_lite(traps, "vl"))
    for name, text in beside.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
