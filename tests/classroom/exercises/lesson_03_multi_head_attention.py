"""Right and wrong answers to the exercises of the lesson on multi-head attention."""

import torch

import mha_lib
from tests.classroom.exercises.answers import Answers


def by_the_module(x, W_q, W_k, W_v, W_o, H, valid_lens):
    layer = torch.nn.MultiheadAttention(x.shape[-1], H, bias=False, batch_first=True)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat([W_q.T, W_k.T, W_v.T]))
        layer.out_proj.weight.copy_(W_o.T)
    padding = torch.arange(x.shape[1]) >= valid_lens[:, None]
    return layer(x, x, x, key_padding_mask=padding)[0].detach()


def distances(far):
    return lambda w: far(w[:, :, None], w[:, None])


def heads_of_slices(x, W_q, W_k, W_v, W_o, num_heads):
    d, outputs = x.shape[-1] // num_heads, []
    for part in (slice(i * d, (i + 1) * d) for i in range(num_heads)):
        q, k, v = (x[..., part] @ W[part, part] for W in (W_q, W_k, W_v))
        outputs.append((q @ k.mT / d**0.5).softmax(-1) @ v)
    return torch.cat(outputs, -1) @ W_o


VIEW = ".view(batch, num_tokens, num_heads, d).transpose(1, 2)"
MERGE = "heads.transpose(1, 2).reshape(batch, num_tokens, width)"
SOFTMAX = "weights = scores.softmax(dim=-1)"
FILL = "scores = scores.masked_fill(~mask, -torch.inf)"
TORCHS = "torch.nn.functional.scaled_dot_product_attention"
KEYS = "valid_lens[:, None])[:, None, None]"
ROWS = "valid_lens[:, None])[:, None, :, None]"
FILLS = [{}, {"-torch.inf": "-1e9"}, {SOFTMAX: SOFTMAX + ".nan_to_num()"}]  # each leaves an answer right


most_explained = Answers(right=[0.6])
equal_share = Answers(right=[0.25])
count_parameters = Answers(
    right=[
        sum(p.numel() for p in mha_lib.MultiHeadAttention(64, 4, head_dim=8, value_head_dim=32).parameters())
    ],
    wrong=[("biases_counted", 20736)],
)
repeat_valid_lens = Answers(right=[[4, 4, 2, 2, 3, 3]])
catching_relation = Answers(right=[1])

split_heads = Answers(
    right=[lambda x, H: torch.stack(x.chunk(H, -1), 1)],
    wrong=[
        ("heads_before_samples", lambda x, H: torch.stack(x.chunk(H, -1))),
        ("number_for_width", lambda x, H: torch.stack(x.split(H, -1), 1)),
        ("axes_not_swapped", lambda x, H: torch.stack(x.chunk(H, -1), 2)),
        ("every_other_number", lambda x, H: torch.stack([x[..., i::H] for i in range(H)], 1)),
        ("right_numbers", lambda x, H: mha_lib.split_heads(x, H).flatten(0, 1)),
        ("finished_function", lambda x, H: mha_lib.split_heads(x, H)),
    ],
)

