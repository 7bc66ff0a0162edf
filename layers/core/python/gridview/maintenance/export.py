"""Writes the rows of a grid into a file, as a user job: all as of one instant, each row once, even after a
crash.

- *freeze*: the numbers of the rows, in order, from an index that includes the caller's recent writes. Also the
  formulas of the columns and the filter, and then the instant.
- *read*: documents, strongly consistent. Changes since the instant are taken back by the history (`as_of`).
- *write*: lines are gathered in memory. Enough lines for a part of the upload go to S3; at the end of a turn
  the rest does too.
- *checkpoint*: after each part: how many rows are taken up, the parts, where the rest of the lines is.
- *finish*: S3 makes one file of the parts; a file of less than a part is put as a whole.

A worker that is killed leaves the last checkpoint. The next worker writes the same lines again, into a part
of the same number. Only the job records which parts belong to the file. So a late part of a killed worker is
equal byte by byte, or S3 refuses to complete the upload. Then the lines are written again from the frozen
rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from gridview.commands.jobs import refusals_item
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.leases import RETRY
from gridview.dynamodb.table import BATCH_GET, Table
from gridview.encoding import keys
from gridview.maintenance.as_of import Unrecorded, documents_at
from gridview.maintenance.export_files import MEDIA, ExportFiles, UploadGone, file_key
from gridview.maintenance.export_formulas import FrozenFormulas
from gridview.maintenance.export_place import ExportPlace, chunks_of, numbers_in
from gridview.maintenance.export_request import ExportOrder
from gridview.maintenance.export_rows import Lines
from gridview.maintenance.job_line import HeldJob
from gridview.maintenance.job_parts import FrozenChunks, JobParts
from gridview.query.frozen_rows import Numbers, frozen_rows
from gridview.query.predicates import Filter
from gridview.schema.catalog import Catalog
from gridview.schema.document_store import documents_by_number
from gridview.schema.documents import Document
from gridview.schema.epoch import EpochCheck
from gridview.schema.fields import UnknownOption
from gridview.schema.store import Catalogs
from gridview.schema.user_jobs import JobState
from gridview.support import clock
from gridview.support.errors import (
    Internal,
    LimitExceeded,
    NotFound,
    Overloaded,
    RequestError,
    problem,
)

BATCH = BATCH_GET
"""Issues that are read at once."""

CHUNK = 50_000
"""Frozen rows in one item: 250 KB where their order is at random."""

PART = 8 * 1024 * 1024
"""Bytes of a part, at least; S3 wants 5 MiB."""
LARGE_PART = 8 * PART
"""Bytes of a part after the first SMALL_PARTS."""
SMALL_PARTS = 100
MOST_PARTS = 2_000
"""So a file has 120 GB at most, and the job's item 80 KB."""

PATIENCE = 60.0
"""Seconds for which rows wait for the history of their values. The consumer takes one or two."""

MOST_RESTARTS = 3
"""How often all lines are written again before the job is given up."""

_REFUSED = 500
"""Refused issues in one item."""
_PROBLEM_BYTES = 500

_PURGED = Unrecorded()
_UNRECORDED = "The issue was changed since, and the history no longer has the former values."


class Exports:
    """The work of the kind `export` (`job_line.JobWork`)."""

    def __init__(self, table: Table, catalogs: Catalogs, files: ExportFiles) -> None:
        self._table = table
        self._catalogs = catalogs
        self._files = files

    def __call__(self, held: HeldJob, left: Callable[[], float]) -> float:
        """Work for a turn."""
        return _ExportTurn(self._table, self._catalogs, self._files, held).work(left)


