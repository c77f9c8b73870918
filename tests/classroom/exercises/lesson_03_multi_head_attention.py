"""Right and wrong answers to the exercises of the lesson on multi-head attention."""

import torch

import mha_lib
from tests.classroom.exercises.answers import Answers


def split(x, H):
    return x.unflatten(-1, (H, -1)).transpose(1, 2)


def by_the_module(x, W_q, W_k, W_v, W_o, H, valid_lens):
    layer = torch.nn.MultiheadAttention(x.shape[-1], H, bias=False, batch_first=True)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat([W_q.T, W_k.T, W_v.T]))
        layer.out_proj.weight.copy_(W_o.T)
    padding = torch.arange(x.shape[1]) >= valid_lens[:, None]
    return layer(x, x, x, key_padding_mask=padding)[0].detach()


def distances(far=lambda a, b: (a - b).abs().sum(-1).mean((0, -1)) / 2):
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
MERGED = {MERGE: "heads.permute(0, 2, 3, 1).reshape(batch, num_tokens, width)"}
FILLS = [{}, {"-torch.inf": "-1e9"}, {SOFTMAX: SOFTMAX + ".nan_to_num()"}]  # each leaves an answer right
HIDES_ALL = {  # slips that leave some queries nothing to attend to
    "softmax_over_queries": {"softmax(dim=-1)": "softmax(dim=-2)"},
    "mask_on_queries": {KEYS: ROWS},
    "mask_upside_down": {"~mask": "mask"},
}


most_explained = Answers(right=[0.6, 3 / 5], wrong=[("four_reports", 0.75), ("all", 1)])

equal_share = Answers(right=[0.25, 1 / 4], wrong=[("as_if_different", 1), ("eight_times", 0.125)])

count_parameters = Answers(
    right=[
        20480,
        sum(p.numel() for p in mha_lib.MultiHeadAttention(64, 4, head_dim=8, value_head_dim=32).parameters()),
    ],
    wrong=[
        ("single_head", 5120),
        ("W_o_missing", 12288),
        ("W_o_of_width_D", 16384),
        ("W_o_of_one_head", 14336),
        ("biases_counted", 20736),
    ],
)

repeat_valid_lens = Answers(
    right=[[4, 4, 2, 2, 3, 3], torch.tensor([4, 2, 3]).repeat_interleave(2)],
    wrong=[("lengths_repeated", [4, 2, 3, 4, 2, 3]), ("multiplied", [8, 4, 6])],
)

folded_row = Answers(
    right=[[1, 2], torch.tensor([1, 2])],
    wrong=[("exchanged", [2, 1]), ("heads_first", [0, 2]), ("counted_from_1", [2, 3])],
)

catching_relation = Answers(right=[1, 1.0], wrong=[("order", 2), ("alone", 3), ("single_heads", 4)])

