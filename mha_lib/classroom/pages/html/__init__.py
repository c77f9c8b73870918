"""Turn Markdown, formulas and pictures into one clean page, for handouts and running orders."""

from mha_lib.classroom.pages.html.clean import Cleaner
from mha_lib.classroom.pages.html.markdown import code_block, displayed_formula, to_html, with_formulas
from mha_lib.classroom.pages.html.tree import closed, plain

__all__ = ["Cleaner", "closed", "code_block", "displayed_formula", "plain", "to_html", "with_formulas"]
