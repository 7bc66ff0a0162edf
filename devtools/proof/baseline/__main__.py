"""`./dev python -m devtools.proof.baseline`: compare what queries answer and cost with the record, or write it."""

import argparse
import sys

from devtools.proof import baseline


def main() -> int:
    """Print the differences; 1 when something got worse."""
    parser = argparse.ArgumentParser(prog="baseline", description=__doc__)
    parser.add_argument("--issues", type=int, nargs="*", choices=baseline.SIZES, default=baseline.SIZES)
    parser.add_argument("--record", action="store_true", help="write the results as the new record")
    asked = parser.parse_args()
    worse = 0
    for size in asked.issues:
        found = baseline.measure(size)
        if asked.record:
            baseline.record(size, found)
            continue
        compared = baseline.compare(baseline.recorded(size), found)
        worse += len(compared.worse)
        for title, lines in (("worse", compared.worse), ("better: record them", compared.better)):
            print(f"{size:,} issues, {len(found):,} questions: {len(lines):,} {title}")
            for line in lines:
                print(f"  {line}")
    return 1 if worse else 0


sys.exit(main())
