"""Right and wrong answers to the exercises of the lesson on a small language model."""

import torch
from torch.nn import functional as F

from mha_lib.classroom.heads import head_outputs, replaced
from mha_lib.classroom.stories import REST
from tests.classroom.exercises.answers import Answers
from tests.classroom.exercises.looking_up import looking_up

first_loss = Answers(right=[4.605], wrong=[("in_bits", 6.644), ("another_value", -4.605)])
how_much_likelier = Answers(right=[54.6], wrong=[("temperature_ignored", 7.39)])
refuting_result = Answers(right=[2])


def by_cross_entropy(logits, tokens):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


next_token_loss = Answers(
    """
def answer(logits, tokens):
    logits, tokens = logits[:, :-1], tokens[:, 1:]
    logs = torch.log_softmax(logits, dim=-1)
    losses = -logs.gather(2, tokens.unsqueeze(2))
    return losses.mean()
""",
    right=[by_cross_entropy, {"losses.mean()": "losses.double().mean().item()"}],
    wrong=[
        ("not_shifted", {"logits[:, :-1], tokens[:, 1:]": "logits, tokens"}),
        ("not_shifted", {"tokens[:, 1:]": "tokens[:, :-1]"}),
        ("summed", {"losses.mean()": "losses.sum() / len(tokens)"}),
        ("softmax_over_positions", {"dim=-1": "dim=1"}),
        ("softmax_twice", {"log_softmax(logits,": "log_softmax(logits.softmax(-1),"}),
        ("probabilities_taken", {"torch.log_softmax": "torch.softmax"}),
        ("tensor_wanted", {"losses.mean()": "losses, tokens"}, "returned a tuple"),
    ],
    together=[("not_shifted", "softmax_twice")],
)

CUT = "logits.masked_fill(logits < least, -torch.inf)"
next_token_probabilities = Answers(
    """
def answer(logits, temperature, strongest):
    logits = logits / temperature
    values, places = logits.topk(strongest)
    least = values[-1]
    logits = logits.masked_fill(logits < least, -torch.inf)
    return logits.softmax(0)
""",
    right=[
        {CUT: "torch.full_like(logits, -torch.inf).scatter(0, places, values)"},
        {"return logits.softmax(0)": "return [number.item() for number in logits.softmax(0)]"},
    ],
    wrong=[
        ("temperature_multiplied", {"/ temperature": "* temperature"}),
        ("not_renormalised", {f"    logits = {CUT}\n": "", "softmax(0)": "softmax(0) * (logits >= least)"}),
        ("one_more_kept", {"topk(strongest)": "topk(strongest + 1)"}),
        ("one_fewer_kept", {"< least": "<= least"}),
        ("strongest_alone", {"logits.softmax(0)": "values.softmax(0)"}),
    ],
    together=[("temperature_multiplied", "one_more_kept")],
)

shares_of_parts = Answers(
    """
def answer(parts, gain, table):
    x = parts.sum(dim=0)
    square = (x**2).mean()
    rms = torch.sqrt(square + 1e-6)
    normed = parts / rms
    amplified = normed * gain
    return amplified @ table.T
""",
    right=[
        {"parts / rms": "parts.double() / rms", "* gain": "* gain.double()"}
        | {"@ table.T": "@ table.double().T"},
    ],
    wrong=[
        ("each_part_normed", lambda parts, gain, table: F.rms_norm(parts, gain.shape, gain, 1e-6) @ table.T),
        ("gain_missing", {"normed * gain": "normed"}),
        ("mean_subtracted", {"(x**2).mean()": "x.var(correction=0)"}),
        ("root_missing", {"torch.sqrt(square + 1e-6)": "square + 1e-6"}),
        ("shared_alike", {"normed = parts": "normed = (x / len(parts)).expand(parts.shape)"}),
    ],
    together=[("gain_missing", "root_missing")],
)


def by_loops(weights):
    before = [text[query, query - 1].item() for text in weights for query in range(1, len(text))]
    return sum(before) / len(before)


def without_the_first(weights):
    return weights[:, 1:, :-1].diagonal(dim1=1, dim2=2).mean()


