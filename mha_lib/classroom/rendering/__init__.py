"""Markdown and formulas to HTML, for handouts and running orders."""
