"""Compare the values of many random formulas, or those of one seed."""

import argparse
import sys

from devtools.arguments import add_jobs
from devtools.proof.formulas.comparing import COMPUTED, compare_all

_SHOWN = 10


def main() -> int:
    """Compare; 1 if a value differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, help="compare the formulas of this seed only")
    parser.add_argument(
        "--count", type=int, default=1_000, help="compare so many seeds, of three formulas each"
    )
    add_jobs(parser)
    arguments = parser.parse_args()
    seeds = range(arguments.count) if arguments.seed is None else range(arguments.seed, arguments.seed + 1)
    total, differences = compare_all(seeds, arguments.jobs)
    for difference in differences[:_SHOWN]:
        print(difference)
    print(f"{total.values:,} values of {COMPUTED * len(seeds):,} formulas, {len(differences)} differences")
    for kind, count in total.seen.most_common():
        print(f"  {kind}: {count:,}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
