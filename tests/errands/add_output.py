"""A kind of output in handouts: ``text/x-poem``, whose lines stay as they are."""

from pathlib import Path

from tests.errands.edits import add_above, add_at_end, replace

HEADING = "Show a kind of output in handouts"
IF_NEEDED = ("mha_lib/classroom/pages/handout/others.css",)
TESTS = ["tests/offline_notebook/test_outputs.py"]
TEST = """

def test_a_poem_keeps_its_lines():
    page = Shown(shown({"text/x-poem": "one\\ntwo", "text/plain": "a poem"}))
    assert page.page.pre.get_text() == "one\\ntwo"
    assert page.said == []
"""


def make(root: Path) -> None:
    outputs = root / "offline_notebook" / "outputs.py"
    replace(outputs, "SHOWN = {", 'SHOWN = {"text/x-poem", ')
    branch = (
        '        if poem := data.get("text/x-poem"):\n            return terminal(joined(poem), "result")\n'
    )
    add_above(outputs, '        if "application/json" in data:', branch)
    add_at_end(root / "tests" / "offline_notebook" / "test_outputs.py", TEST)
