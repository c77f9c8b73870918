"""What a page computes is what PyTorch computes: whole models of the lessons."""

import pytest
import torch

from mha_lib import ByAttention
from mha_lib.classroom.page_torch import export_for_page
from mha_lib.classroom.tasks import SOURCE_VOCABULARY, TARGET_VOCABULARY, make_translator
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


def random_inputs(count=200):
    """Sources and targets of all lengths from one token on, and heads of which some are silent."""
    generator = torch.Generator().manual_seed(0)

    def tokens(most, vocabulary):
        length = int(torch.randint(1, most + 1, (), generator=generator))
        return torch.randint(0, vocabulary, (1, length), generator=generator)

    for _ in range(count):
        heads = torch.rand(3, 4, generator=generator).gt(0.2).float()
        yield tokens(20, WORDS), tokens(MAX_TARGET_TOKENS, NUMERALS), heads


@pytest.mark.parametrize("half", [False, True], ids=["float32", "float16"])
def test_a_translator_in_the_page_is_the_one_in_python(in_page, half):
    model = make_translator().eval()
    encode, decode = programs_of(model, half=half)
    encoded, decoded = [], []
    for source, target, heads in random_inputs():
        encoded.append({"source": source, "heads": heads[0]})
        memory = model.encode(source).detach()
        silent = {"decoder_heads": heads[1], "cross_heads": heads[2]}
        decoded.append({"target": target, "memory": memory, **silent})
    parts = [(encode, encoder_of(model), encoded), (decode, decoder_of(model), decoded)]
    for program, function, inputs in parts:
        for found, given in zip(in_page.run(program, *inputs), inputs, strict=True):
            assert_equal(found, program.run(**given) if half else function(**given))
