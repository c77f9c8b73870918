"""What a page computes is what PyTorch computes: whole models of the lessons."""

import pytest
import torch

from benchmarks.layers import AttentionLayers
from mha_lib import ByAttention
from mha_lib.classroom.page_torch import export_for_page
from mha_lib.classroom.page_torch.program import named_leaves
from mha_lib.classroom.tasks import (
    SOURCE_VOCABULARY,
    TARGET_VOCABULARY,
    VOCABULARY,
    make_translator,
)
from mha_lib.classroom.tasks.data import MAX_TARGET_TOKENS
from tests.browser.in_page import InPage, difference

CLOSE = 1e-4
WORDS, NUMERALS = len(SOURCE_VOCABULARY), len(TARGET_VOCABULARY)


@pytest.fixture
def in_page(page, tmp_path):
    return InPage(page, tmp_path)


def encoder_of(model):
    """The words, read once; a head mask silences heads."""

    def encode(source, heads):
        masks = ByAttention([heads], [heads], [heads])
        memory, maps = model.encode(source, need_weights=True, head_masks=masks)
        return {"memory": memory, "encoder": maps[0]}

    return encode


def decoder_of(model):
    """What follows each of the numerals that have been written."""

    def decode(target, memory, decoder_heads, cross_heads):
        masks = ByAttention([decoder_heads], [decoder_heads], [cross_heads])
        logits, own, cross = model.decode(target, memory, need_weights=True, head_masks=masks)
        return {"logits": logits, "decoder": own[0], "cross": cross[0]}

    return decode


def programs_of(model, **options):
    """A program that encodes, and one that decodes."""
    tokens, heads, memory = torch.zeros(1, 4, dtype=torch.long), torch.ones(4), torch.zeros(1, 3, 64)
    encode = export_for_page(
        encoder_of(model), {"source": tokens, "heads": heads}, {"source": {1: "S"}}, **options
    )
    examples = {"target": tokens, "memory": memory, "decoder_heads": heads, "cross_heads": heads}
    decode = export_for_page(decoder_of(model), examples, {"target": {1: "T"}, "memory": {1: "S"}}, **options)
    return encode, decode


def assert_equal(found, expected):
    assert found.keys() == expected.keys()
    apart = {name: difference(found[name], expected[name]) for name in found}
    assert max(apart.values()) < CLOSE, apart


def lengths(most, count=200):
    """Lengths from one token on, the same each time."""
    return torch.randint(1, most + 1, (count,), generator=torch.Generator().manual_seed(most)).tolist()


@pytest.mark.ci
@pytest.mark.parametrize("half", [False, True], ids=["float32", "float16"])
def test_a_translator_in_the_page_is_the_one_in_python(in_page, half):
    """With heads silenced at random; float16 against the same rounded weights in Python."""
    torch.manual_seed(0)
    model = make_translator().eval()
    encode, decode = programs_of(model, half=half)
    encoded, decoded = [], []
    for words, numerals in zip(lengths(20), lengths(MAX_TARGET_TOKENS), strict=True):
        source, heads = torch.randint(0, WORDS, (1, words)), torch.rand(3, 4).gt(0.2).float()
        memory = model.encode(source).detach()
        silent = {"decoder_heads": heads[1], "cross_heads": heads[2]}
        encoded.append({"source": source, "heads": heads[0]})
        decoded.append({"target": torch.randint(0, NUMERALS, (1, numerals)), "memory": memory, **silent})
    parts = [(encode, encoder_of(model), encoded), (decode, decoder_of(model), decoded)]
    for program, function, inputs in parts:
        for found, given in zip(in_page.run(program, *inputs), inputs, strict=True):
            assert_equal(found, program.run(**given) if half else function(**given))


@pytest.mark.ci
@pytest.mark.parametrize("half", [False, True], ids=["float32", "float16"])
def test_the_two_layers_of_lesson_04_in_the_page_are_those_in_python(in_page, half):
    torch.manual_seed(0)
    model = AttentionLayers(num_layers=2, num_heads=2).eval()

    def two_layers(tokens, first, second):
        logits, maps = model(tokens, head_masks=(first, second))
        return {"logits": logits, "maps": maps}

    heads = torch.ones(2)
    example = {"tokens": torch.zeros(1, 5, dtype=torch.long), "first": heads, "second": heads}
    program = export_for_page(two_layers, example, {"tokens": {1: "N"}}, half=half)
    assert list(program.outputs) == ["logits", "maps.0", "maps.1"]
    inputs = [
        {
            "tokens": torch.randint(0, VOCABULARY, (1, length)),
            "first": torch.rand(2).gt(0.2).float(),
            "second": torch.rand(2).gt(0.2).float(),
        }
        for length in lengths(60)
    ]
    for found, given in zip(in_page.run(program, *inputs), inputs, strict=True):
        assert_equal(found, program.run(**given) if half else named_leaves(two_layers(**given)))