multi_head = Answers(
    """
def answer(x, W_q, W_k, W_v, W_o, num_heads, valid_lens):
    batch, num_tokens, width = x.shape
    d = width // num_heads
    q = (x @ W_q).view(batch, num_tokens, num_heads, d).transpose(1, 2)
    k = (x @ W_k).view(batch, num_tokens, num_heads, d).transpose(1, 2)
    v = (x @ W_v).view(batch, num_tokens, num_heads, d).transpose(1, 2)
    scores = q @ k.transpose(2, 3) / d**0.5
    mask = (torch.arange(num_tokens) < valid_lens[:, None])[:, None, None]
    scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(dim=-1)
    heads = weights @ v
    return heads.transpose(1, 2).reshape(batch, num_tokens, width) @ W_o
""",
    right=[*FILLS[1:], {FILL: "pass", SOFTMAX: "weights = mha_lib.masked_softmax(scores, mask)"}],
    wrong=[
        ("cut_with_one_view", {VIEW: ".view(batch, num_heads, num_tokens, d)"}),
        ("every_other_number", {VIEW: ".view(batch, num_tokens, d, num_heads).permute(0, 3, 1, 2)"}),
        ("merged_without_swap", {MERGE: "heads.reshape(batch, num_tokens, width)"}),
        ("merged_number_by_number", {MERGE: "heads.permute(0, 2, 3, 1).reshape(batch, num_tokens, width)"}),
        ("lengths_repeated", {KEYS: "valid_lens.repeat(num_heads)[:, None]).view(batch, num_heads, 1, -1)"}),
        ("scale_of_whole_width", {"/ d**0.5": "/ width**0.5"}),
        ("scale_of_another_axis", {"/ d**0.5": "/ num_tokens**0.5"}),
        ("scale_half_of_d", {"/ d**0.5": "/ d**1/2"}),
        ("forbidden_scores_zero", {FILL: "scores = scores.masked_fill(~mask, 0)"}),
        ("forbidden_weights_zero", {FILL: "pass", SOFTMAX: SOFTMAX + " * mask"}),
        ("values_from_W_k", {"x @ W_v": "x @ W_k"}),
        ("heads_not_mixed", {" @ W_o": ""}),
        (
            "renormalised",
            {FILL: "pass", "weights @": "torch.nn.functional.normalize(weights * mask, 1, -1) @"},
        ),
        ("only_nan", {FILL: "scores = scores + ~mask * -torch.inf"}),
        ("finished_function", {"weights @ v": f"{TORCHS}(q, k, v, mask)"}),
        ("finished_function", by_the_module),
        ("forbidden_scores_too_high", {FILL: "scores = scores - 10 * ~mask"}),
        ("slices_of_input", "mask_missing", lambda *call: heads_of_slices(*call[:-1])),
        # with -inf a row that may attend to nothing is NaN, which hides the other slip
        *(("mask_upside_down", way | {"~mask": "mask"}) for way in FILLS),
        *(("scale_missing", "mask_on_queries", way | {" / d**0.5": "", KEYS: ROWS}) for way in FILLS),
    ],
    together=[
        ("cut_with_one_view", "merged_without_swap"),
        ("values_from_W_k", "heads_not_mixed"),
        ("scale_of_whole_width", "forbidden_scores_zero"),
    ],
)

head_distances = Answers(
    right=[lambda w: [[((a - b).abs().sum(-1) / 2).mean() for b in w.unbind(1)] for a in w.unbind(1)]],
    wrong=[
        ("squared", distances(lambda a, b: (a - b).square().sum(-1).mean((0, -1)) / 2)),
        ("summed", distances(lambda a, b: (a - b).abs().sum((0, -2, -1)) / 2)),
        ("not_halved", distances(lambda a, b: (a - b).abs().sum(-1).mean((0, -1)))),
    ],
)

X, LENGTHS = torch.randn(2, 4, 20, generator=torch.Generator().manual_seed(0)), torch.tensor([3, 2])
FULL = torch.tensor([4, 4])


def equal(some, others):
    return torch.allclose(some, others, atol=1e-5)


def padding(attend):
    other = X.clone()
    other[:, 3] += 5
    return equal(attend(X, LENGTHS)[:, :2], attend(other, LENGTHS)[:, :2])


def one_key(attend):
    """With one valid key the output is linear in it."""
    one = torch.tensor([1, 1])
    return equal(attend(2 * X, one)[:, 0], 2 * attend(X, one)[:, 0])


relation = Answers(
    right=[
        (padding, "catches 6 of 12 broken layers"),
        one_key,
        lambda attend: (attend(X[:1], LENGTHS[:1]) - attend(X, LENGTHS)[:1]).abs().max() < 1e-5,
    ],
    wrong=[
        ("nothing_caught", lambda attend: attend(X, LENGTHS).shape == X.shape),
        ("right_code_refused", lambda attend: equal(attend(2 * X, FULL), 2 * attend(X, FULL)), "2 heads"),
        ("true_or_false", lambda attend: attend(X, LENGTHS)[0, 0], "a tensor (20,)"),
        (
            "caught_by_chance",
            lambda attend: (attend(X[:1], LENGTHS[:1]) - attend(X, LENGTHS)[:1]).max() < 0.9,
        ),
    ],
)
