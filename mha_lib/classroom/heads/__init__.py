"""The heads of any model of the kind of ``transformers``: read them, measure them, see them, remove them.

``changes.py`` names heads and changes their weights. ``attention.py`` runs a model and takes its weights,
``measures.py`` says what each head does in numbers, ``corpus.py`` does so over many texts and removes each
head, ``table.py`` holds the numbers, ``patching.py`` puts parts of one run into another, ``parts.py`` finds
the modules through which heads write, ``texts.py`` makes padded batches,
``tokens.py`` finds the labels, ``explore.py`` gives all of it to the explorer as arrays, and ``load.py`` is
the only place in this project that fetches a model.
``transformers`` is in the extra ``[models]``, and imported only when one of these functions is called.

Four files serve a ``LanguageModel`` of the course's layers. ``shares.py``: the share of each head in a logit,
and other outputs in place of a head's; ``patch_map.py``: which heads bring an answer back;
``head_measures.py``: where heads look, beside what they must beat; ``who_said.py``: a widget that shows the
shares while the page writes.
"""

from mha_lib.classroom.heads.attention import (
    Importance,
    ModelAttention,
    changed_heads,
    importance_by_removal,
    read_attention,
)
from mha_lib.classroom.heads.changes import Head, evened, permuted, silenced
from mha_lib.classroom.heads.corpus import head_table
from mha_lib.classroom.heads.explore import explore_model
from mha_lib.classroom.heads.head_measures import HeadMeasures, head_measures
from mha_lib.classroom.heads.patch_map import PatchMap, patch_map
from mha_lib.classroom.heads.patching import Patched, patched_heads
from mha_lib.classroom.heads.shares import head_outputs, logit_shares, replaced
from mha_lib.classroom.heads.table import HeadTable
from mha_lib.classroom.heads.who_said import who_said

__all__ = [
    "Head",
    "HeadMeasures",
    "HeadTable",
    "Importance",
    "ModelAttention",
    "PatchMap",
    "Patched",
    "changed_heads",
    "evened",
    "explore_model",
    "head_measures",
    "head_outputs",
    "head_table",
    "importance_by_removal",
    "logit_shares",
    "patch_map",
    "patched_heads",
    "permuted",
    "read_attention",
    "replaced",
    "silenced",
    "who_said",
]
