"""The nbconvert exporter: a notebook in, one self-contained HTML page out."""

from pathlib import Path
from typing import Any

from nbconvert.exporters import Exporter
from nbconvert.preprocessors import Preprocessor
from nbconvert.utils.exceptions import ConversionException
from nbformat import NotebookNode
from traitlets import Enum, default
from traitlets.config import Config

from mha_lib.classroom.course import CourseError
from mha_lib.classroom.course.language import ENGLISH, has_words, language_of, words_in
from mha_lib.classroom.publish.handout.notebook import AUDIENCES, STUDENT, cells_for, read_notebook
from mha_lib.classroom.publish.handout.page import Page

WORDS = words_in(ENGLISH)["handout_exporter"]  # Jupyter shows them before there is a notebook to speak for


class AudiencePreprocessor(Preprocessor):
    """Leaves out the cells that are not for the handout's readers.

    nbconvert's TagRemovePreprocessor knows cells by their tags alone, and notes are known by their slide
    type: so that one rule decides, it is the one of ``course/slides.py``.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> Any:
        assert isinstance(self.parent, HandoutExporter)
        nb.cells = cells_for(self.parent.audience, nb)
        return nb, resources


class HandoutExporter(Exporter):
    """One HTML file that asks for nothing: ``jupyter nbconvert --to handout lesson.ipynb``."""

    export_from_notebook = WORDS["menu"]
    output_mimetype = "text/html"
    audience = Enum(AUDIENCES, default_value=STUDENT, help=WORDS["audience"]).tag(config=True)

    def __init__(self, config: Config | None = None, **kw: Any):
        super().__init__(config=config, **kw)
        self.register_preprocessor(AudiencePreprocessor(parent=self), enabled=True)

    @property
    def default_config(self) -> Config:
        return Config({"CoalesceStreamsPreprocessor": {"enabled": True}})

    @default("file_extension")
    def _file_extension_default(self) -> str:
        return ".html"

    def from_file(self, file_stream: Any, resources: Any = None, **kw: Any) -> Any:
        try:
            notebook = read_notebook(file_stream, getattr(file_stream, "name", "stdin"))
        except CourseError as error:
            raise ConversionException(str(error)) from None
        return self.from_notebook_node(notebook, resources, **kw)

    def from_notebook_node(self, nb: NotebookNode, resources: Any = None, **kw: Any) -> Any:
        nb, resources = super().from_notebook_node(nb, resources, **kw)
        metadata = resources["metadata"]
        folder = Path(metadata.get("path") or ".")
        language = str(nb.metadata.get("lang") or language_of(folder))
        if not has_words(language):
            self.log.warning(words_in(ENGLISH)["language"]["unknown"].format(language=language))
        name = str(metadata.get("name") or "notebook")
        handouts = resources.get("handouts") or {file.stem for file in folder.glob("*.html")} | {name}
        page = Page(nb, folder, language, self.audience, self.log.warning, handouts)
        return page.render(name), resources
