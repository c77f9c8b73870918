"""The server withholds from a page what an untrusted notebook would run there, and the file keeps it."""

import asyncio
import codecs
import json
import os
import subprocess
import sys

import nbformat
import pytest
from nbformat.sign import NotebookNotary
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from traitlets.config.loader import PyFileConfigLoader

from mha_lib.classroom.jupyter import SETTINGS, trusting_copies
from tests.offline_notebook.pages import STATE, stored

CONFIGURATION = SETTINGS / "jupyter_server_config.py"
WITHHELD = "mha_withheld"
SCRIPT = stored(w=("AnyModel", {"_esm": "attack()"}))
MINE = stored(mine=("AnyModel", {"_esm": "draw()"}))
OVERLAY = {"theme": "white", "overlay": "<img src=x onerror=attack()>"}
NO_WIDGETS = {STATE: {"state": {}, "version_major": 2, "version_minor": 0}}


class Server:
    """The contents manager of the course's servers, with signatures of its own, on a folder."""

    def __init__(self, folder):
        self.folder, settings = folder / "served", PyFileConfigLoader(str(CONFIGURATION)).load_config()
        self.folder.mkdir()
        settings.NotebookNotary.data_dir = str(folder)
        manager = settings.ServerApp.contents_manager_class
        self.manager = manager(root_dir=str(self.folder), config=settings)

    def lay(self, name="one.ipynb", cells=(), **metadata):
        nbformat.write(new_notebook(cells=list(cells), metadata=metadata), self.folder / name)
        return name

    def on_disk(self, name):
        return json.loads((self.folder / name).read_text())["metadata"]

    def open(self, name, **options):
        """The notebook as a page gets it."""
        model = asyncio.run(self.manager.get(name, **options))
        return json.loads(json.dumps(model["content"]))

    def save(self, name, content):
        model = {"type": "notebook", "format": "json", "content": content}
        asyncio.run(self.manager.save(model, name))

    def copy(self, name):
        return asyncio.run(self.manager.copy(name))["path"]


@pytest.fixture
def server(tmp_path):
    return Server(tmp_path)


@pytest.mark.parametrize(
    "metadata",
    [
        {"widgets": SCRIPT},
        {"widgets": "of another form"},
        {"widgets": {STATE: {"state": []}}},
        {"rise": OVERLAY},
        {"livereveal": OVERLAY, "widgets": SCRIPT},
    ],
)
def test_what_would_run_is_withheld_and_stays_in_the_file_unsigned(server, metadata):
    name = server.lay(**metadata, **{WITHHELD: {"widgets": SCRIPT}})
    for source in ("one", "two"):
        page = server.open(name)
        page["metadata"].setdefault("widgets", NO_WIDGETS)  # as the page stores them
        assert page["metadata"] == {WITHHELD: metadata, "widgets": NO_WIDGETS}
        page["cells"] = [new_markdown_cell(source)]
        server.save(name, page)
        assert server.on_disk(name) == {"widgets": NO_WIDGETS} | metadata


def test_a_notebook_with_a_byte_order_mark_is_opened(server):
    file = server.folder / server.lay(title="Marked")
    file.write_bytes(codecs.BOM_UTF8 + file.read_bytes())
    assert server.open(file.name)["metadata"]["title"] == "Marked"


VEGA = {"application/vnd.vega.v5+json": {"signals": []}, "text/plain": "a chart"}
PLOT = {"image/svg+xml": "<svg/>", "text/plain": "<Figure>"}
PICTURE = '<img src="data:image/svg+xml,%3Csvg/%3E" alt="&quot;&gt;">'


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (VEGA, {"text/plain": "a chart"}),
        ({"Text/HTML": "<script>"}, {}),
        (PLOT, {"text/plain": "<Figure>", "text/html": PICTURE}),
        (PLOT | {"text/html": "<p>"}, {"text/plain": "<Figure>", "text/html": "<p>"}),
        ({"text/latex": "$x$", "image/png": "aGk="}, {"text/latex": "$x$", "image/png": "aGk="}),
    ],
)
def test_outputs_that_may_run_code_are_withheld_plots_are_pictures_and_both_stay(server, data, shown):
    about = {"image/svg+xml": {"alt": '">'}}
    output = new_output("display_data", data=data, metadata=about | {WITHHELD: VEGA})
    name = server.lay(cells=[new_code_cell("1", outputs=[output], metadata={"trusted": True})])
    for source in ("one", "two"):
        page = server.open(name)
        assert page["cells"][0]["outputs"][0]["data"] == shown
        assert page["metadata"] == {WITHHELD: {}}
        page["cells"][0]["source"] = source
        server.save(name, page)
        kept = nbformat.read(server.folder / name, 4)
        assert kept.cells[0].outputs == [new_output("display_data", data=data, metadata=about)]
        assert not server.manager.notary.check_signature(kept)
    asyncio.run(server.manager.trust_notebook(name))
    assert server.open(name)["cells"][0]["outputs"][0]["data"] == data


@pytest.mark.parametrize("metadata", [{}, {"widgets": NO_WIDGETS}, {"rise": {"theme": "white"}}, {"rise": 3}])
def test_where_nothing_would_run_the_page_knows_that_nobody_trusts_it_and_a_save_does_not(server, metadata):
    name = server.lay(**metadata)
    for _ in range(2):
        page = server.open(name)
        assert page["metadata"] == metadata | {WITHHELD: {}}
        server.save(name, page)
        assert server.on_disk(name) == metadata


