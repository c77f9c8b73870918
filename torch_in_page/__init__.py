"""Run a PyTorch function in a page: ``torch.export`` records it, a small interpreter computes it again.

Nothing here knows the course; README.md says how others use it.
"""

from torch_in_page.export import export_for_page
from torch_in_page.function import INTERPRETER, PageFunction, joined
from torch_in_page.program import PageProgram

__all__ = ["INTERPRETER", "PageFunction", "PageProgram", "export_for_page", "joined"]
