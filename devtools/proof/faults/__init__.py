"""`./dev faults`: the functions' handlers under a seeded adversary, thousands of times.

It proves that whatever is killed, delayed, repeated, refused or reordered between the handlers and the table, everything derived
becomes what the documents give, and that a batch's answer names the first record that is not done.

The threads of an invocation have calls under way side by side: which of them lands first is drawn, and a kill leaves some landed
and others not. In a third of what is drawn, two tenants have a project with the same id and one of them has a second one. Their
records share batches, and no work for one project reads or writes an item of another.

It cannot prove what it does not play. No thread interrupts another between two calls, as threads of the operating system do. The
table is one in memory, which `tests/unit/dynamodb/test_table.py` holds to what moto does; only `--engine local` runs the real
`Table`. The expected sort strings and tokens are those of the core: the oracle and the golden files judge them. Here the order of
the rows and the issues that pass a filter come from values and from SQLite alone.

Readers ask what the oracle asks, positions apart. While people write, reads may be as old as the scenario. What an answer leaves
out is not judged then, nor are sums, and counts are only held below all that issues have ever been. `./dev oracle --writers`
judges all of it, with a lag that is bounded.
"""
