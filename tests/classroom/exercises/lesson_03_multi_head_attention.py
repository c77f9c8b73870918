"""Right and wrong answers to the exercises of the lesson on multi-head attention."""

import math

import torch
from torch.nn import functional as F

import mha_lib
from tests.classroom.exercises.answers import Answers


def split(x, H):
    return x.unflatten(-1, (H, -1)).transpose(1, 2)


def head_after_head(columns=lambda W, i, d, H: W[:, i * d : (i + 1) * d], weigh=lambda s: s.softmax(-1)):
    def answer(x, W_q, W_k, W_v, W_o, H):
        d, heads = x.shape[-1] // H, []
        for i in range(H):
            q, k, v = (x @ columns(W, i, d, H) for W in (W_q, W_k, W_v))
            heads.append(weigh(q @ k.mT / d**0.5) @ v)
        return torch.cat(heads, -1) @ W_o

    return answer


def head_by_head_through_W_o(x, W_q, W_k, W_v, W_o, H):
    parts = zip(*(W.chunk(H, 1) for W in (W_q, W_k, W_v)), W_o.chunk(H, 0), strict=True)
    return sum(F.scaled_dot_product_attention(x @ q, x @ k, x @ v) @ o for q, k, v, o in parts)


def batched(x, W_q, W_k, W_v, W_o, H):
    heads = F.scaled_dot_product_attention(*(split(x @ W, H) for W in (W_q, W_k, W_v)))
    return heads.transpose(1, 2).flatten(2) @ W_o


def by_the_module(x, W_q, W_k, W_v, W_o, H, valid_lens):
    layer = torch.nn.MultiheadAttention(x.shape[-1], H, bias=False, batch_first=True)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat([W_q.T, W_k.T, W_v.T]))
        layer.out_proj.weight.copy_(W_o.T)
    padding = torch.arange(x.shape[1]) >= valid_lens[:, None]
    return layer(x, x, x, key_padding_mask=padding)[0].detach()


def distances(far=lambda a, b: (a - b).abs().sum(-1).mean((0, -1)) / 2):
    return lambda w: far(w[:, :, None], w[:, None])


def grown(grows=torch.sub, removed=0.0, base=1.0):
    def answer(loss_of, H):
        losses = []
        for head in range(H):
            mask = torch.ones(H)
            mask[head] = removed
            losses.append(loss_of(mask))
        return grows(torch.stack(losses), loss_of(torch.full((H,), base)))

    return answer


def gradient(loss_of, H, times=1):
    mask = torch.ones(H, requires_grad=True)
    for _ in range(times):
        loss_of(mask).backward()
    return mask.grad


def difference_quotients(loss_of, H):
    ahead, behind = (torch.stack([loss_of(1 + step * row) for row in torch.eye(H)]) for step in (0.1, -0.1))
    return ((ahead - behind) / 0.2).abs()


def chosen(enough, choose=min):
    def answer(accuracies, tolerance):
        return choose(heads for heads in accuracies if enough(accuracies[heads], accuracies, tolerance))

    return answer


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

