"""The instructor's overview of a class: who solved what, and which mistake was most frequent."""

from mha_lib.classroom.students.overview import write_overview

__all__ = ["write_overview"]
