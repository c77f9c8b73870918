"""Chinese in traditional characters, as Taiwan writes it: made from the simplified, and never kept twice.

OpenCC converts words as well as characters (软件 becomes 軟體); the course adds the terms of its field, and
mends what OpenCC takes for a word where two words meet (个中文 becomes 箇中文).
"""

import re
from functools import cache
from typing import Any

TRADITIONAL, SIMPLIFIED = "zh-Hant", "zh"

# Terms of the course for which OpenCC's Taiwanese words say something else, or nothing.
TERMS = {
    "“": "「",
    "”": "」",
    # the field
    "暂退法": "丟棄法",
    "暂退": "丟棄",
    "掩码": "遮罩",
    "掩蔽 softmax": "遮罩 softmax",
    "掩蔽自注意力": "遮罩自注意力",
    "掩蔽": "遮蔽",
    "批量": "批次",
    "映射": "映射",
    "查找": "查找",
    "参数": "參數",
    "均值": "平均值",
    "方差": "變異數",
    "最小二乘": "最小平方",
    "舍入": "捨入",
    "噪声": "雜訊",
    "评分函数": "評分函數",
    "三角函数": "三角函數",
    "实现，一个函数": "實作，一個函數",
    " 的函数。": " 的函數。",  # of mathematics; one of Python is 函式
    "核函数": "核心函式",
    "实现": "實作",
    "返回": "回傳",
    "Escape 返回": "Escape 返回",
    "往上返回": "往上返回",
    "原路返回": "原路返回",
    "循环神经网络": "循環神經網路",
    "循环层": "循環層",
    "残差连接": "殘差連接",
    "层规范化": "層正規化",
    "规范化": "正規化",
    "独热": "獨熱",
    "热图": "熱圖",
    "微调": "微調",
    "剪枝": "剪枝",
    "并行": "平行",
    "质量": "品質",
    "投影的对象": "投影的對象",
    # language
    "代词": "代名詞",
    "主语": "主詞",
    "宾语": "受詞",
    "单词": "單字",
    "同声传译": "同步口譯",
    # the computer
    "滑块": "滑桿",
    "幻灯片": "投影片",
    "演示文稿": "簡報",
    "改动演示": "改動播放",
    "要演示": "要播放",
    "演示": "示範",
    "单元格": "儲存格",
    "控件": "控制項",
    "内核": "核心",
    "运行": "執行",
    "打印出来": "印出來",
    "打印": "印出",
    "报错信息": "錯誤訊息",
    "报错": "回報錯誤",
    "计算机": "電腦",
    "显存": "顯示記憶體",
    "片上内存": "晶片上記憶體",
    "代码库": "程式庫",
    "二进制位": "位元",
    "16 位": "16 位元",
    "bits 位": "bits 位元",
    "这是位数：8 位是": "這是位元數：8 位元是",
    "8 位是": "8 位元是",
    "类型": "類型",
    "端口": "連接埠",
    "地址": "網址",
    "联网": "連網",
    "二维码": "QR 碼",
    "全屏": "全螢幕",
    "黑屏": "黑畫面",
    "重置": "重設",
    # the course
    "选学": "選讀",
    "教程": "教學",
    "计划": "預計",
    "停表": "停錶",
    "在线的": "在線的",
    "通过*": "透過*",
    "通过 W_": "透過 W_",
    "通过本机": "透過本機",
    "通过它们": "透過它們",
    "论文列在": "論文列在",
}
# Where 行 is a line, of code say, and no row of a matrix, it is 行 in Taiwan too.
LINES = (
    "行代码|折行|换行|各占一行|只要一行|写成一行|然后是那一行|就用这一行|一行就说清|每行先写|"
    "最多两行|就是两行|的那两行|出发，两行|用一行推导|哪一行让|注意力那一行|"
    "} 行有|改好那一行|你的这一行|清除这一行"
)
# Taiwan calls a row 列 and a column 欄, where the mainland says 行 and 列; other words that others may hold.
IN_PLACE = {
    r"(?<![进执流发另自通可不也都就才])行(?![为动])": "列",
    r"(?<![序排陈系队所之下])列(?!出|举|表(?!示))": "欄",
    r"列表(?!示)": "串列",
    r"(?<=[个义的])类(?![型别似推])": "類別",
    r"(?<![本数据仓])库": "函式庫",
    r"词表(?!示)": "詞彙表",
}
TERM = re.compile(
    "|".join(
        [
            LINES,
            *(re.escape(term) for term in sorted(TERMS, key=len, reverse=True)),
            *(f"({pattern})" for pattern in IN_PLACE),
        ]
    )
)
# What OpenCC takes for a word across two words: 个中 in 一个中文, 影后 in 投影后, 是只 in 还是只有.
SLIPS = {
    "箇": "個",
    "(?<![公英])里(?!程)": "裡",
    "(?<![皇太])后": "後",
    "(?<![一二三四五六七八九十兩幾每])隻": "只",
    "錶格": "表格",
    "不復制": "不複製",
}
CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)


def is_traditional(language: str) -> bool:
    return "Hant" in language.split("-")


@cache
def converter() -> Any:
    from opencc import OpenCC  # here: English lessons need none

    return OpenCC("s2twp")


def to_traditional(text: str) -> str:
    """Simplified Chinese in traditional characters and Taiwan's terms; all else stays."""
    converted, end = [], 0
    for found in TERM.finditer(text):
        converted += [converter().convert(text[end : found.start()]), taiwans(found)]
        end = found.end()
    converted.append(converter().convert(text[end:]))
    traditional = "".join(converted)
    for slip, mended in SLIPS.items():
        traditional = re.sub(slip, mended, traditional)
    return traditional


def taiwans(found: re.Match[str]) -> str:
    if found.lastindex is not None:
        return list(IN_PLACE.values())[found.lastindex - 1]
    return TERMS.get(found[0]) or str(converter().convert(found[0]))


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
