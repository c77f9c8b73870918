"""Run a PyTorch function in a page: ``torch.export`` records it, a small interpreter computes it again.

Nothing here knows the course; README.md says how others use it.
"""

from pathlib import Path

from mha_lib.classroom.page_torch.export import export_for_page
from mha_lib.classroom.page_torch.program import PageProgram

INTERPRETER = Path(__file__).with_name("interpreter.js")  # an ES module that imports nothing

__all__ = ["INTERPRETER", "PageProgram", "export_for_page", "interpreter_script"]


def interpreter_script() -> str:
    """Return the interpreter as a plain script that defines ``load``, for a worker made of a blob.

    In a page that was opened from a file, Chromium lets no such worker be a module.
    """
    return INTERPRETER.read_text(encoding="utf-8").replace("\nexport ", "\n")
