"""Heads over two processes give what one process gives."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import distributed

from mha_lib import MultiHeadAttention, prune_heads
from mha_lib.parallel import shard_heads
from tests.mha_lib.bad_calls import assert_refused

DEVICES = 2
WORKER = """
import os
import sys
import torch
from torch import distributed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.debug import CommDebugMode
from mha_lib import MultiHeadAttention
from mha_lib.parallel import shard_heads

rank, place = int(sys.argv[1]), sys.argv[2]
distributed.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=2)
mesh = init_device_mesh("cpu", (2,))
mine = slice(3 * rank, 3 * rank + 3)

for num_kv_heads, bias in ((6, True), (2, False)):
    torch.manual_seed(0)
    whole = MultiHeadAttention(24, 6, bias=bias, head_dim=5, num_kv_heads=num_kv_heads).double()
    x = torch.randn(2, 7, 24, dtype=torch.double)
    lengths = torch.tensor([7, 4])
    state = {name: p.detach().clone() for name, p in whole.named_parameters()}

    whole_x = x.clone().requires_grad_()
    whole_output, whole_weights = whole(whole_x, valid_lens=lengths, need_weights=True)
    whole_output.square().sum().backward()

    part = MultiHeadAttention(24, 6, bias=bias, head_dim=5, num_kv_heads=num_kv_heads).double()
    part.load_state_dict(state)
    part = shard_heads(part, mesh)
    part_x = x.clone().requires_grad_()
    with CommDebugMode() as communication:
        part_output, part_weights = part(part_x, valid_lens=lengths, need_weights=True)
    counts = communication.get_comm_counts()
    assert sum(counts.values()) == 1, counts
    assert "all_reduce" in str(next(iter(counts))), counts
    part_output.square().sum().backward()

    torch.testing.assert_close(part_output, whole_output)
    torch.testing.assert_close(part_weights, whole_weights[:, mine])
    torch.testing.assert_close(part_x.grad, whole_x.grad)
    for name, parameter in part.named_parameters():
        torch.testing.assert_close(parameter.grad.full_tensor(), whole.get_parameter(name).grad)
    torch.testing.assert_close(part(x), whole(x))
    assert part.W_q.weight.to_local().shape == (15, 24), "each process holds half of the heads"
    assert (part.num_heads, part.num_kv_heads) == (3, num_kv_heads // 2)
distributed.destroy_process_group()
os._exit(0)  # on a busy machine Gloo's threads may outlive Python and abort the process: terminate called
"""


def test_two_processes_give_output_and_gradients_of_one_with_one_sum(tmp_path):
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", WORKER, str(rank), str(tmp_path / "meeting")],
            cwd=Path(__file__).parents[2],
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(DEVICES)
    ]
    said = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * DEVICES, "\n".join(said)


@pytest.fixture
def mesh(tmp_path):
    """Return a mesh of one process; it stands for a mesh of any size in the checks."""
    from torch.distributed.device_mesh import init_device_mesh

    distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/meeting", rank=0, world_size=1)
    yield init_device_mesh("cpu", (1,))
    distributed.destroy_process_group()


def test_one_process_alone_changes_nothing(mesh):
    layer, x = MultiHeadAttention(12, 3), torch.randn(2, 5, 12)
    before = layer(x)
    assert shard_heads(layer, mesh) is layer
    torch.testing.assert_close(layer(x), before)
    assert layer.num_heads == 3


def test_heads_that_are_shared_out_cannot_be_changed(mesh):
    layer = shard_heads(MultiHeadAttention(12, 3), mesh)
    words = "W_ … of the layer must hold a plain tensor, got DTensor; … before shard_heads"
    for change in (
        lambda: MultiHeadAttention.from_multi_head(layer, 1),
        lambda: prune_heads(layer, [0]),
        lambda: layer.to_torch(),
        lambda: shard_heads(layer, mesh),
    ):
        assert_refused(change, TypeError, words)


def test_what_cannot_be_shared_out_is_an_error(mesh, monkeypatch):
    from torch.distributed.device_mesh import init_device_mesh

    layer, two_axes = MultiHeadAttention(12, 3), init_device_mesh("cpu", (1, 1))
    assert_refused(
        lambda: shard_heads(layer, two_axes), ValueError, "mesh must have one axis, got 2; take one"
    )
    assert_refused(
        lambda: shard_heads(layer, "cpu"), TypeError, "mesh must be a DeviceMesh, got str; … makes one"
    )
    linear = torch.nn.Linear(2, 2)
    words = "layer must be a MultiHeadAttention, got Linear"
    assert_refused(lambda: shard_heads(linear, mesh), TypeError, words)
    monkeypatch.setattr(type(mesh), "size", lambda self, axis=None: 2)
    for heads, name in ((9, "num_heads=9"), (6, "num_kv_heads=3")):
        layer = MultiHeadAttention(18, heads, num_kv_heads=3)
        words = f"{name} must be divisible by the 2 devices of mesh"
        assert_refused(lambda layer=layer: shard_heads(layer, mesh), ValueError, words)
