"""The same numbers as TransformerLens 4 gives for one GPT-2; skips where that library is not installed."""

import copy

import pytest
import torch
from torch.testing import assert_close

pytest.importorskip("transformer_lens")

import transformers
from transformer_lens.model_bridge import TransformerBridge

from mha_lib.classroom.heads import head_table
from tests.classroom.heads.small_models import CASES, ids, saved

TOWARDS = (5, 9)


@pytest.mark.filterwarnings("ignore")  # of the other library
@torch.no_grad()
def test_logits_attributions_and_losses_are_those_of_transformer_lens(tmp_path):
    model = CASES["gpt2"].make()
    model.transformer.ln_f.weight.copy_(torch.rand(24) + 0.5)
    folder = saved(tmp_path, "gpt2")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"bos_token": "</s>", "eos_token": "</s>"})
    theirs = TransformerBridge.boot_transformers(
        folder, hf_model=copy.deepcopy(model), tokenizer=tokenizer, device="cpu"
    )
    theirs.enable_compatibility_mode()
    texts = torch.cat([ids(11, seed) for seed in range(3)])
    logits, cache = theirs.run_with_cache(texts)
    ours = model(texts).logits
    assert_close(logits.log_softmax(-1), ours.log_softmax(-1), atol=1e-4, rtol=1e-4)
    heads = cache.stack_head_results(pos_slice=-1)  # (L·H, B, D)
    attributions = cache.logit_attrs(heads, *TOWARDS, pos_slice=-1, has_batch_dim=True)  # (L·H, B)
    table = head_table(model, texts, towards=TOWARDS)
    found = torch.tensor([[row["attribution"], row["attribution_std"]] for row in table])
    assert_close(found, torch.stack([attributions.mean(1), attributions.std(1)], 1), atol=1e-4, rtol=1e-4)

    def loss(hooks):
        return theirs.run_with_hooks(texts, return_type="loss", fwd_hooks=hooks)

    for row in table:
        name = f"blocks.{row['layer']}.attn.hook_z"
        z = cache[name][:, :, row["head"]]  # (B, N, d)
        for kind, instead in {"zero": 0 * z[0, 0], "mean": z.mean((0, 1))}.items():

            def put(value, hook, head=row["head"], instead=instead):
                value[:, :, head] = instead
                return value

            grown = loss([(name, put)]) - loss([])
            assert row[f"{kind}_ablation"] == pytest.approx(grown.item(), abs=1e-4)
