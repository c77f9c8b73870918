"""The heads of models that are made of the course's layers: measure them, change them, see what they write.

``changes.py`` names heads and changes their weights. Six files serve a ``LanguageModel``. ``shares.py``: the
share of each head in a logit, and other outputs in place of a head's; ``largest_parts.py``: the parts that
decided each token, where a model has hundreds; ``patch_map.py``: which heads bring an
answer back; ``head_measures.py``: where heads look, beside what they must beat; ``who_said.py``: a widget
that shows the shares while the page writes; ``who_said_large.py``: the same where Python must compute.
"""

from mha_lib.classroom.heads.changes import Head, evened, permuted, silenced
from mha_lib.classroom.heads.head_measures import HeadMeasures, head_measures
from mha_lib.classroom.heads.largest_parts import LargestParts, largest_parts
from mha_lib.classroom.heads.patch_map import PatchMap, patch_map
from mha_lib.classroom.heads.shares import head_outputs, logit_shares, replaced
from mha_lib.classroom.heads.who_said import who_said
from mha_lib.classroom.heads.who_said_large import who_said_large

__all__ = [
    "Head",
    "HeadMeasures",
    "LargestParts",
    "PatchMap",
    "evened",
    "head_measures",
    "head_outputs",
    "largest_parts",
    "logit_shares",
    "patch_map",
    "permuted",
    "replaced",
    "silenced",
    "who_said",
    "who_said_large",
]
