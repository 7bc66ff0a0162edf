"""The proofs that found no difference at a commit, so that a run that was ended is resumed."""

import json
import subprocess
from pathlib import Path

from devtools.failure import Failure
from devtools.paths import ROOT

FILE = ROOT / ".build" / "proven.json"


class Record:
    """The line of each proof that found no difference, in a file, with the commit that was proven."""

    def __init__(self, file: Path, commit: str) -> None:
        self._file = file
        self._commit = commit
        kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
        self.lines: dict[str, str] = kept.get("lines", {}) if kept.get("commit") == commit else {}

    def keep(self, proof: str, line: str) -> None:
        """Keep the line of a proof."""
        self.lines[proof] = line
        self._write()

    def forget(self, proof: str) -> None:
        """Forget the line of a proof, which runs again."""
        if self.lines.pop(proof, None) is not None:
            self._write()

    def _write(self) -> None:
        self._file.parent.mkdir(exist_ok=True)
        replacing = self._file.with_suffix(".new")
        replacing.write_text(json.dumps({"commit": self._commit, "lines": self.lines}, indent=2), "utf-8")
        replacing.replace(self._file)


def of_this_clone() -> Record | None:
    """The record of the commit that is checked out; None if files differ from it, or git knows no commit."""
    commit = _git("rev-parse", "HEAD")
    return Record(FILE, commit) if commit and _git("status", "--porcelain") == "" else None


def to_resume() -> Record:
    """The record of the commit that is checked out, with what it has proven so far.

    Raises `Failure` if there is no such record to trust.
    """
    record = of_this_clone()
    if record is None:
        raise Failure("Files differ from the commit. Commit them, and begin again without --resume.")
    if not record.lines:
        raise Failure("No run has proven anything of this commit yet. Begin without --resume.")
    return record


def _git(*arguments: str) -> str | None:
    try:
        ran = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ran.stdout.strip()
