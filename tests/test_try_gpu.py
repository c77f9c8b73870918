"""``make gpu`` says of each part whether it was seen on a GPU, and why not."""

import pytest
import torch

from tools import try_gpu


def test_without_a_gpu_nothing_passes_for_seen(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert try_gpu.main() == 1
    said = capsys.readouterr().out
    assert said.startswith("Never seen on a GPU:")
    assert all(f"{part}: there is no GPU that CUDA finds" in said for part in try_gpu.PARTS)


@pytest.mark.parametrize(
    ("code", "limit", "why"),
    [("", 60, ""), ("raise SystemExit(3)", 60, "exit status 3"), ("", 0, "no time was left")],
)
def test_a_part_that_fails_or_has_no_time_was_not_seen(code, limit, why, monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a card")
    monkeypatch.setattr(try_gpu, "PARTS", {"a part": ["-c", code]})
    monkeypatch.setattr(try_gpu, "LIMIT", limit)
    assert try_gpu.main() == bool(why)
    assert ("Never seen on a GPU:\n  a part" in capsys.readouterr().out) == bool(why)
