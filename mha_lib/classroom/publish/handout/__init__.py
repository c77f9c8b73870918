"""Handouts: a lesson as one HTML file that still works at home, without a network and without a kernel."""

from mha_lib.classroom.publish.handout.build import write_handouts
from mha_lib.classroom.publish.handout.exporter import HandoutExporter

__all__ = ["HandoutExporter", "write_handouts"]
