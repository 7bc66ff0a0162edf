"""The pump over a stream that the test controls."""

import json
from pathlib import Path

import pytest

from devtools.local.delivery import Delivery, Policy, Record
from devtools.local.pump import Progress, Pump, wanted
from devtools.local.streams import EXPIRED, NOT_FOUND, TRIMMED, Page, Shard, StreamError, as_delivered

STREAM = "arn:stream/1"


def record(number: int) -> Record:
    return {
        "dynamodb": {
            "SequenceNumber": f"{number:021d}",
            "Keys": {"PK": {"S": "issue-0807.p.1"}, "SK": {"S": "project-0807.p"}},
        }
    }


class Stream:
    """Shards with records; a call can be made to fail once."""

    def __init__(self) -> None:
        self.listed: dict[str, Shard] = {}
        self.records: dict[str, list[Record]] = {}
        self.closed: set[str] = set()
        self.fail_once: dict[tuple[str, str], str] = {}
        self.reads: list[str] = []

    def shard(self, name: str, *numbers: int, parent: str | None = None, closed: bool = False) -> None:
        self.listed[name] = Shard(name, parent)
        self.records.setdefault(name, []).extend(record(number) for number in numbers)
        (self.closed.add if closed else self.closed.discard)(name)

    def shards(self, stream: str) -> list[Shard]:
        assert stream == STREAM
        return list(self.listed.values())

    def iterator(self, stream: str, shard: str, after: str | None) -> str:
        assert stream == STREAM
        self._fail("iterator", shard)
        numbers = [one["dynamodb"]["SequenceNumber"] for one in self.records[shard]]
        return json.dumps([shard, 0 if after is None else sum(number <= after for number in numbers)])

    def read(self, stream: str, iterator: str, limit: int) -> Page:
        assert stream == STREAM
        shard, position = json.loads(iterator)
        self.reads.append(shard)
        self._fail("read", shard)
        page = self.records[shard][position : position + limit]
        position += len(page)
        at_end = position == len(self.records[shard]) and shard in self.closed
        return Page(page, None if at_end else json.dumps([shard, position]))

    def _fail(self, call: str, shard: str) -> None:
        code = self.fail_once.pop((call, shard), None)
        if code:
            raise StreamError(code, "")


class Consumer:
    def __init__(self, stream: Stream, path: Path) -> None:
        self.seen: list[int] = []
        self.explode_at: int | None = None
        self.progress = Progress(path, STREAM)
        self.pump = Pump(stream, STREAM, self.progress, lambda _: self._delivery())

    def _delivery(self) -> Delivery:
        return Delivery(
            policy=Policy(batch_size=2),
            invoke=self._invoke,
            discard=lambda *_: pytest.fail("nothing is to be discarded"),
            wanted=wanted,
            now=lambda: 0.0,
            pause=lambda _: None,
        )

    def _invoke(self, records: list[Record]) -> None:
        numbers = [int(one["dynamodb"]["SequenceNumber"]) for one in records]
        if self.explode_at in numbers:
            raise KeyboardInterrupt
        self.seen += numbers

    def drain(self, now: float = 0.0) -> None:
        while self.pump.step(now):
            pass


@pytest.fixture
def stream() -> Stream:
    return Stream()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "progress.json"


def test_a_shard_is_delivered_and_what_is_added_later_too(stream: Stream, path: Path) -> None:
    stream.shard("a", 1, 2, 3)
    consumer = Consumer(stream, path)
    consumer.drain()
    stream.shard("a", 4)
    consumer.drain()
    assert consumer.seen == [1, 2, 3, 4]
    assert consumer.progress.after("a") == f"{4:021d}"


def test_a_restart_goes_on_from_what_was_settled(stream: Stream, path: Path) -> None:
    stream.shard("a", 1, 2, 3)
    Consumer(stream, path).drain()
    stream.shard("a", 4)
    again = Consumer(stream, path)
    again.drain()
    assert again.seen == [4]


def test_a_crash_in_a_batch_delivers_that_batch_again_and_no_other(stream: Stream, path: Path) -> None:
    stream.shard("a", 1, 2, 3, 4, 5)
    first = Consumer(stream, path)
    first.explode_at = 4
    with pytest.raises(KeyboardInterrupt):
        first.drain()
    again = Consumer(stream, path)
    again.drain()
    assert (first.seen, again.seen) == ([1, 2], [3, 4, 5])


def test_a_pump_that_goes_on_after_trouble_reads_from_what_was_settled(stream: Stream, path: Path) -> None:
    stream.shard("a", 1, 2, 3, 4)
    consumer = Consumer(stream, path)
    consumer.explode_at = 3
    with pytest.raises(KeyboardInterrupt):
        consumer.drain()
    consumer.explode_at = None
    consumer.drain()
    assert consumer.seen == [1, 2, 3, 4]


