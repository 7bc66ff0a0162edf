"""The records of a change outside the history."""

from uuid import UUID

from gridview.commands import jobs, written_changes
from gridview.commands.written_changes import WrittenChange
from gridview.schema.user_jobs import JobKind
from tests.support.remembered import ADA, BEN, CHANGE, PROJECT, TENANT, made

OTHER = UUID(int=7)


def test_a_user_writes_under_a_change_while_a_job_of_it_is_open() -> None:
    table = made()
    written_changes.note(table, TENANT, PROJECT, CHANGE, BEN.user)
    job = jobs.start(table, ADA, PROJECT, JobKind.UNDO, {}, CHANGE)
    jobs.start(table, BEN, PROJECT, JobKind.EXPORT, {}, CHANGE)
    written = WrittenChange.read(table, TENANT, PROJECT, CHANGE)
    assert ({*written.working}, {*written.noted}) == ({"ada"}, {"ben"})
    assert written.users == {"ada", "ben"}
    assert WrittenChange.read(table, TENANT, PROJECT, OTHER).users == frozenset()
    jobs.cancel_job(table, ADA, PROJECT, job["id"])
    assert WrittenChange.read(table, TENANT, PROJECT, CHANGE).users == {"ben"}
