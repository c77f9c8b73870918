"""The object ``check`` of lessons: it shows the verdicts on a student's answers, and what is solved."""

from collections.abc import Callable, Mapping

from mha_lib.classroom.exercises.asked import asked_here
from mha_lib.classroom.exercises.hints import show_hint
from mha_lib.classroom.exercises.judge import Answer, Judged, say
from mha_lib.classroom.exercises.progress import MARKS, Record, progress_in
from mha_lib.classroom.exercises.reports import named, write_reports
from mha_lib.classroom.lesson.language import words_here
from mha_lib.classroom.lesson.outputs import check_metadata, report_metadata
from mha_lib.classroom.lesson.shell import show_text


class Check:
    """One method an exercise; it keeps the verdicts for ``report``.

    In IPython each verdict is an output of its own, whose metadata tells its state (``lesson/outputs.py``).
    """

    def __init__(self, *exercises: Judged):
        self._exercises = {exercise.name: exercise for exercise in exercises}
        self._record = Record()
        names = [exercise.name for exercise in exercises]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"the name of an exercise must be unique over all lessons, got {twice} twice")

    def __getattr__(self, name: str) -> Callable[[Answer], None]:
        if name.startswith("_") or name not in self._exercises:
            raise AttributeError(f"there is no exercise {name!r}; there are: {', '.join(self._exercises)}")

        def check_answer(given: Answer) -> None:
            exercise, title = self._exercises[name], named(name, words_here())
            verdict = exercise.judge(given)
            metadata = check_metadata(name, verdict.state)
            if getattr(given, "__name__", "").endswith("_solution"):  # not the student's answer
                show_text(say("solution", exercise=title, sentence=verdict.sentence), metadata)
                return
            self._record.add(name, verdict.state, verdict.names)
            verdicts = self._record.verdicts()
            sentence = say("verdict", mark=MARKS[verdict.state], exercise=title, sentence=verdict.sentence)
            if progress_in(verdicts)[name].state != verdict.state:
                sentence = say("solved_before", said=sentence)
            show_text(sentence, metadata)
            if verdict.state == "wrong":
                show_hint(exercise, verdicts)

        return check_answer

    def __dir__(self) -> list[str]:
        return [*self._exercises, "reached", "report", "solved"]

    @property
    def solved(self) -> list[str]:
        """The exercises whose newest answer in this kernel is right."""
        own = (noted for noted in self._record.verdicts() if noted.kernel == self._record.kernel)
        return [name for name, progress in progress_in(own).items() if progress.newest == "solved"]

    def reached(self, objectives: Mapping[str, str]) -> None:
        """Show which objectives of the lesson are reached: those of which all core exercises are solved.

        ``objectives`` maps each to the names of its exercises, with blanks between them. One with optional
        exercises alone is reached when all core exercises are solved.
        """
        progress, asked = progress_in(self._record.verdicts()), asked_here()
        core = {name for name, is_core in asked.items() if is_core}
        lines = []
        for objective, exercises in objectives.items():
            names = exercises.split()
            needed = core.intersection(names) or core or names
            is_reached = all(progress[name].state == "solved" for name in needed)
            solved = sum(progress[name].state == "solved" for name in names)
            sentence = say("objective", objective=objective, solved=solved, all=len(names))
            if is_reached and solved < len(names):
                sentence = say("rest_is_optional", said=sentence)
            lines.append(f"{MARKS['solved' if is_reached else 'not yet']} {sentence}")
        show_text("\n".join(lines), {})

    def report(self, name: str | None = None) -> None:
        """Show which exercises are solved, of those that this notebook asks for.

        Elsewhere these are all exercises of the lessons that this kernel has checked, or else of all lessons.
        With your name it also writes that into a small file to hand in: ``check.report("Ada Lovelace")``
        writes ``reports/multi_head_attention-Ada-Lovelace.report.json`` beside the lesson, and
        ``check.report("")`` one without a name. The file holds, for each exercise, whether it is solved, how
        often it was checked, on any day and in any kernel, and which mistakes came up; none of your code.
        Nothing is sent: you hand the file in.
        """
        verdicts = [noted for noted in self._record.verdicts() if noted.exercise in self._exercises]
        asked = [name for name in asked_here() if name in self._exercises]
        own = [noted for noted in verdicts if noted.kernel == self._record.kernel]
        tried = [noted for noted in verdicts if noted.exercise in asked] if asked else own or verdicts
        lessons = {self._exercises[noted.exercise].lesson for noted in tried}
        exercises = [each for each in self._exercises.values() if each.lesson in lessons]
        progress = progress_in(verdicts)
        states, lines = dict[str, str](), []
        for exercise in asked or [each.name for each in exercises]:
            each = progress[exercise]
            states[exercise] = each.state
            line = f"{MARKS[each.state]} {named(exercise, words_here())}"
            lines.append(say("wrong_again", said=line) if each.is_wrong_again else line)
        lines.append(say("solved", solved=[*states.values()].count("solved"), all=len(states)))
        show_text("\n".join(lines), report_metadata(states))
        if name is not None:
            by_lesson = {
                lesson: {each.name: progress[each.name] for each in exercises if each.lesson == lesson}
                for lesson in sorted(lessons)
            }
            student = verdicts[0].kernel if verdicts else ""  # that of the first kernel names the student
            for sentence in write_reports(by_lesson, name, student):
                print(sentence)