weight_before = Answers(
    """
def answer(weights):
    length = weights.shape[-1]
    queries = torch.arange(1, length)
    before = weights[:, queries, queries - 1]
    return before.mean()
""",
    right=[by_loops, without_the_first, {"before.mean()": "before.sum() / (len(weights) * (length - 1))"}],
    wrong=[
        ("itself", {"queries - 1": "queries"}),
        ("two_before", {"arange(1,": "arange(2,", "queries - 1": "queries - 2"}),
        ("whole_rows", lambda weights: weights[:, 1:].mean()),
        ("first_counted", {"before.mean()": "before.sum() / weights[..., 0].numel()"}),
        ("summed", {"before.mean()": "before.sum() / len(weights)"}),
        ("of_each_text", {"before.mean()": "before.mean(-1)"}),
        ("only_zeros", {"queries, queries - 1": "queries - 1, queries"}),
        ("only_zeros", lambda weights: weights.mT.diagonal(-1, 1, 2).mean()),
    ],
    together=[("two_before", "of_each_text")],
)

weight_after_last_time = Answers(
    """
def answer(weights, tokens):
    found = []
    for query in range(len(tokens)):
        earlier = (tokens[:query] == tokens[query]).nonzero().flatten()
        if len(earlier):
            last = earlier[-1]
            found.append(weights[query, last + 1])
    return torch.stack(found).mean()
""",
    right=[{"torch.stack(found).mean()": "sum(found) / len(found)"}],
    wrong=[
        ("token_before", {"last + 1": "last - 1"}),
        ("all_times_summed", {"earlier[-1]": "earlier", "[query, last + 1]": "[query, last + 1].sum()"}),
        ("query_counted", lambda weights, tokens: weights.roll(-1, 1).diagonal().mean()),
        ("only_zeros", lambda weights, tokens: weights.diagonal(1).mean()),
        ("all_queries_counted", {"torch.stack(found).mean()": "sum(found) / len(tokens)"}),
        ("wrong_number", {"last + 1": "query"}, "the number should be"),
    ],
    together=[("token_before", "all_queries_counted")],
)

MEAN = "outputs[:, head].mean((0, 1))"
without_head = Answers(
    """
def answer(outputs, head):
    changed = outputs.clone()
    changed[:, head] = outputs[:, head].mean((0, 1))
    return changed
""",
    right=[{MEAN: "outputs.mean(dim=(0, 2))[head]"}, {"outputs.clone()": "outputs.double()"}],
    wrong=[
        ("overwritten", {"outputs.clone()": "outputs"}, "has changed its argument outputs"),
        ("zeros", {MEAN: "0"}),
        ("mean_of_each_position", {MEAN: "outputs[:, head].mean(0)"}),
        ("mean_of_all_heads", {MEAN: "outputs.mean((0, 1, 2))"}),
        ("all_heads_replaced", {"changed[:, head] =": "changed[:] ="}),
        ("text_replaced", {"changed[:, head]": "changed[head]"}),
        ("counted_from_1", {"[:, head]": "[:, head - 1]"}),
    ],
    together=[("zeros", "counted_from_1")],
)

model = looking_up()  # the trained model of the student who hands in the answers below


def my_claim(model, texts, head=(1, 0), at_most=0.1):
    def share_right():
        right = model(texts.tokens)[:, :-1].argmax(-1) == texts.tokens[:, 1:]
        return right[texts.kinds[:, 1:] == REST].float().mean().item()

    layer, number = head
    mean = head_outputs(model, texts.tokens)[layer][:, number].mean((0, 1))
    before = share_right()
    with replaced(model, {head: mean}):
        after = share_right()
    return head, at_most, before, after


def rounded(model, texts):
    head, at_most, before, after = my_claim(model, texts)
    return [[*head], torch.tensor(at_most), round(before, 2), round(after, 2)]


def more_than_all(model, texts):
    return my_claim(model, texts, at_most=1)


def after_the_result(model, texts):
    head, _, before, after = my_claim(model, texts)
    return head, after, before, after


def pasted(model, texts):
    return (1, 0), 0.1, 0.999, 0.0


claim = Answers(
    right=[
        (
            my_claim,
            "“Without head 1.0 at most 10.0% of",
            "With all heads 99.9% are right, without it 0.0%, of",
        ),
        rounded,
    ],
    wrong=[
        ("nothing_refutes", more_than_all, "with all heads 99.9% are right, which is at most 100.0% already"),
        ("claim_after_result", after_the_result),
        ("numbers_pasted", pasted),
        ("four_wanted", lambda model, texts: "head 1.0 decides", "this returned 'head 1.0 decides'"),
        ("head_not_there", lambda model, texts: ((2, 5), 0.1, 0.9, 0.0), "there is no head (2, 5)"),
        ("not_a_function", 0.1, "hand over the function itself"),
    ],
)
