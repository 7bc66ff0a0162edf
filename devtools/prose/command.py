"""The whole repository beside the rules, and the exceptions that are still allowed."""

import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from devtools.paths import ROOT
from devtools.prose.rules import Finding, findings
from devtools.prose.texts import Text, in_markdown, in_python, in_typescript, words_of

EXCEPTIONS = Path(__file__).with_name("exceptions.txt")
"""How often each file may break each rule: lines of `count rule path`. It may only shrink."""

_READERS: Mapping[str, Callable[[str], Iterable[Text]]] = {
    ".md": in_markdown,
    ".py": in_python,
    ".ts": in_typescript,
    ".tsx": in_typescript,
    ".js": in_typescript,
}
_HISTORY = "docs/decisions/archive/"
"""Records that nobody edits any more."""

Allowed = Mapping[tuple[str, str], int]
"""Exceptions by path and rule."""


class Found(NamedTuple):
    """A finding in a file."""

    path: str
    finding: Finding


def all_findings(paths: Iterable[str], root: Path = ROOT) -> Iterator[Found]:
    """The findings in some files of the repository, file by file."""
    for path in paths:
        reader = _READERS.get(Path(path).suffix)
        if reader is None or path.startswith(_HISTORY):
            continue
        module = [Text("name", 1, " ".join(words_of(Path(path).stem)))] if path.endswith(".py") else []
        for text in [*module, *reader((root / path).read_text("utf-8"))]:
            yield from (Found(path, finding) for finding in findings(text))


def beyond(found: Iterable[Found], allowed: Allowed) -> list[str]:
    """A line for each finding in a file that breaks a rule more often than allowed, and for each exception that is too large."""
    by_place: dict[tuple[str, str], list[Found]] = defaultdict(list)
    for one in found:
        by_place[one.path, one.finding.rule].append(one)
    lines = []
    for place, some in sorted(by_place.items()):
        if len(some) > allowed.get(place, 0):
            lines += [f"{one.path}:{one.finding.line}: {one.finding.advice}" for one in some]
    for (path, rule), count in sorted(allowed.items()):
        present = len(by_place.get((path, rule), ()))
        if present < count:
            lines.append(f"{path}: {rule} occurs {present} times: lower the {count} in {EXCEPTIONS.name}")
    return lines


def run() -> int:
    """Print what breaks the rules; 1 if anything does."""
    lines = beyond(all_findings(_tracked()), parsed(EXCEPTIONS.read_text("utf-8")))
    print("\n".join(lines) if lines else "English: no finding beyond the exceptions")
    return int(bool(lines))


def write() -> None:
    """Let the exceptions be what is found now."""
    counts = Counter((one.path, one.finding.rule) for one in all_findings(_tracked()))
    lines = (f"{count} {rule.replace(' ', '_')} {path}\n" for (path, rule), count in sorted(counts.items()))
    EXCEPTIONS.write_text("".join(lines), "utf-8")


def parsed(source: str) -> Allowed:
    """The exceptions in a file's text."""
    rows = (line.split(" ", 2) for line in source.splitlines())
    return {(path, rule.replace("_", " ")): int(count) for count, rule, path in rows}


def _tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [path for path in sorted(listed.stdout.splitlines()) if (ROOT / path).exists()]
