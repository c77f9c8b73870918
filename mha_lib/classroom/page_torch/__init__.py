"""Run a PyTorch function in a page: ``torch.export`` records it, a small interpreter computes it again.

Nothing here knows the course; README.md says how others use it.
"""

from mha_lib.classroom.page_torch.export import export_for_page
from mha_lib.classroom.page_torch.function import INTERPRETER, PageFunction, joined
from mha_lib.classroom.page_torch.program import PageProgram

__all__ = ["INTERPRETER", "PageFunction", "PageProgram", "export_for_page", "joined"]
