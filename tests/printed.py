"""Reads what a command has printed."""


def last_line(capsys):
    error = capsys.readouterr().err.strip()
    assert "\n" not in error, "one clear line"
    return error
