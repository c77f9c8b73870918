"""Chinese in traditional characters, as Taiwan writes it: made from the simplified, and never kept twice.

OpenCC converts words as well as characters (软件 becomes 軟體); the course adds the terms of its field.
"""

import re
from functools import cache
from typing import Any

TRADITIONAL, SIMPLIFIED = "zh-Hant", "zh"

# Terms of the course for which OpenCC's Taiwanese words say something else, or nothing.
TERMS = {
    "暂退法": "丟棄法",
    "掩码": "遮罩",
    "掩蔽": "遮罩",
    "滑块": "滑桿",
    "幻灯片": "投影片",
    "演示文稿": "簡報",
    "单元格": "儲存格",
    "控件": "元件",
    "内核": "核心",
    "批量": "批次",
    "映射": "映射",
    "查找": "查找",
    "连接": "連接",
    "参数": "參數",
    "方差": "變異數",
    "评分函数": "評分函數",
    "核函数": "核函數",
    "循环神经网络": "循環神經網路",
    "循环层": "循環層",
    "层规范化": "層正規化",
    "规范化": "正規化",
    "独热": "獨熱",
    "热图": "熱圖",
    "微调": "微調",
    "剪枝": "剪枝",
    "质量": "品質",
}
TERM = re.compile("|".join(sorted(TERMS, key=len, reverse=True)))
CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)


def is_traditional(language: str) -> bool:
    return "Hant" in language.split("-")


@cache
def converter() -> Any:
    from opencc import OpenCC  # here: English lessons need none

    return OpenCC("s2twp")


def to_traditional(text: str) -> str:
    """Simplified Chinese in traditional characters and Taiwan's terms; all else stays."""
    pieces = TERM.split(text)
    terms = [TERMS[term] for term in TERM.findall(text)]
    converted = [converter().convert(piece) for piece in pieces]
    return "".join(map("".join, zip(converted, [*terms, ""], strict=True)))


@cache  # a command asks for the lessons more than once
def markdown_to_traditional(text: str) -> str:
    """A Markdown text without what stands in code, which is data."""
    return "".join(
        piece if number % 2 else to_traditional(piece) for number, piece in enumerate(CODE.split(text))
    )


def words_to_traditional(words: Any) -> Any:
    """Every sentence in a tree of words."""
    if isinstance(words, dict):
        return {name: words_to_traditional(said) for name, said in words.items()}
    return to_traditional(words) if isinstance(words, str) else words
