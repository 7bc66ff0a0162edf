"""The rules of ../shared/STYLE.md that a program can check, and what to write instead."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from devtools.prose.texts import Text, sentences

LONGEST_SENTENCE = 25
"""Words."""

_INSTEAD = {
    "tell|tells|told|telling": "return, report, show, list, know, record",
    "stand|stands|stood|standing": "is, appears, remains",
    "whoever|whomever": "the noun: the caller, the client",
    "those who|those that|that which": "the noun: users who, items that",
    "by setting": "optionally; with `-c X`",
    "anew": "again",
    "mend|mends|mended|mending": "fix",
    "for good": "permanently",
    "hear of|hears of|heard of|hearing of": "receive",
    "somebody|somebody else": "someone, or the role",
    "of now|of then|of ours|own of": "nothing",
    "he|his|him|himself": "the name of the actor",
    "without a fault": "correctly",
}
"""Words and phrases by what to write instead."""

_BANNED = [
    (re.compile(rf"(?<![\w-])({words})(?![\w-])", re.IGNORECASE), words.split("|")[0], instead)
    for words, instead in _INSTEAD.items()
]

BANNED_IN_NAMES = frozenset(
    word
    for words in (
        "tell|tells|told|telling|untold",
        "stand|stands|stood|standing",
        "whoever|whose",
        "anew|besides",
        "lay|lays|laid",
        "mend|mends|mended|mending",
        "hear|hears|heard|unheard",
        "behind|somebody",
    )
    for word in words.split("|")
)
"""Words that no name may have."""

_SUBJECT_CLAUSE = re.compile(r"^(What|Of|Where|Who|Whose|Whoever)\b(?!.*\?$)")


class Finding(NamedTuple):
    """One break of a rule."""

    line: int
    rule: str
    """The short name under which exceptions are counted."""
    advice: str


def findings(text: Text) -> Iterator[Finding]:
    """Where a text breaks the rules."""
    if text.kind == "name":
        for word in sorted(BANNED_IN_NAMES & set(text.text.split())):
            yield Finding(text.line, f"name:{word}", f"the name has {word!r}")
        return
    for pattern, rule, instead in _BANNED:
        for found in pattern.finditer(text.text):
            yield Finding(text.line, rule, f"{found[0]!r} -> {instead}")
    for sentence in sentences(text.text):
        length = len(sentence.split())
        if length > LONGEST_SENTENCE:
            yield Finding(text.line, "long", f"{length} words: {sentence[:60]} ...")
        if text.kind in ("page", "message") and _SUBJECT_CLAUSE.match(sentence):
            yield Finding(text.line, "clause", f"the subject first: {sentence[:60]} ...")
