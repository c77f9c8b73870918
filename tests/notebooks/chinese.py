"""Finds mistakes in a Chinese text of the course.

It must keep the numbers, formulas and names of the English text and have Chinese punctuation, a space between
Chinese and Latin letters or digits, and no English sentence.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

HAN = "\u3400-\u4dbf\u4e00-\u9fff"
FENCED = re.compile(r"```.*?```", re.S)
CODE = re.compile(r"`[^`\n]+`")
FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$", re.S)
TARGET = re.compile(r"\]\(([^)]+)\)")
TAG = re.compile(r"</?[a-z][^>]*>")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*|(?<![\w.])\.\d+")
BETTER_SAID = {  # what a lecturer in Beijing would not say, and the field's word
    r"混合(?!精度|专家)": "加权求和, 加权平均; what W_o does: 线性组合",
    r"[\d∎}] ?个数(?![字组])|宽 ?[\d∎]|\d 宽(?=[的，。；])": "N 维",
    r"音节": "字",
    r"考试|(?<!思)考题": "测试集, 评估",
    r"测量": "度量 for a measure; 实测 for what was measured",
    r"正确率|[答猜]对的(?:比例|份额)|对 (?:0\.\d|\d+ ?%)": "准确率",
    r"看法": "where heads look: 看同一处; 看法 is an opinion",
    r"够不?到": "看到, 达到",
    r"断言": "论断; assert is named by its code",
    r"^- .*说出": "解释, 指出, 写出: what a learner does and one can see",
}
HEADLESS = re.compile(r"[^，。；：？！、（）“”|\n]*的(?=[，。；：？！、）|\n]|$)")
CLOSED_BY_DE = re.compile("是|都|也|会|总|似的|的话|有的|目的|真的|她的")  # 是 … 的 needs no noun after it
OTHER = re.compile("(?<!其)它")
MOST_OTHERS = 4  # of a thousand Chinese characters: what good lecture notes have at most
WORDS_IN_FORMULA = re.compile(r"\\(?:text|mathrm|textit|operatorname)\{[^}]*\}")


def findings(english: str, chinese: str) -> Iterator[str]:
    """The mistakes in a Chinese Markdown text, compared with the English text that it translates."""
    yield from kept(english, chinese)
    prose = without_code(chinese)
    for found in re.findall(rf"[{HAN}][A-Za-z0-9]|[A-Za-z0-9%][{HAN}]", TAG.sub(" ", prose)):
        yield f"a space is missing in {found}"
    for found in re.findall(rf"[{HAN}]∎|∎[{HAN}]", prose):
        yield f"a space is missing beside code or a formula: {found}"
    for found in re.findall(rf"[{HAN}∎] *[,;:!?](?=[\s{HAN}∎\[“（]|$)|[{HAN}]\.(?=\s|$)", prose, re.M):
        yield f"punctuation is not Chinese: {found}"
    for found in re.findall(r"\s[，。；：！？、）”]|[（“]\s", prose):
        yield f"a space beside Chinese punctuation: {found!r}"
    for found in unseen_emphasis(prose):
        yield f"Markdown does not see the emphasis that ends or begins so: {found}"
    for found in english_runs(prose):
        yield f"English: {found}"


def unlike_a_lecturer(chinese: str) -> Iterator[str]:
    """Yield what is right and yet no lecturer would say: words, sizes, 的 without a noun, 它 too often."""
    prose = re.sub("“它”", "", without_code(chinese))
    for found, instead in BETTER_SAID.items():
        for match in re.finditer(found, prose, re.M):
            yield f"{match[0]} in {around(match)}: {instead}"
    for match in HEADLESS.finditer(prose):
        if not CLOSED_BY_DE.search(match[0]):
            yield f"的 needs a noun: {match[0].strip()}"
    others, all_of_them = len(OTHER.findall(prose)), len(re.findall(f"[{HAN}]", prose))
    if others > max(1, MOST_OTHERS * all_of_them / 1000):
        yield f"{others} 它 in {all_of_them} characters: repeat the noun, or leave it out"


def around(match: re.Match[str]) -> str:
    return match.string[max(0, match.start() - 10) : match.end() + 10].replace("\n", " ")


def kept(english: str, chinese: str) -> Iterator[str]:
    for name, of in (
        ("code", codes),
        ("formula", formulas),
        ("link", TARGET.findall),
        ("tag", lambda text: TAG.findall(without_code(text))),
    ):
        ours, theirs = Counter[str](of(chinese)), Counter[str](of(english))
        if ours != theirs:
            yield f"{name} lost {list((theirs - ours).elements())}, new {list((ours - theirs).elements())}"
    if lost := set(numbers(english)) - set(numbers(chinese)):
        yield f"numbers lost: {sorted(lost)}"


def codes(text: str) -> set[str]:
    """The code: a translation may name it more or less often. A Chinese numeral is data."""
    found = CODE.findall(FENCED.sub("", text))
    return {code for code in found if not re.fullmatch(f"`[{HAN} ]+`", code)}


def formulas(text: str) -> list[str]:
    return [WORDS_IN_FORMULA.sub("", found) for found in FORMULA.findall(CODE.sub("", FENCED.sub("", text)))]


def unseen_emphasis(prose: str) -> Iterator[str]:
    """Stars that Markdown does not read as bold: punctuation inside them, a word outside (CommonMark 6.2)."""
    for paragraph in prose.split("\n\n"):
        marks = [found.span() for found in re.finditer(r"\*\*", paragraph)]
        for number, (begin, end) in enumerate(marks):
            before, after = paragraph[:begin][-1:] or " ", paragraph[end:][:1] or " "
            inside, outside = (before, after) if number % 2 else (after, before)
            ends_outside = outside.isspace() or unicodedata.category(outside)[0] in "PS"
            if inside.isspace() or (unicodedata.category(inside)[0] in "PS" and not ends_outside):
                yield before + "**" + after


def numbers(text: str) -> list[str]:
    """The numbers of a text; .98 is 0.98, and lesson 03 is lesson 3."""
    found = NUMBER.findall(TARGET.sub("]", without_code(text)))
    return [number.lstrip("0") or "0" for number in found]


def without_code(text: str) -> str:
    return FORMULA.sub("∎", CODE.sub("∎", FENCED.sub("", TARGET.sub("]", text))))


def english_runs(prose: str) -> list[str]:
    """Runs of three or more English words; terms and sources may stand in brackets, titles in italics."""
    prose = re.sub(rf"（[^（）]*）|\([^()]*\)|\*[^*{HAN}]*\*|https?://\S+", " ", TAG.sub(" ", prose))
    return re.findall(r"(?:[A-Za-z][A-Za-z’'-]*[ ]){2,}[A-Za-z’'-]{2,}", prose)
