"""The check of the English finds the bans of STYLE.md, reports their lines, and finds nothing in code."""

from pathlib import Path

import pytest

from devtools.prose import command
from devtools.prose.command import Found, beyond, parsed
from devtools.prose.rules import Finding, findings
from devtools.prose.texts import Text, in_markdown, in_python, in_typescript, sentences, words_of

FULL = " ".join(["Word"] * 25)


def rules(text: str, kind: str = "docstring") -> list[str]:
    return [finding.rule for finding in findings(Text(kind, 1, text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The answer tells the client.", ["tell"]),
        ("A stand-in for the clock, which is outstanding.", []),
        ("Whoever asks is refused for good.", ["whoever", "for good"]),
        ("It is for goods that somebody ordered.", ["somebody"]),
        (f"{FULL} more.", ["long"]),
        (f"{FULL}. {FULL}.", []),
    ],
)
def test_banned_words_are_whole_words_and_sentences_are_short(text: str, expected: list[str]) -> None:
    assert rules(text) == expected


def test_a_subject_clause_is_found_on_pages_and_in_messages_and_a_question_is_not_one() -> None:
    assert rules("What is read is paid.", "page") == ["clause"]
    assert rules("What you read is paid.", "message") == ["clause"]
    assert rules("What does it cost?", "page") == []
    assert rules("What is read is paid.") == []


def test_the_words_of_a_name() -> None:
    assert words_of("HTTPTold_by2") == ["http", "told", "by", "2"]
    assert rules(" ".join(words_of("is_told_anew")), "name") == ["name:anew", "name:told"]
    assert rules(" ".join(words_of("understands")), "name") == []


def test_sentences_end_before_a_capital_letter_or_code() -> None:
    assert sentences("It costs 1.5 units, e.g. one. `x` is free! Is it?") == [
        "It costs 1.5 units, e.g. one.",
        "`x` is free!",
        "Is it?",
    ]


def test_markdown_without_code_links_and_comments() -> None:
    source = """# A title

A [page](told.md) with `told`
over two lines.
- an item
<!-- told -->

| a cell | `told` |
|---|---|

```sh
told
```
"""
    assert list(in_markdown(source)) == [
        Text("page", 1, "A title"),
        Text("page", 3, "A page with `x` over two lines."),
        Text("page", 5, "an item"),
        Text("page", 8, "a cell"),
        Text("page", 8, "`x`"),
    ]


def test_python_texts_have_their_kind_and_line() -> None:
    source = '''"""The module."""
# A comment
# of two lines.
import os  # noqa: F401

def told(name):
    """A docstring.

    Its second paragraph.
    """
    raise ValueError(f"The {name} is not here.")

FieldError("name", "is missing")
option(help="it works", dest="not prose")
LIMIT = "told"
"""Of a constant."""
'''
    assert sorted(in_python(source), key=lambda text: text.line) == [
        Text("docstring", 1, "The module."),
        Text("comment", 2, "A comment of two lines."),
        Text("name", 6, "told"),
        Text("name", 6, "name"),
        Text("docstring", 7, "A docstring."),
        Text("docstring", 9, "Its second paragraph."),
        Text("message", 11, "The `x` is not here."),
        Text("message", 13, "is missing"),
        Text("message", 14, "it works"),
        Text("name", 15, "limit"),
        Text("docstring", 16, "Of a constant."),
    ]


def test_typescript_texts() -> None:
    source = "/** A\n * comment. */\nconst a = 'told';\nconst readAnew = `The ${name} is not here.`; // why\na(readAnew);\n"
    assert list(in_typescript(source)) == [
        Text("comment", 1, "A comment."),
        Text("message", 4, "The `x` is not here."),
        Text("comment", 4, "why"),
        Text("name", 3, "const"),
        Text("name", 3, "a"),
        Text("name", 4, "read anew"),
    ]


def test_findings_beyond_the_exceptions_are_shown_and_exceptions_only_shrink() -> None:
    found = [Found("a.md", Finding(3, "those who", "x")), Found("a.md", Finding(4, "those who", "y"))]
    allowed = parsed("1 those_who a.md\n2 long b.md\n")
    assert beyond(found, allowed) == [
        "a.md:3: x",
        "a.md:4: y",
        "b.md: long occurs 0 times: lower the 2 in exceptions.txt",
    ]
    assert beyond(found, parsed("2 those_who a.md\n")) == []


def test_files_are_read_by_their_suffix_and_archived_records_are_left(tmp_path: Path) -> None:
    (tmp_path / "docs/decisions/archive").mkdir(parents=True)
    for name in ("a.md", "b.txt", "docs/decisions/archive/c.md"):
        (tmp_path / name).write_text("It is told.")
    names = ["a.md", "b.txt", "docs/decisions/archive/c.md"]
    assert [one.path for one in command.all_findings(names, tmp_path)] == ["a.md"]
