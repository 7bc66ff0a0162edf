"""Where things are in the repository."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

RUNBOOK = "docs/operating.md"
"""The page that says more on each alarm."""
