"""English words and Chinese numerals, against a published table and a second way; and typed digits."""

import random
import re

import pytest

from mha_lib.classroom.lesson import language
from mha_lib.classroom.translator.numerals import (
    ENGLISH_WORDS,
    LARGEST,
    NotUnderstood,
    alignment,
    in_chinese,
    in_english,
    read_number,
)
from tests.brackets import bracketed, outside_brackets

# As ICU 72.1 writes them (CLDR 42, zh.xml, rule set spellout-numbering; its 〇 is the same sign as 零), which
# agrees with the rule of China's primary schools: zeros at the end of a group of four are not spoken.
PUBLISHED = {
    0: "零", 1: "一", 10: "十", 11: "十一", 12: "十二", 19: "十九", 20: "二十", 23: "二十三", 99: "九十九",
    100: "一百", 101: "一百零一", 102: "一百零二", 110: "一百一十", 112: "一百一十二", 120: "一百二十",
    200: "二百", 909: "九百零九", 1_000: "一千", 1_001: "一千零一", 1_010: "一千零一十",
    1_012: "一千零一十二", 1_100: "一千一百", 2_022: "二千零二十二", 5_040: "五千零四十",
    7_066: "七千零六十六",
    10_000: "一万", 10_010: "一万零一十", 11_000: "一万一千", 23_045: "二万三千零四十五",
    100_010: "十万零一十", 101_000: "十万一千", 112_000: "十一万二千", 225_250: "二十二万五千二百五十",
    1_035_789: "一百零三万五千七百八十九", 2_000_105: "二百万零一百零五", 10_050_026: "一千零五万零二十六",
    11_000_000: "一千一百万", 20_001_007: "二千万一千零七", 30_000_005: "三千万零五",
    30_400_000: "三千零四十万", 41_683_000: "四千一百六十八万三千",
    99_999_999: "九千九百九十九万九千九百九十九",
}  # fmt: skip


def some_numbers(count):
    """Draw numbers of every length, half of them with many zeros."""
    draw = random.Random(4)
    natural = [draw.randrange(10 ** draw.randint(1, 8)) for _ in range(count // 2)]
    return natural + [int("".join(draw.choices("00123456789", [9] + [1] * 10, k=8))) for _ in natural]


def chinese_another_way(number):
    """Write every digit with its unit, then remove one zero after the other from the text."""
    numeral = ""
    for digit, unit in zip(f"{number:08}", ("千", "百", "十", "万", "千", "百", "十", ""), strict=True):
        numeral += "零一二三四五六七八九"[int(digit)] + unit
    numeral = re.sub("零[千百十]", "零", numeral)
    numeral = re.sub("零+", "零", numeral)
    numeral = numeral.replace("零万", "万").strip("零").removeprefix("万").strip("零")
    return re.sub("^一十", "十", numeral) or "零"


def english_another_way(number):
    """Compose the words by recursion, from the largest that fits."""
    for value, word in ((10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= value:
            rest = f" {english_another_way(number % value)}" if number % value else ""
            return f"{english_another_way(number // value)} {word}{rest}"
    small = ENGLISH_WORDS[:20]
    if number < 20:
        return small[number]
    return ENGLISH_WORDS[18 + number // 10] + (f" {small[number % 10]}" if number % 10 else "")


@pytest.mark.parametrize("number", PUBLISHED)
def test_numerals_are_those_of_the_published_table(number):
    assert in_chinese(number) == chinese_another_way(number) == PUBLISHED[number]


def test_numbers_are_spelled_as_in_another_way():
    for number in [*range(0, 100_000, 11), *some_numbers(5_000)]:
        assert in_english(number) == english_another_way(number)
        assert in_chinese(number) == chinese_another_way(number)


ALIGNED = {
    # numeral and word, "-" where no word stands for the numeral
    0: "零 zero",
    12: "十 twelve 二 twelve",
    20: "二 twenty 十 twenty",
    112: "一 one 百 hundred 一 twelve 十 twelve 二 twelve",
    13_000: "一 thirteen 万 - 三 thirteen 千 thousand",
    23_045: "二 twenty 万 - 三 three 千 thousand 零 - 四 forty 十 forty 五 five",
    100_000: "十 hundred 万 -",
    11_000_000: "一 eleven 千 eleven 一 eleven 百 million 万 -",
    2_300_004: "二 two 百 million 三 three 十 hundred 万 - 零 - 四 four",
    20_500_000: "二 twenty 千 twenty 零 - 五 five 十 hundred 万 -",
}


@pytest.mark.parametrize("number", ALIGNED)
def test_each_numeral_comes_from_its_word(number):
    words = in_english(number).split()
    found = [
        f"{numeral} {'-' if place is None else words[place]}"
        for numeral, place in zip(in_chinese(number), alignment(number), strict=True)
    ]
    assert " ".join(found) == ALIGNED[number]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *((text, 23_045) for text in ("23045", " 23 045 ", "２３，０４５")),
        *zip(("007", "000", "99,999,999"), (7, 0, LARGEST), strict=True),
        *((text, 35_000) for text in ("３万５千", "3.5万", "3 萬 5 千", "3万5000")),
        *zip(("150百", "3万5百20", "0.0003万"), (15_000, 30_520, 3), strict=True),
    ],
)
def test_digits_are_understood_as_people_type_them(text, number):
    assert read_number(text) == number


@pytest.mark.parametrize(
    "text",
    [
        *("", "-5", "3.5", "23 apples", "100000000", "9" * 5_000, "七"),
        *("万", "3万5", "0.00005万", "10000万", "5千3万"),
    ],
)
def test_anything_else_gets_a_sentence_in_the_language_of_the_lesson(text, monkeypatch):
    with pytest.raises(NotUnderstood, match=r"^Type a number in digits, from 0 to 99,999,999\.$"):
        read_number(text)
    words = bracketed(language.words_in("en"))
    monkeypatch.setattr("mha_lib.classroom.translator.numerals.words_here", lambda: words)
    with pytest.raises(NotUnderstood) as raised:
        read_number(text)
    assert outside_brackets(str(raised.value)) == ""


@pytest.mark.parametrize("spell", [in_english, in_chinese, alignment])
def test_numbers_beyond_the_range_and_what_is_no_integer_are_refused(spell):
    for number in (-1, LARGEST + 1):
        with pytest.raises(ValueError, match=f"from 0 to 99,999,999, got {number:,}"):
            spell(number)
    with pytest.raises(TypeError):
        spell(12.0)
