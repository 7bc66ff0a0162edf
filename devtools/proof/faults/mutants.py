"""Ways to spoil the core, one at a time: each has to be found out by a scenario, or the scenarios prove nothing.

A mutant is a piece of a module's text, which has to stand in it exactly once, and what stands there instead. It is played in a
process of its own, in which the module is loaded from the changed text.
"""

import importlib.util
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from itertools import chain, zip_longest
from random import Random
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from rich.console import Console
from rich.markup import escape

from devtools.failure import Failure

MOST_SCENARIOS = 4000
"""Scenarios that a mutant has to survive to be called alive."""

_PATIENCE = 120.0
"""Seconds without a scenario's end after which a mutant counts as found out: it goes round in circles."""

ENDLESS = "it does not come to an end"
"""What is told of such a one instead of a difference."""

STREAM, BLOCKS, JOBS, PAGES = "stream", "blocks", "jobs", "pages"
_FIRST = {
    STREAM: ("kill points", "stream", "storm", "crowd", "poison"),
    BLOCKS: ("others write the same blocks", "kill points", "blocks", "crowd", "storm", "stream"),
    JOBS: (
        "job kill points",
        "definitions change during a pass",
        "an invocation began under older definitions",
        "an issue is edited during a pass",
        "a pass finds blocks of which the index has not heard",
        "definitions",
        "definitions, rough",
        "a project goes",
        "definitions and poison",
    ),
    PAGES: (
        "a page is read during a pass",
        "an issue gets a value while a page is read",
        "readers",
        "definitions",
        "stream",
    ),
}
"""The families of scenarios that are played first."""


class Mutant(NamedTuple):
    """A way to spoil a module: `text`, which stands in it once, becomes `instead`."""

    name: str
    module: str
    text: str
    instead: str
    about: str = STREAM


class Verdict(NamedTuple):
    """What became of a mutant. `difference` is None when no scenario found it out."""

    name: str
    family: str
    seed: int
    difference: str | None
    played: int
    seconds: float


_PUT_INTENT = "table.put(planned.intent.to_item(key, expires=_expires(work)), _unchanged(work.read))"
_PUT_ENTRY = "table.put(sort_entry(key, order_id, sort, version=version, revision=revision), not_overtaken)"
_CLEAR = """\
            table.put(
                tombstone(key, order_id, version=version, revision=revision, expires=expires), not_overtaken
            )
"""
_PUT_DONE = "lambda work: table.put(_done_item(work), _revision_is(work)),"
_PUT_LIGHT = "lambda work: table.put(_done_item(work), _unchanged(work.read))"
_FOLD = "elif image.order > known.order:"
_REPORT = """\
    return next(
        (image.first for image in images if isinstance(failed.get(image.key), Overloaded | Superseded)), None
    )
"""
_POISON = """\
        if isinstance(error, ItemTooLarge | Underivable):
            send_poison(Poison.of(by_key[key], error))
"""
_SUBJECT = "yield Subject(current[image.project], image, Ledger.from_item(ledgers.get((key, keys.LEDGER))))"
_PUT_BLOCK = "self._table.put(item, unchanged(read))"
_RETRY = """\
            self.read(remaining)
            issues = frozenset(place.issue for place in remaining)
            ours = still_ours(issues)
"""
_READ_AND_BEGIN = """\
            chains.read(place for some in places.values() for place in some)
            all_do(lambda work: _begin(table, work), begun)
"""
_FAILED = """\
            remaining = [place for place in remaining if (place.issue, place.family) in failed]
"""
_MERGED_WRITES = """\
                put(whole.to_item(self._tenant, self._project), unchanged(block)),
                delete(gone, directory, unchanged(following)),
"""
_PUT_FIRST = "put(first.to_item(self._tenant, self._project), unchanged(block)),"
_ONWARD = """\
        self._issues += pass_over(self._table, self._catalogs, tenant, project, numbers, self._send_poison)
        after = self._save(partition, job, replace(job, next=numbers.stop, due=clock.after(LEASE)))
"""