def test_what_the_page_has_made_and_run_is_shown_again(server):
    output = new_output("display_data", data={"text/html": "<p>", "image/png": "aGk="}, metadata={"a": 1e21})
    asyncio.run(server.manager.trust_notebook(server.lay()))
    page = server.open("one.ipynb")
    page["cells"] = [new_code_cell("run\nme", outputs=[output], metadata={"trusted": True})]
    page["metadata"]["widgets"] = MINE
    server.save("one.ipynb", page)
    again = server.open("one.ipynb")
    assert again["metadata"] == {"widgets": MINE}
    assert again["cells"][0]["metadata"] == {"trusted": True}


def test_widgets_that_the_page_has_made_are_stored_beside_those_withheld(server):
    name = server.lay(widgets=SCRIPT)
    page = server.open(name)
    page["metadata"]["widgets"] = MINE
    server.save(name, page)
    both = {STATE: {"state": SCRIPT[STATE]["state"] | MINE[STATE]["state"]}}
    assert server.open(name)["metadata"] == {WITHHELD: {"widgets": both}}


def test_a_trusted_notebook_is_shown_whole_until_something_else_changes_it(server):
    name = server.lay(cells=[new_code_cell("1")], widgets=SCRIPT, rise=OVERLAY)
    asyncio.run(server.manager.trust_notebook(name))
    page = server.open(name)
    assert page["metadata"] == {"widgets": SCRIPT, "rise": OVERLAY}
    assert page["cells"][0]["metadata"] == {"trusted": True}
    server.save(name, page)
    assert server.open(name) == page
    assert server.open(server.copy(name)) == page
    server.lay(cells=[new_code_cell("2")], widgets=SCRIPT, rise=OVERLAY)
    assert WITHHELD in server.open(name)["metadata"]


def test_copies_are_trusted_as_the_course_writes_them_and_nothing_else_in_their_folder(server, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(server.folder.parent))
    work = server.folder / "work" / "en"
    work.mkdir(parents=True)
    (work / "handed-in.ipynb").write_bytes((server.folder / server.lay(widgets=SCRIPT)).read_bytes())
    with trusting_copies(server.folder):
        (work / "handed-in.ipynb").rename(work / "handed-in.mine.ipynb")
        server.lay("work/en/lesson.ipynb", [new_code_cell("1")], widgets=SCRIPT)
    assert server.open("work/en/lesson.ipynb")["metadata"] == {"widgets": SCRIPT}
    assert WITHHELD in server.open("work/en/handed-in.mine.ipynb")["metadata"]
    server.lay("work/en/lesson.ipynb", [new_code_cell("2")], widgets=SCRIPT)
    assert WITHHELD in server.open("work/en/lesson.ipynb")["metadata"]


def test_a_copy_a_checkpoint_and_another_name_are_as_untrusted_as_the_notebook(server):
    name = server.lay(widgets=SCRIPT)
    page = server.open(name)
    copied = server.copy(name)
    server.save("under-another-name.ipynb", page)
    asyncio.run(server.manager.create_checkpoint(name))
    server.lay()  # over it
    asyncio.run(server.manager.restore_checkpoint("checkpoint", name))
    asyncio.run(server.manager.rename(copied, "renamed.ipynb"))
    for each in (name, "renamed.ipynb", "under-another-name.ipynb"):
        assert server.on_disk(each)["widgets"] == SCRIPT
        assert server.open(each)["metadata"] == {WITHHELD: {"widgets": SCRIPT}}


def test_neither_an_older_format_nor_another_ending_shows_it(server):
    third = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": "", "widgets": SCRIPT},
        "worksheets": [],
    }
    (server.folder / "third.ipynb").write_text(json.dumps(third))
    named = server.lay("notebook.txt", widgets=SCRIPT)
    for page in (server.open("third.ipynb"), server.open(named, type="notebook")):
        assert page["metadata"][WITHHELD] == {"widgets": SCRIPT}
        assert "widgets" not in page["metadata"]


def test_an_uploaded_notebook_is_not_signed(server):
    text = (server.folder / server.lay(widgets=SCRIPT)).read_text()
    parts = [("small.ipynb", {"content": text})]
    parts += [("large.ipynb", {"content": text, "chunk": 1}), ("large.ipynb", {"content": "", "chunk": -1})]
    for name, part in parts:
        asyncio.run(server.manager.save({"type": "file", "format": "text"} | part, name))
        assert server.open(name)["metadata"] == {WITHHELD: {"widgets": SCRIPT}}


def test_the_signature_of_a_harmless_notebook_holds_for_no_other(server):
    """Both have the same keys and values one after the other; nbformat takes one for the other."""
    text, end = f"metadatawidgets{STATE}statew_esmattack()", "metadata"
    harmless = new_notebook(cells=[new_markdown_cell(text, id="x")])
    hostile = new_notebook(cells=[new_markdown_cell("", id="x")])
    hostile.metadata.widgets = {STATE: {"state": {"w": {"_esm": f"attack(){end}"}}}}
    theirs = NotebookNotary(data_dir=server.manager.notary.data_dir).compute_signature
    assert theirs(harmless) == theirs(hostile)
    server.save("one.ipynb", harmless)
    nbformat.write(hostile, server.folder / "one.ipynb")
    assert server.open("one.ipynb")["metadata"] == {WITHHELD: hostile.metadata}


def test_a_server_takes_these_settings_without_pytorch():
    code = """
import sys
from jupyter_server.serverapp import ServerApp
server = ServerApp()
server.load_config_file()
assert server.contents_manager_class.__name__ == "CarefulContentsManager"
spec = server.kernel_spec_manager_class().get_kernel_spec("python3")
assert spec.env["PYTHONSAFEPATH"] == "1"
assert "torch" not in sys.modules
"""
    environment = os.environ | {"JUPYTER_CONFIG_PATH": str(SETTINGS)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