repeat_valid_lens = Answers(
    right=[
        lambda lens, H: lens[:, None].expand(-1, H).flatten(),
        lambda lens, H: [length for length in lens for _ in range(H)],
        lambda lens, H: lens[torch.arange(len(lens) * H) // H],
    ],
    wrong=[
        ("lengths_repeated", lambda lens, H: lens.tolist() * H),
        ("multiplied", lambda lens, H: lens * H),
        ("row_for_each_sample", lambda lens, H: lens.repeat(H, 1).T),
        ("row_for_each_head", lambda lens, H: lens.repeat(H, 1)),
        ("as_often_as_samples", lambda lens, H: lens.repeat_interleave(len(lens))),
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

serial_heads = Answers(
    right=[head_after_head(), head_by_head_through_W_o],
    wrong=[
        ("loop_missing", batched),
        ("windows_overlap", head_after_head(lambda W, i, d, H: W[:, i : i + d])),
        ("first_head_repeated", head_after_head(lambda W, i, d, H: W[:, :d])),
        ("every_other_number", head_after_head(lambda W, i, d, H: W[:, i::H])),
        ("softmax_over_samples", head_after_head(weigh=lambda scores: F.softmax(scores, dim=0))),
        ("exponentials", head_after_head(weigh=torch.exp)),
        ("slices_of_input", heads_of_slices),
    ],
)

count_parameters = Answers(
    right=[
        lambda D, h, d, d_v: sum(
            p.numel() for p in mha_lib.MultiHeadAttention(D, h, head_dim=d, value_head_dim=d_v).parameters()
        ),
        lambda D, h, d, d_v: 2 * D * h * (d + d_v),
    ],
    wrong=[
        ("one_projection_to_d", lambda D, h, d, d_v: D * h * (d + d_v) + h * d_v * D),
        ("W_o_of_one_head", lambda D, h, d, d_v: D * h * (2 * d + d_v) + d_v * D),
        ("W_o_of_width_D", lambda D, h, d, d_v: h * D * (2 * d + d_v) + D**2),
        ("values_as_wide_as_keys", lambda D, h, d, d_v: 3 * D * h * d + h * d * D),
        ("biases_counted", lambda D, h, d, d_v: 2 * (D + 1) * h * d + (D + 1) * h * d_v + (h * d_v + 1) * D),
        ("single_head", lambda D, h, d, d_v: 2 * D * d + 2 * D * d_v),
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

importance_by_removal = Answers(
    right=[
        grown(),
        lambda loss_of, H: [float(loss_of(mask) - loss_of(torch.ones(H))) for mask in 1 - torch.eye(H)],
    ],
    wrong=[
        ("absolute", grown(lambda without, whole: (without - whole).abs())),
        ("divided", grown(lambda without, whole: without / whole)),
        ("compared_with_none", grown(base=0.0)),
        ("doubled", grown(removed=2.0)),
        ("gradient_taken", lambda loss_of, H: gradient(loss_of, H).abs()),
    ],
)

importance_by_gradient = Answers(
    right=[
        lambda loss_of, H: gradient(loss_of, H).abs(),
        lambda loss_of, H: torch.func.grad(loss_of)(torch.ones(H)).abs(),
        lambda loss_of, H: torch.autograd.functional.jacobian(loss_of, torch.ones(H)).abs(),
    ],
    wrong=[
        ("removed", grown(lambda without, whole: (without - whole).abs())),
        ("squared", lambda loss_of, H: gradient(loss_of, H) ** 2),
        ("accumulated", lambda loss_of, H: gradient(loss_of, H, times=H).abs()),
        ("divided_by_size", lambda loss_of, H: F.normalize(gradient(loss_of, H).abs(), dim=0)),
        ("difference_quotient", difference_quotients),
    ],
)

mean_entropies = Answers(
    right=[
        lambda w: torch.distributions.Categorical(probs=w).entropy().mean((0, 2)),
        lambda w: -(w * w.log()).nan_to_num().sum(-1).mean((0, 2)),
        lambda w: -(w * (w + 1e-12).log()).sum(-1).mean((0, 2)),
        lambda w: list(torch.special.entr(w).sum(-1).mean((0, 2))),
        lambda w: tuple(torch.special.entr(w).sum(-1).mean((0, 2))),
    ],
    wrong=[
        ("summed", lambda w: -torch.special.xlogy(w, w).sum((-1, -2)).mean(0)),
        ("averaged_over_keys", lambda w: -torch.special.xlogy(w, w).mean((0, 2, 3))),
        ("softmax_again", lambda w: torch.distributions.Categorical(logits=w).entropy().mean((0, 2))),
        ("divided_by_largest", lambda w: torch.special.entr(w).sum(-1).mean((0, 2)) / math.log(w.shape[-1])),
        ("bits", lambda w: -(w * (w + 1e-12).log2()).sum(-1).mean((0, 2))),
        ("only_nan", lambda w: -(w * torch.log(w)).sum(-1).mean(-1).mean(0)),
        ("number_added", lambda w: -(w * (w + 1e-5).log()).sum(-1).mean((0, 2))),
        ("number_added", lambda w: -((w + 1e-5) * (w + 1e-5).log()).sum(-1).mean((0, 2))),
        ("number_added", "summed", lambda w: -(w * (w + 1e-3).log()).sum(-1).mean(-1).sum(0)),
    ],
)

choose_num_heads = Answers(
    """
def answer(accuracies, tolerance):
    best = max(accuracies.values())
    return min(heads for heads in accuracies if best - accuracies[heads] <= tolerance)
""",
    right=[chosen(lambda a, all_of, t: all(a >= b - t for b in all_of.values()))],
    wrong=[
        ("first_in_the_dictionary", {"min(": "next("}),
        ("boundary_excluded", {"<=": "<"}),
        ("relative_tolerance", chosen(lambda a, all_of, t: a >= max(all_of.values()) * (1 - t))),
        ("fewest_of_all", chosen(lambda a, all_of, t: a >= t)),
        ("compared_with_most_heads", chosen(lambda a, all_of, t: a >= all_of[max(all_of)] - t)),
    ],
)
