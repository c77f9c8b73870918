"""Serves the trainings of all lessons: loops whose steps are kept, sequences to learn, further processes.

``kept.py`` keeps trainings, and ``fingerprint.py`` recognizes them. ``threads.py`` lets a block compute with
one thread, ``processes.py`` measures outside the lesson's kernel, and ``repeated_tokens.py`` draws the
sequences for which a model needs two layers.
"""

from mha_lib.classroom.trainings.kept import forget_trainings, kept_steps
from mha_lib.classroom.trainings.processes import ProcessesFailed, heads_on_two_devices, peak_memory
from mha_lib.classroom.trainings.repeated_tokens import VOCABULARY, repeated_tokens, share_right
from mha_lib.classroom.trainings.threads import one_thread

__all__ = [
    "VOCABULARY",
    "ProcessesFailed",
    "forget_trainings",
    "heads_on_two_devices",
    "kept_steps",
    "one_thread",
    "peak_memory",
    "repeated_tokens",
    "share_right",
]
