"""Right and wrong answers to the exercises of the lesson on layers."""

import torch
from torch.nn import functional as F

from tests.classroom.exercises.answers import Answers

SILENT = torch.zeros(4)


def score(column=lambda last: last + 1, search=lambda row: row.argmax(), divide=lambda found, N: len(found)):
    """The last time is found from behind, by the largest place of an equal token."""

    def answer(weights, tokens):
        found = []
        for n in range(1, len(tokens)):
            equal = (tokens[:n] == tokens[n]) * torch.arange(1, n + 1)
            if equal.any():
                found.append(weights[:, n, column(search(equal))])
        return sum(found) / divide(found, len(tokens))

    return answer


def score_by_a_mask(weights, tokens):
    N = len(tokens)
    earlier = (tokens[:, None] == tokens).tril(-1)
    last = earlier & (earlier.flip(-1).cumsum(-1).flip(-1) == 1)
    after = F.pad(last, (1, 0))[:, :N]  # one place further
    return (weights * after).sum((1, 2)) / after.sum()


def maps(qk=lambda E, q, k: E @ q @ k.T @ E.T / q.shape[1] ** 0.5, ov=lambda E, v, o, U: E @ v @ o @ U):
    return lambda E, q, k, v, o, U: torch.stack([qk(E, q, k), ov(E, v, o, U)])


def replaced(value):
    def answer(heads, removed):
        others = torch.arange(heads.shape[1]) != removed
        return torch.where(others[:, None, None], heads, value(heads, heads[:, removed]))

    return answer


def mean_by_parts(heads, removed):
    parts = list(heads.unbind(1))
    parts[removed] = parts[removed].flatten(0, 1).mean(0).expand_as(parts[removed])
    return torch.stack(parts, 1)


def ratio(joined=lambda w, r: (w @ r).norm(), others=lambda w, r: w.norm() * r.norm()):
    return lambda w, r: joined(w, r) / others(w, r)


def largest(x):
    return torch.linalg.svdvals(x)[0]


def hop(first, hops=2, asked=-1):
    def answer(look, tokens, places):
        keys, found = first(look, tokens, places), tokens
        for _ in range(hops):
            found = look(found, keys, tokens)
        return found[asked]

    return answer


def first_of_pair(look, tokens, places):
    """The first token of the pair for each second one; firsts get a key that no token has."""
    return torch.where(places % 2 == 0, -7, look(places - 1, places, tokens))


def second_of_pair(look, tokens, places):
    return torch.where(places % 2 == 0, look(places + 1, places, tokens), -1)


def by_values(look, tokens, places):
    """Looks up places, not tokens: where the pair of the question stands, and where its second stands."""
    odd = torch.where(places % 2 == 0, places, -1)
    firsts = torch.where(odd >= 0, tokens, -1)
    firsts[-1] = -1  # the question
    b = tokens[look(tokens[-1:], firsts, places) + 1]
    return tokens[look(b, firsts, places) + 1].squeeze()


def without_layers(look, tokens, places):
    pairs = dict(tokens[:-1].view(-1, 2).tolist())
    return pairs[pairs[tokens[-1].item()]]


def looked_four_times(look, tokens, places):
    look(places, places, tokens)
    return hop(first_of_pair)(look, tokens, places)


block = Answers(
    right=[
        lambda x, a, f, n, m: (y := a(n(x)).add(x)).add(f(m(y))),
        lambda x, a, f, n, m: torch.stack([x, a(n(x)), f(m(x + a(n(x))))]).sum(0),
    ],
    wrong=[
        ("no_sums", lambda x, a, f, n, m: f(m(a(n(x))))),
        ("second_sum_adds_the_input", lambda x, a, f, n, m: x + f(m(a(n(x)) + x))),
        ("network_reads_the_input", lambda x, a, f, n, m: a(n(x)) + f(m(x)) + x),
        ("norms_after_the_sums", lambda x, a, f, n, m: m((y := n(a(x) + x)) + f(y))),
        ("norms_missing", lambda x, a, f, n, m: (y := x + a(x)) + f(y)),
        ("one_norm_missing", lambda x, a, f, n, m: (y := x + a(n(x))) + f(y)),
        ("normed_stream_added_to", lambda x, a, f, n, m: (y := (z := n(x)) + a(z)) + f(m(y))),
        ("network_missing", lambda x, a, f, n, m: a(n(x)) + x),
        ("attention_missing", lambda x, a, f, n, m: f(m(x)) + x),
        ("norms_exchanged", lambda x, a, f, n, m: (y := x + a(m(x))) + f(n(y))),
        ("network_first", lambda x, a, f, n, m: (y := x + f(m(x))) + a(n(y))),
    ],
)

