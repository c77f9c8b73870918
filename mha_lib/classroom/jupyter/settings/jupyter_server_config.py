"""How the course's servers treat notebooks that are not trusted. Jupyter reads this file when one starts.

Jupyter shows the outputs of an untrusted notebook without their scripts. Two kinds of metadata run code in
the page all the same: the state of widgets, which jupyterlab-manager restores with the scripts of anywidget,
and RISE's header, footer and overlay, which are HTML. So the server withholds them until somebody trusts the
notebook. The page gets them under a name that nothing reads but the line that tells of them
(deck/static/withheld.js), and sends them back when it saves the notebook.

Nothing of the course is imported: PyTorch would come along, and take 200 MB of each server.
"""

import json
from contextlib import suppress
from hmac import HMAC
from typing import Any

from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from nbformat import NotebookNode
from nbformat.sign import NotebookNotary, signature_removed
from traitlets import default

WITHHELD = "mha_withheld"
STATE = "application/vnd.jupyter.widget-state+json"
NO_WIDGETS = {STATE: {"state": {}, "version_major": 2, "version_minor": 0}}  # as JupyterLab stores it
OF_RISE = {"overlay", "header", "footer", "backimage", "chalkboard"}


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
        nb.metadata.pop(WITHHELD, None)
        if not trusted:  # also where this is empty: so the page knows that nobody has trusted the notebook
            nb.metadata[WITHHELD] = {name: nb.metadata.pop(name) for name in runs_code(nb.metadata)}
        self.notary.mark_cells(nb, trusted)

    def check_and_sign(self, nb: NotebookNode, path: str = "", **options: Any) -> None:
        if WITHHELD in nb.metadata:
            give_back(nb.metadata)
        else:
            super().check_and_sign(nb, path, **options)

    async def trust_notebook(self, path: str) -> None:
        nb = (await self.get(path))["content"]
        give_back(nb.metadata)
        self.notary.mark_cells(nb, True)
        self.check_and_sign(nb, path)


def runs_code(metadata: NotebookNode) -> list[str]:
    """The names of a notebook's metadata that can run code in a page."""
    slides = {name: metadata.get(name) for name in ("rise", "livereveal")}
    names = [name for name, given in slides.items() if isinstance(given, dict) and OF_RISE & given.keys()]
    return names if metadata.get("widgets", NO_WIDGETS) == NO_WIDGETS else [*names, "widgets"]


def give_back(metadata: NotebookNode) -> None:
    """Put back what was withheld; widgets that the page has made since, and stores, are added."""
    made = metadata.get("widgets", {})
    metadata.update(metadata.pop(WITHHELD, {}))
    with suppress(KeyError, TypeError):  # either may lack a state, or be of another form
        metadata["widgets"][STATE]["state"] |= made[STATE]["state"]


c = get_config()  # type: ignore[name-defined]  # noqa: F821 - Jupyter defines it where it reads this file
c.ServerApp.contents_manager_class = CarefulContentsManager
