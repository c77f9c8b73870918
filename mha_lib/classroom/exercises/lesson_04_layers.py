"""The exercises of the lesson on layers: the block, what layers do together, circuits, a task for three."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import layer_norm, one_hot

from mha_lib.classroom.exercises.judge import Answer, Arguments, Draw, Exercise, Judged
from mha_lib.classroom.exercises.mistakes import Step, nothing_done
from mha_lib.classroom.exercises.on_the_way import not_by
from mha_lib.classroom.exercises.small import Small

Part = Callable[[Tensor], Tensor]
Look = Callable[[Tensor, Tensor, Tensor], Tensor]
Model = Callable[[Tensor, str], Tensor]


def draw_block(draw: Draw) -> Arguments:
    """Tokens (B, N, D), and two parts and two norms, each of which computes something else."""
    batch, tokens, width = draw.sizes(2, 5, 6)
    x, W_1, W_2, mix = draw.tensors((batch, tokens, width), (width, width), (width, width), (tokens, tokens))

    def norm(gain: Tensor) -> Part:
        return lambda x: (1 + gain.abs()) * layer_norm(x, x.shape[-1:])

    gains = draw.tensors((width,), (width,))
    return x, lambda x: mix @ x @ W_1, lambda x: (x @ W_2).relu(), norm(gains[0]), norm(gains[1])


def block(
    x: Tensor,
    attention: Part,
    feed_forward: Part,
    norm_1: Part,
    norm_2: Part,
    *,
    first_sum: Step = torch.add,
    second_sum: Step = torch.add,
    first_read: Step = lambda norm, x: norm(x),
    second_read: Step = lambda norm, x: norm(x),
) -> Tensor:
    """The block, (B, N, D); each keyword replaces one step by a mistake."""
    between = first_sum(x, attention(first_read(norm_1, x)))
    return second_sum(between, feed_forward(second_read(norm_2, between)))


def part_alone(stream: Tensor, part: Tensor) -> Tensor:
    """A sum that was forgotten."""
    return part


def norm_left_out(norm: Part, x: Tensor) -> Tensor:
    return x


def after_the_sums(x: Tensor, attention: Part, feed_forward: Part, norm_1: Part, norm_2: Part) -> Tensor:
    x = norm_1(x + attention(x))
    return norm_2(x + feed_forward(x))


def onto_the_normed(x: Tensor, attention: Part, feed_forward: Part, norm_1: Part, norm_2: Part) -> Tensor:
    x = norm_1(x)
    x = norm_2(x + attention(x))
    return x + feed_forward(x)


def draw_tokens(draw: Draw) -> Arguments:
    """Tokens (B, N, D) whose mean is not 0, and a gain for each coordinate."""
    batch, tokens, width = draw.sizes(2, 5, 6)
    x, gain = draw.tensors((batch, tokens, width), (width,))
    return 3 * x + 1, gain


def rms_norm(
    x: Tensor,
    gain: Tensor,
    *,
    less: Step = nothing_done,
    size: Step = lambda x: x.square().mean(-1, keepdim=True).sqrt(),
    scaled: Step = torch.mul,
) -> Tensor:
    """The tokens with a mean square of 1, times the gain; each keyword replaces one step by a mistake."""
    read = less(x)
    return scaled(read / size(read), gain)


def draw_circuit(draw: Draw) -> Arguments:
    """Tokens (V, D), W_q, W_k and W_v (D, d), W_o (d, D) and a read-out (D, V)."""
    count, width, head_dim = draw.sizes(5, 7, 9)
    return draw.tensors((count, width), *[(width, head_dim)] * 3, (head_dim, width), (width, count))


def circuits(
    tokens: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    W_o: Tensor,
    read_out: Tensor,
    *,
    score: Step = lambda queries, keys: queries @ keys.mT,
    divisor: Callable[[int, int], float] = lambda head_dim, width: head_dim**0.5,
    finish: Step = nothing_done,
    values: Step = lambda W_k, W_v: W_v,
    turn: Step = nothing_done,
    stacked: Callable[[list[Tensor]], Tensor] = torch.stack,
) -> Tensor:
    """QK and OV, (2, V, V); each keyword replaces one step by a mistake."""
    qk = score(tokens @ W_q, tokens @ W_k) / divisor(W_q.shape[1], W_q.shape[0])
    ov = tokens @ values(W_k, W_v) @ W_o @ read_out
    return stacked([finish(qk), turn(ov)])


def look(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """A layer of hard attention: for each query the value of the last key that equals it, −1 if none does."""
    found = (keys == queries[:, None]).int()  # (Q, K)
    place = (found * torch.arange(1, len(keys) + 1)).argmax(1)
    return torch.where(found.any(1), values[place], -1)


WAYS = "qkv"  # layer 1 reads what layer 0 wrote by its queries, keys or values


def draw_model(draw: Draw) -> Arguments:
    """Two layers of hard attention, tokens and the right answers (B, N), and -100 where nothing is asked.

    Where layer 0 is hidden from the way that the model uses, most answers are lost; from the others, a few.
    """
    way = draw.in_turn(*WAYS)
    tokens = torch.rand(3, 30, generator=draw).argsort(-1)[:, :12]  # all of a row differ
    tokens = torch.cat([tokens, tokens[:, torch.randperm(12, generator=draw)]], dim=1)  # (3, 24)
    code = torch.randperm(30, generator=draw)
    lost = {kind: torch.rand(tokens.shape, generator=draw) < (0.8 if kind == way else 0.25) for kind in WAYS}

    def answers(blind: str) -> Tensor:
        found = torch.stack([code[answered(way, row)] for row in tokens])
        for kind in blind:
            found = torch.where(lost[kind], (found + 1) % 30, found)
        return found

    wanted = torch.where(torch.arange(24) >= 12, answers(""), -100)
    return lambda tokens, blind="": one_hot(answers(blind), 30).float(), tokens, wanted


def answered(way: str, row: Tensor) -> Tensor:
    """The token that layer 1 finds at each place of a row (N,), with the notes of layer 0 in its ``way``."""
    places = torch.arange(len(row))
    notes = look(places - 1, places, row)  # the token before each
    queries, keys, values = (notes if kind == way else row for kind in WAYS)
    return look(queries, keys, values)


def right_of_each(model: Model, tokens: Tensor, wanted: Tensor) -> Tensor:
    """The share that is right where layer 0 is hidden from the queries, the keys, the values, (3,)."""
    asked = wanted >= 0
    hidden = [model(tokens, kind).argmax(-1) for kind in WAYS]
    return torch.stack([(each == wanted)[asked].float().mean() for each in hidden])


def find_way(
    model: Model, tokens: Tensor, wanted: Tensor, *, chosen: Step = lambda shares: shares.argmin()
) -> Tensor:
    """The way by which the answer comes, (); the keyword replaces the last step by a mistake."""
    return chosen(right_of_each(model, tokens, wanted))


def draw_chain(draw: Draw) -> Arguments:
    """Pairs in any order, then a question. The question lies in the midst of a chain, so that one hop too
    many or in the wrong direction finds a token, too.
    """
    names = torch.randperm(30, generator=draw)
    chain, others = names[:6], names[6 : 6 + 2 * draw.number(1, 3)]
    pairs = torch.cat([torch.stack([chain[:-1], chain[1:]], 1), others.view(-1, 2)])
    pairs = pairs[torch.randperm(len(pairs), generator=draw)]
    tokens = torch.cat([pairs.flatten(), chain[2:3]])
    return look, tokens, torch.arange(len(tokens))


def two_hops(
    look: Look,
    tokens: Tensor,
    places: Tensor,
    *,
    back: int = 1,
    is_second: Callable[[Tensor], Tensor] = lambda places: places % 2 == 1,
    hops: int = 2,
) -> Tensor:
    """The token two pairs on from the question, (); each keyword replaces one step by a mistake."""
    before = look(places - back, places, tokens)
    first = torch.where(is_second(places), before, -1)
    found = tokens
    for _ in range(hops):
        found = look(found, first, tokens)
    return found[-1]


def count_looks(given: Answer, call: Arguments) -> int:
    looks = []

    def counted(*arguments: Tensor) -> Tensor:
        looks.append(arguments)
        return look(*arguments)

    given(counted, *call[1:])
    return len(looks)


EXERCISES: tuple[Judged, ...] = (
    Exercise("rms_norm", rms_norm, draw_tokens, rules=not_by("rms_norm"), hint="norms").recognising(
        length={"size": lambda x: x.square().sum(-1, keepdim=True).sqrt()},
        no_root={"size": lambda x: x.square().mean(-1, keepdim=True)},
        over_tokens={"size": lambda x: x.square().mean(1, keepdim=True).sqrt()},
        over_everything={"size": lambda x: x.square().mean().sqrt()},
        mean_taken_off=(
            {"less": lambda x: x - x.mean(-1, keepdim=True)},
            lambda x, gain: gain * layer_norm(x, gain.shape),
        ),
        mean_of_the_sizes={"size": lambda x: x.abs().mean(-1, keepdim=True)},
        gain_missing={"scaled": nothing_done},
        gain_added={"scaled": torch.add},
    ),
    Exercise("block", block, draw_block, hint="block-drawn").recognising(
        no_sums={"first_sum": part_alone, "second_sum": part_alone},
        first_sum_missing={"first_sum": part_alone},
        second_sum_missing={"second_sum": part_alone},
        norms_missing={"first_read": norm_left_out, "second_read": norm_left_out},
        one_norm_missing=({"first_read": norm_left_out}, {"second_read": norm_left_out}),
        norms_after_the_sums=after_the_sums,
        normed_stream_added_to=onto_the_normed,
        network_missing=lambda x, attention, network, norm_1, norm_2: x + attention(norm_1(x)),
        attention_missing=lambda x, attention, network, norm_1, norm_2: x + network(norm_2(x)),
        network_reads_the_input=lambda x, attention, network, norm_1, norm_2: (
            x + attention(norm_1(x)) + network(norm_2(x))
        ),
        second_sum_adds_the_input=lambda x, attention, network, norm_1, norm_2: (
            x + network(norm_2(x + attention(norm_1(x))))
        ),
        norms_exchanged=lambda x, attention, network, norm_1, norm_2: block(
            x, attention, network, norm_2, norm_1
        ),
        network_first=lambda x, attention, network, norm_1, norm_2: block(
            x, network, attention, norm_2, norm_1
        ),
    ),
    Small(
        "block_parameters",
        12 * 128**2,
        {"attention_alone": 4 * 128**2, "network_alone": 8 * 128**2, "W_o_missing": 11 * 128**2},
        hint="network",
    ),
    Small("way_of_mystery", 3, {"queries": 1, "keys": 2}, hint="which-way-why"),
    Exercise("find_way", find_way, draw_model, rounds=6, hint="which-way-why").recognising(
        largest={"chosen": torch.argmax},
        shares={"chosen": nothing_done},
        one_way=tuple(lambda model, tokens, wanted, way=way: torch.tensor(way) for way in range(3)),
    ),
    Exercise("circuits", circuits, draw_circuit, hint="circuit-why").recognising(
        queries_and_keys_exchanged={"score": lambda queries, keys: keys @ queries.mT},
        scale_missing={"divisor": lambda head_dim, width: 1.0},
        scale_without_root={"divisor": lambda head_dim, width: head_dim},
        scale_multiplied={"divisor": lambda head_dim, width: head_dim**-0.5},
        scale_half_of_d=tuple({"divisor": lambda head_dim, width, n=n: n * head_dim} for n in (0.5, 2)),
        scale_of_whole_width={"divisor": lambda head_dim, width: width**0.5},
        softmax_too_early={"finish": lambda qk: qk.softmax(-1)},
        values_from_W_k={"values": lambda W_k, W_v: W_k},
        OV_transposed={"turn": torch.t},
        exchanged={"stacked": lambda maps: torch.stack(maps[::-1])},
    ),
    Exercise(
        "two_hops",
        two_hops,
        draw_chain,
        rules={
            "too_many_layers": lambda given, call: count_looks(given, call) > 3,
            "no_layer": lambda given, call: count_looks(given, call) == 0,
        },
        hint="which-way-why",
    ).recognising(
        question_itself={"hops": 0},
        one_hop={"hops": 1},
        three_hops={"hops": 3},
        border_of_pairs={"is_second": lambda places: places >= 0},
        wrong_way={"is_second": lambda places: places % 2 == 0, "back": -1},
    ),
)
