"""The nbconvert exporter: a notebook in, one self-contained HTML page out."""

from contextlib import closing
from pathlib import Path
from typing import Any

from nbconvert.exporters import Exporter
from nbconvert.exporters.exporter import FilenameExtension
from nbformat import NotebookNode
from traitlets import Bool, Enum
from traitlets.config.loader import PyFileConfigLoader

from mha_lib.classroom.jupyter import SETTINGS
from mha_lib.classroom.lesson.language import ENGLISH, words_in
from mha_lib.classroom.lesson.reading import Lesson, checked
from mha_lib.classroom.pages.handout.handout_page import HandoutPage
from mha_lib.classroom.pages.handout.notebook import AUDIENCES, STUDENT
from offline_notebook import among

WORDS = words_in(ENGLISH)["handout_exporter"]  # Jupyter shows them before it knows a notebook's language


class HandoutExporter(Exporter):
    """One HTML file that asks for nothing: ``jupyter nbconvert --to handout lesson.ipynb``."""

    export_from_notebook = WORDS["menu"]
    output_mimetype = "text/html"
    file_extension = FilenameExtension(".html").tag(config=True)
    audience = Enum(AUDIENCES, default_value=STUDENT, help=WORDS["audience"]).tag(config=True)
    made_widgets = Bool(False)  # whether the caller itself has just made the stored widgets

    def from_notebook_node(self, nb: NotebookNode, resources: Any = None, **kw: Any) -> Any:
        metadata = (resources or {}).get("metadata", {})
        folder = Path(metadata.get("path") or ".")
        name = str(metadata.get("name") or "notebook")
        given = checked(nb, name)
        # Stored widgets are programs. Those that an execution makes, which only follows here, come alive.
        if "widgets" in nb.metadata and not (self.made_widgets or is_signed(nb)):
            del given.metadata["widgets"]
        nb, resources = super().from_notebook_node(given, resources, **kw)
        handouts = resources.get("handouts") or {file.stem for file in folder.glob("*.html")} | {name}
        lesson = Lesson(folder / f"{name}.ipynb", nb)
        page = HandoutPage(lesson, self.audience, self.log.warning, among(handouts))
        return page.render(), resources


def is_signed(notebook: NotebookNode) -> bool:
    """Whether a server of the course on this machine has saved or trusted the notebook as it is."""
    settings = PyFileConfigLoader("jupyter_server_config.py", str(SETTINGS)).load_config()
    notary = settings.ServerApp.contents_manager_class().notary
    with closing(notary.store):
        return bool(notary.check_signature(notebook))
