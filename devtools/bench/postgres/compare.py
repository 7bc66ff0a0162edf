"""The comparison: load all datasets on both sides, put every question to each in turn, and see that the answers are equal."""

import argparse
import statistics
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from rich.console import Console

from devtools.bench import output
from devtools.bench.postgres import cluster, datasets, designs, ours, report
from devtools.bench.postgres.cluster import Cluster, Session
from devtools.bench.postgres.datasets import Dataset
from devtools.bench.postgres.designs import AttributeValue, Design, Jsonb
from devtools.bench.postgres.ours import Asked, Ours
from devtools.bench.postgres.questions import Kind, Question
from devtools.bench.postgres.report import Cost, Line, Section
from devtools.failure import Failure

SIZES: Final = (100_000,)
REPEAT: Final = 9
_WARM_UP: Final = 2


@dataclass
class _Side:
    """A way to answer a question, and its cost each time."""

    ask: Callable[[Question], Asked]
    samples: dict[str, list[Asked]] = field(default_factory=dict)

    def sample(self, question: Question, *, keep: bool) -> Asked:
        asked = self.ask(question)
        if keep:
            self.samples.setdefault(question.name, []).append(asked)
        return asked

    def cost(self, question: Question) -> Cost:
        taken = self.samples[question.name]
        return Cost(
            milliseconds=statistics.median(one.milliseconds for one in taken),
            cpu_milliseconds=statistics.median(one.cpu_milliseconds for one in taken),
            sequential_calls=max(one.sequential_calls for one in taken),
            read_units=statistics.median(one.read_units for one in taken),
        )


@dataclass
class _Place:
    """A dataset, loaded everywhere."""

    dataset: Dataset
    questions: Sequence[Question]
    sides: Mapping[str, _Side]
    load_seconds: float


def run(args: argparse.Namespace) -> int:
    """Compare; 0 when all answers were equal, whatever the figures."""
    sizes = sorted({*(args.sizes or SIZES), *((args.size,) if args.size else ())})
    wanted = [] if args.sums else [datasets.generated(size) for size in sizes]
    grows = len(wanted)
    wanted += [datasets.numbers(size) for size in sizes]
    progress = Console(stderr=True)
    if args.sums:
        pass
    elif datasets.NYC.exists():
        wanted.append(datasets.cases())
    else:
        progress.print(f"{datasets.NYC} is missing. Comparing without the real cases.", highlight=False)
    sections = measure(wanted, args.repeat or REPEAT, progress)
    growth = report.growth(sections[:grows]) if grows > 1 else []
    report.show(output.console(), sections, growth)
    if args.json is not None:
        output.write_json(args.json, report.to_json(sections, growth))
    return 0


def measure(wanted: Sequence[Dataset], repeat: int, progress: Console) -> list[Section]:
    """Load and measure; all datasets take turns, so that they share good and bad moments. Failure when answers are not equal."""
    with ExitStack() as stack:
        server = stack.enter_context(cluster.running())
        places = [_placed(stack, server, dataset, progress) for dataset in wanted]
        progress.print("Measuring ...")
        for turn in range(_WARM_UP + repeat):
            for place in places:
                for question in place.questions:
                    _turn(place, question, keep=turn >= _WARM_UP)
        return [_section(place) for place in places]


def _placed(stack: ExitStack, server: Cluster, dataset: Dataset, progress: Console) -> _Place:
    kept = ours.is_loaded(dataset)
    progress.print(f"{'Opening' if kept else 'Loading'} {dataset.name} ...", highlight=False)
    here = stack.enter_context(ours.loaded(dataset))
    if not kept:
        progress.print(f"  {here.load_seconds:,.0f} s", highlight=False)
    progress.print("  into PostgreSQL ...", highlight=False)
    tables: dict[str, Design] = {
        f"{dataset.project}_values": AttributeValue(here.catalog),
        f"{dataset.project}_jsonb": Jsonb(here.catalog),
    }
    designs.load(server, dataset, here.catalog, tables)
    sides = _our_sides(here)
    for database, design in tables.items():
        sides[design.name] = _their_side(stack.enter_context(server.session(database)), design)
    return _Place(dataset, dataset.questions(), sides, here.load_seconds)


def _our_sides(here: Ours) -> dict[str, _Side]:
    """A container for each question, and one that keeps the reads of earlier questions."""
    kept = here.container()
    return {
        report.COLD: _Side(lambda question: here.ask(question, here.container())),
        report.KEPT: _Side(lambda question: here.ask(question, kept)),
    }


def _their_side(session: Session, design: Design) -> _Side:
    def ask(question: Question) -> Asked:
        rows, milliseconds = session.ask(design.sql(question))
        return Asked(answer_of(question, rows), len(rows), milliseconds, 0.0, 1, 0.0)

    return _Side(ask)


def answer_of(question: Question, rows: Sequence[str]) -> Any:
    """Read an answer from rows of cells that are separated by `|`, in the form of `Asked.answer`."""
    match question.kind:
        case Kind.COUNT:
            return int(rows[0])
        case Kind.GROUPS:
            pairs = (row.rpartition("|") for row in rows)
            return {value or None: int(count) for value, _, count in pairs}
        case Kind.SUMS:
            cells = "|".join(rows).split("|")
            totals = zip(cells[::2], cells[1::2], strict=True)
            return [(int(count), Decimal(total)) for count, total in totals]
        case Kind.GROUPED_SUMS:
            triples = (row.rsplit("|", 2) for row in rows)
            return {value: (int(count), Decimal(total)) for value, count, total in triples}
        case Kind.PAGE:
            return [int(row.partition("|")[0]) for row in rows]


def _turn(place: _Place, question: Question, *, keep: bool) -> None:
    answers = {name: side.sample(question, keep=keep).answer for name, side in place.sides.items()}
    ours, *others = answers.values()
    for other in others:
        # A page that their issues with a value do not fill goes on with the others on our side (`designs`).
        part = ours[: len(other)] if question.kind is Kind.PAGE else ours
        if part != other:
            raise Failure(f"{place.dataset.name}, {question.name}: the answers differ: {answers}")


def _section(place: _Place) -> Section:
    lines = []
    for question in place.questions:
        rows = place.sides[report.COLD].samples[question.name][0].rows
        costs = {name: side.cost(question) for name, side in place.sides.items()}
        lines.append(Line(question, rows, costs))
    return Section(place.dataset.name, place.dataset.count, place.load_seconds, lines)
