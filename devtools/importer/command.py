"""The command: a pass that infers types, the project, a pass that sends rows, and a summary."""

import argparse
import hashlib
import os
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import orjson
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import (
    Progress as Bar,
)
from rich.table import Table
from rich.text import Text

from devtools.failure import Failure
from devtools.importer.batches import Batch, cut
from devtools.importer.client import Api
from devtools.importer.inference import profile
from devtools.importer.pace import Pace, rows_per_second
from devtools.importer.plan import Plan, Types, make_plan, parse_types, project_id_from
from devtools.importer.progress import Files, Progress, Rejects, files_for
from devtools.importer.sender import Outcome, deliver, send_all
from devtools.importer.session import Session, tenant_of
from devtools.importer.source import Source, open_source
from devtools.importer.target import created_at, prepare
from devtools.local import tokens
from devtools.local.folder import Folder
from gridview.schema.ids import PROJECT
from infra.limits import TOKEN_MINUTES

REFUSED_ROWS: Final = 3
INTERRUPTED: Final = 130

_USER: Final = "importer"
"""The user who creates the issues on the local stack."""


@dataclass(frozen=True, slots=True)
class Where:
    """An API: its address, a source of tokens, a unique label, and a folder for files that have no other place."""

    url: str
    token: Callable[[], str]
    label: str
    folder: Path


def run(args: argparse.Namespace) -> int:
    """Import a file. `arguments` has the exit statuses."""
    out, err = Console(), Console(stderr=True)
    try:
        return _Import(args, out, err).run()
    except KeyboardInterrupt:
        err.print("Interrupted. Run the same command again to continue.")
        return INTERRUPTED


