"""Finds mistakes in a Chinese text of the course.

It must keep the numbers, formulas and names of the English text and have one vocabulary, Chinese punctuation,
a space between Chinese and Latin letters or digits, and no English sentence.
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
WORDS_IN_FORMULA = re.compile(r"\\(?:text|mathrm|textit|operatorname)\{[^}]*\}")
# Other words for things that the glossary names, each with the word of the glossary.
UNWANTED = {
    "注意力机制层": "注意力层",
    "掩膜": "掩码",
    "遮罩": "掩码",
    "遮蔽": "掩蔽",
    "令牌": "词元",
    "标记序列": "词元序列",
    "自注意机制": "自注意力",
    "多头自注意机制": "多头自注意力",
    "丢弃法": "暂退法",
    "归一化层": "规范化层",
    "层归一化": "层规范化",
    "热力图": "热图",
    "打分函数": "评分函数",
    "得分": "分数",
    "剪除": "剪枝",
    "词汇表": "词表",
    "教师强制": "强制教学",
    "贪婪": "贪心",
    "张量视图化": "视图",
    "归一化": "规范化",
    "可以注意": "可以关注",
    "英文词": "英语词",
    "汉字数字": "中文数字",
}
# Each row: a pattern that no text has, the words to take instead and why, and a case of it.
WORDINGS = (
    ("盲猜|瞎猜|碰运气", "随机水平: one word for chance", "答对 0.03，等于盲猜"),
    ("离散度", "离散程度: the textbooks' word for a spread", "分数的离散度"),
    ("应报|应写", "目标: one word for what is wanted", "应写的是三"),
    ("关系", "性质: what must hold is a property", "四个必须成立的关系"),
    (r"(?:用|换成|变成|各自的)平均(?!权)", "均值: a head is replaced by its mean", "变成平均"),
    (r"(?<![\w`.])logits(?= ?[\u4e00-\u9fff，。、])", "logit: Chinese has no plural", "前面的 logits。"),
    (r"(?:^|[：，。“（])层 \d", "第 1 层: as layers are called elsewhere", "层 1 有两个头"),
    ("(?:层|E 之后”)(?:的|这条)记录", "便条: one word for what layer 0 writes", "第 0 层的记录"),
    (r"\d ?[–—~～] ?\d", "到: one sign for ranges", "3.20–3.92"),
    (r"(?<![\w.:])\.\d", "0.5: a number begins with 0", "旧的和 × .135"),
    (r"\d %", "80%: no space before the sign", "领先的 80 % 以上"),
    (r"[快慢小少低]了? ?[\d一二两三四五六七八九十]+ ?倍", "a factor: 快五倍 may be six times", "回答快五倍"),
    (r"(?i)\bet(?: |&nbsp;)al", "等: authors are listed in Chinese", "Dao et al. 2022"),
    (r"等人|[等a-z](?: |&nbsp;)20\d\d(?= ?[|；）])", "等，2021: sources in one form", "Elhage 等 2021 |"),
    ("管用", "有效: 管用 is not said of a model", "查询照样管用"),
    (r"折叠着(?:一份)?解答|(?m:^## 来源)", "参考答案, 参考文献: as in other lessons", "## 来源"),
    ("打分", "评分: one word for scoring", "给词元打分"),
    (r"猜一猜(?![：”])|(?<![*“])猜一猜", "*猜一猜：…？*: only where a guess is asked for", "*猜一猜份额。*"),
    (r"0\.5 分(?!钟)", "分钟: 分 is a mark", "0.5 分。这是"),
    ("什么也|谁也", "plainly: who doesn't, or what is not done", "这个库什么也不读"),
)


def findings(english: str, chinese: str) -> Iterator[str]:
    """The mistakes in a Chinese Markdown text, compared with the English text that it translates."""
    yield from kept(english, chinese)
    prose = without_code(chinese)
    for unwanted, wanted in UNWANTED.items():
        if unwanted in prose:
            yield f"{unwanted}: the course says {wanted}"
    for found in re.findall(rf"[{HAN}][A-Za-z0-9]|[A-Za-z0-9%][{HAN}]", TAG.sub(" ", prose)):
        yield f"a space is missing in {found}"
    for found in re.findall(rf"[{HAN}][`$]|[`$][{HAN}]", spaced_marks(chinese)):
        yield f"a space is missing beside code or a formula: {found}"
    for found in re.findall(rf"[{HAN}∎] *[,;:!?](?=[\s{HAN}∎\[“（]|$)|[{HAN}]\.(?=\s|$)", prose, re.M):
        yield f"punctuation is not Chinese: {found}"
    for found in re.findall(r"\s[，。；：！？、）”]|[（“]\s", prose):
        yield f"a space beside Chinese punctuation: {found!r}"
    for found in unseen_emphasis(prose):
        yield f"Markdown does not see the emphasis that ends or begins so: {found}"
    for found in re.findall(rf"《[^》{HAN}]*[A-Za-z]{{2}}[^》{HAN}]*》", prose):
        yield f"an English title stands in italics: {found}"
    for found in re.findall(rf"(?<!\*)\*(?!\*)([^*\n]*[{HAN}])\*(?!\*)", prose):
        yield f"Chinese has no italics, so a term is bold, and only a sentence may be emphasized so: {found}"
    for found in english_runs(prose):
        yield f"English: {found}"


def worded_otherwise(text: str) -> Iterator[str]:
    """The wordings in a Chinese text, of a lesson or not, that the course doesn't use."""
    for pattern, wanted, _ in WORDINGS:
        for found in re.finditer(pattern, text):
            around = text[max(0, found.start() - 10) : found.end() + 10]
            yield f"{found[0]} in {around!r}; the course says {wanted}"


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


def spaced_marks(text: str) -> str:
    """The text with one mark in the place of each piece of code and each formula."""
    text = TARGET.sub("]", FENCED.sub("", text))
    return FORMULA.sub("$", CODE.sub("`", text))


def english_runs(prose: str) -> list[str]:
    """Runs of three or more English words; terms and sources may stand in brackets, titles in italics."""
    prose = re.sub(rf"（[^（）]*）|\([^()]*\)|\*[^*{HAN}]*\*|https?://\S+", " ", TAG.sub(" ", prose))
    return re.findall(r"(?:[A-Za-z][A-Za-z’'-]*[ ]){2,}[A-Za-z’'-]{2,}", prose)
