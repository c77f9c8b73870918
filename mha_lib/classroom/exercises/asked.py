"""The exercises that the running notebook asks for: a lesson all of its own, a route some of many."""

import json
from contextlib import suppress

from mha_lib.classroom.lesson.grammar import has_role
from mha_lib.classroom.lesson.language import files_here
from mha_lib.classroom.lesson.slides import STEP
from mha_lib.classroom.lesson.working_copy import ORIGINAL


def asked_here() -> dict[str, bool]:
    """The exercises of the notebook here, each with whether its step is on the core path; {} without one.

    Those of a copy are the ones that it was given out with: a student may have deleted cells.
    """
    for file in files_here():
        with suppress(OSError, ValueError, TypeError, LookupError):  # it is no notebook
            notebook, is_core, asked = json.loads(file.read_bytes()), True, dict[str, bool]()
            for cell in notebook["metadata"].get(ORIGINAL, notebook)["cells"]:
                if STEP in cell["metadata"]:
                    is_core = not cell["metadata"][STEP].get("is_optional", False)
                if has_role(cell, "check") and "checks" in cell["metadata"]:
                    asked[cell["metadata"]["checks"]] = is_core
            return asked
    return {}
