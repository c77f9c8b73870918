"""The questions before and after the lessons: the library answers each, and refutes every other choice."""

import math
import re
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from mha_lib import MultiHeadAttention, dot_product_attention, merge_heads, padding_mask, split_heads
from mha_lib.classroom.lesson.reading import read_lesson
from tests.lessons import ROOT

LANGUAGES = ["en", "zh"]
FORMS = ["before", "after"]


class Question(NamedTuple):
    """A question of the key: the step that answers it, and for each belief its two letters and why."""

    title: str
    step: str
    lesson: str
    beliefs: dict[str, tuple[str, str, str]]


def read_questions(language: str, form: str) -> list[list[str]]:
    """The lines of each question on a page: what it asks, and its choices."""
    page = (ROOT / f"docs/{language}/questions_{form}.md").read_text("utf-8")
    blocks = re.findall(r"^\d+\. (.+)\n\n((?: +- [a-d]\) .+\n)+)", page, re.MULTILINE)
    return [[asks, *choices.splitlines()] for asks, choices in blocks]


def read_key(language: str) -> list[Question]:
    key = (ROOT / f"docs/{language}/instructors/questions_key.md").read_text("utf-8")
    questions = []
    for part in re.split(r"^## \d+\. ", key, flags=re.MULTILINE)[1:]:
        rows = re.findall(r"^\| ([a-d]) \| ([a-d]) \| `(.+)` \| (.+) \|$", part, re.MULTILINE)
        (lesson,) = re.findall(r"\w+\.ipynb", part)
        (step,) = re.findall(r"`([\w-]+)`", part.split("|")[0])
        beliefs = {name: (*letters, why) for *letters, name, why in rows}
        questions.append(Question(part.split("\n")[0], step, lesson, beliefs))
    return questions


QUESTIONS = {(language, form): read_questions(language, form) for language in LANGUAGES for form in FORMS}
KEYS = {language: read_key(language) for language in LANGUAGES}
RIGHT = {"en": "**right**", "zh": "**正确**"}
each_form = pytest.mark.parametrize("form", FORMS)
each_language = pytest.mark.parametrize("language", LANGUAGES)


def term_of(layer, x, head):
    """The part of the layer's output that one head adds."""
    return layer(x, head_mask=F.one_hot(torch.tensor(head), layer.num_heads).float())


def replaced(layer, heads, kinds="qkv"):
    """The layer with other projections in some of its heads."""
    changed = MultiHeadAttention(layer.num_hiddens, layer.num_heads)
    changed.load_state_dict(layer.state_dict())
    for kind in kinds:
        rows = getattr(changed, f"W_{kind}").weight.unflatten(0, (layer.num_heads, -1))
        rows[list(heads)] = torch.randn_like(rows[list(heads)])
    return changed


def inputs_of_a_head(width, num_heads, head_dim, head):
    layer, x = MultiHeadAttention(width, num_heads), torch.randn(1, 8, width)
    before = term_of(layer, x, head)

    def is_read(*place):
        changed = x.clone()
        changed[place] += 1
        return not torch.equal(term_of(layer, changed, head)[0, 0], before[0, 0])  # by the query of token 0

    numbers = [number for number in range(width) if is_read(0, slice(None), number)]
    tokens = [token for token in range(8) if is_read(0, token)]
    return {
        "slice": numbers == list(range(head * head_dim, (head + 1) * head_dim)),
        "picked": len(numbers) == head_dim,
        "whole": len(numbers) == width and len(tokens) == 8,
        "share": len(tokens) == 8 // num_heads,
    }


def heads_that_notice(width, num_heads, num_tokens):
    layer, x = MultiHeadAttention(width, num_heads), torch.randn(1, num_tokens, width)
    changed = x.clone()
    changed[0, -1, 0] += 1
    heads = [
        head
        for head in range(num_heads)
        if not torch.equal(term_of(layer, x, head), term_of(layer, changed, head))
    ]
    return {
        "whole": heads == list(range(num_heads)),
        "share": heads == [num_heads - 1],
        "slice": heads == [0],
        "picked": len(heads) == 1,
    }


