"""Tokens are read as text: letters of several tokens, blanks, and pieces of words."""

import pytest

pytest.importorskip("transformers")

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from mha_lib.classroom.models.tokens import read_by

ENGLISH = ["the cat sat on the mat"] * 9


@pytest.fixture(scope="module")
def by_bytes():
    """As GPT-2 cuts a text: every letter of Chinese, which was not in the training, is three bytes."""
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|end|>", "[UNK]"],
        show_progress=False,
    )
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(ENGLISH, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]")


@pytest.fixture(scope="module")
def by_words():
    """As Llama cuts a text, with ▁ for a blank and bytes for unknown letters."""
    bytes_of_letters = [f"<0x{byte:02X}>" for byte in range(256)]
    names = ["[UNK]", "<s>", "▁the", "▁cat", "▁", "s", *bytes_of_letters]
    vocabulary = [(name, 0.0 if name[0] != "<" else -9.0) for name in names]
    tokenizer = Tokenizer(models.Unigram(vocabulary, 0, byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(steps)
    tokenizer.add_special_tokens([AddedToken("<s>")])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]")


def read(tokenizer, text):
    return read_by(tokenizer, tokenizer(text, add_special_tokens=False)["input_ids"])


def test_a_blank_is_shown_where_a_word_begins(by_bytes, by_words):
    assert read(by_bytes, "the cat  sat\n") == ["the", "␣cat", "␣", "␣sat", "\\n"]
    assert read(by_words, "the cats") == ["the", "␣cat", "s"]


def test_the_pieces_of_a_letter_are_counted(by_bytes, by_words):
    assert read(by_bytes, "猫cat") == ["猫 1/3", "猫 2/3", "猫 3/3", "cat"]
    assert read(by_bytes, "🐱🐱") == [f"🐱 {piece}/4" for piece in range(1, 5)] * 2
    assert read(by_bytes, "\u200d") == [rf"\u200d {piece}/3" for piece in range(1, 4)]  # within some emoji
    assert read(by_words, "the猫s") == ["the", "猫 1/3", "猫 2/3", "猫 3/3", "s"]


def test_bytes_that_make_no_letter_keep_their_raw_form(by_bytes):
    cat = by_bytes("猫")["input_ids"]
    the = by_bytes("the")["input_ids"]
    raw = by_bytes.convert_ids_to_tokens(cat)
    assert read_by(by_bytes, [*cat[:2], *the]) == [*raw[:2], "the"]
    assert read_by(by_bytes, [*cat[:1] * 20]) == raw[:1] * 20
    assert read_by(by_bytes, cat[1:]) == raw[1:]


def test_a_token_that_the_tokenizer_lacks_is_named_by_its_number(by_bytes):
    assert read_by(by_bytes, [*by_bytes("the")["input_ids"], 999]) == ["the", "999"]


def test_special_tokens_are_named(by_bytes, by_words):
    end = by_bytes.convert_tokens_to_ids("<|end|>")
    assert read_by(by_bytes, [end, *by_bytes("the")["input_ids"]]) == ["<|end|>", "the"]
    assert read_by(by_words, by_words("<s>the")["input_ids"])[0] == "<s>"
