"""Handouts: a lesson as one HTML file that still works at home, without a network and without a kernel."""

from mha_lib.classroom.pages.handout.exporter import HandoutExporter
from mha_lib.classroom.pages.handout.handouts import write_handout_of, write_handouts

__all__ = ["HandoutExporter", "write_handout_of", "write_handouts"]
