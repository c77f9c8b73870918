"""How the course's servers treat notebooks that are not trusted. Jupyter reads this file when one starts.

Jupyter shows the outputs of an untrusted notebook without their scripts. Three kinds of content run code in
the page all the same: the state of widgets, which jupyterlab-manager restores with the scripts of anywidget;
RISE's header, footer and overlay, which are HTML; and outputs that a renderer calls safe and is not, such as
Vega's. So the server withholds them until somebody trusts the notebook. The page gets them under a name that
nothing reads but the line that tells of them (shared/withheld.js), and sends them back when it saves the
notebook.

A page of these servers loads pictures, films, fonts and styles from them alone: Jupyter shows those that an
untrusted notebook names. And kernels import no file that lies beside a notebook, as they do when they start.

Nothing of the course is imported: PyTorch would come along, and take 200 MB of each server.
"""

import json
from contextlib import suppress
from hmac import HMAC
from html import escape
from typing import Any
from urllib.parse import quote

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from nbformat import NotebookNode
from nbformat.sign import NotebookNotary, signature_removed
from traitlets import default

WITHHELD = "mha_withheld"
STATE = "application/vnd.jupyter.widget-state+json"
NO_WIDGETS = {STATE: {"state": {}, "version_major": 2, "version_minor": 0}}  # as JupyterLab stores it
OF_RISE = {"overlay", "header", "footer", "backimage", "chalkboard"}
# Jupyter shows these as text, sanitised HTML, a formula or a picture; other types may be an extension's.
HTML, SVG = "text/html", "image/svg+xml"
PICTURES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
INERT = {"text/plain", HTML, "text/markdown", "text/latex"} | PICTURES
POLICY = (
    "frame-ancestors 'self'",  # as Jupyter has it
    "img-src 'self' data: blob:",
    "media-src 'self' data: blob:",
    "font-src 'self' data:",
    "style-src 'self' 'unsafe-inline'",
)


class StrictNotary(NotebookNotary):
    """Sign the JSON of a notebook.

    nbformat joins keys and values with no mark between them. So its signature of a notebook with the state of
    widgets as the text of a cell also holds for one that has this state in its metadata.
    """

    def compute_signature(self, nb: NotebookNode) -> str:
        with signature_removed(nb):
            text = json.dumps(nb, sort_keys=True)
        return HMAC(self.secret, text.encode(), self.digestmod).hexdigest()


class CarefulContentsManager(AsyncLargeFileManager):
    """Withhold from the page what an untrusted notebook would run there. The file keeps it, unsigned."""

    @default("notary")
    def _notary_default(self) -> NotebookNotary:
        return StrictNotary(parent=self)

    def mark_trusted_cells(self, nb: NotebookNode, path: str = "") -> None:
        trusted = self.notary.check_signature(nb)
        if not trusted:
            withhold(nb)
        self.notary.mark_cells(nb, trusted)

    def check_and_sign(self, nb: NotebookNode, path: str = "", **options: Any) -> None:
        lacks = WITHHELD in nb.metadata
        give_back(nb)
        if not lacks:
            super().check_and_sign(nb, path, **options)

    async def _read_file(  # type: ignore[override]  # one of the two classes it comes from has no async
        self, os_path: str, *options: Any, **more: Any
    ) -> Any:
        content, *about = await super()._read_file(os_path, *options, **more)
        if os_path.endswith(".ipynb") and isinstance(content, str):
            content = content.removeprefix("\ufeff")  # the mark with which some editors begin a file
        return content, *about

    async def trust_notebook(self, path: str) -> None:
        nb = (await self.get(path))["content"]
        give_back(nb)
        self.notary.mark_cells(nb, True)
        self.check_and_sign(nb, path)


class CarefulKernelSpecManager(KernelSpecManager):
    """Keep a kernel's folder off the path from which it imports: it imports before any cell runs."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        spec = super().get_kernel_spec(kernel_name)
        spec.env["PYTHONSAFEPATH"] = "1"
        return spec


def withhold(nb: NotebookNode) -> None:
    """Move what can run code in a page to a place that no page reads; SVG becomes a picture.

    The place is there also where nothing is moved: so the page knows that nobody has trusted the notebook.
    """
    nb.metadata.pop(WITHHELD, None)
    nb.metadata[WITHHELD] = {name: nb.metadata.pop(name) for name in runs_code(nb.metadata)}
    for output in outputs_of(nb):
        output.metadata.pop(WITHHELD, None)
        data = output.data
        if data.keys() <= INERT:
            continue
        output.metadata[WITHHELD] = data
        output.data = {name: data[name] for name in data.keys() & INERT}
        if SVG in data:  # Jupyter shows no SVG of an untrusted notebook, though as a picture it runs nothing
            output.data.setdefault(HTML, as_picture(data[SVG], output.metadata.get(SVG)))


def runs_code(metadata: NotebookNode) -> list[str]:
    """The names of a notebook's metadata that can run code in a page."""
    slides = {name: metadata.get(name) for name in ("rise", "livereveal")}
    names = [name for name, given in slides.items() if isinstance(given, dict) and OF_RISE & given.keys()]
    return names if metadata.get("widgets", NO_WIDGETS) == NO_WIDGETS else [*names, "widgets"]


def outputs_of(nb: NotebookNode) -> list[NotebookNode]:
    """The outputs that have a type, such as text or a picture."""
    return [output for cell in nb.cells for output in cell.get("outputs", ()) if "data" in output]


def as_picture(svg: str, about: Any) -> str:
    alt = about.get("alt") if isinstance(about, dict) else None
    return f'<img src="data:{SVG},{quote(svg)}" alt="{escape(str(alt or ""))}">'


def give_back(nb: NotebookNode) -> None:
    """Put back what was withheld; widgets that the page has made since, and stores, are added."""
    metadata = nb.metadata
    made = metadata.get("widgets", {})
    metadata.update(metadata.pop(WITHHELD, {}))
    with suppress(KeyError, TypeError):  # either may lack a state, or be of another form
        metadata["widgets"][STATE]["state"] |= made[STATE]["state"]
    for output in outputs_of(nb):
        output.data = output.metadata.pop(WITHHELD, output.data)


c = get_config()  # type: ignore[name-defined]  # noqa: F821 - Jupyter defines it where it reads this file
c.ServerApp.contents_manager_class = CarefulContentsManager
c.ServerApp.kernel_spec_manager_class = CarefulKernelSpecManager
c.ServerApp.tornado_settings = {"headers": {"Content-Security-Policy": "; ".join(POLICY)}}