MUTANTS: tuple[Mutant, ...] = (
    # Conditions
    Mutant(
        "entries are written whatever stands there",
        "index.maintainer",
        _PUT_ENTRY,
        _PUT_ENTRY.replace(", not_overtaken", ""),
    ),
    Mutant(
        "entries are cleared whatever stands there",
        "index.maintainer",
        _CLEAR,
        _CLEAR.replace("not_overtaken\n", "None\n"),
    ),
    Mutant(
        "the intent is written whatever stands there",
        "index.maintainer",
        _PUT_INTENT,
        _PUT_INTENT.replace(", _unchanged(work.read)", ""),
    ),
    Mutant(
        "the ledger is finished whatever stands there",
        "index.maintainer",
        _PUT_DONE,
        _PUT_DONE.replace(", _revision_is(work)", ""),
    ),
    Mutant(
        "a ledger without an intent is written whatever stands there",
        "index.maintainer",
        _PUT_LIGHT,
        _PUT_LIGHT.replace(", _unchanged(work.read)", ""),
    ),
    Mutant(
        "an intent and what it came to are not told apart",
        "index.maintainer",
        'Condition(f"revision = :revision AND {unfinished}(intent)"',
        'Condition("revision = :revision"',
    ),
    Mutant(
        "documents are written whatever stands there",
        "commands.issues",
        'table.put(document, version_is(found["version"]))',
        "table.put(document)",
    ),
    # What is derived from what
    Mutant(
        "the old image is derived from",
        "index.stream_consumer",
        'stream["OldImage" if removed else "NewImage"]',
        'stream.get("OldImage") or stream["NewImage"]',
    ),
    Mutant(
        "the old image is trusted to be what was applied",
        "index.stream_consumer",
        _SUBJECT,
        """\
from gridview.index.keyspaces import derived_strings

            olds = (
                one["dynamodb"].get("OldImage")
                for one in records
                if one["dynamodb"]["Keys"][keys.PK]["S"] == image.key
            )
            old, catalog = next(olds), current[image.project]
            ledger = replace(
                Ledger.from_item(ledgers.get((image.key, keys.LEDGER))),
                applied=derived_strings(catalog, item_from_wire(old)) if old and catalog else {},
                intent=None,
            )
            yield Subject(catalog, image, ledger)""",
    ),
    Mutant(
        "a batch is folded to the oldest image",
        "index.stream_consumer",
        _FOLD,
        "elif image.order < known.order:",
    ),
    Mutant(
        "a batch is folded by versions alone",
        "index.stream_consumer",
        _FOLD,
        "elif image.order.version > known.order.version:",
    ),
    Mutant(
        "a removal is not newer than its version",
        "index.ledger",
        "(image < ledger.order or (image == ledger.order and epoch <= ledger.epoch))",
        "(image.version < ledger.version or (image.version == ledger.version and epoch <= ledger.epoch))",
    ),
    Mutant(
        "a removed issue is derived as it was",
        "index.maintainer",
        "if catalog is None or image.order.removed:",
        "if catalog is None:",
    ),
    Mutant(
        "an older image is derived when it comes later",
        "index.ledger",
        "(image < ledger.order or (image == ledger.order and epoch <= ledger.epoch))",
        "(image == ledger.order and epoch <= ledger.epoch)",
    ),
    # Intents
    Mutant(
        "no intent is written before entries are",
        "index.maintainer",
        _PUT_INTENT,
        _PUT_INTENT.replace("planned.intent", "planned.done"),
    ),
    Mutant(
        "an unfinished intent is not overtaken",
        "index.ledger",
        "unfinished = ledger.intent or {}",
        "unfinished: Mapping[str, Any] = {}",
    ),
    Mutant(
        "an unfinished intent is forgotten",
        "index.ledger",
        "present = ledger.present\n    unfinished = ledger.intent or {}",
        "present = {name: (one,) for name, one in ledger.applied.items()}\n    unfinished: Mapping[str, Any] = {}",
    ),
    Mutant(
        "an intent does not tell what an earlier one may have left",
        "index.ledger",
        "tuple(s for s in present.get(order_id, ()) if s != ledger.applied.get(order_id)),",
        "(),",
    ),
    Mutant(
        "an intent forgets what was applied",
        "index.ledger",
        "intent=replace(done, applied=ledger.applied, intent=intents),",
        "intent=replace(done, applied={}, intent=intents),",
    ),
    Mutant(
        "an older image takes the place of what was intended",
        "index.ledger",
        "image, target, epoch = ledger.order, ledger.target(), ledger.epoch",
        "target, epoch = dict(target), ledger.epoch",
    ),
    Mutant(
        "a revision is not raised",
        "index.ledger",
        "ledger.revision + 1, dict(target))",
        "ledger.revision or 1, dict(target))",
    ),
    Mutant(
        "a longer step that changes nothing leaves the ledger alone",
        "index.ledger",
        "one_step = not ledger.removed and not restored and image == Order(ledger.version + 1, removed=False)",
        "one_step = not ledger.removed and not restored and not image.removed",
    ),
    Mutant(
        "what is restored is taken for an edit",
        "index.ledger",
        "one_step = not ledger.removed and not restored and",
        "one_step = not ledger.removed and",
    ),
    # Tombstones
    Mutant(
        "an entry is cleared without a tombstone",
        "index.maintainer",
        _CLEAR,
        "            table.delete(key, keys.order(*keys.parse_issue(key)[:2], order_id), not_overtaken)\n",
    ),
    Mutant(
        "a cleared entry never expires", "index.sort_entries", "        keys.TTL_ATTRIBUTE: expires,\n", ""
    ),
    Mutant(
        "a removed issue's ledger never expires",
        "index.maintainer",
        "clock.expiry(LEDGER_TOMBSTONE_DAYS) if work.planned.done.removed else None",
        "None",
    ),
    # What is reported
    Mutant("failures are not reported", "index.stream_consumer", _REPORT, "    return None\n"),
    Mutant(
        "the last failure is reported",
        "index.stream_consumer",
        _REPORT,
        _REPORT.replace("in images if", "in reversed(images) if"),
    ),
    Mutant(
        "a ledger that cannot be read is not reported",
        "index.stream_consumer",
        "        return images[0].first\n",
        "        return None\n",
    ),
    Mutant(
        "poison fails the batch",
        "index.stream_consumer",
        _POISON,
        "        if isinstance(error, ItemTooLarge | Underivable):\n            raise error\n",
    ),
    Mutant(
        "poison is swallowed",
        "index.stream_consumer",
        _POISON,
        "        _ = error\n",
    ),
    Mutant(
        "what is no issue is swallowed",
        "index.stream_consumer",
        "    for one in poison:\n        send_poison(one)\n",
        "",
    ),
    Mutant(
        "a busy table is taken for poison",
        "index.stream_consumer",
        _POISON,
        _POISON.replace("ItemTooLarge |", "Overloaded | ItemTooLarge |"),
    ),
    # Blocks, as they are written
    Mutant(
        "a block that stays as it is is not written",
        "index.block_writer",
        "            after = blocks.changed(read, change)\n",
        """\
            after = blocks.changed(read, change)
            if (after.sets, after.rest) == (read.sets, read.rest):
                return read
""",
        BLOCKS,
    ),
    Mutant(
        "blocks are written whatever stands there",
        "index.block_writer",
        _PUT_BLOCK,
        _PUT_BLOCK.replace(", unchanged(read)", ""),
        BLOCKS,
    ),
    Mutant(
        "the first block of a family is written whatever stands there",
        "index.block_writer",
        "    if not block.write_id:\n        return ABSENT\n",
        '    if not block.write_id:\n        return Condition("attribute_not_exists(nothing)")\n',
        BLOCKS,
    ),
    Mutant(
        "a block that others have written counts as done",
        "index.block_writer",
        'error.item.get("write_id") != after.write_id:\n                    return None',
        'error.item.get("write_id") != after.write_id:\n                    return after',
        BLOCKS,
    ),
    Mutant(
        "a write id stays as it was",
        "index.blocks",
        "return replace(block, sets=sets, rest=rest, write_id=_write_id(detailed=sets is not None))",
        """\
kept = block.write_id if block.detailed is (sets is not None) else ""
    return replace(block, sets=sets, rest=rest, write_id=kept or _write_id(detailed=sets is not None))""",
        BLOCKS,
    ),
    Mutant(
        "blocks are read when the intent has been written",
        "index.maintainer",
        _READ_AND_BEGIN,
        "".join(reversed(_READ_AND_BEGIN.splitlines(keepends=True))),
        BLOCKS,
    ),
    Mutant(
        "whose intents stand is asked before blocks are read again",
        "index.block_writer",
        _RETRY,
        "".join((*_RETRY.splitlines(keepends=True)[1:], *_RETRY.splitlines(keepends=True)[:1])),
        BLOCKS,
    ),
    Mutant(
        "it is not asked whose intents stand",
        "index.block_writer",
        _RETRY,
        _RETRY.replace("still_ours(issues)", "issues"),
        BLOCKS,
    ),
    Mutant(
        "whose intents stand is read eventually consistent",
        "index.block_writer",
        'table.batch_get(wanted, consistent=True, paths=[("revision",), ("intent",)])',
        'table.batch_get(wanted, paths=[("revision",), ("intent",)])',
        BLOCKS,
    ),
    Mutant(
        "only the places that failed are tried again",
        "index.block_writer",
        _FAILED,
        """\
            remaining = [
                place for place in remaining if self._located[place.family, place.key] not in done
            ]
""",
        BLOCKS,
    ),
    Mutant(
        "an issue is not taken out of the block where it was",
        "index.maintainer",
        "        yield from (Place(work.key, family, key, present=False) for key in sorted(had - wanted))\n",
        "",
        BLOCKS,
    ),
    Mutant(
        "an issue is taken out of where it was, not of where it may have come to",
        "index.maintainer",
        "had = _keys(work, family, intent.present.get(family, ()))",
        "had = _keys(work, family, filter(None, (work.read.applied.get(family),)))",
        BLOCKS,
    ),
    Mutant(
        "the tokens of an unfinished ledger are not written",
        "index.maintainer",
        "kind_of(family) is Kind.TOKENS and work.read.intent is None and not work.thorough:",
        "kind_of(family) is Kind.TOKENS:",
        BLOCKS,
    ),
    Mutant(
        "an issue leaves a plain block with any of its keys",
        "index.blocks",
        """\
        rest -= BitMap(number_of(key) for key in change.remove)
        rest |= BitMap(number_of(key) for key in change.add)
""",
        """\
        rest |= BitMap(number_of(key) for key in change.add)
        rest -= BitMap(number_of(key) for key in change.remove)
""",
        BLOCKS,
    ),
    Mutant(
        "an issue with two words in a block counts once",
        "index.blocks",
        "return len(self.rest) if self.rest is not None else sum(map(len, (self.sets or {}).values()))",
        "return len(self.members)",
        BLOCKS,
    ),
    Mutant(
        "a block is taken for that of a key behind its upper fence",
        "index.block_writer",
        "if block.covers(key) or block.upper is None or block.next is None:",
        "if block.lower <= key:",
        BLOCKS,
    ),
    # Splits and merges
    Mutant(
        "a block is split whatever stands there",
        "index.block_writer",
        _PUT_FIRST,
        _PUT_FIRST.replace(", unchanged(block)", ""),
        BLOCKS,
    ),
    Mutant(
        "a plain block is split by what was applied",
        "index.block_writer",
        "candidates = [intent.to, applied, *intent.left]",
        "candidates = [applied, intent.to, *intent.left]",
        BLOCKS,
    ),
    Mutant(
        "a plain block is split by ledgers that are read eventually consistent",
        "index.block_writer",
        "ledgers = self._table.batch_get(wanted, consistent=True, paths=paths).items",
        "ledgers = self._table.batch_get(wanted, paths=paths).items",
        BLOCKS,
    ),
    Mutant(
        "a plain block is split by the intents alone",
        "index.block_writer",
        "    candidates = [applied]\n",
        "    candidates: list[str | None] = []\n",
        BLOCKS,
    ),
    Mutant(
        "what lies before a body with a block of its own is forgotten",
        "index.blocks",
        "            if sets or begins > lower:\n",
        "            if sets:\n",
        BLOCKS,
    ),
    Mutant(
        "what follows a block of its own begins too early",
        "index.blocks",
        "            lower, sets, cost = after(body), {}, _Cost(kind)\n            continue\n",
        "            lower, sets, cost = body, {}, _Cost(kind)\n            continue\n",
        BLOCKS,
    ),
    Mutant(
        "the last part of a split has no upper fence",
        "index.blocks",
        "uppers = [*(piece.lower for piece in found[1:]), block.upper]",
        "uppers = [*(piece.lower for piece in found[1:]), None]",
        BLOCKS,
    ),
    Mutant(
        "the last part of a split has no link",
        "index.blocks",
        "following = [*ids[1:], block.next]",
        "following = [*ids[1:], None]",
        BLOCKS,
    ),
    Mutant(
        "a merged block ends where the first one ended",
        "index.blocks",
        "upper=following.upper, next=following.next)",
        "next=following.next)",
        BLOCKS,
    ),
    Mutant(
        "a merged block leads to the second one",
        "index.blocks",
        "upper=following.upper, next=following.next)",
        "upper=following.upper)",
        BLOCKS,
    ),
    Mutant(
        "a merge forgets the first half of a body",
        "index.blocks",
        "sets[body] = sets.get(body, BitMap()) | numbers\n        representation",
        "sets[body] = numbers\n        representation",
        BLOCKS,
    ),
    Mutant(
        "blocks are merged whatever has become of the first one",
        "index.block_writer",
        _MERGED_WRITES,
        _MERGED_WRITES.replace(", unchanged(block)", ""),
        BLOCKS,
    ),
    Mutant(
        "blocks are merged whatever has become of the second one",
        "index.block_writer",
        _MERGED_WRITES,
        _MERGED_WRITES.replace(", unchanged(following)", ""),
        BLOCKS,
    ),
    # Families
    Mutant(
        "the blocks of an order that is left stay",
        "maintenance.job_worker",
        "            remove_family(self._table, tenant, project, family)\n",
        "            pass\n",
        JOBS,
    ),
    Mutant(
        "the blocks of the words of an order that is left stay",
        "maintenance.job_worker",
        "for family in (order_id, order_id + TOKENS_SUFFIX):",
        "for family in (order_id,):",
        JOBS,
    ),
    Mutant(
        "the numbers of a deleted project stay",
        "maintenance.job_worker",
        "        remove_family(self._table, tenant, project, NUMBERS)\n",
        "",
        JOBS,
    ),
    Mutant(
        "the blocks of an order are removed before everybody has left it",
        "maintenance.job_worker",
        " if since <= job.epoch):",
        "):",
        JOBS,
    ),
    Mutant(
        "the blocks of an order that is left are removed as the index lists them",
        "index.block_writer",
        "    block_id: str | None = HEAD\n    while",
        "    block_id: str | None = None\n    while",
        JOBS,
    ),
    # Definitions
    Mutant(
        "the epoch is read eventually consistent",
        "index.maintainer",
        "table.get(keys.project(tenant, project), keys.CATALOG, consistent=True)",
        "table.get(keys.project(tenant, project), keys.CATALOG)",
        JOBS,
    ),
    Mutant(
        "the ledger's epoch is ignored",
        "index.maintainer",
        "    if epoch < ledger.epoch:\n        raise Superseded\n",
        "",
        JOBS,
    ),
    Mutant(
        "a ledger of an older epoch stays as it is",
        "index.ledger",
        "(image < ledger.order or (image == ledger.order and epoch <= ledger.epoch))",
        "image <= ledger.order",
        JOBS,
    ),
    Mutant(
        "any catalog will do",
        "schema.store",
        "if entry is not None and entry.catalog.epoch >= epoch:",
        "if entry is not None:",
        JOBS,
    ),
    Mutant("a catalog is kept for minutes", "schema.store", "MAX_AGE = 5.0", "MAX_AGE = 500.0", JOBS),
    Mutant(
        "a changed definition has no job",
        "commands.attributes",
        "            writes.append(wanted(items, settling))\n",
        "            pass\n",
        JOBS,
    ),
    Mutant(
        "a pass begins before the change is known everywhere",
        "commands.attributes",
        "    due = clock.after(settling)\n    job =",
        "    due = clock.after(0)\n    job =",
        JOBS,
    ),
    Mutant(
        "the next pass begins before the last one is known everywhere",
        "maintenance.job_worker",
        "clock.after(self._settling)",
        "clock.after(0)",
        JOBS,
    ),
    Mutant(
        "a change joins a pass that has begun",
        "schema.jobs",
        "        if self.last is not None:\n            return replace(self, rate=rate or self.rate)\n",
        "",
        JOBS,
    ),
    # Generations
    Mutant(
        "a generation is given twice",
        "schema.generations",
        "next_generation=self.next_generation + 1",
        "next_generation=self.next_generation",
        JOBS,
    ),
    Mutant(
        "an index is served while it is built",
        "schema.generations",
        "return self._in(IndexState.READY)",
        "return self._in(IndexState.READY) or self.building",
        JOBS,
    ),
    Mutant(
        "an index is not written while it is built",
        "schema.generations",
        "return self.state is not IndexState.LEAVING",
        "return self.state is IndexState.READY",
        JOBS,
    ),
    Mutant(
        "a leaving index is forgotten before it is swept",
        "schema.generations",
        "if index.state is not IndexState.LEAVING or index.since > done",
        "if index.state is not IndexState.LEAVING",
        JOBS,
    ),
    Mutant(
        "an index is complete before its pass",
        "schema.generations",
        "if built is None or built.since > done:",
        "if built is None:",
        JOBS,
    ),
    # Passes
    Mutant(
        "a checkpoint is ahead of the work",
        "maintenance.job_worker",
        _ONWARD,
        "".join(reversed(_ONWARD.splitlines(keepends=True))),
        JOBS,
    ),
    Mutant(
        "a pass ends one issue early",
        "maintenance.job_worker",
        'last=int(counter["last"])',
        'last=int(counter["last"]) - 1',
        JOBS,
    ),
    Mutant(
        "the last issue is not passed over",
        "maintenance.job_worker",
        "if job.next <= job.last:",
        "if job.next < job.last:",
        JOBS,
    ),
    Mutant(
        "values of deleted attributes are left",
        "maintenance.rebuild_pass",
        "        in_threads(lambda document: _remove_dead_values(table, catalog, document), current.values())\n",
        "",
        JOBS,
    ),
    Mutant(
        "what is no issue stops a pass",
        "maintenance.rebuild_pass",
        "                image = Image.of(document)\n",
        '                image = Image.of({**document, "fields": document["fields"]})\n',
        JOBS,
    ),
    Mutant(
        "a deleted attribute's id is free at once",
        "maintenance.job_worker",
        "if 0 < one.deleted <= done:",
        "if one.deleted:",
        JOBS,
    ),
    Mutant(
        "an issue that others work on is left out of the pass",
        "maintenance.rebuild_pass",
        '    raise Overloaded("Others go on changing an issue; try again.")\n',
        "",
        JOBS,
    ),
    Mutant(
        "a pass re-derives from the ledger that it read first",
        "maintenance.rebuild_pass",
        "        found = table.batch_get(wanted, consistent=True).items\n",
        """\
        found, first = table.batch_get(wanted, consistent=True).items, vars(read).setdefault("first", {})
        for key, item in found.items():
            if key[1] == keys.LEDGER:
                found[key] = first.setdefault(key, item)
""",
        JOBS,
    ),
    Mutant(
        "what a pass has done is no new epoch",
        "maintenance.job_worker",
        "[*settled, raise_epoch(items), save(partition, job, job)]",
        "[*settled, save(partition, job, job)]",
        JOBS,
    ),
    Mutant(
        "documents of a deleted project are left",
        "maintenance.rebuild_pass",
        "            in_threads(lambda issue: table.delete(issue, partition), current)\n",
        "",
        JOBS,
    ),
    # Pages
    Mutant(
        "a page shows an issue at two places",
        "query.grid",
        "        if num in numbers:\n            continue\n",
        "",
        PAGES,
    ),
    Mutant(
        "a row is shown wherever its entry stands",
        "query.page",
        "        if found not in present_sort_strings(first.order, document):\n            return False\n",
        "",
        PAGES,
    ),
    Mutant(
        "a row that stands where it stood before a move is left out",
        "index.sort_entries",
        "for one in (order, *order.former)",
        "for one in (order,)",
        PAGES,
    ),
)


