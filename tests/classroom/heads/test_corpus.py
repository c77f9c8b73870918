"""The table of heads: each number is held to plain hooks, or to the texts one by one."""

import math
import re
import sys
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

pytest.importorskip("transformers")

from mha_lib.classroom.heads import HeadTable, head_table, read_attention
from mha_lib.classroom.heads.measures import measures_of
from tests.classroom.heads import hand_set
from tests.classroom.heads.small_models import CASES, GPT2, SIZES, ids, made, saved, text

LENGTHS = (11, 7, 13)
TEXTS = [ids(count, seed) for seed, count in enumerate(LENGTHS)]
TOWARDS = (5, 9)
OUTPUTS = {"gpt2": "transformer.h.{}.attn.c_proj", "llama": "model.layers.{}.self_attn.o_proj"}
NEOX = made("GPTNeoX", "ForCausalLM", vocab_size=61, num_attention_heads=3, eos_token_id=1, **SIZES)
WRITING = {  # for each model, where its heads write, and its last norm
    "gpt2": (CASES["gpt2"].make, OUTPUTS["gpt2"], "transformer.ln_f"),
    "llama": (CASES["llama"].make, OUTPUTS["llama"], "model.norm"),
    "GPT-NeoX": (NEOX, "gpt_neox.layers.{}.attention.dense", "gpt_neox.final_layer_norm"),
}
VALUES = {"gpt2": "transformer.h.{}.attn.c_attn", "llama": "model.layers.{}.self_attn.v_proj"}
each_model = pytest.mark.parametrize("name", OUTPUTS)


def padded(side="right"):
    """The texts as one batch, with tokens in the padding that change much if they are read."""
    tokens, mask = torch.full((3, 13), 60), torch.zeros(3, 13, dtype=torch.long)
    for at, one in enumerate(TEXTS):
        count = one.shape[1]
        place = slice(count) if side == "right" else slice(13 - count, 13)
        tokens[at, place], mask[at, place] = one[0], 1
    return {"input_ids": tokens, "attention_mask": mask}


def column(table, name):
    """The values of a column, (layers, H)."""
    return torch.tensor([row[name] for row in table]).unflatten(0, (2, -1))


def inputs_of(model, name, run):
    """The tensors that a part of each layer is called with in a run, (B, N, H·d) each."""
    kept: list[torch.Tensor] = []
    parts = [model.get_submodule(name.format(layer)) for layer in range(2)]
    hooks = [part.register_forward_pre_hook(lambda _, given: kept.append(given[0].clone())) for part in parts]
    run()
    for hook in hooks:
        hook.remove()
    return kept


def columns_of(model, place, layer):
    """The output projection by heads, (H, d, D)."""
    projection = model.get_submodule(place.format(layer))
    inward = projection.weight.T if isinstance(projection, nn.Linear) else projection.weight
    return inward.unflatten(0, (model.config.num_attention_heads, -1))


@pytest.mark.parametrize(("name", "side", "batch_size"), [("gpt2", "left", 2), ("llama", "right", 16)])
def test_a_padded_batch_gives_the_mean_and_the_spread_of_its_texts_alone(name, side, batch_size):
    model = CASES[name].make()
    table = head_table(model, padded(side), towards=TOWARDS, removed=["zero"], batch_size=batch_size)
    alone = [head_table(model, one, towards=TOWARDS, removed=["zero"]) for one in TEXTS]
    measured = [measures_of(read_attention(model, one), one)["self"] for one in TEXTS]
    for column_name in ("entropy", "previous", "first", "same", "value_norm", "attribution", "zero_ablation"):
        values = torch.stack([column(each, column_name) for each in alone])
        assert_close(column(table, column_name), values.mean(0), atol=1e-5, rtol=1e-3)
        assert_close(column(table, f"{column_name}_std"), values.std(0), atol=1e-5, rtol=1e-3)
        assert all(math.isnan(row[f"{column_name}_std"]) for row in alone[0])
        if column_name in measured[0][0]:
            by_text = torch.stack(
                [torch.stack([layer[column_name] for layer in found]) for found in measured]
            )
            assert_close(values, by_text, atol=1e-5, rtol=1e-3)
    even = [sum(1 / (query + 1) for query in range(1, count)) / (count - 1) for count in LENGTHS]
    assert_close(column(table, "even"), torch.full_like(column(table, "even"), sum(even) / 3))
    assert table.texts == 3