class _Import:
    def __init__(self, args: argparse.Namespace, out: Console, err: Console) -> None:
        self._args = args
        self._out = out
        self._err = err
        self._began = time.monotonic()

    def run(self) -> int:
        args = self._args
        project = args.project or project_id_from(args.file.name)
        if not PROJECT.fullmatch(project):
            raise Failure(f"{project!r} is not a project id. Use 2 to 32 of the characters a-z and 0-9.")
        types = _read_types(args.types)
        source = open_source(args.file, args.format, args.delimiter)
        where = None if args.dry_run else _where(args)
        plan = self._first_pass(source, types)
        if where is None:
            self._describe(plan)
            return 0
        api = Api(where.url, where.token)
        try:
            return self._import(source, plan, api, where, project)
        finally:
            api.close()

    def _import(self, source: Source, plan: Plan, api: Api, where: Where, project: str) -> int:
        files = files_for(
            source.path,
            f"{where.label}.{project}",
            folders=[self._args.progress]
            if self._args.progress
            else [source.path.resolve().parent, where.folder],
            rejects=self._args.rejects,
        )
        source_id = _source_id(source, plan, self._args.limit)
        progress = self._found(files, source_id, created_at(api, project))
        if progress is not None and progress.complete:
            self._out.print(
                f"This file is in the project {project!r} already: {progress.created:,} issues. "
                "To import it once more, give --again.",
                highlight=False,
                soft_wrap=True,
            )
            return REFUSED_ROWS if progress.refused else 0
        if progress is not None:
            self._settle(progress)
        created, plan = prepare(api, project, source.path.name.split(".")[0], plan)
        rejects = Rejects(files.rejects, fresh=progress is None)
        if progress is None:
            import_id = _import_id(source_id, project, created, again=self._args.again)
            progress = Progress(source_id, created, import_id, again=self._args.again)
            progress.save(files.progress)
        before = progress.created + progress.refused
        self._second_pass(source, plan, api, progress, files, rejects, project)
        progress.complete = True
        progress.save(files.progress)
        self._describe(plan)
        self._summarize(plan, progress, files, project, sent=progress.created + progress.refused - before)
        return REFUSED_ROWS if progress.refused else 0

    def _found(self, files: Files, source_id: str, created: str | None) -> Progress | None:
        """The progress to go on from; None to begin. Failure, before anything changes, when it belongs to another import.

        With --again, only an interrupted import of the same kind is gone on with.
        """
        found = Progress.load(files.progress)
        if found is None:
            return None
        if self._args.again and (found.complete or not found.again or found.source != source_id):
            return None
        if found.project_created != created:
            self._err.print("The project is new: the import starts from the first row.")
            return None
        if found.source != source_id:
            raise Failure(
                f"Another import of {self._args.file.name} into this project, {'complete' if found.complete else 'unfinished'}, "
                f"is on record in {files.progress}: the file or the options were others. To import all of it, give --again."
            )
        if not found.complete and found.acknowledged:
            self._err.print(
                f"Continuing after the {found.created + found.refused:,} rows that were sent before.",
                highlight=False,
            )
        return found

    def _settle(self, progress: Progress) -> None:
        """Take the user's word about rows that may be in the project. Failure if it is missing, or about other rows."""
        asked = progress.in_doubt()
        if not asked:
            return
        existing = self._args.existing_rows
        rows = ", ".join(f"{first} to {last}" for first, last in asked)
        if existing is None:
            raise Failure(
                f"The rows {rows} were sent almost a day ago or earlier, and no answer arrived. The API no longer recognizes them. "
                "Look for them in the project. Then run the same command with the rows that are there, such as "
                f"--existing-rows {asked[0][0]}-{asked[0][1]}, or with --existing-rows none."
            )
        if any(not any(first <= low <= high <= last for first, last in asked) for low, high in existing):
            raise Failure(f"--existing-rows takes ranges within the rows {rows} only.")
        progress.settle(existing)

    def _first_pass(self, source: Source, types: Types) -> Plan:
        forced = {name for name in (self._args.name_column, self._args.state_column) if name is not None}
        with _bar(self._err) as bar:
            task = bar.add_task("Reading", total=source.size, unit="bytes")
            rows = source.rows(self._args.limit, lambda done: bar.update(task, completed=done))
            count, profiles = profile(rows)
            bar.update(task, completed=source.size)
        clash = next((name for name in forced if types.get(name, name) is None), None)
        if clash is not None:
            raise Failure(f"The column {clash!r} cannot be both skipped and used.")
        return make_plan(
            count,
            profiles,
            types=types,
            name_column=self._args.name_column,
            state_column=self._args.state_column,
        )

    def _second_pass(
        self,
        source: Source,
        plan: Plan,
        api: Api,
        progress: Progress,
        files: Files,
        rejects: Rejects,
        project: str,
    ) -> None:
        with _bar(self._err) as bar:
            task = bar.add_task("Sending", total=plan.rows, unit="rows")

            def unsent() -> Iterator[Batch]:
                for batch in cut(source.rows(self._args.limit), plan):
                    if progress.has(batch.index):
                        bar.update(task, total=(bar.tasks[0].total or 0) - batch.rows)
                    else:
                        # After a kill, only the API knows what became of these rows.
                        progress.begin(batch)
                        progress.save(files.progress)
                        yield batch.without(progress.exists) if progress.existing else batch

            def done(outcome: Outcome) -> None:
                # In this order: a kill in between leaves the batch unacknowledged, and its refused rows are
                # known.
                rejects.write(outcome.refused)
                progress.acknowledge(
                    outcome.batch.index, created=outcome.created, refused=len(outcome.refused)
                )
                progress.save(files.progress)
                bar.advance(task, outcome.batch.rows)

            rate = rows_per_second(self._args.rate, self._args.api)
            pace = None if rate is None else Pace(rate, api.wait)

            def send(batch: Batch) -> Outcome:
                if pace is not None:
                    pace.take(batch.rows)
                return deliver(api, project, progress.import_id, plan.columns, batch)

            send_all(unsent(), send, done, workers=self._args.workers, cancel=api.cancel)

    def _describe(self, plan: Plan) -> None:
        table = Table(
            title="Columns of the file",
            title_justify="left",
            box=None,
            header_style="bold",
            padding=(0, 2, 0, 0),
        )
        for heading in ("column", "field", "type"):
            table.add_column(heading, overflow="fold")
        table.add_row(
            "(row number)" if plan.name_column is None else escape(plan.name_column), "name", "text"
        )
        if plan.state_column is not None:
            table.add_row(escape(plan.state_column), "state", f"{len(plan.states)} states")
        for attribute in plan.attributes:
            size = f", {len(attribute.options)} options" if attribute.type.has_options else ""
            table.add_row(escape(attribute.column), attribute.id, attribute.type.value + size)
        for column, reason in plan.left_out:
            table.add_row(escape(column), "-", reason)
        self._out.print(table, highlight=False)

    def _summarize(self, plan: Plan, progress: Progress, files: Files, project: str, *, sent: int) -> None:
        seconds = time.monotonic() - self._began
        self._out.print(
            f"\n{plan.rows:,} rows read, {progress.created:,} issues created in the project {project!r}, "
            f"{progress.refused:,} rows refused; {seconds:,.1f} s, {sent / seconds:,.0f} rows/s.",
            highlight=False,
            soft_wrap=True,
        )
        if progress.refused:
            self._out.print(
                f"The refused rows, with reasons: {files.rejects}", highlight=False, soft_wrap=True
            )


