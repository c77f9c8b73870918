"""What README.md says: its example runs, and its list of sentences is whole."""

import json
import re
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import offline_notebook
from tests.offline_notebook.pages import SENTENCES, VIEW, read, shown, stored

PACKAGE = Path(offline_notebook.__file__).parent
README = (PACKAGE / "README.md").read_text(encoding="utf-8")


def test_the_example_makes_a_page_with_a_live_widget(tmp_path):
    live = stored(w=("AnyModel", {"_esm": "export default {}", "label": "</script><b>"}))
    cells = [
        new_markdown_cell("# A $x$ <script>"),
        new_code_cell("x = 1", outputs=[shown({VIEW: {"model_id": "w"}})]),
    ]
    file = tmp_path / "lesson.ipynb"
    nbformat.write(new_notebook(cells=cells, metadata={"widgets": live}), file)
    names = {name: getattr(offline_notebook, name) for name in offline_notebook.__all__}
    names |= {"nbformat": nbformat, "json": json, "file": file, "sentences": SENTENCES}
    exec(re.search(r"```python\n(.*?)```", README, re.S)[1], names)
    page = read(names["page"])
    assert page.h1.math
    assert page.find("figure", attrs={"data-widget": "w"})
    assert json.loads(page.find(id="widgets").string)["models"]["w"]["state"]["label"] == "</script><b>"
    assert page.find("b") is None
