"""Numbers from 0 to 99,999,999 in English words and in Chinese numerals, and the word behind each numeral.

The English has no "and" and no hyphens: ``twenty three thousand forty five``. The Chinese is that of the
textbooks and of ICU's rules for counting (``spellout-numbering``, with 零 for its 〇):

    十 alone at the beginning, 一十 elsewhere       12 十二        112 一百一十二     100,010 十万零一十
    one 零 for zeros inside, none at the end        105 一百零五   20,045 二万零四十五   110 一百一十
    none either where a group of four ends in them  101,000 十万一千
    二 and never 两                                 2,200 二千二百

English counts in thousands, Chinese in 万, ten thousands, so the two do not go in step.
"""

import operator
import re
import unicodedata
from decimal import Decimal

from mha_lib.classroom.explorer.typed_text import NotUnderstood
from mha_lib.classroom.lesson.language import words_here

LARGEST = 99_999_999
SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SCALES = {1_000_000: "million", 1_000: "thousand", 1: ""}
ENGLISH_WORDS = (*SMALL, *TENS, "hundred", "thousand", "million")
DIGITS = "零一二三四五六七八九"
UNITS = ("", "十", "百", "千")  # by the place within a group of four
NUMERALS = (*DIGITS, *UNITS[1:], "万")
# Patterns that JavaScript reads too: digits, and a number such as 3万5千, whose units have these values.
TYPED = f"0*[0-9]{{1,{len(str(LARGEST))}}}"
COUNT = r"([0-9]{1,8}(?:\.[0-9]{1,4})?)"
IN_UNITS = f"(?=.*[万萬千百])(?:{COUNT}[万萬])?(?:{COUNT}千)?(?:{COUNT}百)?([0-9]{{2,4}})?"
UNIT_VALUES = (10_000, 1_000, 100, 1)

# A digit of the number, or its unit, by the place of the digit: (3, "unit") are the thousands.
Name = tuple[int, str]


def in_english(number: int) -> str:
    """``23045`` -> ``twenty three thousand forty five``."""
    return " ".join(word for word, _ in english_parts(number))


def in_chinese(number: int) -> str:
    """``23045`` -> ``二万三千零四十五``."""
    return "".join(numeral for numeral, _ in chinese_parts(number))


def alignment(number: int) -> list[int | None]:
    """For each Chinese numeral, return the place of the English word that it comes from, None if it has none.

    A digit comes from the word that names it; 十, 百 and 千 come from the word that names their unit: both
    numerals of 二十 from "twenty", the 千 of 二百三十万一千 from "thousand", its 百 from "million". 万 comes
    from no word, since English has none for ten thousand, and neither does a 零 inside.
    """
    place_of = {name: place for place, (_, names) in enumerate(english_parts(number)) for name in names}
    return [None if name is None else place_of[name] for _, name in chinese_parts(number)]


def english_parts(number: int) -> list[tuple[str, set[Name]]]:
    """Return the English words, each with the digits and units that it names."""
    number = checked_number(number)
    parts: list[tuple[str, set[Name]]] = []
    for place, (scale, scale_word) in zip((6, 3, 0), SCALES.items(), strict=True):
        hundreds, rest = divmod(number // scale % 1000, 100)
        ones, tens = {(place, "digit")}, {(place + 1, "digit"), (place + 1, "unit")}
        if hundreds:
            parts += [(SMALL[hundreds], {(place + 2, "digit")}), ("hundred", {(place + 2, "unit")})]
        if rest >= 20:
            parts.append((TENS[rest // 10 - 2], tens))
            rest %= 10
        if rest:
            parts.append((SMALL[rest], tens | ones if rest >= 10 else ones))
        if scale_word and number // scale % 1000:
            parts.append((scale_word, {(place, "unit")}))
    return parts or [("zero", {(0, "digit")})]


def chinese_parts(number: int) -> list[tuple[str, Name | None]]:
    """Return the Chinese numerals, each with its digit or unit, None for 万 and for a 零 inside."""
    number = checked_number(number)
    parts: list[tuple[str, Name | None]] = []
    zeros_inside = False
    for place in reversed(range(8)):
        digit, within_group = number // 10**place % 10, place % 4
        if digit:
            if zeros_inside:
                parts.append(("零", None))
            zeros_inside = False
            if parts or (digit, within_group) != (1, 1):  # 十二, but 一百一十二
                parts.append((DIGITS[digit], (place, "digit")))
            if within_group:
                parts.append((UNITS[within_group], (place, "unit")))
        elif parts:
            zeros_inside = True
        if place == 4 and parts:
            parts.append(("万", None))
            zeros_inside = False  # zeros at the end of the upper four digits are not spoken
    return parts or [("零", (0, "digit"))]


def checked_number(number: int) -> int:
    number = operator.index(number)
    if not 0 <= number <= LARGEST:
        raise ValueError(f"number must lie from 0 to {LARGEST:,}, got {number:,}")
    return number


def read_number(text: str) -> int:
    """Read a number that a person has typed in digits: ``23045``, ``23,045``, ``23 045``, full-width digits,
    also with units: ``3万5千``, ``1.5万``.

    Raises NotUnderstood, whose message is in the language of the lesson.
    """
    digits = re.sub(r"[\s,]", "", unicodedata.normalize("NFKC", text))
    if found := re.fullmatch(IN_UNITS, digits):
        value = sum(
            Decimal(count or 0) * unit for count, unit in zip(found.groups(), UNIT_VALUES, strict=True)
        )
        digits = str(int(value)) if value == int(value) else str(value)
    if not re.fullmatch(TYPED, digits):
        raise NotUnderstood(words_here()["numerals"]["no_number"].format(largest=f"{LARGEST:,}"))
    return int(digits.lstrip("0") or "0")
