"""English words and Chinese numerals: against a published table, a second way, and there and back."""

import random
import re

import pytest

from mha_lib.classroom.lesson import language
from mha_lib.classroom.translator.numerals import (
    ENGLISH_WORDS,
    LARGEST,
    NUMERALS,
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
    10_000: "一万", 10_001: "一万零一", 10_010: "一万零一十", 10_110: "一万零一百一十", 11_000: "一万一千",
    20_000: "二万", 20_045: "二万零四十五", 23_045: "二万三千零四十五", 40_801: "四万零八百零一",
    100_000: "十万", 100_010: "十万零一十", 101_000: "十万一千", 110_000: "十一万", 112_000: "十一万二千",
    130_013: "十三万零一十三", 200_010: "二十万零一十", 225_250: "二十二万五千二百五十",
    1_000_000: "一百万", 1_035_789: "一百零三万五千七百八十九", 1_759_998: "一百七十五万九千九百九十八",
    2_000_105: "二百万零一百零五", 10_000_000: "一千万", 10_050_026: "一千零五万零二十六",
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


def check_there_and_back(numbers):
    for number in numbers:
        english, chinese = in_english(number), in_chinese(number)
        assert (english, chinese) == (english_another_way(number), chinese_another_way(number))
        assert read_number(english) == read_number(chinese) == number


@pytest.mark.parametrize("number", PUBLISHED)
def test_numerals_are_those_of_the_published_table(number):
    assert in_chinese(number) == chinese_another_way(number) == PUBLISHED[number]


def test_numbers_go_there_and_back():
    check_there_and_back(range(0, 100_000, 11))
    check_there_and_back(some_numbers(5_000))


@pytest.mark.whole
def test_every_small_number_and_a_million_others_go_there_and_back():
    check_there_and_back(range(100_000))
    check_there_and_back(some_numbers(1_000_000))


def test_only_the_words_of_the_vocabulary_occur():
    numbers = [*range(2_000), *some_numbers(5_000)]
    assert {word for number in numbers for word in in_english(number).split()} == set(ENGLISH_WORDS)
    assert {numeral for number in numbers for numeral in in_chinese(number)} == set(NUMERALS)


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


def test_another_digit_changes_the_numeral_and_the_word_that_it_comes_from():
    """If all digits are 2 or more, each digit is one word and one numeral."""
    draw = random.Random(5)
    for _ in range(500):
        digits = draw.choices("23456789", k=draw.randint(1, 8))
        place = draw.randrange(len(digits))
        other = [*digits]
        other[place] = draw.choice([digit for digit in "23456789" if digit != digits[place]])
        before, after = int("".join(digits)), int("".join(other))
        words, numerals = (
            [k for k, pair in enumerate(zip(spell(before), spell(after), strict=True)) if len(set(pair)) > 1]
            for spell in (lambda number: in_english(number).split(), in_chinese)
        )
        assert len(words) == len(numerals) == 1
        assert alignment(before)[numerals[0]] == words[0]


def test_only_the_10000_and_zeros_inside_come_from_no_word():
    for number in [*range(1, 3_000), *some_numbers(2_000)]:
        pairs = zip(in_chinese(number), alignment(number), strict=True)
        assert all((numeral in "万零") == (place is None) for numeral, place in pairs) or number == 0


SPELLINGS = {
    0: ["0"],
    7: ["007", "0" * 5_000 + "7"],
    12: ["一十二"],
    112: ["一百十二"],
    250: ["二百五", "两百五"],
    1_012: ["一千零十二"],
    23: ["Twenty-three", "  TWENTY  three ", "twenty‑three.", "ｔｗｅｎｔｙ－ｔｈｒｅｅ"],
    105: ["one hundred and five", "a hundred and five", "一百零五"],
    1_001: ["a thousand and one"],
    1_200: ["一千二"],
    1_234: ["one thousand, two hundred and thirty-four"],
    1_250: ["一千二百五"],
    1_505: ["fifteen hundred and five"],
    20_045: ["二萬〇四十五", "二万 零四十五"],
    23_045: ["23045", "23,045", "２３，０４５", "二万三千零四十五", "两万三千零四十五"],
    35_000: ["三万五", "三萬五"],
    100_010: ["十万零十"],
    1_000_000: ["A million"],
    12_345_678: ["12,345,678", "12 345 678"],
}


@pytest.mark.parametrize(("number", "text"), [(key, text) for key in SPELLINGS for text in SPELLINGS[key]])
def test_usual_spellings_are_understood(text, number):
    assert read_number(text) == number


SENTENCES = {
    "Type a number: in digits, in English words or in Chinese numerals.": ["", " . ", "-"],
    "“fourty” was not understood; is “forty” meant?": ["fourty two"],
    "“apples” was not understood: it is no number word that is known here.": ["twenty apples", "23 apples"],
    "“<b>” was not understood: it is no number word that is known here.": ["<b>"],
    "“1,23” was not understood: it is no number word that is known here.": ["1,23"],
    "“23” was not understood: it is no number word that is known here.": ["23 thousand"],
    "The numbers here go from 0 to 99,999,999.": [
        "-5",
        "one hundred million",
        "two billion",
        "9" * 5_000,
        "一亿",
        "1亿",
    ],
    "“twelve” was not understood: it can't follow “twenty”.": ["twenty twelve"],
    "“three” was not understood: it can't follow “two”.": ["two three"],
    "“thousand” was not understood: it can't follow “two”.": ["one thousand two thousand"],
    "“hundred” was not understood: a number can't begin with it.": ["hundred"],
    "“hundred” was not understood: it can't follow “twenty”.": ["twenty hundred"],
    "“thousand” was not understood: it can't follow “hundred”.": ["fifteen hundred thousand"],
    "“zero” was not understood: a number can't begin with it.": ["zero thousand", "zero zero"],
    "“zero” was not understood: it can't follow “hundred”.": ["one hundred zero"],
    "“and” was not understood: a number can't begin with it.": ["and five"],
    "“and” was not understood: it can't follow “twenty”.": ["twenty and five"],
    "“and” was not understood: it can't follow “hundred”.": ["one hundred and thousand"],
    "The number ends with “and”: what comes after it is missing.": ["one hundred and"],
    "The number ends with “a”: what comes after it is missing.": ["a"],
    "“a” was not understood: a number can't begin with it.": ["a five"],
    "“a” was not understood: it can't follow “five”.": ["five a hundred"],
    "“二万四十五” was not understood; is “二万零四十五” meant?": ["二万四十五"],
    "“105万” was not understood: it mixes digits and Chinese numerals. Write all of it in one of the two.": [
        "105万"
    ],
    "“万五” was not understood: its numerals don't make a number in this order.": ["万五"],
    "“二零十” was not understood: its numerals don't make a number in this order.": ["二零十"],
    "“t” was not understood: it is no number word that is known here.": ["二十three"],
}


@pytest.mark.parametrize(("sentence", "text"), [(key, text) for key in SENTENCES for text in SENTENCES[key]])
def test_anything_else_gets_a_sentence_in_the_language_of_the_lesson(text, sentence, monkeypatch):
    with pytest.raises(NotUnderstood, match=f"^{re.escape(sentence)}$"):
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
    for other in (12.0, "12", None):
        with pytest.raises(TypeError):
            spell(other)
