"""The pictures of the settings, as the browser takes them: weights, masks, labels, errors."""

import numpy as np
import pytest

from mha_lib.classroom.explorer.controls import make_control
from mha_lib.classroom.explorer.table import Picture, Source, compute_answer, compute_table
from tests.classroom.explorer.sources import H, K, Q, some_weights, source_of


def maps(table, setting):
    """The picture of a setting: its weights and its forbidden cells, (B, H, Q, K)."""
    entry = next(entry for entry in table.directory if entry["setting"] == setting)
    numbers = np.frombuffer(table.maps, "<f2")
    _, heads, queries, keys = entry["shape"]
    size = heads * queries * keys
    half = np.stack([numbers[at : at + size].reshape(heads, queries, keys) for at in entry["at"]])
    return np.abs(half), np.signbit(half)


def test_the_table_holds_every_setting_to_half_precision():
    lens = make_control("valid_lens", [range(1, 6), range(4)], [5, 2])
    heads = make_control("num_heads", [1, 2, H], H)
    table = compute_table(Source(some_weights, [heads, lens], {"query_labels": None, "key_labels": None}))
    assert table.carries == "all"
    assert len(table.directory) == 3 * 5 * 4
    assert table.directory[0]["setting"] == (2, 4, 2)  # the start comes first
    for i, num_heads in enumerate([1, 2, H]):
        for a in range(5):
            for b in range(4):
                weights, mask = some_weights(num_heads, [a + 1, b])
                got, forbidden = maps(table, (i, a, b))
                np.testing.assert_allclose(got, weights, rtol=2**-11, atol=2**-24)
                assert np.array_equal(forbidden, np.broadcast_to(~mask[:, None], got.shape))


def test_what_settings_share_is_kept_once():
    table = compute_table(source_of(lambda a: np.ones((1, Q, K)), a=range(100)))
    assert len(table.directory) == 100
    assert len(table.maps) == 2 * Q * K
    assert table.labels == []
    table = compute_table(source_of(lambda a: np.ones((1, Q, K)), {"key_labels": "abcde"}, a=range(100)))
    assert table.labels == [[list("abcde")]]


OWN_RANGES = {(a, 0) for a in range(20)} | {(0, b) for b in range(20)}


@pytest.mark.parametrize(
    ("size", "carries", "settings"),
    [(50_000, "all", {(a, b) for a in range(20) for b in range(20)}), (5000, "own_ranges", OWN_RANGES)],
)
def test_within_the_budget_all_is_computed_and_beyond_it_each_entrys_own_range(size, carries, settings):
    source = source_of(lambda a, b: np.full((1, 20), (a + 20 * b) / 1000), a=range(20), b=range(20))
    table = compute_table(source, most=size)
    assert table.carries == carries
    assert {entry["setting"] for entry in table.directory} == settings
    np.testing.assert_allclose(maps(table, (0, 19))[0].squeeze(), np.full(20, 0.38), rtol=1e-3)
    assert len(table.maps) == 2 * 20 * len(settings)


def test_where_even_own_ranges_are_too_much_a_part_of_them_is_kept():
    source = source_of(lambda a, b: np.full((1, 20), (a + 1) / 100), a=range(20), b=[0, 1])
    table = compute_table(source, most=800)
    assert table.carries == "part"
    settings = [entry["setting"] for entry in table.directory]
    assert 1 <= len(settings) < 20
    assert settings == [(a, 0) for a in range(len(settings))]


def test_a_text_stays_at_its_first():
    def weights_of(text, n):
        return np.full((1, len(text)), n / 10)

    source = source_of(weights_of, text="abc", n=[1, 2])
    table = compute_table(source)
    assert table.carries == "all"
    assert [entry["setting"] for entry in table.directory] == [("abc", 0), ("abc", 1)]
    answer = compute_answer(source, ("abcd", 1))
    np.testing.assert_allclose(maps(answer, ("abcd", 1))[0].ravel(), np.full(4, 0.2), rtol=1e-3)


def test_an_error_at_the_start_is_raised_and_a_later_one_is_noted_from_the_lessons_code_on():
    def weights_of(num_heads):
        if num_heads == 3:
            raise ValueError("3 does not divide 8")
        return np.ones((num_heads, 1, 1))

    with pytest.raises(ValueError, match=r"^3 does not divide 8$"):
        compute_table(source_of(weights_of, num_heads=[3, 4]))
    source = source_of(weights_of, num_heads=[4, 3])  # begins at 4, on a slider from 3 to 4
    for noted in (compute_table(source).directory[1], compute_answer(source, (0,)).directory[0]):
        assert noted["setting"] == (0,)
        assert noted["error"] == "ValueError: 3 does not divide 8"
        first, place, *_ = noted["traceback"].splitlines()
        assert first == "Traceback (most recent call last):"
        assert place.startswith(f'  File "{__file__}", line ')
        assert place.endswith(", in weights_of")


