"""What a handout says itself, in the languages of the lessons."""

WORDS = {
    "en": {
        "student": "Handout",
        "instructor": "Handout · instructor’s edition",
        "contents": "Contents",
        "link": "Link to this section",
        "code": "Code",
        "copy": "Copy",
        "copied": "Copied",
        "solution": "Solution",
        "notes": "Notes for the instructor",
        "figure": "Figure drawn by the code above",
        "still": "A still picture: in the notebook these controls move.",
        "lost": "This part of the notebook needs Jupyter; its state was not stored.",
        "script": "This figure is interactive; it needs JavaScript.",
        "failed": "This interactive figure could not start here: ",
        "remote": "Left out, because it would be fetched from the network: ",
        "footer": "This page is complete in itself and asks the network for nothing. "
        "To change the code and run it, open the notebook.",
    },
    "zh": {
        "student": "讲义",
        "instructor": "讲义 · 教师版",
        "contents": "目录",
        "link": "本节链接",
        "code": "代码",
        "copy": "复制",
        "copied": "已复制",
        "solution": "参考答案",
        "notes": "教师备注",
        "figure": "上面的代码画出的图",
        "still": "静态图片：在笔记本中可以调节这些控件。",
        "lost": "笔记本的这一部分需要 Jupyter；其状态没有保存。",
        "script": "此图可以交互，需要 JavaScript。",
        "failed": "此交互图无法在这里启动：",
        "remote": "需要联网，已略去：",
        "footer": "本页内容完整，无需联网。若要修改并运行代码，请打开笔记本。",
    },
}


def words_in(language: str) -> dict[str, str]:
    return WORDS.get(language.split("-")[0], WORDS["en"])
