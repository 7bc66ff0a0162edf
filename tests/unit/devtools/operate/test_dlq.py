"""`./dev dlq` over moto's SQS and S3, or the local stack's folder, and a table in memory."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from devtools import cli
from devtools.local.delivery import Reason
from devtools.local.failed_batches import keep_batch
from devtools.operate import dlq, target
from devtools.operate.target import BucketBatches, FailedBatches, FolderBatches, Target
from devtools.proof.faults.adversary import record
from devtools.proof.faults.memory_table import MemoryTable
from gridview.derive.images import Poison
from gridview.derive.ledger import ImageVersion, Ledger
from gridview.dynamodb.expressions import Item
from gridview.encoding import derived_keys, keys
from gridview.fsck.issue_diff import Collection, compared
from gridview.journal.history import read_changes
from gridview.journal.log import Log
from gridview.maintenance import stream_consumer
from gridview.maintenance.dead_letters import DeadLetters
from gridview.schema.trash import mark_of
from gridview.support import clock
from gridview.support.errors import Overloaded
from tests.support import damage
from tests.support.damage import PROJECT, TENANT, catalog_of, collection, key_of
from tests.support.depth import one_of

pytestmark = pytest.mark.usefixtures("no_pauses")

BUCKET = "failed-batches"
UUID = re.compile(r"^[0-9a-f-]{36}$")


class KilledError(BaseException):
    """The process dies."""


class Watched:
    """Passes all calls of an object through `around`."""

    def __init__(self, beneath: Any, around: Callable[[str], None]) -> None:
        self._beneath, self._around = beneath, around

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._beneath, name)

        def call(*positional: Any, **named: Any) -> Any:
            self._around(name)
            return method(*positional, **named)

        return call


class World:
    """A table, a queue, a store of failed batches, and a command's output on them."""

    def __init__(self, table: MemoryTable, batches: FailedBatches, keep: Callable[[list[Any]], str]) -> None:
        self.table = table
        self.queue = boto3.client("sqs")
        self.url = self.queue.create_queue(QueueName="dead-letters")["QueueUrl"]
        self.batches = batches
        self.keep = keep
        self.around: Callable[[str], None] = lambda _: None

    def send(self, num: int, version: int = 1, error: str = "KeyError: what") -> None:
        DeadLetters(self.url).send(Poison(key_of(num), version, error))

    def letters(self) -> int:
        asked = self.queue.get_queue_attributes(QueueUrl=self.url, AttributeNames=["All"])["Attributes"]
        return int(asked["ApproximateNumberOfMessages"])

    def hidden(self) -> int:
        asked = self.queue.get_queue_attributes(QueueUrl=self.url, AttributeNames=["All"])["Attributes"]
        return int(asked["ApproximateNumberOfMessagesNotVisible"])

    def target(self) -> Target:
        queue: Any = Watched(self.queue, lambda name: self.around(name))
        batches: Any = Watched(self.batches, lambda name: self.around(name))
        table = self.table.seen_through(lambda one, perform: (self.around(one.operation), perform())[1])
        return Target(table, queue, self.url, batches, "the test")

    def wrong(self, *nums: int) -> list[Any]:
        catalog = catalog_of(self.table)
        items = {item.number: item for item in Log(self.table, TENANT, PROJECT).all_after(0)}
        found = []
        for key in map(key_of, nums):
            one = Collection.of(key, collection(self.table, key))
            one.look_in_journal(items.get)
            found += compared(one, catalog)
        return found

    def stored(self) -> list[str]:
        return sorted(self.batches.names())


@pytest.fixture(scope="module")
def pristine() -> MemoryTable:
    table = MemoryTable()
    damage.make_project(table)
    damage.add_issues(table, 30)
    return table


