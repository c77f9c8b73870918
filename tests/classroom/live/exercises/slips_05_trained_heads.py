"""Answers to the exercises of the lesson on trained heads, and slips that students make in them."""

SOURCES = {
    "greedy_decode": """
def answer(model, source, source_mask, begin, end, max_tokens):
    memory = model.encode(source, source_mask)
    written = [[begin] for _ in source]
    for step in range(max_tokens):
        logits = model.decode(torch.tensor(written), memory, source_mask)[:, -1]
        for row, token in zip(written, logits.argmax(-1).tolist()):
            row.append(end if end in row else token)
        if all(end in row for row in written):
            break
    return torch.tensor(written)[:, 1:]
""",
    "head_importance": """
def answer(loss_of, num_heads):
    rows = []
    for attention in range(3):
        row = []
        for head in range(num_heads):
            masks = [torch.ones(num_heads) for _ in range(3)]
            masks[attention][head] = 0
            loss = loss_of(ByAttention([masks[0]], [masks[1]], [masks[2]]))
            whole = loss_of(ByAttention(*[[torch.ones(num_heads)]] * 3))
            row.append(loss - whole)
        rows.append(torch.stack(row))
    return torch.stack(rows)
""",
    "alignment_score": """
def answer(weights, places):
    total, count = torch.zeros(len(weights)), 0
    for row, place in enumerate(places):
        if place is not None:
            total += weights[:, row, place]
            count += 1
    return total / count
""",
    "shift_targets": """
def answer(target):
    return torch.stack([target[:, :-1], target[:, 1:]])
""",
    "prune_as_matrix": """
def answer(num_heads, head_dim, removed):
    P = torch.zeros(num_heads * head_dim, (num_heads - 1) * head_dim)
    kept = [head for head in range(num_heads) if head != removed]
    for new, old in enumerate(kept):
        for column in range(head_dim):
            P[old * head_dim + column, new * head_dim + column] = 1
    return P
""",
    "pruned_parameters": """
def answer(num_hiddens, num_heads, num_removed):
    return 4 * num_hiddens * num_hiddens * (num_heads - num_removed) // num_heads
""",
}

# For each exercise the mistakes that the check must name, each with the changes that make it. Several ways
# to make a mistake are a list; a pair of mistakes takes the first.
SLIPS = {
    "greedy_decode": {
        "begin_kept": {"[:, 1:]": ""},
        "goes_on_after_end": {"end if end in row else token": "token"},
        "stops_at_the_first_end": {"if all(": "if any("},
        "never_stops": {"            break": "            pass"},
        "least_likely": {"argmax": "argmin"},
        "begin_alone": {"[:, -1]": "[:, 0]"},
        "last_token_alone": {"torch.tensor(written), memory": "torch.tensor(written)[:, -1:], memory"},
        "one_token_too_few": {"range(max_tokens)": "range(max_tokens - 1)"},
        "one_token_too_many": {"range(max_tokens)": "range(max_tokens + 1)"},
        "padding_seen_while_writing": {"memory, source_mask": "memory"},
        "padding_read": {"source, source_mask)\n    w": "source)\n    w"},
    },
    "head_importance": {
        "difference_turned": {"loss - whole": "whole - loss"},
        "loss_without": {"loss - whole": "loss"},
        "absolute": {"loss - whole": "(loss - whole).abs()"},
        "divided": {"loss - whole": "(loss - whole) / whole"},
        "other_order": {"[masks[1]], [masks[2]]": "[masks[2]], [masks[1]]"},
        "attention_removed": {"[attention][head] = 0": "[attention][:] = 0"},
        "in_one_row": {"return torch.stack(rows)": "return torch.cat(rows)"},
        "heads_in_rows": {"torch.stack(rows)": "torch.stack(rows, dim=1)"},
    },
    "alignment_score": {
        "no_word_counted": {"total / count": "total / len(places)"},
        "summed": {"total / count": "total"},
        "next_row": {"[:, row, place]": "[:, row + 1, place]"},
        "counted_from_1": {"[:, row, place]": "[:, row, place - 1]"},
        "heads_averaged": {"total / count": "(total / count).mean()"},
    },
    "shift_targets": {
        "not_shifted": {"target[:, 1:]": "target[:, :-1]"},
        "exchanged": {"[target[:, :-1], target[:, 1:]]": "[target[:, 1:], target[:, :-1]]"},
        "rolled": {"[:, :-1]": "", "target[:, 1:]": "target.roll(-1, dims=1)"},
        "samples_shifted": {"[:, :-1]": "[:-1]", "[:, 1:]": "[1:]"},
        "stacked_for_each_sample": {"]])": "]], dim=1)"},
        "side_by_side": {"torch.stack": "torch.cat"},
    },
    "prune_as_matrix": {
        "counted_from_1": {"head != removed": "head != removed - 1"},
        "transposed": {"return P": "return P.T"},
    },
    "pruned_parameters": {
        "removed_counted": {"(num_heads - num_removed)": "num_removed"},
        "W_o_missing": {"4 *": "3 *"},
        "heads_of_width_D": {" // num_heads": ""},
    },
}
PAIRS = [
    ("greedy_decode", "begin_kept", "stops_at_the_first_end"),
    ("greedy_decode", "goes_on_after_end", "never_stops"),
    ("greedy_decode", "begin_alone", "padding_seen_while_writing"),
    ("head_importance", "difference_turned", "other_order"),
    ("head_importance", "absolute", "heads_in_rows"),
    ("alignment_score", "next_row", "no_word_counted"),
    ("shift_targets", "not_shifted", "stacked_for_each_sample"),
    ("prune_as_matrix", "counted_from_1", "transposed"),
    ("pruned_parameters", "removed_counted", "W_o_missing"),
]