def _read_types(path: Path | None) -> Types:
    if path is None:
        return {}
    try:
        return parse_types(path.read_bytes(), str(path))
    except OSError as error:
        raise Failure(f"{path} cannot be read: {error.strerror}.") from error


def _where(args: argparse.Namespace) -> Where:
    if args.api is not None:
        token = args.token or os.environ.get("GRIDVIEW_TOKEN")
        if not token:
            raise Failure("An API given with --api needs a token: give --token or set GRIDVIEW_TOKEN.")
        host = urlsplit(args.api).hostname
        if host is None:
            raise Failure(f"{args.api} is not the address of an API.")
        session = Session(token, os.environ.get("GRIDVIEW_REFRESH_TOKEN"))
        label = ".".join(filter(None, (host, tenant_of(token))))
        return Where(args.api, session.token, re.sub(r"[^a-z0-9.-]", "-", label), Path.cwd())
    folder = Folder(args.data)
    state = folder.require_running()

    def local_token() -> str:
        # It lives as long as a deployed stack's, so that every long import renews it.
        return tokens.issue(
            tokens.key_in(folder.path),
            tenant=args.tenant,
            role="admin",
            user=_USER,
            lifetime=TOKEN_MINUTES * 60,
        )

    return Where(state.api, local_token, args.tenant, folder.path / "imports")


def _source_id(source: Source, plan: Plan, limit: int | None) -> str:
    """A fingerprint of the import: the file's content and everything that decides what becomes of it."""
    with source.path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    digest.update(orjson.dumps([asdict(plan), limit]))
    return digest.hexdigest()


def _import_id(source_id: str, project: str, created: str, *, again: bool) -> str:
    """The same for the same import into the same project. Even an import that lost its progress file repeats its keys."""
    nonce = secrets.token_hex(8) if again else ""
    return hashlib.sha256("\0".join((source_id, project, created, nonce)).encode()).hexdigest()[:32]


class _Done(ProgressColumn):
    """The progress: rows as numbers, bytes as a percentage."""

    def render(self, task: Task) -> Text:
        if task.fields["unit"] == "bytes":
            return Text(f"{task.percentage:.0f}%")
        return Text(f"{task.completed:,.0f}/{task.total or 0:,.0f}")


class _Rate(ProgressColumn):
    """Rows or bytes a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        unit = task.fields["unit"]
        if speed is None:
            return Text(f"- {unit}/s")
        return Text(f"{speed / 1e6:,.1f} MB/s" if unit == "bytes" else f"{speed:,.0f} {unit}/s")


@contextmanager
def _bar(console: Console) -> Iterator[Bar]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        _Done(),
        _Rate(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=console, transient=not sys.stderr.isatty()) as bar:
        yield bar