TOO_WIDE = np.broadcast_to(np.float32(0), (1, 1_000_000))
TOO_MUCH = np.broadcast_to(np.float32(0), (64, 1024, 1024))


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        ([[0.5, -0.1]], ValueError, "weights must not be negative, got -0.1"),
        ([[0.5, float("nan")]], ValueError, "weights must be finite, got NaN or infinity"),
        ([[0.5, 1e6]], ValueError, r"must not be above 65504, got 1e\+06; are these scores before softmax?"),
        (TOO_WIDE, ValueError, "at most 4096 queries and keys and 33,554,432 entries, got shape"),
        (TOO_MUCH, ValueError, r"got shape \(1, 64, 1024, 1024\); show a part of them"),
        (
            (np.ones((1, 1)), None, None),
            TypeError,
            "must return weights, or .weights, mask., got a tuple of 3",
        ),
        (None, ValueError, r"got None; does the function return them\?"),
    ],
)
def test_what_weights_of_returns_is_checked(result, error, message):
    with pytest.raises(error, match=message):
        compute_table(source_of(lambda: result))


def test_boolean_weights_are_shown_as_a_mask():
    masks = [np.tri(Q, K) > 0, np.tri(Q, K, 1) > 0, np.eye(Q, K) > 0]

    def table_of(weights_of, number=3):
        return compute_table(source_of(weights_of, a=range(number)))

    assert table_of(lambda a: masks[a]).of_masks
    got, forbidden = maps(table_of(lambda a: masks[a]), (1,))
    assert np.array_equal(forbidden[0, 0], ~masks[1])
    assert np.array_equal(got[0, 0], masks[1])
    assert not table_of(lambda a: (masks[a].astype(float), masks[a])).of_masks
    # weights at one setting make weights of all settings
    assert not table_of(lambda a: masks[a].astype(float) if a == 1 else masks[a]).of_masks


TOKENS, LENGTHS = ["a", "b", "c", "d"], [3, 0]
PADDING = np.arange(4) < np.array(LENGTHS)[:, None]  # (B, K)


@pytest.mark.parametrize(
    ("mask", "key_labels", "lengths"),
    [
        (PADDING[:, None], TOKENS, [3, 4]),  # without any key, a sample has no padding to tell apart
        (PADDING[:, None, None], TOKENS, [3, 4]),
        (PADDING[:1], TOKENS, [3, 3]),
        (np.broadcast_to(PADDING[:, None], (2, 4, 4)), TOKENS, None),  # a mask of its own for each query
        (PADDING[:, None], list(TOKENS), None),  # other tokens that have the same names
        (None, TOKENS, None),
    ],
)
def test_padding_begins_where_a_mask_for_all_queries_ends_and_queries_are_the_keys(mask, key_labels, lengths):
    labels = {"query_labels": TOKENS, "key_labels": key_labels}
    table = compute_table(source_of(lambda: (np.full((2, 1, 4, 4), 0.25), mask), labels))
    assert table.directory[0].get("lengths") == lengths


def test_a_picture_says_itself_where_padding_begins():
    picture = Picture(np.full((2, 1, 3, 3), 0.5), lengths=[2, 1])
    assert compute_table(source_of(lambda: picture)).directory[0]["lengths"] == [2, 1]


def test_a_picture_takes_the_labels_of_explore_but_not_over_its_own():
    weights, labels = np.full((2, 1, 4, 4), 0.25), {"query_labels": TOKENS, "key_labels": TOKENS}
    source = source_of(lambda: Picture(weights, PADDING[:, None]), labels)
    assert source.result_at(()).query_labels == source.result_at(()).key_labels == TOKENS
    assert source.result_at(()).lengths == [3, 4]
    with pytest.raises(ValueError, match="key_labels must be given to explore or the Picture, got both"):
        source_of(lambda: Picture(weights, key_labels=TOKENS), labels).result_at(())


def test_labels_may_follow_the_settings_or_the_sample():
    labels = {"key_labels": lambda text: text.split()}
    source = source_of(lambda text: np.ones((1, 1, len(text.split()))), labels, text="a b c")
    for table, expected in [
        (compute_table(source), ["a", "b", "c"]),
        (compute_answer(source, ("d e",)), ["d", "e"]),
    ]:
        assert table.labels[table.directory[0]["key_labels"]] == [expected]
        assert table.directory[0]["query_labels"] is None  # numbers
    of_each_sample = {"key_labels": [["a", "b"], ["c", "d"]]}
    table = compute_table(source_of(lambda: np.ones((2, 1, 1, 2)), of_each_sample))
    assert table.labels[table.directory[0]["key_labels"]] == [["a", "b"], ["c", "d"]]
