"""Run the proofs one after another, print a line for each, and at the end the ones that failed or did not run."""

import argparse
import os
import time
from collections.abc import Sequence

from rich.console import Console

from devtools.arguments import add_jobs
from devtools.failure import Failure
from devtools.proof.prove.proofs import PROOFS, NotHere, Proof

_SHOWN = 10
"""Differences of a proof that are printed."""

_DESCRIPTION = """\
Run every proof at full length. That takes three to four hours on two cores. Run it at the end of a piece of work, or
each night; for every change, run `./dev test`. To see what each proof proves, use --list.

Each proof prints one line with its figures and its CPU minutes. If this machine lacks something that a proof needs,
the proof does not run, and its line says why. The exit status is 1 if a proof found a difference, otherwise 0.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `./dev prove`."""
    parser.description = _DESCRIPTION
    parser.add_argument(
        "--only", metavar="WORD", default="", help="run only the proofs whose name contains this text"
    )
    parser.add_argument(
        "--million",
        action="store_true",
        help="also compare a million issues with PostgreSQL (some 6 GB of disk, half an hour more)",
    )
    parser.add_argument("--list", action="store_true", help="list the proofs and what they prove; run none")
    add_jobs(parser)


def run(args: argparse.Namespace) -> int:
    """Run the chosen proofs; 1 when one of them finds a difference."""
    chosen = [one for one in PROOFS if args.only in one.name and (args.million or not one.on_request)]
    if not chosen:
        raise Failure(f"No proof has {args.only!r} in its name. To list the names: ./dev prove --list.")
    console = Console(highlight=False, soft_wrap=True)
    if args.list:
        for proof in chosen:
            console.print(f"{proof.name}: {proof.proves}", markup=False)
        return 0
    return run_all(console, chosen, args.jobs)


def run_all(console: Console, proofs: Sequence[Proof], jobs: int) -> int:
    """Run these proofs, some of them beside the others; 1 when one of them finds a difference, or fails."""
    began, began_cpu = time.monotonic(), cpu_seconds()
    begun = {proof.name: proof.begin() for proof in proofs if proof.begin is not None}
    differing: list[str] = []
    missing: list[str] = []
    for proof in sorted(proofs, key=lambda one: one.name in begun):
        before = cpu_seconds()
        try:
            proven = begun[proof.name]() if proof.name in begun else proof.run(jobs)
        except NotHere as reason:
            missing.append(proof.name)
            _print(console, "not run", f"{proof.name}: {reason}")
            continue
        except Exception as error:  # the other proofs are worth having all the same
            differing.append(proof.name)
            _print(console, "FAILED", f"{proof.name}: {type(error).__name__}: {error}")
            continue
        minutes = (cpu_seconds() - before) / 60
        line = f"{proof.name}: {proven.figures} ({minutes:.1f} CPU minutes)"
        if not proven.differences:
            _print(console, "proven", line)
            continue
        differing.append(proof.name)
        _print(console, "FAILED", f"{line}: {len(proven.differences)} differences")
        for difference in proven.differences[:_SHOWN]:
            console.print(difference, markup=False)
    console.print(
        f"{len(proofs) - len(differing) - len(missing)} of {len(proofs)} proofs found no difference, in "
        f"{(time.monotonic() - began) / 60:.1f} minutes ({(cpu_seconds() - began_cpu) / 60:.1f} CPU minutes)"
    )
    if differing:
        console.print(f"Failed: {', '.join(differing)}", markup=False)
    if missing:
        console.print(f"Not run: {', '.join(missing)}", markup=False)
    return 1 if differing else 0


def cpu_seconds() -> float:
    """CPU seconds of this process, and of the children that it has waited for, so far."""
    taken = os.times()
    return taken.user + taken.system + taken.children_user + taken.children_system


def _print(console: Console, verdict: str, text: str) -> None:
    console.print(f"{verdict:<8} {text}", markup=False)