FOUND_OUT_BY: dict[str, int] = {
    "the blocks of an order that is left are removed as the index lists them": 604700,
    "a page shows an issue at two places": 604624,
    "a ledger without an intent is written whatever stands there": 1000152,
    "entries are written whatever stands there": 1000143,
    "an intent and what it came to are not told apart": 1000054,
    "entries are cleared whatever stands there": 4410,
    "an entry is cleared without a tombstone": 1000143,
    "a longer step that changes nothing leaves the ledger alone": 5202,
    "what is restored is taken for an edit": 4800,
    "the last failure is reported": 1000253,
    "a block that stays as it is is not written": 604109,
    "blocks are read when the intent has been written": 1000162,
    "whose intents stand is asked before blocks are read again": 604108,
    "it is not asked whose intents stand": 604100,
    "whose intents stand is read eventually consistent": 604100,
    "only the places that failed are tried again": 604214,
    "an issue is taken out of where it was, not of where it may have come to": 603921,
    "blocks are merged whatever has become of the second one": 604320,
    "the epoch is read eventually consistent": 1000056,
    "the ledger's epoch is ignored": 600507,
    "a catalog is kept for minutes": 602000,
    "a pass begins before the change is known everywhere": 601900,
    "the next pass begins before the last one is known everywhere": 502479,
    "a change joins a pass that has begun": 600112,
    "a generation is given twice": 603201,
    "an index is served while it is built": 600116,
    "an index is complete before its pass": 600112,
    "a checkpoint is ahead of the work": 500409,
    "values of deleted attributes are left": 1000018,
    "what is no issue stops a pass": 1000018,
    "a deleted attribute's id is free at once": 600709,
    "an issue that others work on is left out of the pass": 602900,
    "a pass re-derives from the ledger that it read first": 602308,
    "a row is shown wherever its entry stands": 1000035,
    "a row that stands where it stood before a move is left out": 603000,
}
"""The scenario that found a mutant out the last time that it was searched for. Tried first: it saves the search, and no more."""


