"""Work in new processes: right results, and an end of all processes even if one fails."""

import atexit
import os
import threading

import pytest
import torch

from mha_lib import MultiHeadAttention
from mha_lib.classroom.trainings import (
    ProcessesFailed,
    heads_on_two_devices,
    peak_memory,
    processes,
)

PATIENCE = 600.0  # seconds; a test that passes never waits so long


attend = processes.attend_with_a_share


def attend_and_abort_at_the_end(*given):
    atexit.register(os.abort)
    return attend(*given)


def test_two_devices_give_the_output_of_one_by_one_sum_though_python_would_abort_as_it_ends(monkeypatch):
    monkeypatch.setattr(processes, "attend_with_a_share", attend_and_abort_at_the_end)
    layer, x = MultiHeadAttention(24, 6, num_kv_heads=2, bias=True), torch.randn(2, 5, 24)
    shares = heads_on_two_devices(layer, x, seconds=PATIENCE)
    assert [share.heads for share in shares] == [[0, 1, 2], [3, 4, 5]]
    for share in shares:
        torch.testing.assert_close(share.output, layer(x))
        assert (share.sums, share.bytes_summed) == (1, 2 * 5 * 24 * 4)
        halves = sum(p.numel() for part in (layer.W_q, layer.W_k, layer.W_v) for p in part.parameters()) // 2
        assert share.parameters == halves + layer.W_o.weight.numel() // 2 + layer.W_o.bias.numel()
    assert layer.num_heads == 6, "the layer of this process stays whole"


@pytest.mark.ci
@pytest.mark.skipif(torch.cuda.is_available(), reason="the peak of a GPU is exact")
def test_memory_grows_with_the_weights_and_hardly_without():
    ballast = torch.ones(100_000_000)  # memory of the calling process is not counted
    lengths = [512, 2048]
    with_weights = peak_memory(lengths, need_weights=True, seconds=PATIENCE)
    assert with_weights[1] > 2048 * 2048 * 4 / 1e6, "one map of weights at least"
    assert peak_memory(lengths, need_weights=False, seconds=PATIENCE)[1] < with_weights[1] / 2
    assert ballast.sum() > 0


def wait_in_vain(rank, folder, fails):
    if rank == fails:
        raise RuntimeError("no gloo\n\n")
    threading.Event().wait(600)


def end_at_once(rank, folder, fails):
    if rank == fails:
        os._exit(7)
    threading.Event().wait(600)


@pytest.mark.parametrize(
    ("work", "fails", "seconds", "said"),
    [
        (wait_in_vain, None, 0.5, "The processes had not ended after 0.5 s"),
        (wait_in_vain, 1, PATIENCE, "Process 1 failed, and .* stopped. It said: RuntimeError: no gloo"),
        (end_at_once, 0, PATIENCE, "Process 0 failed, .* It said: process 0 terminated with exit code 7"),
    ],
)
def test_processes_that_wait_in_vain_are_stopped(monkeypatch, work, fails, seconds, said):
    """Processes that nobody stops end by themselves, with code 0."""
    started = []
    spawn = processes.multiprocessing.spawn

    def noted(*arguments, **named):
        started.append(spawn(*arguments, **named))
        return started[0]

    monkeypatch.setattr(processes.multiprocessing, "spawn", noted)
    with pytest.raises(ProcessesFailed, match=said):
        processes.run_in_processes(work, (fails,), 2, seconds)
    assert [process.exitcode not in (None, 0) for process in started[0].processes] == [True, True]


@pytest.mark.ci
def test_an_error_in_the_work_is_told():
    layer = MultiHeadAttention(9, 3)  # three heads for two devices
    with pytest.raises(ProcessesFailed, match="num_heads=3 must be divisible by the 2 devices"):
        heads_on_two_devices(layer, torch.randn(1, 3, 9), seconds=PATIENCE)
