"""Run the proofs one after another, print a line for each, and at the end the ones that failed or did not run."""

import argparse
import os
import time
from collections.abc import Callable, Sequence
from functools import partial

from rich.console import Console

from devtools.arguments import add_jobs
from devtools.failure import Failure
from devtools.proof.prove import record as records
from devtools.proof.prove.proofs import PROOFS, NotHere, Proof, Proven, Running
from devtools.proof.prove.record import Record

_SHOWN = 10
"""Differences of a proof that are printed."""

_DESCRIPTION = """\
Run every proof at full length. That takes two to four hours on two cores. Run it at the end of a piece of work, or
each night; for every change, run `./dev test`. To see what each proof proves, use --list.

Each proof prints one line with its figures and its CPU minutes. If this machine lacks something that a proof needs,
the proof does not run, and its line says why. The exit status is 1 if a proof found a difference, otherwise 0.

If a run was ended, --resume runs the proofs that it did not finish, and prints the lines of the others again. That
needs the same commit, without changed files.
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
    parser.add_argument(
        "--resume", action="store_true", help="run only the proofs that an ended run left of this commit"
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
    record = records.to_resume() if args.resume else records.of_this_clone()
    if record is not None and not args.resume:
        for proof in chosen:
            record.forget(proof.name)
    return Run(console, record).run_all(chosen, args.jobs)


class Run:
    """A run of proofs: what it prints, and what failed so far."""

    def __init__(self, console: Console, record: Record | None) -> None:
        self._console = console
        self._record = record
        self._running: dict[str, Running] = {}
        self._differing: list[str] = []
        self._missing: list[str] = []

    def run_all(self, proofs: Sequence[Proof], jobs: int) -> int:
        """Run the proofs that the record does not have; 1 when one of them finds a difference, or fails."""
        began, began_cpu = time.monotonic(), cpu_seconds()
        proven = {} if self._record is None else dict(self._record.lines)
        for proof in proofs:
            if proof.name in proven:
                self._print("proven", f"{proven[proof.name]}, in an earlier run")
                continue
            self._take(proof.name, partial(proof.run, jobs))
            self._collect(lambda running: running.is_over())
        self._collect(lambda _: True)
        self._print_end(len(proofs), (time.monotonic() - began) / 60, (cpu_seconds() - began_cpu) / 60)
        return 1 if self._differing else 0

    def _collect(self, chosen: Callable[[Running], bool]) -> None:
        """Take the results of running proofs, and wait for them if needed."""
        for name, running in list(self._running.items()):
            before = cpu_seconds()  # of a process that has ended, once it was looked at
            if chosen(running):
                del self._running[name]
                self._take(name, running.result, before)

    def _take(self, name: str, run: Callable[[], Proven | Running], before: float | None = None) -> None:
        before = cpu_seconds() if before is None else before
        try:
            proven = run()
        except NotHere as reason:
            self._missing.append(name)
            self._print("not run", f"{name}: {reason}")
            return
        except Exception as error:  # the other proofs are worth having all the same
            self._differing.append(name)
            self._print("FAILED", f"{name}: {type(error).__name__}: {error}")
            return
        if isinstance(proven, Running):
            self._running[name] = proven
            return
        line = f"{name}: {proven.figures} ({(cpu_seconds() - before) / 60:.1f} CPU minutes)"
        if not proven.differences:
            self._print("proven", line)
            if self._record is not None:
                self._record.keep(name, line)
            return
        self._differing.append(name)
        self._print("FAILED", f"{line}: {len(proven.differences)} differences")
        for difference in proven.differences[:_SHOWN]:
            self._console.print(difference, markup=False)

    def _print_end(self, proofs: int, minutes: float, cpu_minutes: float) -> None:
        self._console.print(
            f"{proofs - len(self._differing) - len(self._missing)} of {proofs} proofs found no difference, in "
            f"{minutes:.1f} minutes ({cpu_minutes:.1f} CPU minutes)"
        )
        if self._differing:
            self._console.print(f"Failed: {', '.join(self._differing)}", markup=False)
        if self._missing:
            self._console.print(f"Not run: {', '.join(self._missing)}", markup=False)

    def _print(self, verdict: str, text: str) -> None:
        self._console.print(f"{verdict:<8} {text}", markup=False)


def cpu_seconds() -> float:
    """CPU seconds of this process, and of the children that it has waited for, so far."""
    taken = os.times()
    return taken.user + taken.system + taken.children_user + taken.children_system
