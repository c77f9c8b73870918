"""Wrong answers in the lesson on multi-head attention, each with its mistake, and unusual right ones."""

import torch
from torch.nn import functional as F

import mha_lib


def split(x, H):
    return x.unflatten(-1, (H, -1)).transpose(1, 2)


def softly(scores, hidden):
    return scores.masked_fill(hidden, -torch.inf).softmax(-1)


def multi_head(weigh=softly, mix=torch.matmul, split=split):
    def answer(x, W_q, W_k, W_v, W_o, H, lens):
        q, k, v = (split(x @ W, H) for W in (W_q, W_k, W_v))
        hidden = (torch.arange(x.shape[1]) >= lens[:, None])[:, None, None]
        heads = mix(weigh(q @ k.mT / q.shape[-1] ** 0.5, hidden), v)
        return heads.transpose(1, 2).flatten(2) @ W_o

    return answer


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
    return multi_head()(x, W_q, W_k, W_v, W_o, H, torch.full((len(x),), x.shape[1]))


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


def gradient(loss_of, H):
    mask = torch.ones(H, requires_grad=True)
    loss_of(mask).backward()
    return mask.grad


def accumulated(loss_of, H):
    mask = torch.ones(H, requires_grad=True)
    for _ in range(H):
        loss_of(mask).backward()
    return mask.grad.abs()


def difference_quotients(loss_of, H):
    ahead, behind = (torch.stack([loss_of(1 + step * row) for row in torch.eye(H)]) for step in (0.1, -0.1))
    return ((ahead - behind) / 0.2).abs()


def chosen(enough, choose=min):
    def answer(accuracies, tolerance):
        return choose(heads for heads in accuracies if enough(accuracies[heads], accuracies, tolerance))

    return answer


def one_after_the_other(accuracies, tolerance):
    best = max(accuracies.values())
    for heads in sorted(accuracies):
        if best - accuracies[heads] <= tolerance:
            return heads


