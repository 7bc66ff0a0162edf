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

STREAM, JOBS, PAGES = "stream", "jobs", "pages"
_FIRST = {
    STREAM: ("kill points", "stream", "storm", "crowd", "poison"),
    JOBS: (
        "job kill points",
        "definitions change during a pass",
        "an invocation began under older definitions",
        "an issue is edited during a pass",
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


_PUT_INTENT = "table.put(planned.intent.to_item(key, expires=expires), _unchanged(read))"
_PUT_ENTRY = "table.put(sort_entry(key, order_id, sort, version=version, revision=revision), not_overtaken)"
_CLEAR = """\
            table.put(
                tombstone(key, order_id, version=version, revision=revision, expires=expires_entry),
                not_overtaken,
            )
"""
_FOLD = "elif image.order > known.order:"
_REPORT = "return next((image.first for image in images if image.first in failed), None)"
_LEDGER = "        ledger = Ledger.from_item(ledgers.get((image.key, keys.LEDGER)))\n        try:"
_ONWARD = """\
        self._issues += pass_over(self._table, self._catalogs, tenant, project, numbers, self._send_poison)
        after = self._save(partition, job, replace(job, next=numbers.stop, due=clock.after(LEASE)))
"""

MUTANTS: tuple[Mutant, ...] = (
    # Conditions
    Mutant(
        "entries are written whatever stands there",
        "derive",
        _PUT_ENTRY,
        _PUT_ENTRY.replace(", not_overtaken", ""),
    ),
    Mutant(
        "entries are cleared whatever stands there",
        "derive",
        _CLEAR,
        _CLEAR.replace("not_overtaken,", "None,"),
    ),
    Mutant(
        "the intent is written whatever stands there",
        "derive",
        _PUT_INTENT,
        _PUT_INTENT.replace(", _unchanged(read)", ""),
    ),
    Mutant(
        "the ledger is finished whatever stands there",
        "derive",
        "table.put(planned.done.to_item(key, expires=expires), ours)",
        "table.put(planned.done.to_item(key, expires=expires))",
    ),
    Mutant(
        "a ledger without an intent is written whatever stands there",
        "derive",
        "table.put(planned.done.to_item(key, expires=expires), _unchanged(read))",
        "table.put(planned.done.to_item(key, expires=expires))",
    ),
    Mutant(
        "an intent and what it came to are not told apart",
        "derive",
        'Condition(f"revision = :revision AND {unfinished}(intent)"',
        'Condition("revision = :revision"',
    ),
    Mutant(
        "documents are written whatever stands there",
        "issues",
        'table.put(document, version_is(found["version"]))',
        "table.put(document)",
    ),
    # What is derived from what
    Mutant(
        "the old image is derived from",
        "consumer",
        'stream["OldImage" if removed else "NewImage"]',
        'stream.get("OldImage") or stream["NewImage"]',
    ),
    Mutant(
        "the old image is trusted to be what was applied",
        "consumer",
        _LEDGER,
        """\
        from gridview.indexing import sort_strings

        olds = (
            one["dynamodb"].get("OldImage")
            for one in records
            if one["dynamodb"]["Keys"][keys.PK]["S"] == image.key
        )
        old, catalog = next(olds), current[image.project]
        ledger = replace(
            Ledger.from_item(ledgers.get((image.key, keys.LEDGER))),
            applied=sort_strings(catalog, item_from_wire(old)) if old and catalog else {},
            intent=None,
        )
        try:""",
    ),
    Mutant("a batch is folded to the oldest image", "consumer", _FOLD, "elif image.order < known.order:"),
    Mutant(
        "a batch is folded by versions alone",
        "consumer",
        _FOLD,
        "elif image.order.version > known.order.version:",
    ),
    Mutant(
        "a removal is not newer than its version",
        "ledger",
        "(image < ledger.order or (image == ledger.order and epoch <= ledger.epoch))",
        "(image.version < ledger.version or (image.version == ledger.version and epoch <= ledger.epoch))",
    ),
    Mutant(
        "a removed issue is derived as it was",
        "derive",
        "if catalog is None or image.order.removed:",
        "if catalog is None:",
    ),
    Mutant(
        "an older image is derived when it comes later",
        "ledger",
        "(image < ledger.order or (image == ledger.order and epoch <= ledger.epoch))",
        "(image == ledger.order and epoch <= ledger.epoch)",
    ),
    # Intents
    Mutant(
        "no intent is written before entries are",
        "derive",
        _PUT_INTENT,
        _PUT_INTENT.replace("planned.intent", "planned.done"),
    ),
    Mutant(
        "an unfinished intent is not overtaken",
        "ledger",
        "unfinished = ledger.intent or {}",
        "unfinished: Mapping[str, Any] = {}",
    ),
    Mutant(
        "an unfinished intent is forgotten",
        "ledger",
        "present = ledger.present\n    unfinished = ledger.intent or {}",
        "present = {name: (one,) for name, one in ledger.applied.items()}\n    unfinished: Mapping[str, Any] = {}",
    ),
    Mutant(
        "an intent does not tell what an earlier one may have left",
        "ledger",
        "tuple(s for s in present.get(order_id, ()) if s != ledger.applied.get(order_id)),",
        "(),",
    ),
    Mutant(
        "an intent forgets what was applied",
        "ledger",
        "intent=replace(done, applied=ledger.applied, intent=intents),",
        "intent=replace(done, applied={}, intent=intents),",
    ),
    Mutant(
        "an older image takes the place of what was intended",
        "ledger",
        "image, target, epoch = ledger.order, ledger.target(), ledger.epoch",
        "target, epoch = dict(target), ledger.epoch",
    ),
    Mutant(
        "a revision is not raised",
        "ledger",
        "ledger.revision + 1, dict(target))",
        "ledger.revision or 1, dict(target))",
    ),
    Mutant(
        "a longer step that changes nothing leaves the ledger alone",
        "ledger",
        "one_step = not ledger.removed and not restored and image == Order(ledger.version + 1, removed=False)",
        "one_step = not ledger.removed and not restored and not image.removed",
    ),
    Mutant(
        "what is restored is taken for an edit",
        "ledger",
        "one_step = not ledger.removed and not restored and",
        "one_step = not ledger.removed and",
    ),
    # Tombstones
    Mutant(
        "an entry is cleared without a tombstone",
        "derive",
        _CLEAR,
        "            table.delete(key, keys.order(*keys.parse_issue(key)[:2], order_id), not_overtaken)\n",
    ),
    Mutant("a cleared entry never expires", "indexing", "        keys.TTL_ATTRIBUTE: expires,\n", ""),
    Mutant(
        "a removed issue's ledger never expires",
        "derive",
        "clock.expiry(LEDGER_TOMBSTONE_DAYS) if planned.done.removed else None",
        "None",
    ),
    # What is reported
    Mutant("failures are not reported", "consumer", _REPORT, "return None"),
    Mutant(
        "the last failure is reported",
        "consumer",
        _REPORT,
        _REPORT.replace("in images if", "in reversed(images) if"),
    ),
    Mutant(
        "a ledger that cannot be read is not reported",
        "consumer",
        "        return images[0].first\n",
        "        return None\n",
    ),
    Mutant(
        "poison fails the batch",
        "consumer",
        "            send_poison(Poison.of(image, error))",
        "            raise",
    ),
    Mutant(
        "poison is swallowed",
        "consumer",
        "            send_poison(Poison.of(image, error))",
        "            continue_with = error  # noqa",
    ),
    Mutant(
        "what is no issue is swallowed", "consumer", "    for one in poison:\n        send_poison(one)\n", ""
    ),
    Mutant(
        "a busy table is taken for poison",
        "consumer",
        "except (Overloaded, Superseded):",
        "except Superseded:",
    ),
    # Definitions
    Mutant(
        "the epoch is read eventually consistent",
        "derive",
        "table.get(keys.project(tenant, project), keys.CATALOG, consistent=True)",
        "table.get(keys.project(tenant, project), keys.CATALOG)",
        JOBS,
    ),
    Mutant(
        "the ledger's epoch is ignored",
        "derive",
        "    if epoch < ledger.epoch:\n        raise Superseded\n",
        "",
        JOBS,
    ),
    Mutant(
        "a ledger of an older epoch stays as it is",
        "ledger",
        "(image < ledger.order or (image == ledger.order and epoch <= ledger.epoch))",
        "image <= ledger.order",
        JOBS,
    ),
    Mutant(
        "any catalog will do",
        "catalogs",
        "if entry is not None and entry.catalog.epoch >= epoch:",
        "if entry is not None:",
        JOBS,
    ),
    Mutant("a catalog is kept for minutes", "catalogs", "MAX_AGE = 5.0", "MAX_AGE = 500.0", JOBS),
    Mutant(
        "a changed definition has no job",
        "attributes",
        "            writes.append(wanted(items, settling))\n",
        "            pass\n",
        JOBS,
    ),
    Mutant(
        "a pass begins before the change is known everywhere",
        "attributes",
        "    due = clock.after(settling)\n    job =",
        "    due = clock.after(0)\n    job =",
        JOBS,
    ),
    Mutant(
        "the next pass begins before the last one is known everywhere",
        "upkeep",
        "clock.after(self._settling)",
        "clock.after(0)",
        JOBS,
    ),
    Mutant(
        "a change joins a pass that has begun",
        "jobs",
        "        if self.last is not None:\n            return replace(self, rate=rate or self.rate)\n",
        "",
        JOBS,
    ),
    # Generations
    Mutant(
        "a generation is given twice",
        "indexes",
        "next_generation=self.next_generation + 1",
        "next_generation=self.next_generation",
        JOBS,
    ),
    Mutant(
        "an index is served while it is built",
        "indexes",
        "return self._in(IndexState.READY)",
        "return self._in(IndexState.READY) or self.building",
        JOBS,
    ),
    Mutant(
        "an index is not written while it is built",
        "indexes",
        "return self.state is not IndexState.LEAVING",
        "return self.state is IndexState.READY",
        JOBS,
    ),
    Mutant(
        "a leaving index is forgotten before it is swept",
        "indexes",
        "if index.state is not IndexState.LEAVING or index.since > done",
        "if index.state is not IndexState.LEAVING",
        JOBS,
    ),
    Mutant(
        "an index is complete before its pass",
        "indexes",
        "if built is None or built.since > done:",
        "if built is None:",
        JOBS,
    ),
    # Passes
    Mutant(
        "a checkpoint is ahead of the work",
        "upkeep",
        _ONWARD,
        "".join(reversed(_ONWARD.splitlines(keepends=True))),
        JOBS,
    ),
    Mutant(
        "a pass ends one issue early",
        "upkeep",
        'last=int(counter["last"])',
        'last=int(counter["last"]) - 1',
        JOBS,
    ),
    Mutant(
        "the last issue is not passed over",
        "upkeep",
        "if job.next <= job.last:",
        "if job.next < job.last:",
        JOBS,
    ),
    Mutant(
        "values of deleted attributes are left",
        "passes",
        "            _remove_dead_values(table, catalog, image.document)\n",
        "            pass\n",
        JOBS,
    ),
    Mutant(
        "what is no issue stops a pass",
        "passes",
        "            image = Image.of(document)\n            version",
        '            image = Image.of({**document, "fields": document["fields"]})\n            version',
        JOBS,
    ),
    Mutant(
        "a deleted attribute's id is free at once",
        "upkeep",
        "if 0 < field.deleted <= done:",
        "if field.deleted:",
        JOBS,
    ),
    Mutant(
        "an issue that others work on is left out of the pass",
        "passes",
        '    raise Overloaded("Others go on changing an issue; try again.")\n',
        "",
        JOBS,
    ),
    Mutant(
        "a pass re-derives from the ledger that it read first",
        "passes",
        "            ledger = table.get(image.key, keys.LEDGER, consistent=True)\n",
        "",
        JOBS,
    ),
    Mutant(
        "what a pass has done is no new epoch",
        "upkeep",
        "[*settled, raise_epoch(items), save(partition, job, job)]",
        "[*settled, save(partition, job, job)]",
        JOBS,
    ),
    Mutant(
        "documents of a deleted project are left",
        "passes",
        "            table.delete(issue, partition)\n            return\n",
        "            return\n",
        JOBS,
    ),
    # Pages
    Mutant(
        "a page shows an issue at two places",
        "grid",
        "        if num in numbers:\n            continue\n",
        "",
        PAGES,
    ),
    Mutant(
        "a row is shown wherever its entry stands",
        "readwalk",
        "            and sort in present_sort_strings(self._order, document)\n",
        "",
        PAGES,
    ),
    Mutant(
        "a row that stands where it stood before a move is left out",
        "indexing",
        "for one in (order, *order.former)",
        "for one in (order,)",
        PAGES,
    ),
)


FOUND_OUT_BY: dict[str, int] = {
    "entries are cleared whatever stands there": 1000233,
    "an intent and what it came to are not told apart": 1000191,
    "an unfinished intent is forgotten": 1000135,
    "an intent does not tell what an earlier one may have left": 1000452,
    "a longer step that changes nothing leaves the ledger alone": 5202,
    "what is restored is taken for an edit": 4800,
    "the last failure is reported": 1000253,
    "the epoch is read eventually consistent": 1000067,
    "the ledger's epoch is ignored": 600507,
    "a catalog is kept for minutes": 602000,
    "a pass begins before the change is known everywhere": 601900,
    "the next pass begins before the last one is known everywhere": 1000040,
    "a change joins a pass that has begun": 600112,
    "a generation is given twice": 603201,
    "an index is served while it is built": 600116,
    "an index is not written while it is built": 1000058,
    "an index is complete before its pass": 600112,
    "a checkpoint is ahead of the work": 500409,
    "a deleted attribute's id is free at once": 600709,
    "an issue that others work on is left out of the pass": 602900,
    "a pass re-derives from the ledger that it read first": 602308,
    "a page shows an issue at two places": 603301,
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
    from devtools.faults import scenarios

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
    from devtools.faults import scenarios

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