@each_model
@torch.no_grad()
def test_value_norms_are_those_of_weighted_values_behind_the_output_projection(name):
    model = CASES[name].make()
    heads, kv_heads = model.config.num_attention_heads, getattr(model.config, "num_key_value_heads", 3)
    found = column(head_table(model, TEXTS[0], removed=()), "value_norm")
    model.set_attn_implementation("eager")
    inward = inputs_of(model, VALUES[name], lambda: model(TEXTS[0]))
    weights = model(TEXTS[0], output_attentions=True).attentions
    for layer in range(2):
        values = model.get_submodule(VALUES[name].format(layer))(inward[layer])[0]  # (N, 3 D) or (N, Hkv·d)
        values = values.chunk(3, -1)[-1] if name == "gpt2" else values
        values = values.unflatten(-1, (kv_heads, -1))
        for head in range(heads):
            written = (
                values[:, head * kv_heads // heads] @ columns_of(model, OUTPUTS[name], layer)[head]
            )  # (N, D)
            norms = [(weights[layer][0, head, i, :, None] * written).norm(dim=-1).sum() for i in range(1, 11)]
            assert_close(found[layer, head], torch.stack(norms).mean(), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", WRITING)
@torch.no_grad()
def test_attribution_is_what_the_head_adds_to_a_logit_behind_the_frozen_norm(name):
    make, place, norm_place = WRITING[name]
    model = make()
    norm, is_centred = model.get_submodule(norm_place), name != "llama"
    norm.weight.copy_(torch.rand(24) + 0.5)
    table = head_table(model, TEXTS[0], towards=TOWARDS, removed=())
    outputs = inputs_of(model, place, lambda: model(TEXTS[0]))
    kept: list[torch.Tensor] = []
    with norm.register_forward_pre_hook(lambda _, given: kept.append(given[0])):
        logits = model(TEXTS[0]).logits[0, -1]
    x = kept[0][0, -1]
    divisor = x.std(correction=0) if is_centred else x.square().mean().sqrt()
    embeddings = model.get_output_embeddings().weight
    row = embeddings[TOWARDS[0]] - embeddings[TOWARDS[1]]

    def read(written):
        written = written - written.mean(-1, keepdim=True) if is_centred else written
        return written / divisor * norm.weight @ row

    for layer in range(2):
        heads = outputs[layer][0, -1].unflatten(-1, (model.config.num_attention_heads, -1))
        written = torch.einsum("hd,hdw->hw", heads, columns_of(model, place, layer))
        assert_close(column(table, "attribution")[layer], read(written), atol=1e-4, rtol=1e-3)
    assert_close(read(x), logits[TOWARDS[0]] - logits[TOWARDS[1]], atol=1e-4, rtol=1e-3)
    one, other = (head_table(model, TEXTS[0], towards=token, removed=()) for token in TOWARDS)
    difference = column(one, "attribution") - column(other, "attribution")
    assert_close(column(table, "attribution"), difference, atol=1e-4, rtol=1e-3)


def losses(model):
    return torch.stack(
        [F.cross_entropy(model(one).logits[0, :-1].float(), one[0, 1:]) for one in TEXTS]
    ).detach()


@each_model
@torch.no_grad()
def test_removal_is_the_loss_with_zeros_or_the_mean_in_place_of_the_head_by_plain_hooks(name):
    model = CASES[name].make()
    table = head_table(model, padded(), batch_size=2)
    before = losses(model)
    assert table.loss == pytest.approx(before.mean().item(), abs=1e-5)
    kept = [inputs_of(model, OUTPUTS[name], lambda one=one: model(one)) for one in TEXTS]
    width = kept[0][0].shape[-1] // model.config.num_attention_heads
    for row in table:
        part = model.get_submodule(OUTPUTS[name].format(row["layer"]))
        place = slice(row["head"] * width, (row["head"] + 1) * width)
        mean = torch.cat([each[row["layer"]][0] for each in kept]).mean(0)[place]  # over 31 tokens
        for kind, instead in {"zero": torch.zeros(width), "mean": mean}.items():

            def put(_, given, place=place, instead=instead):
                changed = given[0].clone()
                changed[..., place] = instead
                return (changed,)

            with part.register_forward_pre_hook(put):
                grown = losses(model) - before
            assert row[f"{kind}_ablation"] == pytest.approx(grown.mean().item(), abs=2e-5)
            assert row[f"{kind}_ablation_std"] == pytest.approx(grown.std().item(), abs=2e-5)
    assert_close(losses(model), before)
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_the_loss_asks_for_the_tokens_alone_that_have_a_label():
    model, inputs = CASES["gpt2"].make(), padded("left")
    place = torch.arange(13) >= 9
    labels = inputs["input_ids"].masked_fill(~place | (inputs["attention_mask"] == 0), -100)
    table = head_table(model, inputs | {"labels": labels}, removed=["zero"])
    losses = [
        F.cross_entropy(model(one).logits[0, :-1], one[0, 1:], reduction="none")[-4:].mean() for one in TEXTS
    ]
    assert table.loss == pytest.approx(torch.stack(losses).mean().item(), abs=1e-5)
    assert math.isfinite(table[0]["induction"])


def test_in_models_of_random_weights_no_head_shows_a_pattern():
    for seed in range(24):
        generator = torch.Generator().manual_seed(seed)
        # the tokens of a text all differ, so that no head can find one again
        texts = torch.stack([torch.randperm(60, generator=generator)[:20] for _ in range(5)])
        model = CASES["gpt2"].make()
        torch.manual_seed(seed)
        for parameter in model.parameters():
            if parameter.dim() > 1:
                torch.nn.init.normal_(parameter, std=24**-0.5)
        found = head_table(model, texts, removed=()).patterns()
        assert found == {"previous": [], "first": [], "same": [], "induction": []}


@pytest.mark.parametrize("make", [hand_set.gpt2, hand_set.llama])
def test_in_models_set_by_hand_exactly_the_heads_that_were_set_show_their_pattern(make):
    generator = torch.Generator().manual_seed(0)
    texts = torch.stack([torch.randperm(hand_set.TOKENS, generator=generator) for _ in range(5)])
    table = head_table(make(), texts, removed=())
    expected = {"previous": [hand_set.PREVIOUS], "first": [], "same": [], "induction": [hand_set.INDUCTION]}
    assert table.patterns() == expected
    assert "induction: layer 1 head 1" in repr(table)
    assert "first: none found" in repr(table)
    alone = head_table(make(), texts[:1], removed=()).patterns()
    assert alone == expected | {"previous": []}, "one text has no spread; induction has texts of its own"


def test_a_head_shows_a_pattern_if_its_weight_is_high_and_well_above_chance():
    chance = {"even": 0.1, "induction_control": 0.3, "previous_std": 0.1, "induction_std": 0.2}
    weights = [(0.41, 0.61), (0.39, 0.59), (0.9, math.nan)]  # previous, induction
    rows = [
        {"kind": "self", "layer": 1, "head": head, "previous": previous, "induction": induction} | chance
        for head, (previous, induction) in enumerate(weights)
    ]
    rows[2]["previous_std"] = math.nan  # of one text
    table = HeadTable(rows, 5)
    assert table.patterns() == {"previous": [("self", 1, 0)], "induction": [("self", 1, 0)]}
    assert any("induction: layer 1 head 0" in sentence for sentence in table.said())


def test_a_table_is_sorted_saved_and_shown():
    table = head_table(CASES["gpt2"].make(), padded(), removed=["mean"])
    by_loss = table.sorted_by("mean_ablation")
    values = [row["mean_ablation"] for row in by_loss]
    assert values == sorted(values, reverse=True)
    with pytest.raises(ValueError, match=r"column must be one of kind, layer, head, .*got 'loss'"):
        table.sorted_by("loss")
    first = next(line.split() for line in repr(by_loss).splitlines()[1:])
    assert first[:3] == ["self", str(by_loss[0]["layer"]), str(by_loss[0]["head"])]
    html = by_loss._repr_html_()
    assert html.count("<tr>") == 7
    assert f"{values[0]:.3f} <small>± " in html


def test_a_table_is_written_to_a_file_and_needs_pandas_for_a_data_frame_alone(tmp_path, monkeypatch):
    places = [{"kind": "self", "layer": 0, "head": head} for head in range(3)]
    table = HeadTable(
        [place | {"sink": x} for place, x in zip(places, (math.nan, 2.0, 1 / 3), strict=True)], 1
    )
    assert [row["head"] for row in table.sorted_by("sink", descending=False)] == [2, 1, 0]
    file = tmp_path / "heads.csv"
    rows = f"kind,layer,head,sink\nself,0,0,nan\nself,0,1,2.0\nself,0,2,{1 / 3}\n"
    assert table.to_csv(file) == file.read_text(encoding="utf-8") == rows
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas; to_csv does without it"):
        table.to_pandas()


def test_strings_are_read_by_the_tokenizer(tmp_path):
    transformers = pytest.importorskip("transformers")
    folder = saved(tmp_path, "gpt2")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    texts = ["the cat sat", "cat sat the cat the"]
    table = head_table(model, texts, tokenizer, towards=("cat", "sat"), removed=())
    tokens = {"input_ids": torch.tensor([[3, 4, 5, 0, 0], [4, 5, 3, 4, 3]])}
    tokens["attention_mask"] = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
    assert [*table] == [*head_table(model, tokens, towards=(4, 5), removed=())]
    with pytest.raises(ValueError, match=r"towards must be one token, got 'the cat', which is \[3, 4\]"):
        head_table(model, texts, tokenizer, towards="the cat")


GEMMA2: dict[str, Any] = {"num_attention_heads": 3, "head_dim": 8, "num_key_value_heads": 1, **SIZES}


@pytest.mark.parametrize(
    ("model", "missing"),
    [
        (made("Bert", "ForMaskedLM", vocab_size=61, num_attention_heads=3, **SIZES), "ablation attribution"),
        (made("GPT2", **GPT2), "ablation attribution"),
        (made("Gemma2", "ForCausalLM", vocab_size=61, **GEMMA2), "attribution"),
    ],
)
def test_what_a_model_cannot_have_is_left_out_and_said(model, missing):
    table = head_table(model(), padded(), towards=5)
    names = {"ablation": "zero_ablation, mean_ablation", "attribution": "attribution"}
    wanted = [names[each] for each in missing.split()]
    assert sorted(re.findall(r"Left out: (.*?)\.", " ".join(table.left_out))) == sorted(wanted)
    assert all(sentence in repr(table) for sentence in table.left_out)
    assert not {*", ".join(wanted).split(", ")} & {*table.columns}
    assert "value_norm" in table.columns


def test_both_texts_of_a_model_with_a_decoder_are_measured():
    case = CASES["bart"]
    inputs = {name: torch.cat([tokens, tokens.flip(1)]) for name, tokens in case.inputs().items()}
    table = head_table(case.make(), inputs, removed=())
    assert {(row["kind"], row["layer"]) for row in table} == {
        *(("encoder", layer) for layer in range(2)),
        *((kind, layer) for kind in ("decoder", "cross") for layer in range(3)),
    }
    measured = measures_of(read_attention(case.make(), case.inputs()), case.inputs())
    other = {name: tokens[1:] for name, tokens in inputs.items()}
    again = measures_of(read_attention(case.make(), other), other)
    for row in table:
        both = [found[row["kind"]][row["layer"]]["entropy"][row["head"]] for found in (measured, again)]
        assert row["entropy"] == pytest.approx(torch.stack(both).mean().item(), abs=1e-5)
        assert math.isnan(row["induction"]) == (row["kind"] == "cross")


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ("the cat", {}, "texts must be a list of texts, got one text; pass"),
        (["the", 3], {}, "texts must be strings that are not empty"),
        (["the cat"], {}, "tokenizer must be given for texts that are strings"),
        (torch.tensor([[3], [4]]), {}, "at least two tokens each, got 1"),
        (torch.full((2, 3), 61), {}, "below 61"),
        (text(), {"removed": "zero"}, r"removed must be a list of 'zero' and 'mean', or empty, got 'zero'"),
        (text(), {"towards": " are"}, "tokenizer must be given for towards=' are'"),
        (text(), {"towards": 61}, r"a token or a pair \(a, b\), below 61, got 61"),
    ],
)
def test_what_does_not_fit_gets_the_way_out(texts, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        head_table(CASES["gpt2"].make(), texts, **options)