WRONG = {
    "split_heads": [
        ("heads_before_samples", lambda x, H: torch.stack(x.chunk(H, -1))),
        ("number_for_width", lambda x, H: torch.stack(x.split(H, -1), 1)),
        ("axes_not_swapped", lambda x, H: torch.stack(x.chunk(H, -1), 2)),
        ("every_other_number", lambda x, H: torch.stack([x[..., i::H] for i in range(H)], 1)),
        ("cut_with_one_view", lambda x, H: x.view(x.shape[0], H, x.shape[1], -1)),
        ("right_numbers", lambda x, H: split(x, H).flatten(0, 1)),
    ],
    "repeat_valid_lens": [
        ("lengths_repeated", lambda lens, H: lens.tolist() * H),
        ("lengths_repeated", lambda lens, H: lens.expand(H, -1).flatten()),
        ("multiplied", lambda lens, H: lens * H),
        ("row_for_each_sample", lambda lens, H: lens.repeat(H, 1).T),
        ("row_for_each_head", lambda lens, H: lens.repeat(H, 1)),
        ("as_often_as_samples", lambda lens, H: lens.repeat_interleave(len(lens))),
    ],
    "multi_head": [
        ("library_called", multi_head(lambda s, hidden: mha_lib.masked_softmax(s, ~hidden))),
        ("renormalised", multi_head(lambda s, hidden: F.normalize(s.softmax(-1) * ~hidden, p=1, dim=-1))),
        ("zero_times_infinity", multi_head(lambda s, hidden: (s + hidden * -torch.inf).softmax(-1))),
        ("weights_transposed", multi_head(mix=lambda weights, v: weights.mT @ v)),
        ("softmax_over_heads", multi_head(lambda s, hidden: F.softmax(s.masked_fill(hidden, -1e9), dim=1))),
        ("mask_missing", multi_head(lambda s, hidden: s.softmax(-1))),
        ("forbidden_scores_too_high", multi_head(lambda s, hidden: (s - 10 * hidden).softmax(-1))),
    ],
    "serial_heads": [
        ("loop_missing", batched),
        ("windows_overlap", head_after_head(lambda W, i, d, H: W[:, i : i + d])),
        ("first_head_repeated", head_after_head(lambda W, i, d, H: W[:, :d])),
        ("every_other_number", head_after_head(lambda W, i, d, H: W[:, i::H])),
        ("softmax_over_samples", head_after_head(weigh=lambda scores: F.softmax(scores, dim=0))),
        ("exponentials", head_after_head(weigh=torch.exp)),
    ],
    "count_parameters": [
        ("one_projection_to_d", lambda D, h, d, d_v: D * h * (d + d_v) + h * d_v * D),
        ("W_o_of_one_head", lambda D, h, d, d_v: D * h * (2 * d + d_v) + d_v * D),
        ("W_o_of_width_D", lambda D, h, d, d_v: h * D * (2 * d + d_v) + D**2),
        ("values_as_wide_as_keys", lambda D, h, d, d_v: 3 * D * h * d + h * d * D),
        ("biases_counted", lambda D, h, d, d_v: 2 * (D + 1) * h * d + (D + 1) * h * d_v + (h * d_v + 1) * D),
        ("single_head", lambda D, h, d, d_v: 2 * D * d + 2 * D * d_v),
    ],
    "head_distances": [
        ("squared", distances(lambda a, b: (a - b).square().sum(-1).mean((0, -1)) / 2)),
        ("squared", distances(lambda a, b: (a - b).norm(dim=-1).mean((0, -1)))),
        ("abs_missing", distances(lambda a, b: (a - b).sum(-1).mean((0, -1)) / 2)),
        ("summed", distances(lambda a, b: (a - b).abs().sum((0, -2, -1)) / 2)),
        ("summed", distances(lambda a, b: (a - b).abs().sum((-2, -1)).mean(0) / 2)),
        ("not_halved", distances(lambda a, b: (a - b).abs().sum(-1).mean((0, -1)))),
        ("largest_over_keys", distances(lambda a, b: (a - b).abs().amax(-1).mean((0, -1)))),
    ],
    "importance_by_removal": [
        ("absolute", grown(lambda without, whole: (without - whole).abs())),
        ("divided", grown(lambda without, whole: without / whole)),
        ("divided", grown(lambda without, whole: (without - whole) / whole)),
        ("compared_with_none", grown(base=0.0)),
        ("doubled", grown(removed=2.0)),
        ("gradient_taken", lambda loss_of, H: gradient(loss_of, H).abs()),
        ("gradient_taken", gradient),
    ],
    "importance_by_gradient": [
        ("removed", grown(lambda without, whole: (without - whole).abs())),
        ("removed", grown()),
        ("squared", lambda loss_of, H: gradient(loss_of, H) ** 2),
        ("accumulated", accumulated),
        ("divided_by_size", lambda loss_of, H: F.normalize(gradient(loss_of, H).abs(), dim=0)),
        ("divided_by_size", lambda loss_of, H: gradient(loss_of, H).abs() / gradient(loss_of, H).abs().sum()),
        ("difference_quotient", difference_quotients),
    ],
    "mean_entropies": [
        ("summed", lambda w: -torch.special.xlogy(w, w).sum((-1, -2)).mean(0)),
        ("averaged_over_keys", lambda w: -torch.special.xlogy(w, w).mean((0, 2, 3))),
        ("softmax_again", lambda w: torch.distributions.Categorical(logits=w).entropy().mean((0, 2))),
        (
            "divided_by_largest",
            lambda w: torch.special.entr(w).sum(-1).mean((0, 2)) / torch.tensor(w.shape[-1]).log(),
        ),
        ("bits", lambda w: -(w * (w + 1e-12).log2()).sum(-1).mean((0, 2))),
        ("nan", lambda w: -(w * torch.log(w)).sum(-1).mean(-1).mean(0)),
    ],
    "choose_num_heads": [
        ("relative_tolerance", chosen(lambda a, all_of, t: a >= max(all_of.values()) * (1 - t))),
        (
            "relative_tolerance",
            chosen(lambda a, all_of, t: (max(all_of.values()) - a) / max(all_of.values()) <= t),
        ),
        ("boundary_excluded", chosen(lambda a, all_of, t: max(all_of.values()) - a < t)),
        ("fewest_of_all", chosen(lambda a, all_of, t: a >= t)),
        ("compared_with_most_heads", chosen(lambda a, all_of, t: a >= all_of[max(all_of)] - t)),
        ("first_in_the_dictionary", chosen(lambda a, all_of, t: max(all_of.values()) - a <= t, next)),
    ],
}
RIGHT = {
    "split_heads": [
        lambda x, H: torch.stack(x.chunk(H, -1), 1),
        lambda x, H: x.view(*x.shape[:2], H, -1).permute(0, 2, 1, 3),
        lambda x, H: torch.einsum("bnhd->bhnd", x.unflatten(2, (H, -1))),
    ],
    "repeat_valid_lens": [
        lambda lens, H: lens[:, None].expand(-1, H).flatten(),
        lambda lens, H: [length for length in lens for _ in range(H)],
        lambda lens, H: lens[torch.arange(len(lens) * H) // H],
    ],
    "multi_head": [
        multi_head(),
        multi_head(lambda s, hidden: s.masked_fill(hidden, -1e9).softmax(-1)),
        lambda x, *rest: torch.cat(
            [multi_head()(one[None], *rest[:5], n[None]) for one, n in zip(x, rest[5], strict=True)]
        ),
    ],
    "serial_heads": [
        head_after_head(),
        head_by_head_through_W_o,
        lambda x, W_q, W_k, W_v, W_o, H: (
            torch.cat(
                [
                    F.scaled_dot_product_attention(x @ q, x @ k, x @ v)
                    for q, k, v in zip(W_q.chunk(H, 1), W_k.chunk(H, 1), W_v.chunk(H, 1), strict=True)
                ],
                2,
            )
            @ W_o
        ),
    ],
    "count_parameters": [
        lambda D, h, d, d_v: sum(
            p.numel() for p in mha_lib.MultiHeadAttention(D, h, head_dim=d, value_head_dim=d_v).parameters()
        ),
        lambda D, h, d, d_v: sum(
            torch.empty(shape).numel() for shape in [(D, h * d), (D, h * d), (D, h * d_v), (h * d_v, D)]
        ),
    ],
    "head_distances": [
        lambda w: (
            torch.cdist(w.transpose(0, 1).flatten(1), w.transpose(0, 1).flatten(1), p=1)
            / 2
            / w.shape[0]
            / w.shape[2]
        ),
        distances(lambda a, b: 1 - torch.minimum(a, b).sum(-1).mean((0, -1))),
        lambda w: [
            [((w[:, i] - w[:, j]).abs().sum(-1) / 2).mean() for j in range(w.shape[1])]
            for i in range(w.shape[1])
        ],
    ],
    "importance_by_removal": [
        grown(),
        lambda loss_of, H: [
            float(loss_of(1.0 - F.one_hot(torch.tensor(i), H)) - loss_of(torch.ones(H))) for i in range(H)
        ],
    ],
    "importance_by_gradient": [
        lambda loss_of, H: gradient(loss_of, H).abs(),
        lambda loss_of, H: torch.func.grad(loss_of)(torch.ones(H)).abs(),
        lambda loss_of, H: torch.autograd.functional.jacobian(loss_of, torch.ones(H)).abs(),
    ],
    "mean_entropies": [
        lambda w: torch.distributions.Categorical(probs=w).entropy().mean((0, 2)),
        lambda w: -(w * w.log()).nan_to_num().sum(-1).mean((0, 2)),
        lambda w: -(w * (w + 1e-12).log()).sum(-1).mean((0, 2)),
    ],
    "choose_num_heads": [
        one_after_the_other,
        lambda accuracies, tolerance: min(
            h for h, a in accuracies.items() if all(a >= b - tolerance for b in accuracies.values())
        ),
    ],
}
