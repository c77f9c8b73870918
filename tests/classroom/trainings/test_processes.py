"""Work in new processes: right results, and an end of all processes even if one fails."""

import subprocess

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
WAITS_IN_VAIN = """
import sys, threading
if sys.argv[2] == "{fails}":
    sys.exit("no gloo\\n\\n")
threading.Event().wait(600)
"""


def test_two_devices_give_the_output_of_one_by_one_sum_though_python_would_abort_as_it_ends(monkeypatch):
    aborts = "import atexit, os; atexit.register(os.abort); "
    monkeypatch.setattr(processes, "PROGRAM", aborts + processes.PROGRAM)
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


@pytest.mark.parametrize(
    ("fails", "seconds", "said"),
    [
        ("none", 0.5, "The processes had not ended after 0.5 s"),
        ("1", PATIENCE, "Process 1 ended with code 1, and the others were stopped. It said: no gloo"),
    ],
)
def test_processes_that_wait_in_vain_are_stopped(monkeypatch, fails, seconds, said):
    """Processes that nobody stops end by themselves, with code 0."""
    started: list[subprocess.Popen] = []

    class Noted(subprocess.Popen):
        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    monkeypatch.setattr(processes, "PROGRAM", WAITS_IN_VAIN.format(fails=fails))
    with pytest.raises(ProcessesFailed, match=said):
        heads_on_two_devices(MultiHeadAttention(8, 2), torch.randn(1, 3, 8), seconds=seconds)
    assert [process.returncode not in (None, 0) for process in started] == [True, True]


@pytest.mark.ci
def test_an_error_in_the_work_is_told():
    layer = MultiHeadAttention(9, 3)  # three heads for two devices
    with pytest.raises(ProcessesFailed, match="num_heads=3 must be divisible by the 2 devices"):
        heads_on_two_devices(layer, torch.randn(1, 3, 9), seconds=PATIENCE)