@pytest.fixture(params=["folder", "bucket"])
def world(
    request: pytest.FixtureRequest, pristine: MemoryTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    monkeypatch.setattr(dlq, "_WAIT_SECONDS", 0)
    folder = tmp_path / "failed-batches"

    def kept(records: list[Any]) -> str:
        path = keep_batch(
            folder,
            stream="arn:stream",
            shard="shardId-1",
            function="arn:function",
            records=[_dated(one) for one in records],
            reason=Reason.RETRIES,
            invocations=11,
        )
        return path.relative_to(folder).as_posix()

    with mock_aws():
        if request.param == "folder":
            made = World(pristine.copy(), FolderBatches(folder), kept)
        else:
            client: Any = boto3.client("s3")
            client.create_bucket(Bucket=BUCKET)

            def kept_in_bucket(records: list[Any]) -> str:
                name = kept(records)
                client.put_object(Bucket=BUCKET, Key=name, Body=(folder / name).read_bytes())
                return name

            made = World(pristine.copy(), BucketBatches(BUCKET, client), kept_in_bucket)
        monkeypatch.setattr(target, "open", lambda _: made.target())
        yield made


def _dated(one: dict[str, Any]) -> dict[str, Any]:
    return {**one, "dynamodb": {**one["dynamodb"], "ApproximateCreationDateTime": 1_700_000_000}}


def edited(world: World, num: int, version: int, **fields: Any) -> dict[str, Any]:
    """Edit an issue in the table, and return the record of it."""
    before = world.table.get(key_of(num), keys.project(TENANT, PROJECT))
    after: Item = damage.document(world.table, num, version=version, **fields)
    world.table.put(after)
    return record(num, before, after)


def removed(world: World, num: int) -> dict[str, Any]:
    before = world.table.get(key_of(num), keys.project(TENANT, PROJECT))
    world.table.delete(key_of(num), keys.project(TENANT, PROJECT))
    return record(num, before, None)


def dev(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = cli.main(["dlq", *arguments])
    captured = capsys.readouterr()
    return status, captured.out + captured.err


def ids(output: str) -> list[str]:
    return [line.split()[0] for line in output.splitlines() if UUID.match(line.split()[0])]


def test_listing_changes_nothing(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    for num in range(1, 24):
        world.send(num, version=num)
    name = world.keep([edited(world, num, 2) for num in (24, 25)])
    for _ in range(2):
        status, output = dev(capsys, "list")
        assert status == 0
        assert len(set(ids(output))) == 24
        assert f"letter  {key_of(7)} version 7: KeyError: what" in output
        assert f"{name[-36:]}  20" in output
        assert "2 records of 2 issues: RetryAttemptsExhausted" in output
        assert "23 dead letters and 1 failed batches" in output
        assert (world.letters(), world.hidden()) == (23, 0)
    assert world.stored() == [name]


class Scripted:
    """A queue with these answers. After the last one it gives the letter `a` forever."""

    def __init__(self, answers: Sequence[str]) -> None:
        self._answers = iter(answers)

    def receive_message(self, **_: Any) -> dict[str, Any]:
        ids = next(self._answers, "a")
        return {"Messages": [{"MessageId": one, "ReceiptHandle": f"receipt of {one}"} for one in ids]}

    def change_message_visibility(self, **_: Any) -> None:
        """Take a letter back."""


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        (("ab", "ab", "ac", "a", "d", "", "e"), "abcd"),
        (("ab", "ba"), "ab"),
    ],
    ids=["held ones come again", "no other one comes"],
)
def test_letters_are_found_though_held_ones_come_again(
    pristine: MemoryTable, answers: Sequence[str], found: str
) -> None:
    queue: Any = Scripted(answers)
    batches: Any = None
    with dlq.Queue.opened(Target(pristine, queue, "url", batches, "the test")) as opened:
        assert "".join(letter.id for some in opened.letters() for letter in some) == found


def test_nothing_is_nothing(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert dev(capsys, "list") == (0, "0 dead letters and 0 failed batches in the test.\n")
    assert dev(capsys, "redrive", "--all") == (0, "0 redriven, 0 left.\n")


def test_redriving_derives_from_the_documents_as_they_are_now(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    for num in range(1, 13):
        edited(world, num, 2, start="2031-01-01")
        world.send(num, version=2)
    old = [edited(world, num, 2, kind="o1") for num in range(13, 20)]
    world.keep(old)
    for num in range(13, 17):
        edited(world, num, 3, start="2032-01-01")
    world.keep([removed(world, num) for num in (19, 20)])
    assert world.wrong(*range(1, 21))
    status, output = dev(capsys, "redrive", "--all")
    assert (status, output.splitlines()[-1]) == (0, "14 redriven, 0 left.")
    assert world.wrong(*range(1, 31)) == []
    assert (world.letters(), world.hidden(), world.stored()) == (0, 0, [])
    assert Ledger.from_item(world.table.get(key_of(19), derived_keys.LEDGER)).order == ImageVersion(
        2, removed=True
    )
    assert Ledger.from_item(world.table.get(key_of(16), derived_keys.LEDGER)).version == 3


def test_a_batch_that_lambda_gave_up_gets_its_history_and_its_place_in_the_trash(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The consumer has recorded nothing of it, and without the batch nobody could."""
    monkeypatch.setattr(clock, "seconds", lambda: 1_704_100_000.0)  # the day of damage.NOW
    before = world.table.get(key_of(5), keys.project(TENANT, PROJECT))
    after = {**damage.document(world.table, 5, version=2), **mark_of("ann", damage.NOW)}
    world.table.put(after)
    world.keep([record(5, before, after), edited(world, 6, 2, kind="o1")])
    assert dev(capsys, "redrive", "--all")[0] == 0
    found = read_changes(world.table, TENANT, PROJECT, [(5, 2), (6, 2)], consistent=True)
    assert {one: change.kind for one, change in found.items()} == {(5, 2): "delete", (6, 2): "update"}
    ((_, listed),) = [key for key in world.table.items if key[0] == keys.trash(TENANT, PROJECT)]
    assert keys.parse_trash_place(listed) == (5, 2)
    assert world.stored() == []


def test_records_of_a_table_that_was_replaced_are_passed_over(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    arn = "arn:aws:dynamodb:eu-west-2:123456789012:table/{}/stream/2026-11-21T08:00:00.000"
    lost, own = arn.format("replaced"), arn.format(world.table.name)
    gone = {**removed(world, 20), "eventSourceARN": lost}
    world.keep([gone, {**edited(world, 19, 2, kind="o1"), "eventSourceARN": own}])
    before = {key: item for key, item in world.table.items.items() if key[0] == key_of(20)}
    assert dev(capsys, "redrive", "--all")[0] == 0
    assert {key: item for key, item in world.table.items.items() if key[0] == key_of(20)} == before
    histories = {key[0] for key in world.table.items if key[0].startswith(derived_keys.HISTORY_PREFIX)}
    assert histories == {derived_keys.history(TENANT, PROJECT, 19)}
    assert world.wrong(19) == []
    assert world.stored() == []


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Overloaded("The table is busy; try again."), "The table is busy"),
        (KeyError("kind"), "Its history cannot be written: KeyError: 'kind'"),
    ],
)
def test_a_batch_without_its_history_stays(
    world: World,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    said: str,
) -> None:
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(stream_consumer, "record_again", fail)
    name = world.keep([edited(world, 6, 2, kind="o1")])
    status, output = dev(capsys, "redrive", "--all")
    assert (status, world.stored()) == (1, [name])
    assert said in output
    assert world.wrong(6), "a reader would find the version without its history"


def test_issues_that_are_still_poison_stay_with_their_reason(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    damage.change(world.table, key_of(3), keys.project(TENANT, PROJECT), {"fields": {"a2": "o99"}})
    edited(world, 4, 2, kind="o1")
    world.send(3)
    world.send(4)
    batch = world.keep([record(1, None, world.table.items[key_of(3), keys.project(TENANT, PROJECT)])])
    status, output = dev(capsys, "redrive", "--all")
    assert status == 1
    assert "1 redriven, 2 left." in output
    assert (
        output.count(f"{key_of(3)}: UnknownOption: a document has an option that the catalog does not know")
        == 2
    )
    assert (world.letters(), world.hidden(), world.stored()) == (1, 0, [batch])
    edited(world, 3, 2, kind="o1")
    assert dev(capsys, "redrive", "--all")[0] == 0
    assert world.wrong(3, 4) == []
    assert (world.letters(), world.stored()) == (0, [])


@dataclass(frozen=True)
class Named:
    """A letter of issue 9 and a batch of issue 22, to be named; fourteen letters and the batch `other` are not."""

    letter: str
    batch: str
    other: str


@pytest.fixture
def named(world: World, capsys: pytest.CaptureFixture[str]) -> Named:
    for num in range(1, 16):
        edited(world, num, 2)
        world.send(num, version=2)
    other, batch = (world.keep([edited(world, num, 2)]) for num in (21, 22))
    _, listed = dev(capsys, "list")
    letter = next(line.split()[0] for line in listed.splitlines() if key_of(9) in line)
    return Named(letter, batch[-36:], other)


def test_only_what_is_named_is_redriven(
    world: World, capsys: pytest.CaptureFixture[str], named: Named
) -> None:
    status, output = dev(capsys, "redrive", named.letter, named.batch)
    assert (status, output.splitlines()[-1]) == (0, "2 redriven, 0 left.")
    assert world.wrong(9, 22) == []
    assert world.wrong(8)
    assert (world.letters(), world.hidden(), world.stored()) == (14, 0, [named.other])


def test_only_what_is_named_is_dropped_and_nothing_is_derived(
    world: World, capsys: pytest.CaptureFixture[str], named: Named
) -> None:
    status, output = dev(capsys, "drop", named.letter, named.batch)
    assert (status, output.splitlines()[-1]) == (0, "2 dropped.")
    assert f"{named.letter}  dropped  {key_of(9)} version 2: KeyError: what" in output
    assert (world.letters(), world.hidden(), world.stored()) == (14, 0, [named.other])
    assert world.wrong(9)
    assert world.wrong(22)


def test_all_are_dropped_even_unreadable_ones(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.queue.send_message(QueueUrl=world.url, MessageBody="hello")
    world.send(1)
    name = world.keep([edited(world, 1, 2)])
    if isinstance(world.batches, FolderBatches):
        (world.batches._folder / name).write_text("{}")
    else:
        world.batches._client.put_object(Bucket=BUCKET, Key=name, Body="{}")  # type: ignore[attr-defined]
    status, output = dev(capsys, "drop", "--all")
    assert (status, output.splitlines()[-1]) == (0, "3 dropped.")
    assert (world.letters(), world.hidden(), world.stored()) == (0, 0, [])


@pytest.mark.parametrize("command", ["redrive", "drop"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [((), "Name ids"), (("--all", "x"), "Name ids"), (("x",), "There is no x")],
)
def test_redrive_and_drop_require_existing_names(
    world: World, capsys: pytest.CaptureFixture[str], command: str, arguments: tuple[str, ...], said: str
) -> None:
    world.send(1)
    status, output = dev(capsys, command, *arguments)
    assert status == 1
    assert said in output
    assert (world.letters(), world.hidden()) == (1, 0)


def test_foreign_messages_stay_where_they_are(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.queue.send_message(QueueUrl=world.url, MessageBody="hello")
    DeadLetters(world.url).send(Poison("issue-what", 0, "ValueError: no number"))
    name = world.keep([edited(world, 1, 2)])
    content = world.batches.read(name)
    assert content is not None
    without = {key: value for key, value in json.loads(content).items() if key != "payload"}
    if isinstance(world.batches, FolderBatches):
        (world.batches._folder / name).write_text(json.dumps(without))
    else:
        world.batches._client.put_object(Bucket=BUCKET, Key=name, Body=json.dumps(without))  # type: ignore[attr-defined]
    status, output = dev(capsys, "list")
    assert status == 0
    assert "This is not a dead letter of gridview." in output
    assert "This is not a failed batch with its records (no 'payload')." in output
    status, output = dev(capsys, "redrive", "--all")
    assert status == 1
    assert "0 redriven, 3 left." in output
    assert "./dev fsck --repair" in output
    assert (world.letters(), world.hidden(), world.stored()) == (2, 0, [name])


def test_a_batch_may_hold_its_records_as_text_or_as_they_are(world: World) -> None:
    name = world.keep([edited(world, 1, 2), edited(world, 2, 7), edited(world, 2, 5)])
    content = world.batches.read(name)
    assert content is not None
    invocation = json.loads(content)
    assert isinstance(invocation["payload"], str)
    whole = json.dumps({**invocation, "payload": json.loads(invocation["payload"])}).encode()
    for one in (content, whole):
        batch = dlq.Batch.of(name, one)
        assert batch.issues == {key_of(1): 2, key_of(2): 7}
        assert len(batch.content.records) == 3


def test_killed_at_any_call_nothing_is_lost(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A received letter is visible again at once, so the next command need not wait for held letters.
    monkeypatch.setattr(dlq, "_HIDDEN_SECONDS", 0)
    sound = world.table
    calls, complete = 0, False
    while not complete:
        world.around = lambda _: None
        world.table = sound.copy()
        for num in (1, 2):
            edited(world, num, 2, start="2031-01-01")
            world.send(num, version=2)
        world.keep([edited(world, 3, 2, kind="o1"), removed(world, 4)])
        left = calls

        def around(_: str) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise KilledError

        world.around = around
        try:
            dev(capsys, "redrive", "--all")
            complete = True
        except KilledError:
            world.around = lambda _: None
            undone = {num for num in (1, 2) if world.wrong(num)}
            assert world.letters() >= len(undone)
            assert world.stored() or not world.wrong(3, 4)
            assert dev(capsys, "redrive", "--all")[0] == 0
        assert world.wrong(1, 2, 3, 4) == []
        assert (world.letters(), world.stored()) == (0, [])
        calls += one_of(29, thorough=1)
    assert calls > 30


def test_a_table_that_refuses_costs_no_letter(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    edited(world, 1, 2)
    world.send(1, version=2)

    def around(name: str) -> None:
        if name == "put":
            raise Overloaded("The table is busy; try again.")

    world.around = around
    status, output = dev(capsys, "redrive", "--all")
    assert status == 1
    assert "The table is busy" in output
    assert (world.letters(), world.hidden()) == (1, 0)


def test_a_missing_queue_is_one_sentence(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.queue.delete_queue(QueueUrl=world.url)
    status, output = dev(capsys, "list")
    assert status == 1
    assert "AWS cannot be used" in output
