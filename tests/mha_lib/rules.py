"""Ways to break Python code: each rule is a pattern of its syntax tree, and what then stands in its place.

The rules are chosen so that nearly every change makes the code wrong. What only makes it slower, as a call of
``contiguous()`` left out, and what only words a message is left alone.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple


class Mutant(NamedTuple):
    """One broken file of ``mha_lib``."""

    name: str  # file, function, rule, the old code and the new
    file: str
    text: str


OPPOSITES = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="}
EXCHANGED = {
    "keys": "values",
    "values": "keys",
    "queries": "keys",
    "query_counts": "key_counts",
    "key_counts": "query_counts",
    "W_q": "W_k",
    "W_k": "W_v",
    "W_v": "W_k",
    "q_norm": "k_norm",
    "self_attention_norm": "cross_attention_norm",
    "cross_attention_norm": "self_attention_norm",
    "self_attn": "multihead_attn",
    "multihead_attn": "self_attn",
    "all": "any",
    "any": "all",
    "sin": "cos",
    "tril": "triu",
    "amax": "amin",
}
NOT_COMPUTED = (ast.Raise, ast.Assert, ast.JoinedStr, ast.arguments, ast.AnnAssign)
# Questions to PyTorch whose answer decides how fast a result is found, and seldom which one.
ASKED = (
    "can_be_read(",
    "is_read_at_once(",
    "is_compiling(",
    "is_tracing(",
    "device.type",
    "in_place",
    "dispatch",
)
Change = tuple[str, ast.AST, str]  # the rule, the code that goes, the code that comes


def changes_in(node: ast.AST, parent: ast.AST) -> Iterator[Change]:
    """Yield what the rules make of one node of a syntax tree."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) if is_asked(test):
            pass
        case ast.If(test=test, body=body):
            yield "never", test, "False"
            if not isinstance(body[-1], ast.Raise):
                yield "always", test, "True"
        case ast.IfExp(body=body, orelse=other):
            yield "always", node, f"({ast.unparse(body)})"
            yield "never", node, f"({ast.unparse(other)})"
        case ast.BoolOp(op=op, values=values):
            for value in values:
                if not is_asked(value):
                    yield "condition left out", value, str(isinstance(op, ast.And))
        case ast.Compare() if isinstance(parent, ast.While):  # one round more changes nothing
            pass
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPPOSITES:
            yield "comparison", node, f"({ast.unparse(left)} {OPPOSITES[type(op)]} {ast.unparse(right)})"
        case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
            yield "or for and", node, f"({ast.unparse(left)} | {ast.unparse(right)})"
            yield "inverted", right, f"(~({ast.unparse(right)}))"
        case ast.BinOp(left=left, op=op, right=right) if not isinstance(left, ast.Constant):
            yield "left side alone", node, f"({ast.unparse(left)})"
            if isinstance(op, ast.Add):
                yield "right side alone", node, f"({ast.unparse(right)})"
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()) if isinstance(parent, ast.keyword):
            yield "another axis", node, "-2"
        case ast.UnaryOp(op=ast.Invert() | ast.Not() | ast.USub(), operand=operand):
            yield "inverted", node, f"({ast.unparse(operand)})"
        case ast.Constant(value=bool()):
            yield "flag", node, str(not node.value)
        case ast.Constant(value=int() | float() as number) if not is_axis(parent):
            yield "number", node, str(1 - number if number in (0, 1) else number + 1)
        case ast.Name(id=name, ctx=ast.Load()) if name in EXCHANGED:
            yield "another name", node, EXCHANGED[name]
        case ast.Attribute(value=value, attr=name, ctx=ast.Load()) if name in EXCHANGED:
            yield "another name", node, f"{ast.unparse(value)}.{EXCHANGED[name]}"
        case ast.keyword(arg=str() as name) if name not in ("strict", "non_blocking", "minimum"):
            yield "left out", node, "**{}"
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Assign(targets=[ast.Attribute()]):
            yield "left out", node, "pass"


def is_asked(node: ast.AST) -> bool:
    return any(question in ast.unparse(node) for question in ASKED)


def is_axis(parent: ast.AST) -> bool:
    return isinstance(parent, ast.Subscript) and ast.unparse(parent.value).endswith(".shape")


def mutants_of(file: str, source: str) -> Iterator[Mutant]:
    """Yield every mutant of a file; those that look alike are numbered."""
    text = source.encode()
    lines = text.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    seen: Counter[str] = Counter()
    for inside, node, parent in nodes_in_functions(ast.parse(source)):
        for rule, old, new in changes_in(node, parent):
            start = starts[old.lineno - 1] + old.col_offset
            end = starts[old.end_lineno - 1] + old.end_col_offset
            code, line = (
                " ".join(part.decode().split()) for part in (text[start:end], lines[old.lineno - 1])
            )
            name = f"{file} {inside}: {code} → {new} ({rule})" + (f" in: {line}" if code != line else "")
            seen[name] += 1
            number = f", {seen[name]}" if seen[name] > 1 else ""
            yield Mutant(name + number, file, (text[:start] + new.encode() + text[end:]).decode())


def nodes_in_functions(node: ast.AST, inside: str = "") -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """Yield each node that is computed within a function, with the function's name and the node's parent."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield from nodes_in_functions(child, f"{inside}.{child.name}".lstrip("."))
        elif not isinstance(child, NOT_COMPUTED) and child not in said_about(node):
            if inside:
                yield inside, child, node
            yield from nodes_in_functions(child, inside)


def said_about(node: ast.AST) -> list[ast.AST]:
    """Return the parts of a definition that compute nothing."""
    return [*getattr(node, "decorator_list", ()), getattr(node, "returns", None)]