def parameters(width, few, many):
    fewer, more = (
        sum(p.numel() for p in MultiHeadAttention(width, heads).parameters()) for heads in (few, many)
    )
    return {
        "times": more == fewer * many // few,
        "fewer": more == fewer * few // many,
        "weighed": more == fewer + 8,
        "same": more == fewer,
    }


def work(width, num_heads, short, long):
    layer = MultiHeadAttention(width, num_heads, device="meta")

    def operations(num_tokens):
        with FlopCounterMode(display=False) as counter:
            layer(torch.randn(1, num_tokens, width, device="meta"), need_weights=True)
        return counter.get_total_flops()

    longer, times = long / short, operations(long) / operations(short)
    return {
        "linear": times == longer,
        "square": times == longer**2,
        "between": longer < times < longer**2,
        "heads": times < longer,
    }


def divisor(width, num_heads, head_dim):
    layer, x = MultiHeadAttention(width, num_heads), 3 * torch.randn(2, 6, width)
    q, k, v = (split_heads(W(x), num_heads) for W in (layer.W_q, layer.W_k, layer.W_v))

    def is_the_layer(divisor):
        return torch.allclose(
            layer.W_o(merge_heads((q @ k.mT / divisor).softmax(-1) @ v)), layer(x), atol=1e-6
        )

    assert q.shape[-1] == head_dim
    return {
        "head": is_the_layer(math.sqrt(head_dim)),
        "layer": is_the_layer(math.sqrt(width)),
        "width": is_the_layer(head_dim),
        "times": is_the_layer(1 / math.sqrt(head_dim)),
    }


def polarity(hides):
    """``hides``: whether True stands at padding."""
    query, text, is_padding = torch.randn(1, 1, 8), torch.randn(1, 5, 8), torch.arange(5)[None] > 2
    mask, layer = is_padding == hides, nn.MultiheadAttention(8, 2, batch_first=True)

    def by_layer(text):
        return layer(query, text, text, key_padding_mask=mask)[0]

    def by_function(text):
        return F.scaled_dot_product_attention(query, text, text, attn_mask=mask[:, None])

    other = text.clone()
    other[is_padding] += 1
    layer_fits, function_fits = (torch.equal(f(text), f(other)) for f in (by_layer, by_function))
    fitting, opposite = (layer_fits, function_fits) if hides else (function_fits, layer_fits)
    return {
        "fitting": fitting and not opposite,
        "opposite": opposite and not fitting,
        "alike": fitting and opposite,
        "numbers": not (fitting or opposite),
    }


def zero_weights(real, padded):
    layer, x = MultiHeadAttention(8, 2), torch.randn(1, padded, 8)
    _, weights = layer(x, valid_lens=torch.tensor([real]), need_weights=True)
    is_padding = torch.arange(padded) >= real
    rows, columns = is_padding[:, None].expand(padded, padded), is_padding.expand(padded, padded)

    def are_zeros(cells):
        return all(torch.equal(head == 0, cells) for head in weights[0])

    return {
        "keys": are_zeros(columns),
        "queries": are_zeros(rows),
        "both": are_zeros(rows | columns),
        "small": are_zeros(torch.zeros_like(rows)),
    }


def changed_rows(real, padded):
    layer, x, lens = MultiHeadAttention(8, 2), torch.randn(1, padded, 8), torch.tensor([real])
    other = x.clone()
    other[:, real:] += 1
    is_changed = (layer(x, valid_lens=lens) != layer(other, valid_lens=lens)).any(-1)[0]
    rows = is_changed.nonzero().flatten().tolist()
    return {
        "keys": rows == list(range(real, padded)),
        "queries": rows == list(range(real)),
        "both": rows == [],
        "small": rows == list(range(padded)),
    }


def cut(before, right, wrong):
    """``before`` holds at each number the token to which it belongs; so do the results, row by row."""
    try:
        right, wrong, is_error = right(before), wrong(before), False
    except RuntimeError:
        is_error = True
    assert right.shape == wrong.shape
    right, wrong = (rows.flatten(0, -3) for rows in (right, wrong))  # (n, tokens, width)
    sets = [[sorted(map(tuple, some.tolist())) for some in rows] for rows in (right, wrong)]
    return {
        "error": is_error,
        "same": torch.equal(right, wrong),
        "order": sets[0] == sets[1],
        "mixed": not torch.equal(wrong, torch.arange(right.shape[1])[:, None].expand_as(right)),
    }


