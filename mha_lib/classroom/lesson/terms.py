"""Terms in prose: the bold ones, each with the sentence around it, and where a text uses a term."""

import re
from collections.abc import Iterator, Sequence

from mha_lib.classroom.lesson.language import words_in

# Code, formulas, pictures and tags are no prose.
UNREAD = re.compile(
    r"```.*?```|`[^`\n]+`|\$\$.*?\$\$|\$[^$\n]+\$|!\[[^\]]*\]\([^)]*\)|</?\w[^>]*>", re.DOTALL
)
FIRST, LAST = "\ue000", "\uf8ff"  # letters of nobody's, which stand for these
BETWEEN = re.compile(r"\n\s*\n|^(?:#+ |\|).*$|^\s*(?:[-+*>]|\d+[.)])\s", re.MULTILINE)  # paragraphs, items
BOLD = re.compile(r"\*\*(?=\S)([^*]+)(?<=\S)\*\*")
ITALICS = re.compile(r"(?<!\*)\*(?!\*)")
CLOSING = r"[)”’\"）]*+"
END = re.compile(  # of a sentence
    rf"(?<!\be\.g)(?<!\bi\.e)(?<!\bet al)(?<!\bvs)(?<!\bcf)(?<!\bapprox)[.!?]{CLOSING}(?=\s|$)"
    rf"|[。！？]{CLOSING}(?![，；：、])"
)
CHINESE = re.compile("[㐀-鿿]")


def bold_terms(markdown: str) -> Iterator[tuple[str, str]]:
    """The bold terms, each with its sentence as Markdown, without italics: these may begin before it."""
    unread = UNREAD.findall(markdown)
    places = iter(range(len(unread)))
    prose = UNREAD.sub(lambda _: chr(ord(FIRST) + next(places)), markdown)
    for paragraph in BETWEEN.split(prose):
        said = ITALICS.sub("", " ".join(paragraph.split()))
        for sentence in END.sub(r"\g<0>\n", said).split("\n"):
            whole = re.sub(
                f"[{FIRST}-{LAST}]", lambda mark: unread[ord(mark[0]) - ord(FIRST)], sentence.strip()
            )
            yield from ((in_lower_case(bold), whole) for bold in BOLD.findall(sentence) if is_term(bold))


def is_term(bold: str) -> bool:
    """Whether bold text is a term: it has letters, more than one of the alphabet, and no code or formula."""
    has_letters = CHINESE.search(bold) or re.search(r"[^\W\d_]{2}", bold)
    return bool(has_letters) and not re.search(f"[{FIRST}-{LAST}]", bold)


def in_lower_case(term: str) -> str:
    """The term in lower case, unless it has capitals inside, as BLEU and Nadaraya–Watson have."""
    return term if re.search(r".[A-Z]", term) else term.lower()


def uses_of(terms: Sequence[str], text: str, language: str) -> Iterator[tuple[int, int, str]]:
    """Where a text uses terms: beginning, end, and the term; the longest term wins.

    English terms count as whole words, in the plural too. A word that holds a term but means something else,
    as 箭头 (arrow) holds 头 (head), stands under ``other_words`` in ``words/``.
    """
    others = words_in(language)["glossary"]["other_words"].split(" | ")
    known = sorted([*others, *terms], key=len, reverse=True)
    pattern = "|".join(f"({pattern_of(term)})" for term in known)
    for found in re.finditer(pattern, text, re.IGNORECASE):
        term = known[(found.lastindex or 0) - 1]
        if term not in others:
            yield found.start(), found.end(), term


def pattern_of(term: str) -> str:
    words = r"\s+".join(map(re.escape, term.split()))
    if CHINESE.search(term):
        return words
    plural = f"{words[:-1]}(?:y|ies)" if re.search("[^aeiou]y$", words) else f"{words}(?:s|es)?"
    return rf"(?<![A-Za-z0-9_-]){plural}(?![A-Za-z0-9_-])"
