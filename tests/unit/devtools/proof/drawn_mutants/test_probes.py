"""Probes: the statements that have one, and that a module with probes behaves as before."""

import ast
import sys
from pathlib import Path

import pytest

from devtools.proof.drawn_mutants.probes import Probed, numbered
from devtools.proof.mutation import Finder

MODULE = '''"""A module."""
from __future__ import annotations

def work(given):
    """Work."""
    if given:
        return "yes"
    for _ in range(given):
        pass
    return (lambda: "no")()

never = lambda: 1
'''


def executed(hits: bytearray) -> set[int]:
    """The lines whose probes are set."""
    return {getattr(node, "lineno", 0) for node, probe in numbered(ast.parse(MODULE)).items() if hits[probe]}


def test_a_module_with_probes_does_the_same_and_shows_which_blocks_were_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "probed_module.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [Finder("probed_module".__eq__, Probed), *sys.meta_path])
    import probed_module  # type: ignore[import-not-found]

    hits = Probed.hits.pop("probed_module")
    monkeypatch.delitem(sys.modules, "probed_module")
    assert executed(hits) == set()
    assert probed_module.work(1) == "yes"
    # The docstring, the condition, and its body.
    assert executed(hits) == {5, 6, 7}
    hits[:] = bytes(len(hits))
    assert probed_module.work(0) == "no"
    assert executed(hits) == {5, 6, 8, 10}
    assert probed_module.work.__doc__ == "Work."
    assert (tmp_path / "__pycache__").exists() is False
