"""The heads of any model of the kind of ``transformers``: read them, measure them, see them, remove them.

``changes.py`` names heads and changes their weights. ``attention.py`` runs a model and takes its weights,
``measures.py`` says what each head does in numbers, ``tokens.py`` finds the labels, ``explore.py`` gives all
of it to the explorer as arrays, and ``load.py`` is the only place in this project that fetches a model.
``transformers`` is in the extra ``[models]``, and imported only when one of these functions is called.
"""

from mha_lib.classroom.heads.attention import (
    ModelAttention,
    changed_heads,
    importance_by_removal,
    read_attention,
)
from mha_lib.classroom.heads.changes import Head, evened, permuted, silenced
from mha_lib.classroom.heads.explore import explore_model

__all__ = [
    "Head",
    "ModelAttention",
    "changed_heads",
    "evened",
    "explore_model",
    "importance_by_removal",
    "permuted",
    "read_attention",
    "silenced",
]
