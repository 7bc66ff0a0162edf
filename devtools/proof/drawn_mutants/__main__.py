"""`./dev python -m devtools.proof.drawn_mutants`: judge a sample of the drawn mutants, or show one and what finds it out."""

import argparse
import ast
import difflib
import os
import sys

from devtools.proof.drawn_mutants import sampling
from devtools.proof.drawn_mutants.covering import sources
from devtools.proof.drawn_mutants.drawing import Drawn


def main() -> int:
    """Print the mutants that live, and the score; 1 when one lives without a reason, or a reason is stale."""
    parser = argparse.ArgumentParser(prog="drawn_mutants", description=__doc__)
    parser.add_argument(
        "--name", default="", help="judge the mutants whose names hold this text, and show their change"
    )
    parser.add_argument("--modules", default="", help="draw only of modules whose names begin so")
    parser.add_argument("--sample", type=int, default=sampling.MUTANTS)
    parser.add_argument("--seed", type=int, default=sampling.SEED)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    modules = asked.modules or asked.name.partition(":")[0]
    drawn = [one for one in sampling.all_drawn(modules) if asked.name in one.name]
    mutants = drawn if asked.name else sampling.sampled(drawn, asked.sample, asked.seed)
    judged = sampling.judge(mutants, asked.jobs)
    if asked.name:
        for mutant in mutants:
            _show(mutant)
    reasons = sampling.living()
    for verdict in sorted(judged.verdicts):
        if not verdict.by and verdict.name in reasons:
            print(f"alive, as listed: {verdict.name}\n  {reasons[verdict.name]}")
        elif verdict.by and asked.name:
            print(f"killed: {verdict.name}\n  by {verdict.by} ({verdict.looks} looks): {verdict.failure}")
    differences = judged.differences(reasons)
    print("\n".join(differences))
    seconds = sum(verdict.seconds for verdict in judged.verdicts)
    print(f"{judged.figures()}, {seconds:,.0f} seconds of the processor")
    return 1 if differences else 0


def _show(mutant: Drawn) -> None:
    text = sources()[mutant.place.partition(":")[0]].read_text("utf-8")
    before, after = (ast.unparse(tree).splitlines() for tree in (ast.parse(text), mutant.spoilt(text)))
    print("\n".join(difflib.unified_diff(before, after, lineterm="", n=2)))


sys.exit(main())
