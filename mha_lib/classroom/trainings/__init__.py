"""Serves the trainings of all lessons: loops whose steps are kept, and sequences to learn.

``kept.py`` keeps trainings, and ``fingerprint.py`` recognizes them. ``threads.py`` lets a block compute with
one thread, and ``repeated_tokens.py`` draws the sequences for which a model needs two layers.
"""

from mha_lib.classroom.trainings.kept import forget_trainings, kept_steps
from mha_lib.classroom.trainings.repeated_tokens import VOCABULARY, repeated_tokens, share_right
from mha_lib.classroom.trainings.threads import one_thread

__all__ = [
    "VOCABULARY",
    "forget_trainings",
    "kept_steps",
    "one_thread",
    "repeated_tokens",
    "share_right",
]
