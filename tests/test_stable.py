"""All that version 1.0 promised to keep is there, and the list of it is whole."""

import pytest

from tools.stable import lacking, listed, names_today


def test_every_stable_name_is_still_there():
    missing = lacking(listed(), names_today())
    assert not missing, (
        f"{', '.join(missing)}: stable in 1.x. Let it work, with a DeprecationWarning that names the way "
        "out, until 2.0; docs/en/stability.md says how"
    )


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ({"mha_lib": {"Rotary": ["base"]}}, ["mha_lib: Rotary(base)"]),
        ({"commands": {"lab": ["--port"]}}, ["commands: lab"]),
        ({"mha_lib": {"Rotary": ["dim"]}}, []),
    ],
)
def test_a_name_or_an_argument_that_is_gone_is_told(listed, said):
    assert lacking(listed, {"mha_lib": {"Rotary": ["dim", "new"], "KVCache": []}}) == said