sum_gap = Answers(
    right=[
        lambda layer, x: torch.dist(layer(x, SILENT), x, p=torch.inf),
        lambda layer, x: max(abs(gap) for gap in (x - layer(x, SILENT)).flatten().tolist()),
        lambda layer, x: (layer(x, torch.zeros_like(x[0, 0, :4])) - x).flatten().norm(torch.inf),
    ],
    wrong=[
        ("heads_left_on", lambda layer, x: (layer(x, torch.ones(4)) - x).abs().amax()),
        ("output_alone", lambda layer, x: layer(x, SILENT).abs().amax().item()),
        ("signed_mean", lambda layer, x: (layer(x, SILENT) - x).mean()),
        ("abs_missing", lambda layer, x: max((layer(x, SILENT) - x).flatten().tolist())),
        ("mean", lambda layer, x: F.l1_loss(layer(x, SILENT), x)),
        ("summed", lambda layer, x: torch.dist(layer(x, SILENT), x)),
        ("yes_or_no", lambda layer, x: torch.allclose(layer(x, SILENT), x)),
        ("all_differences", lambda layer, x: x - layer(x, SILENT)),
        ("input_silenced", lambda layer, x: layer(torch.zeros_like(x), torch.ones(4)).abs().max()),
    ],
)

induction_score = Answers(
    right=[score(), score_by_a_mask],
    wrong=[
        ("token_itself", score(column=lambda last: last)),
        ("token_before", score(column=lambda last: last - 1)),
        ("first_time", score(search=lambda row: row.nonzero()[0, 0])),
        ("divided_by_all_rows", score(divide=lambda found, N: N)),
        ("summed", score(divide=lambda found, N: 1)),
        ("heads_averaged", lambda weights, tokens: score_by_a_mask(weights, tokens).mean()),
        ("key_and_query_exchanged", lambda weights, tokens: score_by_a_mask(weights.mT, tokens)),
    ],
)

circuits = Answers(
    right=[maps(), lambda *weights: maps(ov=lambda *each: torch.linalg.multi_dot(each))(*weights).tolist()],
    wrong=[
        ("queries_and_keys_exchanged", maps(lambda E, q, k: E @ k @ q.T @ E.T / q.shape[1] ** 0.5)),
        ("scale_missing", maps(lambda E, q, k: E @ q @ (E @ k).T)),
        ("scale_of_whole_width", maps(lambda E, q, k: E @ q @ (E @ k).T / E.shape[-1] ** 0.5)),
        ("scale_half_of_d", maps(lambda E, q, k: E @ q @ (E @ k).T / k.shape[-1] ** 1 / 2)),
        ("scale_without_root", maps(lambda E, q, k: E @ q @ (E @ k).T / k.shape[-1])),
        ("softmax_too_early", maps(lambda E, q, k: (E @ q @ (E @ k).T / q.shape[1] ** 0.5).softmax(1))),
        ("OV_transposed", maps(ov=lambda E, v, o, U: U.T @ o.T @ v.T @ E.T)),
        ("values_from_W_k", lambda E, q, k, v, o, U: maps()(E, q, k, k, o, U)),
        ("exchanged", lambda *weights: maps()(*weights).flip(0)),
    ],
)

mean_ablate = Answers(
    right=[replaced(lambda heads, head: head.mean((0, 1))), mean_by_parts],
    wrong=[
        ("zero", replaced(lambda heads, head: torch.tensor(0.0))),
        ("mean_over_samples", replaced(lambda heads, head: head.mean(0))),
        ("mean_over_positions", replaced(lambda heads, head: head.mean(1)[:, None, None])),
        ("one_number", replaced(lambda heads, head: head.mean())),
        ("mean_over_width", replaced(lambda heads, head: head.mean(-1)[:, None, :, None])),
        ("all_heads", lambda heads, removed: heads.mean((0, 2), keepdim=True).expand_as(heads)),
        ("head_cut_out", lambda heads, removed: heads[:, [i for i in range(4) if i != removed]]),
        ("mean_alone", lambda heads, removed: heads[:, removed].flatten(0, 1).mean(0)),
        ("other_heads_averaged", replaced(lambda heads, head: heads.flatten(0, 2).mean(0))),
    ],
)

