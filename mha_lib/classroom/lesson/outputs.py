"""Metadata of a cell's outputs: other rooms recognise checks and trainings by it, and parse no text."""

from collections.abc import Mapping
from typing import Any

CHECK, PROGRESS = "mha_check", "mha_progress"  # in the metadata of an output
FOR_A_PAGE = "MHA_FOR_A_PAGE"  # in the environment of a kernel: its outputs become a page without a kernel


def check_metadata(exercise: str, state: str) -> dict[str, Any]:
    """The metadata of an output in which an exercise was checked: "solved", "wrong" or "not yet"."""
    return {CHECK: {"exercise": exercise, "state": state}}


def hint_metadata(exercise: str) -> dict[str, Any]:
    """The metadata of an output that is the hint to an exercise."""
    return {CHECK: {"hint": exercise}}


def report_metadata(states: Mapping[str, str]) -> dict[str, Any]:
    """The metadata of the output of ``check.report()``: the state of each exercise that was checked."""
    return {CHECK: {"report": dict(states)}}


def progress_metadata(step: int, steps: int, said: str) -> dict[str, Any]:
    """The metadata of the output that tells how far a training is: in numbers, and in a sentence."""
    return {PROGRESS: {"step": step, "steps": steps, "said": said}}


def is_progress(output: Mapping[str, Any]) -> bool:
    """Whether an output tells how far a training is, or was when it was stopped."""
    return PROGRESS in output.get("metadata", {})


def is_hint(output: Mapping[str, Any]) -> bool:
    """Whether an output is the hint to an exercise."""
    about = output.get("metadata", {}).get(CHECK)
    return isinstance(about, Mapping) and "hint" in about


def says_not_yet(output: Mapping[str, Any]) -> bool:
    """Whether an output says only that an exercise, or every exercise of a report, is not answered yet."""
    about = output.get("metadata", {}).get(CHECK)
    if not isinstance(about, Mapping):
        return False
    states = about.get("report", {"exercise": about.get("state")})
    return isinstance(states, Mapping) and all(state == "not yet" for state in states.values())
