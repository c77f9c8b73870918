"""All that version 1.0 promised to keep is there, and the list of it is whole."""

from tools.stable import lacking, listed, names_today


def test_every_stable_name_is_still_there():
    missing = lacking(listed(), names_today())
    assert not missing, (
        f"{', '.join(missing)}: stable in 1.x. Let it work, with a DeprecationWarning that names the way "
        "out, until 2.0; docs/en/stability.md says how"
    )


def test_a_name_or_an_argument_that_is_gone_is_told():
    today = {"mha_lib": {"Rotary": ["dim", "new"], "KVCache": []}}
    assert lacking({"mha_lib": {"Rotary": ["base"]}}, today) == ["mha_lib: Rotary(base)"]
    assert lacking({"commands": {"lab": ["--port"]}}, today) == ["commands: lab"]
    assert lacking({"mha_lib": {"Rotary": ["dim"]}}, today) == []
