"""The heads of models that are made of the course's layers: measure them, change them, see what they write.

``changes.py`` names heads and changes their weights, ``measures.py`` says what each head does in numbers,
``shares.py`` finds the share of each head in a logit and puts other outputs in place of a head's, and
``who_said.py`` is a widget that shows the shares while the page writes.
"""

from mha_lib.classroom.heads.changes import Head, evened, permuted, silenced
from mha_lib.classroom.heads.shares import head_outputs, logit_shares, replaced
from mha_lib.classroom.heads.who_said import who_said

__all__ = [
    "Head",
    "evened",
    "head_outputs",
    "logit_shares",
    "permuted",
    "replaced",
    "silenced",
    "who_said",
]