def split(texts, tokens, width, heads, head_dim):
    owner = torch.arange(tokens)[:, None].expand(texts, tokens, width).contiguous()
    return cut(owner, lambda x: split_heads(x, heads), lambda x: x.view(texts, heads, tokens, head_dim))


def merge(texts, heads, tokens, head_dim, width):
    owner = torch.arange(tokens)[:, None].expand(texts, heads, tokens, head_dim)
    return cut(owner, merge_heads, lambda x: x.reshape(texts, tokens, width))


def folded_row(texts, heads, tokens, head_dim, row):
    q = torch.randn(texts, heads, tokens, head_dim)
    found = q.reshape(texts * heads, tokens, head_dim)[row]
    return {
        "texts-first": torch.equal(found, q[3, 1]),
        "heads-first": torch.equal(found, q[2, 2]),
        "heads-alone": heads > row,
        "longer": found.ndim == 1,
    }


def folded_lengths(texts, heads, tokens, head_dim, first, second):
    q = torch.randn(texts, heads, tokens, head_dim)
    right = F.scaled_dot_product_attention(
        q, q, q, attn_mask=padding_mask(torch.tensor([first, second]), tokens)[:, None]
    )

    def is_right(lens):
        if len(lens) != texts * heads:
            return False  # no length for each row
        folded = q.flatten(0, 1)
        mixed, _ = dot_product_attention(folded, folded, folded, padding_mask(torch.tensor(lens), tokens))
        return torch.allclose(mixed.view_as(right), right, atol=1e-6)

    return {
        "texts-first": is_right([first] * 3 + [second] * 3),
        "heads-first": is_right([first, second] * 3),
        "heads-alone": is_right([first, second]),
        "longer": is_right([3 * first, 3 * second]),
    }


def does_reach(num_heads, heads, others):
    """Whether other projections in some heads change what the others add, or their weights."""
    layer, x = MultiHeadAttention(24, num_heads), torch.randn(1, 5, 24)
    changed = replaced(layer, heads)
    weights, new = (one(x, need_weights=True)[1][:, list(others)] for one in (layer, changed))
    terms = [torch.equal(term_of(layer, x, head), term_of(changed, x, head)) for head in others]
    return {"terms": not all(terms), "weights": not torch.equal(weights, new)}


def earlier_heads(num_heads, last):
    near, all_before = does_reach(num_heads, [last - 1], [last]), does_reach(num_heads, range(last), [last])
    return {
        "chain": near["terms"],
        "sum": all_before["terms"],
        "compete": all_before["weights"],
        "nothing": not any([*near.values(), *all_before.values()]),
    }


def one_layer_for_two(in_two, in_one):
    first, second, x = *(MultiHeadAttention(24, in_two) for _ in "12"), torch.randn(1, 5, 24)
    changed = replaced(first, range(in_two))(x)
    reads_others = all(
        not torch.equal(term_of(second, first(x), head), term_of(second, changed, head))
        for head in range(in_two)
    )
    near, half = does_reach(in_one, [0], [1]), does_reach(in_one, range(4), range(4, in_one))
    return {
        "chain": near["terms"],
        "sum": half["terms"],
        "compete": near["weights"] or half["weights"],
        "nothing": reads_others and not any([*near.values(), *half.values()]),
    }