class _Finder(MetaPathFinder):
    """Finds one module of the core, and gives it another text."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        """The module that is spoilt; all others are found as ever."""
        if fullname != f"gridview.{self._mutant.module}":
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None and spec.origin is not None:
                return importlib.util.spec_from_file_location(
                    fullname, spec.origin, loader=_Spoilt(fullname, spec.origin, self._mutant)
                )
        return None


class _Spoilt(SourceFileLoader):
    def __init__(self, fullname: str, path: str, mutant: Mutant) -> None:
        super().__init__(fullname, path)
        self._mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        """Compiled from the changed text, and not kept on disk."""
        path = self.get_filename(fullname)
        code: CodeType = compile(spoilt(self._mutant, self.get_data(path).decode()), path, "exec")
        return code


def spoilt(mutant: Mutant, text: str) -> str:
    """The module's text with the mutant in it; Failure when that has no place there, or several."""
    if (places := text.count(mutant.text)) != 1:
        raise Failure(f"The mutant {mutant.name!r} has {places} places in gridview/{mutant.module}.py.")
    return text.replace(mutant.text, mutant.instead)


def judged(mutants: Sequence[Mutant], jobs: int) -> Iterator[Verdict]:
    """What becomes of each mutant, so many at a time, in any order."""
    context = multiprocessing.get_context("fork")
    by_family = _by_family()
    waiting = list(mutants)
    running: dict[str, tuple[Any, Any, float, float]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop(0)
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(
                target=_judge, args=(mutant, _order(mutant, by_family), theirs), daemon=True
            )
            process.start()
            theirs.close()
            now = time.monotonic()
            running[mutant.name] = process, ours, now, now
        for name, (process, pipe, began, heard) in list(running.items()):
            seconds = time.monotonic() - began
            if pipe.poll(0.02):
                try:
                    found = pipe.recv()
                except EOFError:
                    raise Failure(f"The process of the mutant {name!r} has died.") from None
                if isinstance(found, int):  # so many scenarios have ended
                    running[name] = process, pipe, began, time.monotonic()
                    continue
                if isinstance(found, str):
                    raise Failure(found)
                yield found._replace(seconds=seconds)
            elif time.monotonic() - heard > _PATIENCE:
                process.kill()
                yield Verdict(name, "", 0, ENDLESS, 0, seconds)
            else:
                continue
            process.join()
            del running[name]


def _by_family() -> dict[str, list[int]]:
    """The seeds of all families. The points are enumerated by the code as it is: what is spoilt may not come that far."""
    from devtools.proof.faults import scenarios

    by_family: dict[str, list[int]] = {}
    for seed in scenarios.seeds(MOST_SCENARIOS):
        by_family.setdefault(scenarios.family_of(seed).name, []).append(seed)
    for seeds in by_family.values():
        if seeds[0] < scenarios.RANDOM:  # neighbours are much alike
            Random(0).shuffle(seeds)  # noqa: S311 - meant to be the same every time
    return by_family


def _order(mutant: Mutant, by_family: Mapping[str, Sequence[int]]) -> list[int]:
    """What found it out last time; then one of each family in turn, those that the mutant is about first."""
    rest = dict(by_family)
    first = zip_longest(*(rest.pop(name, []) for name in _FIRST[mutant.about]))
    known = [FOUND_OUT_BY[mutant.name]] if mutant.name in FOUND_OUT_BY else []
    in_turn = chain(known, chain.from_iterable(first), chain.from_iterable(zip_longest(*rest.values())))
    return [seed for seed in in_turn if seed is not None]


def _judge(mutant: Mutant, seeds: Sequence[int], pipe: Any) -> None:
    """Load the core anew with the mutant in it, and play until a scenario finds it out."""
    package = sys.modules[__name__.rpartition(".")[0]]
    for name in list(sys.modules):
        if name.split(".")[0] == "gridview" or (name.startswith(f"{package.__name__}.") and name != __name__):
            del sys.modules[name]
            vars(package).pop(name.rpartition(".")[2], None)
    sys.meta_path.insert(0, _Finder(mutant))
    try:
        verdict = _found_out(mutant, seeds, pipe.send)
    except Failure as failure:
        pipe.send(str(failure))
    else:
        # As a class of the process that started this one.
        pipe.send(Verdict(*verdict))
    pipe.close()


def _found_out(
    mutant: Mutant, seeds: Sequence[int], tell: Callable[[int], None]
) -> tuple[str, str, int, str | None, int, float]:
    from devtools.proof.faults import scenarios

    for played, seed in enumerate(seeds, 1):
        tell(played)
        result = scenarios.play(seed)
        if result.difference is not None:
            return mutant.name, result.family, seed, result.difference, played, 0.0
    return mutant.name, "", 0, None, len(seeds), 0.0


def run(console: Console, jobs: int) -> int:
    """Play every mutant, and print what found it out; 1 when one survives."""
    alive = 0
    for verdict in judged(MUTANTS, jobs):
        if verdict.difference is None:
            alive += 1
            console.print(
                f"[red]alive[/red]  {verdict.name}, after {verdict.played:,} scenarios", soft_wrap=True
            )
            continue
        console.print(
            f"killed {verdict.name}\n"
            f"       by {verdict.family} {verdict.seed} ({verdict.played:,} played, {verdict.seconds:.0f} s): "
            f"{escape(verdict.difference[:150])}",
            soft_wrap=True,
        )
    console.print(
        f"{len(MUTANTS)} mutants, {alive} alive" if alive else f"{len(MUTANTS)} mutants, all found out"
    )
    return 1 if alive else 0
