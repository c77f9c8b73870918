"""Students' copies of the last edition import from ``mha_lib.classroom.tasks``, a room that is no more."""

import pytest

from mha_lib import from_transformers
from mha_lib.classroom import explorer, heads, tasks, trainings, translator

NAMES = {  # that the lessons of the last edition import from there, by the room that has them now
    translator: "BEGIN END PADDING TARGET_VOCABULARY Training TypedNumber alignment "
    "alignment_scores all_heads as_numeral chance_of_alignment draw_training_numbers "
    "entropies exact_matches head_masks_without held_out_numbers "
    "importance_by_gradient importance_by_removal in_chinese in_english inner_zeros "
    "is_held_out least_important_first make_batch make_translator prune_model "
    "pruning_curve read_number train_translator translate translation "
    "translation_loss weights_of with_changed_weights with_fewer_kv_heads",
    explorer: "TypedText",
    heads: "evened permuted",
    trainings: "VOCABULARY heads_on_two_devices kept_steps peak_memory repeated_tokens share_right",
    from_transformers: "largest_difference",
}


@pytest.mark.parametrize("room", NAMES, ids=lambda room: room.__name__.rpartition(".")[2])
def test_an_older_copy_finds_every_name_that_it_imports(room):
    assert [name for name in NAMES[room].split() if getattr(tasks, name) is not getattr(room, name)] == []


def test_a_name_that_never_was_there_is_missing():
    with pytest.raises(AttributeError, match="tasks' has no attribute 'nothing'"):
        _ = tasks.nothing