def test_a_child_waits_for_its_parent(stream: Stream, path: Path) -> None:
    stream.shard("child", 4, 5, parent="parent")
    stream.shard("parent", 1, 2, 3)
    consumer = Consumer(stream, path)
    consumer.drain()
    assert consumer.seen == [1, 2, 3]
    stream.shard("parent", closed=True)
    consumer.drain()
    consumer.drain()
    assert consumer.seen == [1, 2, 3, 4, 5]
    assert stream.reads.index("child") > stream.reads.index("parent")


def test_a_child_of_a_trimmed_parent_does_not_wait(stream: Stream, path: Path) -> None:
    stream.shard("child", 1, parent="long gone")
    consumer = Consumer(stream, path)
    consumer.drain()
    assert consumer.seen == [1]


def test_a_finished_shard_is_not_read_again_even_after_a_restart(stream: Stream, path: Path) -> None:
    stream.shard("parent", 1, closed=True)
    stream.shard("child", 2, parent="parent")
    Consumer(stream, path).drain()
    stream.reads.clear()
    again = Consumer(stream, path)
    again.drain()
    assert again.seen == []
    assert set(stream.reads) == {"child"}


def test_a_new_shard_is_found_in_time(stream: Stream, path: Path) -> None:
    stream.shard("a", 1)
    consumer = Consumer(stream, path)
    consumer.drain(now=0.0)
    stream.shard("b", 2)
    consumer.drain(now=1.0)
    assert consumer.seen == [1]
    consumer.drain(now=6.0)
    assert consumer.seen == [1, 2]


def test_removed_shards_are_forgotten(stream: Stream, path: Path) -> None:
    stream.shard("parent", 1, closed=True)
    stream.shard("child", 2, parent="parent")
    consumer = Consumer(stream, path)
    consumer.drain()
    consumer.drain()
    del stream.listed["parent"]
    consumer.drain(now=10.0)
    assert json.loads(path.read_text()) == {"stream": STREAM, "after": {"child": f"{2:021d}"}, "finished": []}


@pytest.mark.parametrize("call", ["iterator", "read"])
def test_trimmed_records_are_skipped(stream: Stream, path: Path, call: str) -> None:
    stream.shard("a", 1, 2)
    Consumer(stream, path).drain()
    stream.records["a"] = [record(7), record(8)]
    stream.fail_once[call, "a"] = TRIMMED
    again = Consumer(stream, path)
    again.pump.step(0.0)
    again.drain()
    assert again.seen == [7, 8]


@pytest.mark.parametrize("code", [EXPIRED, NOT_FOUND])
def test_a_lost_iterator_is_asked_for_again(stream: Stream, path: Path, code: str) -> None:
    stream.shard("a", 1)
    consumer = Consumer(stream, path)
    consumer.drain()
    stream.shard("a", 2)
    stream.fail_once["read", "a"] = code
    consumer.pump.step(0.0)
    consumer.drain()
    assert consumer.seen == [1, 2]


def test_any_other_refusal_is_not_swallowed(stream: Stream, path: Path) -> None:
    stream.shard("a", 1)
    stream.fail_once["read", "a"] = "InternalServerError"
    with pytest.raises(StreamError):
        Consumer(stream, path).pump.step(0.0)


@pytest.mark.parametrize("kept", ["", "{", "[]", '{"stream": "arn:stream/0", "after": {"a": "1"}}'])
def test_progress_of_another_stream_or_a_damaged_file_is_none(path: Path, kept: str) -> None:
    path.write_text(kept)
    assert Progress(path, STREAM).after("a") is None


@pytest.mark.parametrize(
    ("pk", "sk", "passes"),
    [
        ("issue-0807.p.1", "project-0807.p", True),
        ("issue-0807.p.1", "xindex", False),
        ("issue-0807.p.1", "xvalue-0807.p.a.1", False),
        ("project-0807.p", "tenant-0807", False),
        ("project-0807.p", "counter", False),
    ],
)
def test_the_filter_passes_only_issue_documents(pk: str, sk: str, passes: bool) -> None:
    assert wanted({"dynamodb": {"Keys": {"PK": {"S": pk}, "SK": {"S": sk}}}}) is passes


def test_a_record_as_lambda_delivers_it() -> None:
    identity = {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}
    delivered = as_delivered({"eventName": "REMOVE", "dynamodb": {}, "userIdentity": identity}, STREAM)
    assert delivered == {
        "eventName": "REMOVE",
        "dynamodb": {},
        "eventSourceARN": STREAM,
        "userIdentity": {"principalId": "dynamodb.amazonaws.com", "type": "Service"},
    }
    assert "userIdentity" not in as_delivered({"dynamodb": {}}, STREAM)
