"""The file that an explorer of a model's heads saves: it works without a kernel and a network."""

import pytest
import torch
from playwright.sync_api import expect

from mha_lib.classroom.models import explore_model
from tests.browser.explorers import HEADS, assert_shows

LENGTH = 70  # tokens: a text with parts


class Model(torch.nn.Module):
    """Answers with the same weights as long as it is there."""

    def __init__(self):
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.attentions = [torch.rand(1, 3, LENGTH, LENGTH, generator=generator) for _ in range(2)]
        self.attentions = [each / each.sum(-1, keepdim=True) for each in self.attentions]

    def forward(self, input_ids, output_attentions=False):
        return self


@pytest.fixture
def explorer():
    return explore_model(Model().eval(), torch.ones(1, LENGTH).long(), [f"t{at}" for at in range(LENGTH)])


def test_the_file_shows_every_layer_and_asks_for_nothing(page, watch, tmp_path, explorer):
    file = tmp_path / "heads.html"
    explorer.save(file)
    page.goto(file.as_uri())
    expect(page.get_by_role("heading", name="The heads of Model")).to_be_visible()
    page.get_by_role("button", name="layer 1, head 2").click()
    expect(page.locator(HEADS)).to_have_accessible_name("layer 1, head 2")
    weights = explorer.attention.layers["self"][1].weights[None, 2:]
    allowed = torch.ones(1, 1, LENGTH, LENGTH, dtype=torch.bool)
    page.get_by_label("colours √").uncheck()
    assert_shows(page, weights, allowed)
    page.get_by_label("queries").select_option("64–69")
    page.get_by_label("keys").select_option("64–69")
    assert_shows(page, weights[..., 64:, 64:], allowed[..., 64:, 64:])
    assert watch.requests_beyond(file.as_uri()) == []
    assert watch.errors == []


def test_the_file_begins_with_what_was_chosen_and_the_explorer_stays(page, tmp_path, explorer):
    table = explorer.table
    explorer.show(layer=0, head=1)
    explorer.order = 1
    explorer.save(tmp_path / "heads.html")
    page.goto((tmp_path / "heads.html").as_uri())
    expect(page.locator(HEADS)).to_have_accessible_name("layer 0, head 1")
    expect(page.get_by_label("order")).to_have_value("1")
    assert explorer.table == table
    assert explorer.attention.layers
    assert explorer.weights.shape == (3, LENGTH, LENGTH)
