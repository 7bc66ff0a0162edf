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
    """Print the mutants that live, and the score; 1 when one lives that is not listed."""
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
    listed = sampling.living()
    for verdict in sorted(judged.verdicts):
        if not verdict.by:
            told = listed.get(verdict.name, "no reason is listed")
            print(f"alive  {verdict.name}\n       after {verdict.looks} looks; {told}")
        elif asked.name:
            print(f"killed {verdict.name}\n       by {verdict.by} ({verdict.looks} looks): {verdict.failure}")
    for broken in judged.broken:
        print(f"fails of the core as it is: {broken}")
    seconds = sum(verdict.seconds for verdict in judged.verdicts)
    print(
        f"{len(judged.verdicts):,} mutants, {judged.score:.1f} % found out, {seconds:,.0f} seconds of the processor"
        + (f", {judged.left:,} not judged" if judged.left else "")
    )
    return 1 if judged.broken or {one.name for one in judged.living} - listed.keys() else 0


def _show(mutant: Drawn) -> None:
    text = sources()[mutant.place.partition(":")[0]].read_text("utf-8")
    before, after = (ast.unparse(tree).splitlines() for tree in (ast.parse(text), mutant.spoilt(text)))
    print("\n".join(difflib.unified_diff(before, after, lineterm="", n=2)))


sys.exit(main())
