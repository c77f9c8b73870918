"""Work in new processes: right results, and an end in time even if they fail."""

import time

import pytest
import torch

from mha_lib import MultiHeadAttention
from mha_lib.classroom.tasks import ProcessesFailed, heads_on_two_devices, peak_memory, processes


def test_two_devices_give_the_output_of_one_by_one_sum():
    layer, x = MultiHeadAttention(24, 6, num_kv_heads=2, bias=True), torch.randn(2, 5, 24)
    shares = heads_on_two_devices(layer, x)
    assert [share.heads for share in shares] == [[0, 1, 2], [3, 4, 5]]
    for share in shares:
        torch.testing.assert_close(share.output, layer(x))
        assert (share.sums, share.bytes_summed) == (1, 2 * 5 * 24 * 4)
        parts = [(layer.W_q, 2), (layer.W_k, 2), (layer.W_v, 2)]
        halves = sum(p.numel() for projection, _ in parts for p in projection.parameters()) // 2
        assert share.parameters == halves + layer.W_o.weight.numel() // 2 + layer.W_o.bias.numel()
    assert layer.num_heads == 6, "the layer of this process stays whole"


@pytest.mark.skipif(torch.cuda.is_available(), reason="the peak of a GPU is exact")
def test_memory_grows_with_the_weights_and_hardly_without():
    ballast = torch.ones(100_000_000)  # memory of the calling process is not counted
    lengths = [512, 2048]
    with_weights = peak_memory(lengths, need_weights=True)
    assert with_weights[1] > 2048 * 2048 * 4 / 1e6, "one map of weights at least"
    assert peak_memory(lengths, need_weights=False)[1] < with_weights[1] / 2
    assert ballast.sum() > 0


def test_a_process_that_would_abort_while_python_ends_still_gives_its_result(monkeypatch):
    aborts = "import atexit, os; atexit.register(os.abort); "
    monkeypatch.setattr(processes, "PROGRAM", aborts + processes.PROGRAM)
    layer, x = MultiHeadAttention(8, 2), torch.randn(1, 3, 8)
    for share in heads_on_two_devices(layer, x):
        torch.testing.assert_close(share.output, layer(x))


def failing(monkeypatch, program, seconds=60.0):
    monkeypatch.setattr(processes, "PROGRAM", program)
    started = time.monotonic()
    with pytest.raises(ProcessesFailed) as failed:
        heads_on_two_devices(MultiHeadAttention(8, 2), torch.randn(1, 3, 8), seconds=seconds)
    assert time.monotonic() - started < 30
    return str(failed.value)


def test_processes_that_do_not_end_are_stopped(monkeypatch):
    said = failing(monkeypatch, "import time; time.sleep(60)", seconds=0.5)
    assert said.startswith("The processes had not ended after 0.5 s")


def test_one_that_fails_ends_the_wait_of_the_others(monkeypatch):
    program = "import sys, time; sys.exit('no gloo\\n\\n') if sys.argv[2] == '1' else time.sleep(60)"
    said = failing(monkeypatch, program)
    assert said == "Process 1 ended with code 1, and the others were stopped. It said: no gloo"


def test_an_error_in_the_work_is_told():
    layer = MultiHeadAttention(9, 3)  # three heads for two devices
    with pytest.raises(ProcessesFailed, match="num_heads=3 must be divisible by the 2 devices"):
        heads_on_two_devices(layer, torch.randn(1, 3, 9))
