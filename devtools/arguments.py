"""Argument types that several subcommands share."""

import argparse


def count(text: str) -> int:
    """A whole number above 0, for argparse."""
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not number:
        raise argparse.ArgumentTypeError("must be a whole number above 0")
    return number
