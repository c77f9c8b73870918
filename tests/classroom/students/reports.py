"""A report that a student hands in."""

from mha_lib.classroom.exercises.progress import Progress
from mha_lib.classroom.exercises.reports import Report

ADA = Report(
    lesson="multi_head_attention",
    language="en",
    version="1.0.0",
    written="2026-11-22T08:00:00+00:00",
    student="ada",
    name="Ada Lovelace",
    exercises={"split_heads": Progress("solved", "solved", 3, {"cut_with_one_view": 2})},
)
