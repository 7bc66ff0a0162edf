"""Paths in the repository."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

RUNBOOK = "docs/runbook.md"
"""The page with more on each alarm."""