composition = Answers(
    right=[
        ratio(),
        lambda w, r: torch.linalg.svdvals(w @ r).norm() / w.flatten().norm() / r.flatten().norm(),
        lambda w, r: (F.normalize(w.flatten(), dim=0).view_as(w) @ r).norm().item() / r.norm().item(),
    ],
    wrong=[
        ("product_the_other_way_round", ratio(lambda w, r: (w.T @ r.T).norm())),
        ("one_transposed", ratio(lambda w, r: (r @ w.T).norm())),
        ("entry_by_entry", ratio(lambda w, r: (w * r).norm())),
        ("not_divided", lambda w, r: (w @ r).norm()),
        ("divided_by_itself", ratio(others=lambda w, r: (w @ r).norm())),
        ("divided_once", ratio(others=lambda w, r: w.norm())),
        ("divided_by_the_sum", ratio(others=lambda w, r: w.norm() + r.norm())),
        ("squared", lambda w, r: ((w @ r) ** 2).sum() / (w**2).sum() / (r**2).sum()),
        ("spectral_norm", lambda w, r: largest(w @ r) / largest(w) / largest(r)),
        ("absolute_entries", lambda w, r: (w @ r).abs().sum() / w.abs().sum() / r.abs().sum()),
    ],
)

two_hops = Answers(
    right=[hop(first_of_pair), by_values],
    wrong=[
        ("question_itself", lambda look, tokens, places: tokens[-1]),
        ("one_hop", hop(first_of_pair, 1)),
        ("three_hops", hop(first_of_pair, 3)),
        ("border_of_pairs", hop(lambda look, tokens, places: look(places - 1, places, tokens))),
        ("wrong_way", hop(second_of_pair)),
        ("all_places", hop(first_of_pair, asked=slice(None))),
        ("too_many_layers", looked_four_times),
        ("no_layer", without_layers),
    ],
)


def place_before(T, P, loud=100.0, shift=1):
    """W_q, W_k and W_v of a head that looks ``shift`` places back."""
    W_q, W_k, W_v = torch.zeros(T + P, P), torch.zeros(T + P, P), torch.zeros(T + P, T)
    W_q[T:] = loud * torch.eye(P).roll(-shift, 1)
    W_k[T:] = torch.eye(P)
    W_v[:T] = torch.eye(T)
    return W_q, W_k, W_v


def by_waves(T, P):
    """Places as angles: a turn by one step leads from a place to the one before it."""
    step = 2 * torch.pi / P
    angles = step * torch.arange(P)
    W_q, W_k = torch.zeros(T + P, 2), torch.zeros(T + P, 2)
    W_q[T:] = 3000 * torch.stack([(angles - step).cos(), (angles - step).sin()], 1)
    W_k[T:] = torch.stack([angles.cos(), angles.sin()], 1)
    return W_q, W_k, place_before(T, P)[2]


def shifted_keys(T, P):
    W_q, W_k, W_v = place_before(T, P, shift=0)
    W_k[T:] = torch.eye(P).roll(1, 1)
    return [W_q, W_k, W_v]


def altered(change):
    return lambda T, P: change(T, P, *place_before(T, P))


PRAISE = "right for 3 sizes: everywhere the token before gets more than .99 of the weight."
previous_head = Answers(
    right=[(place_before, PRAISE), (by_waves, PRAISE), (shifted_keys, PRAISE)],
    wrong=[
        ("next_place", lambda T, P: place_before(T, P, shift=-1)),
        ("itself", lambda T, P: place_before(T, P, shift=0)),
        ("place_handed_on", altered(lambda T, P, W_q, W_k, W_v: (W_q, W_k, W_k))),
        ("not_finite", lambda T, P: place_before(T, P, loud=torch.inf)),
        ("token_decides", altered(lambda T, P, W_q, W_k, W_v: (W_q.roll(P, 0), W_k.roll(P, 0), W_v))),
        ("nothing_chosen", altered(lambda T, P, *matrices: [0 * W for W in matrices])),
        ("other_values", altered(lambda T, P, W_q, W_k, W_v: (W_q, W_k, W_v.roll(1, 1)))),
        ("too_flat", lambda T, P: place_before(T, P, loud=5.0), "but with a weight of 0.398 only"),
        ("too_flat", lambda T, P: place_before(T, P, loud=21.5), "0.985 only; more than .99 is wanted"),
        ("elsewhere", lambda T, P: place_before(T, P, shift=2), "place 2 looks at place 0"),
        ("three_matrices_wanted", lambda T, P: place_before(T, P)[0], "returned a tensor (16, 9)"),
        (
            "shapes",
            altered(lambda T, P, W_q, W_k, W_v: (W_q.T, W_k.T, W_v.T)),
            "the same shape with 16 rows, and W_v must be (16, 7): these are (9, 16), (9, 16) and (7, 16).",
        ),
    ],
)
