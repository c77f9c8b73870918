"""Slides to keep: the deck of a lesson as a PDF, one page a slide, with its outputs."""

from mha_lib.classroom.pages.slides.pdf_decks import write_slides, write_slides_of

__all__ = ["write_slides", "write_slides_of"]
