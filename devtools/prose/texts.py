"""The English in the repository, piece by piece: pure functions from a file's source to texts with their lines."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

_CODE = "`x`"
"""Takes the place of a code span, which is no English, but a word of its sentence."""
_FENCE = re.compile(r"^\s*(```|~~~)")
_DIRECTIVE = re.compile(r"^#(!| noqa| type:| fmt:| pragma|:)|^# (noqa|type:|fmt:|pragma)")


_FEW = 4
"""Words from which on a literal is a message."""
_FEWEST = 2
"""The same where people read it for certain."""
_DESCRIBING = frozenset({"description", "detail", "help", "reason", "summary", "title"})
"""Arguments whose literals people read."""


class Text(NamedTuple):
    """One piece of English: a paragraph, a cell of a table, a docstring, a comment, a message, or the words of a name."""

    kind: str
    """`page`, `docstring`, `comment`, `message` or `name`."""
    line: int
    """The line of its file at which the text begins, from 1 on."""
    text: str


def in_markdown(source: str) -> Iterator[Text]:
    """The paragraphs, headings, list items and cells of a page; no code blocks, link targets or HTML."""
    for line, block in _blocks(_without_comments(source)):
        if block.lstrip().startswith("|"):
            cells = (cell for cell in re.split(r"(?<!\\)\|", block) if cell.strip(" -:"))
            yield from (Text("page", line, plain(cell)) for cell in cells)
        else:
            yield Text("page", line, plain(block))


def in_python(source: str) -> Iterator[Text]:
    """The docstrings, comments, messages and names of a module."""
    tree = ast.parse(source)
    read = set(_read_by_people(tree))
    parts = {part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    docstrings = set()
    for body in _bodies(tree):
        for statement in body:
            if isinstance(statement, ast.Expr) and _literal(statement.value) is not None:
                docstrings.add(statement.value)
                for line, block in _blocks(_literal(statement.value) or ""):
                    yield Text("docstring", statement.lineno + line - 1, plain(block))
    for node in ast.walk(tree):
        yield from _names(node)
        if isinstance(node, ast.expr) and node not in docstrings and node not in parts:
            text = _literal(node)
            if text is not None and _is_message(text, _FEWEST if node in read else _FEW):
                yield from (Text("message", node.lineno, plain(block)) for _, block in _blocks(text))
    yield from _comments(source)


_TYPESCRIPT = re.compile(r"/\*\*?(.*?)\*/|//([^\n]*)|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`", re.DOTALL)
"""A comment or a string, as far as the code of the page needs to be understood."""


def in_typescript(source: str) -> Iterator[Text]:
    """The comments, messages and names of a module. A name that occurs several times is listed once."""
    for found in _TYPESCRIPT.finditer(source):
        line = source.count("\n", 0, found.start()) + 1
        comment, message = found[1] or found[2], found[3] or found[4]
        if comment:
            yield Text("comment", line, plain(re.sub(r"\n\s*\*", "\n", comment)))
        elif message and _is_message(message):
            yield Text("message", line, plain(re.sub(r"\$\{[^{}]*\}", _CODE, message)))
    code = _TYPESCRIPT.sub(lambda found: "\n" * found[0].count("\n"), source)
    lines: dict[str, int] = {}
    for number, line_of_code in enumerate(code.splitlines(), 1):
        for name in re.findall(r"[A-Za-z_]\w*", line_of_code):
            lines.setdefault(name, number)
    yield from (Text("name", line, " ".join(words_of(name))) for name, line in lines.items())


def words_of(name: str) -> list[str]:
    """The words of a name: `told_by` and `ToldBy` have `told` and `by`."""
    return [
        word.lower()
        for part in name.split("_")
        for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", part)
    ]


def sentences(text: str) -> list[str]:
    """The sentences of a text. A colon before a list, and an ellipsis, end none."""
    ends = [0, *(end.end() for end in re.finditer(r"[.!?][\")]?\s+(?=[A-Z`\"(])", text)), len(text)]
    return [text[first:last].strip() for first, last in pairwise(ends) if text[first:last].strip()]


def plain(text: str) -> str:
    """A text without marks: code spans become a placeholder, links their words, runs of white space one space."""
    text = re.sub(r"``.+?``|`[^`]*`", _CODE, text)
    text = re.sub(r"!?\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])", r"\1", text)
    text = re.sub(r"<[^<>\s][^<>]*>", "", text)
    return " ".join(re.sub(r"[*#>]+|^\s*([-+]|\d+\.)\s", " ", text).split())


def _blocks(source: str) -> Iterator[tuple[int, str]]:
    """Paragraphs, list items, headings and rows of tables, each with its first line."""
    first, held, fenced = 0, list[str](), False
    for number, line in enumerate([*source.splitlines(), ""], 1):
        fence = _FENCE.match(line)
        begins = re.match(r"\s*([-+*]|\d+\.)\s|\s*\||#", line)
        if held and (fence or fenced or begins or not line.strip()):
            yield first, "\n".join(held)
            held = []
        if fence:
            fenced = not fenced
        elif line.strip() and not fenced:
            if not held:
                first = number
            held.append(line)


def _names(node: ast.AST) -> Iterator[Text]:
    """The name that a node gives to a class, function, parameter, variable or attribute."""
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            pass
        case (
            ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store())
        ):
            pass
        case _:
            return
    yield Text("name", node.lineno, " ".join(words_of(name)))


def _without_comments(source: str) -> str:
    return re.sub(r"<!--.*?-->", lambda found: "\n" * found[0].count("\n"), source, flags=re.DOTALL)


def _bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            yield body


def _literal(node: ast.expr) -> str | None:
    """The text of a literal; what an f-string inserts becomes a placeholder."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else _CODE for part in node.values)
    return None


def _read_by_people(tree: ast.AST) -> Iterator[ast.AST]:
    """The literals that people read for certain: of raised errors, and of arguments that describe something."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise):
            yield from ast.walk(node)
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id.endswith("Error"):
                yield from (part for argument in node.args for part in ast.walk(argument))
            for keyword in node.keywords:
                if keyword.arg in _DESCRIBING:
                    yield from ast.walk(keyword.value)


def _is_message(text: str, fewest: int = _FEW) -> bool:
    """Whether a literal is for people: enough words, most of them in letters only."""
    words = text.replace(_CODE, "x").split()
    return len(words) >= fewest and sum(word.strip(".,:;!?()'\"").isalpha() for word in words) > 0.7 * len(
        words
    )


def _comments(source: str) -> Iterator[Text]:
    """Comments; those of adjacent lines are one text."""
    held: list[tuple[int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT or _DIRECTIVE.match(token.string):
            continue
        line, text = token.start[0], token.string.removeprefix("#").partition("  # noqa")[0]
        if held and (line != held[-1][0] + 1 or token.line.strip() != token.string):
            yield Text("comment", held[0][0], plain(" ".join(part for _, part in held)))
            held = []
        held.append((line, text))
    if held:
        yield Text("comment", held[0][0], plain(" ".join(part for _, part in held)))
