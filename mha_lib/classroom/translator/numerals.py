"""Numbers from 0 to 99,999,999 in English words and in Chinese numerals, and the word behind each numeral.

The English has no "and" and no hyphens: ``twenty three thousand forty five``. The Chinese is that of the
textbooks and of ICU's rules for counting (``spellout-numbering``, with 零 for its 〇):

    十 alone at the beginning, 一十 elsewhere       12 十二        112 一百一十二     100,010 十万零一十
    one 零 for zeros inside, none at the end        105 一百零五   20,045 二万零四十五   110 一百一十
    none either where a group of four ends in them  101,000 十万一千
    二 and never 两                                 2,200 二千二百

English counts in thousands, Chinese in 万, ten thousands, so the two do not go in step.
"""

import difflib
import operator
import re
import unicodedata

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
UNIT_BELOW = {"百": "十", "千": "百", "万": "千"}
LAST_UNIT_LEFT_OUT = re.compile(f"[百千万][{DIGITS[1:]}]$")  # 一百五 is 一百五十
BARE_TEN = re.compile(f"(?<![{DIGITS[1:]}])十")  # 十二 is 一十二, 一百十二 is 一百一十二

VALUES = {word: value for value, word in enumerate(SMALL)}
VALUES |= {word: 10 * tens for tens, word in enumerate(TENS, start=2)}
SCALE_VALUES = {word: scale for scale, word in SCALES.items() if word}
MULTIPLIERS = ("hundred", *SCALE_VALUES)
LARGER_WORDS = ("billion", "trillion")
KNOWN_WORDS = (*ENGLISH_WORDS, *LARGER_WORDS, "a", "and")
OTHER_SHAPES = str.maketrans("两兩〇○萬億", "二二零零万亿")

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
    """Read a number that a person has typed: digits, English words or Chinese numerals.

    ``Twenty-three``, ``a hundred and five``, ``fifteen hundred``, ``23,045``, full-width digits, ``两万``.
    Raises NotUnderstood, whose message is in the language of the lesson.
    """
    text = unicodedata.normalize("NFKC", text).strip().rstrip(".").lower()
    if re.fullmatch(r"\d+|\d{1,3}([ ,]\d{3})+", text):
        return within_limits(re.sub(r"[ ,]", "", text))
    if re.fullmatch(r"[-−–]\d+", text):
        raise too_large()
    if any(letter.translate(OTHER_SHAPES) in (*NUMERALS, "亿") for letter in text):
        return read_chinese(text)
    return read_english(text)


def within_limits(digits: str) -> int:
    digits = digits.lstrip("0") or "0"
    if len(digits) > len(str(LARGEST)):
        raise too_large()
    return int(digits)


def too_large() -> NotUnderstood:
    return not_understood("too_large", largest=f"{LARGEST:,}")


def not_understood(name: str, **details: object) -> NotUnderstood:
    return NotUnderstood(words_here()["numerals"][name].format(**details))


def read_english(text: str) -> int:
    """Read a number in English words, in any usual spelling."""
    # "twenty-three," becomes twenty, three; a word with digits stays as it was typed.
    parts = re.findall(r"\S*\d\S*|[^\s\-‐‑‒–—,]+", text)
    strange = [word for word in parts if word not in KNOWN_WORDS]
    if strange:
        raise unknown(max(strange, key=str.isalpha))  # of "23 apples" report the apples and not the 23
    words = plain_words(parts)
    if not words:
        raise not_understood("nothing")
    number = group = 0  # the number up to the last "thousand" or "million", and the group after it
    room, last_scale = 1000, LARGEST  # the next word of the group and the next scale must be smaller
    for before, word in zip([None, *words], words, strict=False):
        if word in VALUES:
            fits = 0 < VALUES[word] < room or words == ["zero"]
            group, room = group + VALUES[word], 10 if VALUES[word] >= 20 else 1
        elif word == "hundred":
            fits = 0 < group < 100 and group % 10 != 0  # fifteen hundred, but not twenty hundred
            group, room = 100 * group, 100
        else:
            fits = 0 < group < 1000 and SCALE_VALUES[word] < last_scale
            number, group, room, last_scale = number + group * SCALE_VALUES[word], 0, 1000, SCALE_VALUES[word]
        if not fits:
            raise misplaced(word, before)
    return within_limits(str(number + group))


def plain_words(words: list[str]) -> list[str]:
    """Remove "and" after a hundred, and replace "a" before it by "one"."""
    plain = []
    for before, word, after in zip([None, *words], words, [*words[1:], None], strict=False):
        if word in LARGER_WORDS:
            raise too_large()
        if word in ("a", "and"):
            if after is None:
                raise not_understood("unfinished", word=word)
            if word == "a":
                fits = after in MULTIPLIERS and before not in VALUES
            else:
                fits = after in VALUES and before in MULTIPLIERS
            if not fits:
                raise misplaced(word, before)
        if word != "and":
            plain.append("one" if word == "a" else word)
    return plain


def unknown(word: str) -> NotUnderstood:
    nearest = difflib.get_close_matches(word, ENGLISH_WORDS, n=1)
    return not_understood("unknown_near" if nearest else "unknown", word=word, nearest="".join(nearest))


def misplaced(word: str, before: str | None) -> NotUnderstood:
    return not_understood("misplaced" if before else "misplaced_first", word=word, before=before)


def read_chinese(text: str) -> int:
    """Read a number in Chinese numerals, in the usual short forms too: 一百五 is 150, 一千零十二 is 1,012."""
    text = "".join(text.split())
    said = text.translate(OTHER_SHAPES)
    if "亿" in said:
        raise too_large()
    if re.search(r"\d", said):
        raise not_understood("mixed", text=text)
    if LAST_UNIT_LEFT_OUT.search(said):
        said += UNIT_BELOW[said[-2]]
    number = group = digit = 0
    for numeral in said:
        if numeral in DIGITS:
            digit = DIGITS.index(numeral)
        elif numeral in UNITS:
            group, digit = group + (digit or 1) * 10 ** UNITS.index(numeral), 0
        elif numeral == "万":
            number, group, digit = number + (group + digit) * 10_000, 0, 0
        else:
            raise unknown(numeral)
    number = within_limits(str(number + group + digit))
    standard = in_chinese(number)
    said, spelled_out = (BARE_TEN.sub("一十", numerals) for numerals in (said, standard))
    if said == spelled_out:
        return number
    if said.replace("零", "") == spelled_out.replace("零", ""):
        raise not_understood("other_zeros", text=text, standard=standard)
    raise not_understood("no_numeral", text=text)
