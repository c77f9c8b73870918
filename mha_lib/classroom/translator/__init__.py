"""The translator of lessons 05 and 06, which turns English number words into Chinese numerals.

``numerals.py`` knows the answers, ``data.py`` makes batches of them, ``model.py`` and ``training.py`` hold
the model and how it learns, ``heads.py`` measures what its heads do, and ``typed_number.py`` lets a reader
type a number, in a page too. Lessons import all names from here.
"""
# ruff: noqa: F401  (this file only gathers names for lessons)

from mha_lib.classroom.translator.data import (
    BEGIN,
    END,
    MAX_TARGET_TOKENS,
    PADDING,
    SOURCE_VOCABULARY,
    TARGET_VOCABULARY,
    as_numeral,
    draw_training_numbers,
    held_out_numbers,
    is_held_out,
    make_batch,
)
from mha_lib.classroom.translator.heads import (
    alignment_scores,
    all_heads,
    chance_of_alignment,
    entropies,
    head_masks_without,
    importance_by_gradient,
    importance_by_removal,
    least_important_first,
    weights_of,
    with_changed_weights,
)
from mha_lib.classroom.translator.model import (
    Translation,
    exact_matches,
    make_translator,
    translate,
    translation,
    translation_loss,
)
from mha_lib.classroom.translator.numerals import (
    LARGEST,
    NotUnderstood,
    alignment,
    in_chinese,
    in_english,
    read_number,
)
from mha_lib.classroom.translator.training import Training, train_translator
from mha_lib.classroom.translator.typed_number import TypedNumber