class _ExportTurn:
    """One turn of work on one job. `_job` and `_place` are ahead of the checkpoint by the lines in memory,
    and no further.
    """

    def __init__(self, table: Table, catalogs: Catalogs, files: ExportFiles, held: HeldJob) -> None:
        self._table = table
        self._catalogs = catalogs
        self._files = files
        self._held = held
        self._job = held.job
        self._place = ExportPlace.from_item(held.job.at)
        self._project = held.tenant, held.project
        self._parts = keys.job_parts(*self._project, held.job.id)
        self._stored = JobParts(table, self._parts)
        self._order = ExportOrder.from_stored(self._stored.asked())
        self._key = file_key(*self._project, held.job.id, self._order.format)
        self._lines = bytearray()
        self._refused: list[tuple[int, RequestError]] = []
        self._chunks = FrozenChunks(self._stored, lambda item: numbers_in(item["rows"]))
        self._formulas: FrozenFormulas | None = None

    def work(self, left: Callable[[], float]) -> float:
        if self._held.job.state.final:
            self._give_up()
            return 0.0
        try:
            return self._work(left)
        except UploadGone:
            self._start_over()
            return RETRY
        except Overloaded:
            raise
        except RequestError:
            self._give_up()
            raise

    def _work(self, left: Callable[[], float]) -> float:
        if self._place.tail:
            self._lines += self._files.set_aside(self._place.tail)
        if self._place.file:
            self._end()
            return 0.0
        while left() > 0:
            if self._held.job.total is None:
                self._freeze()
            elif self._place.over:
                self._finish()
            elif not self._batch():
                self._put_aside()
                return RETRY
            if self._held.job.state.final:
                self._give_up()
                return 0.0
        self._put_aside()
        return 0.0

    # Rows

    def _freeze(self) -> None:
        """Find the rows, and store them under keys of this attempt. The instant is after every write of the
        caller's tokens.
        """
        numbers, formulas = self._catalogs.using(self._table, *self._project, self._numbers, numbered=True)
        job = self._job
        chunks = list(chunks_of(numbers, CHUNK))
        for place, chunk in enumerate(chunks):
            self._table.put(
                {
                    keys.PK: self._parts,
                    keys.SK: keys.frozen_numbers(job.revision, place),
                    "rows": chunk,
                    keys.TTL_ATTRIBUTE: job.expires,
                }
            )
        for key, item in formulas.to_items():
            own = {keys.PK: self._parts, keys.SK: keys.frozen_formula(job.revision, key)}
            self._table.put({**own, **item, keys.TTL_ATTRIBUTE: job.expires})
        self._formulas = formulas
        self._place = ExportPlace(
            frozen=job.revision,
            chunks=len(chunks),
            rows=len(numbers),
            instant=clock.now(),
            formulas=formulas.keys,
        )
        self._job = replace(job, state=JobState.RUNNING, total=len(numbers))
        self._save()

    def _numbers(self, catalog: Catalog, epoch: EpochCheck) -> tuple[Numbers, FrozenFormulas]:
        order = self._order
        numbers = frozen_rows(
            self._table.metered(),
            catalog,
            order.filter_in(catalog),
            order.keys_in(catalog),
            epoch,
            order.recent_writes(),
        )
        return numbers, FrozenFormulas.of(catalog, order.fields_in(catalog))

    def _frozen_formulas(self) -> FrozenFormulas:
        """Return the formulas of this attempt: a read unit for each 4 KB of one, once a turn."""
        if self._formulas is None:
            place = self._place
            found: dict[str, Item] = {}
            for key in place.formulas:
                found[key] = self._stored.item(keys.frozen_formula(place.frozen, key))
            self._formulas = FrozenFormulas.from_items(found)
        return self._formulas

    # Lines

    def _batch(self) -> bool:
        """Write the next rows. False: the history does not have their values yet."""
        chunk = self._chunks.at(self._place.frozen, self._place.chunk)
        taken, following = self._place.taking(chunk, BATCH)
        found = self._documents(taken)
        if any(isinstance(one, Unrecorded) for one in found.values()) and self._waits():
            return False
        unrecorded = [num for num in taken if isinstance(found.get(num, _PURGED), Unrecorded)]
        documents = [one for num in taken if isinstance(one := found.get(num), dict)]
        written = self._written(documents)
        absent = len(taken) - written - len(unrecorded)
        self._refused += ((num, NotFound(_UNRECORDED)) for num in unrecorded)
        job = self._job
        self._job = replace(
            job,
            done=job.done + written,
            refused=job.refused + len(unrecorded),
            total=None if job.total is None else job.total - absent,
        )
        self._held.issues += len(taken)
        self._place = replace(following, begun=True)
        if len(self._lines) >= (PART if len(self._place.parts) < SMALL_PARTS else LARGE_PART):
            self._put_part()
        elif len(self._refused) >= _REFUSED:
            self._put_aside()
        return True

    def _documents(self, numbers: Sequence[int]) -> dict[int, Document | Unrecorded | None]:
        documents = documents_by_number(self._table, *self._project, numbers).values()
        floors = self._order.least_versions()
        return documents_at(self._table, self._project, documents, self._place.instant, floors)

    def _waits(self) -> bool:
        """Return whether to wait longer for the history."""
        if not self._place.stuck:
            self._place = replace(self._place, stuck=clock.now())
        return clock.until(self._place.stuck) > -PATIENCE

    def _written(self, documents: Sequence[Document]) -> int:
        """Write the lines of the documents that match; return their number."""
        catalog = self._definitions(self._catalogs.current)
        try:
            lines = self._lines_of(catalog, documents)
        except UnknownOption:  # an issue is younger than the definitions
            lines = self._lines_of(self._definitions(self._catalogs.reload), documents)
        if not self._place.begun:
            self._lines += self._form(catalog).head()
        for line in lines:
            self._lines += line
        return len(lines)

    def _definitions(self, read: Callable[[Table, str, str], Catalog]) -> Catalog:
        """Return the present definitions, but for the formulas: those are frozen."""
        return self._frozen_formulas().within(read(self._table, *self._project))

    def _lines_of(self, catalog: Catalog, documents: Sequence[Document]) -> list[bytes]:
        only: Filter | None = self._order.filter_in(catalog)
        form = self._form(catalog)
        return [form.row(one) for one in documents if only is None or only.matches(one)]

    def _form(self, catalog: Catalog) -> Lines:
        return Lines(catalog, self._order.format, self._order.columns, raw=not self._order.formula_guard)

    # The file

    def _put_part(self) -> None:
        """Make a part of the lines in memory, and save how far the job is."""
        place = self._place
        if len(place.parts) >= MOST_PARTS:
            raise LimitExceeded(
                "The file would be larger than an export can be. Use a filter or fewer columns."
            )
        upload = place.upload or self._files.begin(self._key, MEDIA[self._order.format])
        etag = self._files.part(self._key, upload, len(place.parts) + 1, bytes(self._lines))
        self._place = replace(place, upload=upload, parts=(*place.parts, etag), tail="")
        self._lines.clear()
        self._save()

    def _put_aside(self) -> None:
        """Keep the lines in memory for the next turn, if there are any new ones, and save how far the job is."""
        if self._place.to_item() == self._held.job.at and self._job == self._held.job:
            return
        tail = self._files.put_aside(*self._project, self._job.id, bytes(self._lines)) if self._lines else ""
        self._place = replace(self._place, tail=tail)
        self._save()

    def _finish(self) -> None:
        """Make the file. If a killed worker has made it already, keep it."""
        if not self._place.begun:
            self._lines += self._form(self._definitions(self._catalogs.current)).head()
            self._place = replace(self._place, begun=True)
        if not self._place.upload:
            self._files.put(self._key, MEDIA[self._order.format], bytes(self._lines))
        else:
            if self._lines:
                self._put_part()
                if self._held.job.state.final:
                    return
            try:
                self._files.complete(self._key, self._place.upload, self._place.parts)
            except UploadGone:
                if not self._files.exists(self._key):
                    raise
        self._place = replace(self._place, upload="", parts=(), tail="", file=self._key)
        self._end()

    def _end(self) -> None:
        self._job = self._job.is_over(JobState.DONE, clock.now())
        self._save()

    def _save(self) -> None:
        """Save a checkpoint, with the rows refused since the last one."""
        item = refusals_item(
            *self._project,
            self._job,
            self._held.job.revision,
            ((num, problem(error, _PROBLEM_BYTES)) for num, error in self._refused),
        )
        if self._refused:
            self._table.put(item)
        else:  # a worker killed here may have refused rows whose values are known by now
            self._table.delete(item[keys.PK], item[keys.SK])
        self._held.save(replace(self._job, at=self._place.to_item()))
        self._job = self._held.job
        self._refused.clear()

    def _start_over(self) -> None:
        """Write all lines once more: S3 has lost the upload, or a part of it is another one."""
        if self._place.upload:
            self._files.abort(self._key, self._place.upload)
        self._lines.clear()
        self._refused.clear()
        self._place = self._place.from_the_beginning()
        if self._place.restarts > MOST_RESTARTS:
            raise Internal(
                "The file could not be completed: S3 lost parts of it several times. Start another export."
            )
        self._job = replace(self._held.job, done=0, refused=0, total=self._place.rows)
        self._save()

    def _give_up(self) -> None:
        """Nobody will complete the upload."""
        if self._held.job.at and (upload := ExportPlace.from_item(self._held.job.at).upload):
            self._files.abort(self._key, upload)
            place = replace(ExportPlace.from_item(self._held.job.at), upload="", parts=(), tail="")
            self._held.note(replace(self._held.job, at=place.to_item()))