split_heads = Answers(
    right=[
        lambda x, H: torch.stack(x.chunk(H, -1), 1),
        lambda x, H: x.view(*x.shape[:2], H, -1).permute(0, 2, 1, 3),
        lambda x, H: torch.einsum("bnhd->bhnd", x.unflatten(2, (H, -1))),
    ],
    wrong=[
        ("heads_before_samples", lambda x, H: torch.stack(x.chunk(H, -1))),
        ("number_for_width", lambda x, H: torch.stack(x.split(H, -1), 1)),
        ("axes_not_swapped", lambda x, H: torch.stack(x.chunk(H, -1), 2)),
        ("every_other_number", lambda x, H: torch.stack([x[..., i::H] for i in range(H)], 1)),
        ("cut_with_one_view", lambda x, H: x.view(x.shape[0], H, x.shape[1], -1)),
        ("right_numbers", lambda x, H: split(x, H).flatten(0, 1)),
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
    right=[*FILLS[1:], {"q @ k.transpose(2, 3)": "torch.einsum('bhqd,bhkd->bhqk', q, k)"}],
    wrong=[
        ("cut_with_one_view", {VIEW: ".view(batch, num_heads, num_tokens, d)"}),
        ("every_other_number", {VIEW: ".view(batch, num_tokens, d, num_heads).permute(0, 3, 1, 2)"}),
        ("merged_without_swap", {MERGE: "heads.reshape(batch, num_tokens, width)"}),
        ("merged_number_by_number", MERGED),
        ("lengths_repeated", {KEYS: "valid_lens.repeat(num_heads)[:, None]).view(batch, num_heads, 1, -1)"}),
        ("scale_missing", {" / d**0.5": ""}),
        ("scale_of_whole_width", {"/ d**0.5": "/ width**0.5"}),
        ("scale_without_root", {"/ d**0.5": "/ d"}),
        ("scale_multiplied", {"/ d**0.5": "* d**0.5"}),
        ("scale_of_whole_width_multiplied", {"/ d**0.5": "* width**0.5"}),
        *(
            ("scale_of_another_axis", {"/ d**0.5": f"/ {axis}**0.5"})
            for axis in ("num_tokens", "batch", "num_heads")
        ),
        ("scale_half_of_d", {"/ d**0.5": "/ d**1/2"}),
        ("scale_after_softmax", {" / d**0.5": "", SOFTMAX: f"{SOFTMAX} / d**0.5"}),
        ("mask_upside_down", {"~mask": "mask"}),
        ("mask_missing", {FILL: "pass"}),
        ("mask_on_queries", {KEYS: ROWS}),
        ("forbidden_scores_zero", {FILL: "scores = scores.masked_fill(~mask, 0)"}),
        ("forbidden_weights_zero", {FILL: "pass", SOFTMAX: SOFTMAX + " * mask"}),
        ("softmax_over_queries", {"softmax(dim=-1)": "softmax(dim=-2)"}),
        ("exponentials", {SOFTMAX: "weights = scores.exp()"}),
        ("queries_and_keys_exchanged", {"q @ k.transpose(2, 3)": "k @ q.transpose(2, 3)"}),
        ("values_from_W_k", {"x @ W_v": "x @ W_k"}),
        ("heads_not_mixed", {" @ W_o": ""}),
        ("matrices_transposed", {f"@ W_{name}": f"@ W_{name}.T" for name in "qkvo"}),
        ("library_called", {FILL: "pass", SOFTMAX: "weights = mha_lib.masked_softmax(scores, mask)"}),
        (
            "renormalised",
            {FILL: "pass", "weights @": "torch.nn.functional.normalize(weights * mask, 1, -1) @"},
        ),
        ("only_nan", {FILL: "scores = scores + ~mask * -torch.inf"}),
        ("finished_function", {"weights @ v": f"{TORCHS}(q, k, v, mask)"}),
        ("finished_function", by_the_module),
        ("weights_transposed", {"weights @ v": "weights.mT @ v"}),
        ("softmax_over_heads", {"-torch.inf": "-1e9", "softmax(dim=-1)": "softmax(dim=1)"}),
        ("forbidden_scores_too_high", {FILL: "scores = scores - 10 * ~mask"}),
        ("slices_of_input", "mask_missing", lambda *call: heads_of_slices(*call[:-1])),
        *((name, way | HIDES_ALL[name]) for name in HIDES_ALL for way in FILLS[1:]),
        *(("scale_missing", "mask_on_queries", way | {" / d**0.5": "", KEYS: ROWS}) for way in FILLS),
        *(("merged_number_by_number", "mask_upside_down", way | MERGED | {"~mask": "mask"}) for way in FILLS),
        *(("mask_on_queries", "mask_upside_down", way | {KEYS: ROWS, "~mask": "mask"}) for way in FILLS),
        # with -inf all is NaN, which hides the other slip
        *(
            ("scale_without_root", "softmax_over_queries", way | {"/ d**0.5": "/ d", "m=-1": "m=-2"})
            for way in FILLS[1:]
        ),
    ],
    together=[
        ("cut_with_one_view", "merged_without_swap"),
        ("values_from_W_k", "heads_not_mixed"),
        ("scale_of_whole_width", "forbidden_scores_zero"),
        ("scale_missing", "forbidden_weights_zero"),
        ("lengths_repeated", "scale_multiplied"),
        ("queries_and_keys_exchanged", "values_from_W_k"),
    ],
)

head_distances = Answers(
    right=[
        distances(lambda a, b: 1 - torch.minimum(a, b).sum(-1).mean((0, -1))),
        lambda w: [[((a - b).abs().sum(-1) / 2).mean() for b in w.unbind(1)] for a in w.unbind(1)],
    ],
    wrong=[
        ("squared", distances(lambda a, b: (a - b).square().sum(-1).mean((0, -1)) / 2)),
        ("abs_missing", distances(lambda a, b: (a - b).sum(-1).mean((0, -1)) / 2)),
        ("summed", distances(lambda a, b: (a - b).abs().sum((0, -2, -1)) / 2)),
        ("not_halved", distances(lambda a, b: (a - b).abs().sum(-1).mean((0, -1)))),
        ("largest_over_keys", distances(lambda a, b: (a - b).abs().amax(-1).mean((0, -1)))),
    ],
)

X, LENGTHS = torch.randn(2, 4, 20, generator=torch.Generator().manual_seed(0)), torch.tensor([3, 2])
FULL, NEW = torch.tensor([4, 4]), torch.tensor([2, 0, 3, 1])


def equal(some, others):
    return torch.allclose(some, others, atol=1e-5)


def padding(attend):
    other = X.clone()
    other[:, 3] += 5
    return equal(attend(X, LENGTHS)[:, :2], attend(other, LENGTHS)[:, :2])


def alone(attend):
    return equal(attend(X[:1], LENGTHS[:1]), attend(X, LENGTHS)[:1])


def one_key(attend):
    """With one valid key the output is linear in it."""
    one = torch.tensor([1, 1])
    return equal(attend(2 * X, one)[:, 0], 2 * attend(X, one)[:, 0])


relation = Answers(
    right=[
        (padding, "catches 6 of the 12 exhibits"),
        alone,
        one_key,
        lambda attend: equal(attend(X[:, NEW], FULL), attend(X, FULL)[:, NEW]),
        lambda attend: (attend(X[:1], LENGTHS[:1]) - attend(X, LENGTHS)[:1]).abs().max() < 1e-5,
    ],
    wrong=[
        ("nothing_caught", lambda attend: attend(X, LENGTHS).shape == X.shape),
        ("nothing_caught", lambda attend: True),
        ("nothing_caught", lambda attend: equal(attend(X, LENGTHS), attend(X, LENGTHS))),
        ("right_code_refused", lambda attend: False, "2 heads"),
        ("right_code_refused", lambda attend: equal(attend(2 * X, FULL), 2 * attend(X, FULL)), "2 heads"),
        (
            "right_code_refused",
            lambda attend: equal(attend(X[:, NEW], LENGTHS), attend(X, LENGTHS)),
            "2 heads",
        ),
        ("true_or_false", lambda attend: attend(X, LENGTHS)[0, 0], "a tensor (20,)"),
        (
            "caught_by_chance",
            lambda attend: (attend(X[:1], LENGTHS[:1]) - attend(X, LENGTHS)[:1]).max() < 0.9,
        ),
    ],
)
