"""The explorer as the kernel and the next cell see it, without a browser."""

import ipywidgets
import numpy as np
import torch

from mha_lib.classroom.explorer import Explorer, cell_widget, explore
from mha_lib.classroom.lesson.language import words_in
from tests.classroom.explorer.sources import H, some_weights, source_of


def some_explorer():
    return explore(some_weights, num_heads=[1, 2, H], valid_lens=[range(1, 6), range(0, 4)])


def test_settings_and_weights_follow_the_browser():
    explorer = some_explorer()
    assert explorer.settings == {"num_heads": H, "valid_lens": [5, 2]}
    explorer.set_state({"setting": [1, 2, 3]})
    assert explorer.settings == {"num_heads": 2, "valid_lens": [3, 3]}
    assert torch.equal(explorer.weights, some_weights(2, [3, 3])[0])


def test_what_the_table_has_is_not_computed_again_and_what_it_lacks_is_answered():
    source = source_of(lambda a, b: np.full((1, 20), (a + 20 * b) / 1000), a=range(20), b=range(20))
    explorer = Explorer(source, most=5000)
    assert explorer.table["carries"] == "own_ranges"
    explorer.set_state({"setting": [3, 0]})
    assert explorer.answer == {}
    explorer.set_state({"setting": [3, 4]})
    assert [entry["setting"] for entry in explorer.answer["directory"]] == [(3, 4)]
    numbers = np.frombuffer(explorer.answer["maps"], "<f2")
    np.testing.assert_allclose(numbers, np.full(20, 0.083), rtol=1e-3)


def test_a_cell_that_runs_again_closes_its_former_explorer_unless_another_cell_shows_it(monkeypatch):
    def show(explorer, cell, run):
        monkeypatch.setattr(cell_widget, "running_cell", lambda: (cell, run))
        explorer = explorer or some_explorer()
        explorer._repr_mimebundle_()
        return explorer

    first = show(None, "a", "1")
    show(first, "b", "2")
    second = show(None, "a", "3")
    assert {first, second} <= {*Explorer._alive}
    show(second, "b", "4")
    assert first not in Explorer._alive
    third = show(None, "a", "5")
    assert {second, third} <= {*Explorer._alive}


def test_a_page_without_widgets_gets_a_sentence():
    data, _ = some_explorer()._repr_mimebundle_()
    assert data["text/plain"] == words_in("en")["explorer"]["not_alive"]


def test_a_closed_explorer_lets_its_pictures_go_and_its_widgets():
    explorer = some_explorer()
    kept = {explorer.model_id, explorer.layout.model_id}
    assert kept <= set(ipywidgets.widgets.widget._instances)
    explorer.close()
    assert not kept & set(ipywidgets.widgets.widget._instances)
    assert explorer.table == {}
    assert explorer._source.result_at.cache_info().currsize == 0
