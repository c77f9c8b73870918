"""Trainings of the lessons: any model in a loop that is kept, and the translator of lessons 05 and 06.

``kept.py`` keeps trainings, and ``fingerprint.py`` recognizes them. The translator turns English number words
into Chinese numerals: ``numerals.py`` knows the answers, ``data.py`` makes batches of them, ``translator.py``
and ``training.py`` hold the model and how it learns, ``heads.py`` measures what its heads do,
``typed_number.py`` and ``typed_text.py`` let a reader type, in a page too.
``repeated_tokens.py`` draws the sequences for which a model needs two layers. ``processes.py`` runs
measurements of lesson 06 outside its kernel, and ``rebuilt.py`` compares our layers with those of
``transformers``. Lessons import all names from here.
"""
# ruff: noqa: F401  (this file only gathers names for lessons)

from mha_lib.classroom.tasks.data import (
    BEGIN,
    END,
    MAX_TARGET_TOKENS,
    PADDING,
    SOURCE_VOCABULARY,
    TARGET_VOCABULARY,
    as_numeral,
    draw_training_numbers,
    held_out_numbers,
    inner_zeros,
    is_held_out,
    make_batch,
    strata,
)
from mha_lib.classroom.tasks.heads import (
    Head,
    alignment_scores,
    all_heads,
    chance_of_alignment,
    entropies,
    evened,
    head_masks_without,
    importance_by_gradient,
    importance_by_removal,
    least_important_first,
    permuted,
    prune_model,
    pruning_curve,
    similarities,
    weights_of,
    with_changed_weights,
    with_fewer_kv_heads,
)
from mha_lib.classroom.tasks.kept import forget_trainings, kept_steps
from mha_lib.classroom.tasks.numerals import (
    LARGEST,
    NotUnderstood,
    alignment,
    in_chinese,
    in_english,
    read_number,
)
from mha_lib.classroom.tasks.processes import ProcessesFailed, heads_on_two_devices, peak_memory
from mha_lib.classroom.tasks.rebuilt import largest_difference
from mha_lib.classroom.tasks.repeated_tokens import VOCABULARY, repeated_tokens, share_right
from mha_lib.classroom.tasks.training import Training, train_translator
from mha_lib.classroom.tasks.translator import (
    Translation,
    exact_by_stratum,
    exact_matches,
    make_translator,
    translate,
    translation,
    translation_loss,
)
from mha_lib.classroom.tasks.typed_number import TypedNumber
from mha_lib.classroom.tasks.typed_text import TypedText
