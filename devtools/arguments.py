"""Arguments and argument types that several subcommands share."""

import argparse
import os
from pathlib import Path

from devtools import paths


def count(text: str) -> int:
    """A whole number above 0, for argparse."""
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not number:
        raise argparse.ArgumentTypeError("must be a whole number above 0")
    return number


def add_data(parser: argparse._ActionsContainer) -> None:
    """Add `--data`, for commands that work on a local stack."""
    parser.add_argument(
        "--data",
        metavar="DIR",
        type=Path,
        default=paths.DEFAULT_DATA,
        help="the local stack's data folder (default: .data)",
    )


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add `--jobs`."""
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=count,
        default=os.cpu_count() or 1,
        help="processes (default: one for each processor)",
    )


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Add `--engine`, of proofs that can run over a table in memory or a real one."""
    parser.add_argument(
        "--engine",
        choices=("memory", "local"),
        default="memory",
        help="the table: in memory (default), or DynamoDB Local",
    )
