"""Right and wrong answers to the exercises of the lesson on layers."""

import torch

from tests.classroom.exercises.answers import Answers


def maps(qk=lambda E, q, k: E @ q @ k.T @ E.T / q.shape[1] ** 0.5, ov=lambda E, v, o, U: E @ v @ o @ U):
    return lambda E, q, k, v, o, U: torch.stack([qk(E, q, k), ov(E, v, o, U)])


def hop(first, hops=2):
    def answer(look, tokens, places):
        keys, found = first(look, tokens, places), tokens
        for _ in range(hops):
            found = look(found, keys, tokens)
        return found[-1]

    return answer


def first_of_pair(look, tokens, places):
    """The first token of the pair for each second one; firsts get a key that no token has."""
    return torch.where(places % 2 == 0, -7, look(places - 1, places, tokens))


def second_of_pair(look, tokens, places):
    return torch.where(places % 2 == 0, look(places + 1, places, tokens), -1)


def without_layers(look, tokens, places):
    pairs = dict(tokens[:-1].view(-1, 2).tolist())
    return pairs[pairs[tokens[-1].item()]]


def looked_four_times(look, tokens, places):
    look(places, places, tokens)
    return hop(first_of_pair)(look, tokens, places)


def fewest(model, tokens, wanted):
    wrong = [(model(tokens, blind).argmax(-1) != wanted)[:, 12:].sum().item() for blind in "qkv"]
    return wrong.index(max(wrong))


def shares(model, tokens, wanted):
    hidden = torch.stack([model(tokens, blind).argmax(-1) for blind in "qkv"])
    return (hidden == wanted)[:, :, 12:].float().mean((1, 2))


rms_norm = Answers(
    right=[lambda x, gain: torch.einsum("bnd,d->bnd", x, gain) * x.square().mean(-1, True).rsqrt()],
    wrong=[
        ("length", lambda x, gain: gain * x / x.norm(dim=-1, keepdim=True)),
        ("no_root", lambda x, gain: gain * x / (x**2).mean(-1)[..., None]),
        ("over_tokens", lambda x, gain: gain * x / (x**2).mean(-2, True) ** 0.5),
        ("over_everything", lambda x, gain: gain * x / x.norm() * x.numel() ** 0.5),
        ("mean_taken_off", lambda x, gain: gain * torch.nn.functional.layer_norm(x, gain.shape)),
        ("mean_of_the_sizes", lambda x, gain: gain * x / x.norm(1, -1, True) * len(gain)),
        ("gain_missing", lambda x, gain: x / (x**2).mean(-1, True) ** 0.5),
        ("gain_added", lambda x, gain: gain + x / (x**2).mean(-1, True) ** 0.5),
        ("finished_function", lambda x, gain: torch.nn.functional.rms_norm(x, gain.shape, gain)),
    ],
)
way_of_mystery = Answers(right=[3])
block_parameters = Answers(right=[196608])

find_way = Answers(
    right=[fewest],
    wrong=[
        ("largest", lambda *given: shares(*given).argmax()),
        ("one_way", lambda model, tokens, wanted: 1),
    ],
)

block = Answers(
    right=[lambda x, a, f, n, m: torch.stack([x, a(n(x)), f(m(x + a(n(x))))]).sum(0)],
    wrong=[
        ("no_sums", lambda x, a, f, n, m: f(m(a(n(x))))),
        ("norms_exchanged", lambda x, a, f, n, m: (y := x + a(m(x))) + f(n(y))),
        ("network_first", lambda x, a, f, n, m: (y := x + f(m(x))) + a(n(y))),
        ("norms_after_the_sums", lambda x, a, f, n, m: m((y := n(a(x) + x)) + f(y))),
        ("normed_stream_added_to", lambda x, a, f, n, m: (z := m((y := n(x)) + a(y))) + f(z)),
    ],
)

circuits = Answers(
    right=[lambda *weights: maps(ov=lambda *each: torch.linalg.multi_dot(each))(*weights).tolist()],
    wrong=[
        ("scale_missing", maps(lambda E, q, k: E @ q @ (E @ k).T)),
        ("scale_half_of_d", maps(lambda E, q, k: E @ q @ (E @ k).T / k.shape[-1] ** 1 / 2)),
        ("OV_transposed", maps(ov=lambda E, v, o, U: U.T @ o.T @ v.T @ E.T)),
        ("exchanged", lambda *weights: maps()(*weights).flip(0)),
    ],
)

two_hops = Answers(
    right=[hop(first_of_pair)],
    wrong=[
        ("one_hop", hop(first_of_pair, 1)),
        ("border_of_pairs", hop(lambda look, tokens, places: look(places - 1, places, tokens))),
        ("wrong_way", hop(second_of_pair)),
        ("too_many_layers", looked_four_times),
        ("no_layer", without_layers),
    ],
)