def one_map(weight):
    """Head 0 looks at one word, as the question says, and adds nothing; head 1 looks at another."""
    asks, looked_at, other, layer = 4, 2, 0, MultiHeadAttention(8, 2)
    for matrix in (layer.W_q.weight, layer.W_k.weight, layer.W_o.weight[:, :4]):
        matrix.zero_()
    layer.W_q.weight[[0, 4], asks] = 2 * torch.tensor([math.log(7 * weight / (1 - weight)), 9])  # 2: √d
    layer.W_k.weight[0, looked_at] = layer.W_k.weight[4, other] = 1
    x = torch.eye(8)[None]  # eight words
    output, (_, weights) = layer(x), layer(x, need_weights=True)
    values = split_heads(layer.W_v(x), 2)[0, 0]
    others = [word for word in range(8) if word != looked_at]
    mixture = weight * values[looked_at] + (1 - weight) * values[others].mean(0)
    evened = replaced(layer, [])
    evened.W_q.weight[:4] = 0  # even weights in head 0
    kept = ~torch.eye(8, dtype=torch.bool)  # in each row, a word is left out
    without = [(layer(x, key_mask=mask[None]) - output)[0, asks].norm().item() for mask in kept]
    return {
        "mixture": torch.allclose((weights[0, 0] @ values)[asks], mixture, atol=1e-6),
        "cause": not torch.equal(replaced(layer, [0], "v")(x), output),
        "changes": not torch.equal(evened(x), output),
        "most": without.index(max(without)) == looked_at,
    }


# For each question, the computation that answers its first form and its second, with their numbers.
ANSWERS: list[Any] = [
    ((inputs_of_a_head, (64, 4, 16, 2)), (heads_that_notice, (512, 8, 16))),
    ((parameters, (512, 1, 8)), (parameters, (960, 4, 12))),
    ((work, (512, 8, 128, 256)), (work, (1024, 16, 256, 1024))),
    ((divisor, (512, 8, 64)), (divisor, (100, 4, 25))),
    ((polarity, (True,)), (polarity, (False,))),
    ((zero_weights, (3, 5)), (changed_rows, (2, 4))),
    ((split, (2, 6, 64, 4, 16)), (merge, (3, 4, 6, 8, 32))),
    ((folded_row, (4, 3, 6, 10, 10)), (folded_lengths, (2, 3, 7, 10, 5, 2))),
    ((earlier_heads, (6, 5)), (one_layer_for_two, (4, 8))),
    ((one_map, (0.9,)), (one_map, (0.95,))),
]


@pytest.mark.parametrize("number", range(len(ANSWERS)))
@each_form
@torch.no_grad()
def test_the_library_gives_one_choice_and_refutes_the_others(number, form):
    compute, numbers = ANSWERS[number][FORMS.index(form)]
    torch.manual_seed(0)
    beliefs = KEYS["en"][number].beliefs
    assert compute(*numbers) == {name: why == RIGHT["en"] for name, (_, _, why) in beliefs.items()}


@each_language
@each_form
def test_the_numbers_that_are_computed_with_are_those_of_the_question(form, language):
    for lines, answer in zip(QUESTIONS[language, form], ANSWERS, strict=True):
        known = {float(number) for number in re.findall(r"\d*\.?\d+", " ".join(lines))}
        _, numbers = answer[FORMS.index(form)]
        assert {number for number in numbers if not isinstance(number, bool)} <= known, lines[0]


@each_language
def test_both_pages_ask_for_the_same_beliefs_at_other_letters_and_so_in_every_language(language):
    for number, question in enumerate(KEYS[language]):
        before, after, reasons = zip(*question.beliefs.values(), strict=True)
        assert before != after
        for letters, form in zip((before, after), FORMS, strict=True):
            printed = [line.lstrip(" -")[0] for line in QUESTIONS[language, form][number][1:]]
            assert sorted(letters) == printed == [*"abcd"]
        assert [why == RIGHT[language] for why in reasons] == [True, False, False, False]
        english = KEYS["en"][number]
        assert (question.step, question.lesson) == (english.step, english.lesson)
        assert [(name, *letters) for name, (*letters, _) in question.beliefs.items()] == [
            (name, *letters) for name, (*letters, _) in english.beliefs.items()
        ]


@each_language
def test_the_key_names_the_slides_that_answer_the_questions(language):
    for question in KEYS[language]:
        slides = read_lesson(ROOT / "notebooks" / language / question.lesson).slides
        titles = {slide.cells[0].get("id"): slide.title for slide in slides if slide.cells}
        assert question.title == titles[question.step].replace("`", "")
