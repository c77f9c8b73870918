"""Handouts: a lesson as one HTML file that still works at home, without a network and without a kernel."""

from mha_lib.classroom.pages.handout.build import write_handouts
from mha_lib.classroom.pages.handout.exporter import HandoutExporter

__all__ = ["HandoutExporter", "write_handouts"]
