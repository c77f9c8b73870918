"""Counts, for each exercise of a lesson, who has solved it and which mistakes came up."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mha_lib.classroom.exercises import names_by_lesson
from mha_lib.classroom.exercises.progress import Progress
from mha_lib.classroom.exercises.reports import named, shown
from mha_lib.classroom.lesson import CourseError
from mha_lib.classroom.lesson.reading import read_lesson
from mha_lib.classroom.students.gather import HandedIn, Remarks

GAP = re.compile(r"\{\w+(:[^{}]*)?\}")  # was filled in what the student read


@dataclass
class MistakeRow:
    is_recognised: bool
    sentence: str  # as the students were shown it
    students: int
    times: int


@dataclass
class ExerciseRow:
    name: str
    title: str  # for the reader of the overview
    solved: int
    wrong: int
    started: int
    mistakes: list[MistakeRow]  # recognised ones first, then by how many students made them


@dataclass
class LessonRow:
    number: str
    title: str
    exercises: list[ExerciseRow]
    students: list[HandedIn]

    @property
    def started(self) -> int:
        return sum(any(each.is_started for each in progress_of(one, self)) for one in self.students)

    @property
    def finished(self) -> int:
        return sum(all(each.state == "solved" for each in progress_of(one, self)) for one in self.students)

    @property
    def to_begin_with(self) -> ExerciseRow | None:
        """The exercise with the mistake that most students made; of several, the least solved one."""

        def urgency(exercise: ExerciseRow) -> tuple[bool, int, int]:
            first = exercise.mistakes[0]
            return first.is_recognised, first.students, -exercise.solved

        return max((one for one in self.exercises if one.mistakes), key=urgency, default=None)


def progress_of(handed_in: HandedIn, lesson: LessonRow) -> list[Progress]:
    return [handed_in.progress_in(exercise.name) for exercise in lesson.exercises]


def tally(
    handed_in: Iterable[HandedIn], lessons: list[Path], words: Mapping[str, Any], remarks: Remarks
) -> Iterator[LessonRow]:
    """The lessons with reports, in their order; a report on a lesson that this course lacks gets a remark."""
    by_lesson: dict[str, list[HandedIn]] = {}
    for one in handed_in:
        by_lesson.setdefault(one.report.lesson, []).append(one)
    for file in lessons:
        number, _, name = file.stem.partition("_")
        if students := by_lesson.pop(name, []):
            yield tally_lesson(file, number, students, words, remarks)
    for others in by_lesson.values():
        for one in others:
            gaps = {"file": one.file, "lesson": one.report.lesson}
            remarks[one.place].append(CourseError("report_other_lesson", **gaps))


def tally_lesson(
    file: Path, number: str, students: list[HandedIn], words: Mapping[str, Any], remarks: Remarks
) -> LessonRow:
    names = names_by_lesson().get(file.stem, [])
    for one in students:
        if unknown := [name for name in one.report.exercises if name not in names]:
            gaps = {"version": shown(one.report.version), "exercises": ", ".join(unknown[:5])}
            remarks[one.place].append(CourseError("report_other_exercises", file=one.file, **gaps))
    return LessonRow(
        number,
        read_lesson(file).title,
        exercises=[tally_exercise(name, students, words) for name in names],
        students=sorted(students, key=lambda one: one.student.casefold()),
    )


def tally_exercise(name: str, students: list[HandedIn], words: Mapping[str, Any]) -> ExerciseRow:
    progress = [one.progress_in(name) for one in students]
    made, times = Counter[tuple[bool, str]](), Counter[tuple[bool, str]]()
    for each in progress:
        said = Counter[tuple[bool, str]]()  # two names may mean one sentence
        for mistake, count in each.mistakes.items():
            said[sentence_of(name, mistake, words)] += count
        made.update((+said).keys())  # a student counts once for each sentence with a count above zero
        times += said
    states = Counter(each.state for each in progress)
    mistakes = [MistakeRow(*key, made[key], times[key]) for key in made]
    return ExerciseRow(
        name,
        title=named(name, words),
        solved=states["solved"],
        wrong=states["wrong"],
        started=sum(each.is_started for each in progress),
        mistakes=sorted(mistakes, key=lambda one: (not one.is_recognised, -one.students, -one.times)),
    )


def sentence_of(exercise: str, mistake: str, words: Mapping[str, Any]) -> tuple[bool, str]:
    """Whether the exercise recognises the mistake, and the sentence about it, its gaps left open."""
    for known in (exercise, "shared"):
        if sentence := words["mistakes"].get(known, {}).get(mistake):
            return True, GAP.sub("…", sentence)
    others = words["overview"]["others"]
    return False, others.get(mistake, others["unknown"])
