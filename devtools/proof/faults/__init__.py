"""`./dev faults`: the functions' handlers under a seeded adversary, thousands of times.

Between the handlers and the table, calls are killed, delayed, repeated, refused and reordered. The scenarios prove
that everything derived still becomes what the documents give. They also prove that a batch's answer names the first
record that is not done.

The threads of an invocation have calls in flight side by side. It is drawn which of them lands first, and a kill
leaves some landed and others not. In a third of the drawn scenarios, two tenants have a project with the same id and
one of them has a second one. Their records share batches, and no work for one project reads or writes an item of
another.

The scenarios prove nothing that they do not play. No thread interrupts another between two calls, as threads of the
operating system do. The table is in memory; `tests/unit/dynamodb/test_table.py` compares it with moto. Only `--engine
local` runs the real `Table`. The expected sort strings and tokens come from the core: the oracle and the golden files
judge them. Here only the order of the rows, and the issues that pass a filter, come from values and from SQLite.

Readers ask the oracle's questions, without positions. While people write, reads may be as old as the scenario. Then
nobody judges sums or what an answer leaves out, and counts are only held below all issues that ever were. `./dev
oracle --writers` judges all of it, with a bounded lag.
"""
