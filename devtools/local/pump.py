"""The stream pump between the table's stream and the maintain function, like Lambda's event source mapping in the
cloud.

After each batch it writes to a file how far each shard is finished, and after a crash it goes on from there. Its
process also holds the queues that the functions send to and the bucket of exports. It runs the schedules of the
functions of the background, and delivers hints to them.
"""

import argparse
import functools
import http.client
import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devtools import files
from devtools.failure import FunctionError
from devtools.local import failed_batches, job_delivery, schedule
from devtools.local.container import ACCOUNT
from devtools.local.containers import Pool
from devtools.local.delivery import Delivery, Policy, Reason, Record
from devtools.local.environment import REGION
from devtools.local.folder import Folder
from devtools.local.s3 import S3Server
from devtools.local.sqs import JOBS, WEBHOOK_RETRIES, WEBHOOKS, SqsServer
from devtools.local.streams import EXPIRED, NOT_FOUND, TRIMMED, Source, StreamClient, StreamError
from gridview.encoding.keys import BEAT, ISSUE_PREFIX, PK, PROJECT_PREFIX, SK
from infra.functions import FUNCTIONS
from infra.limits import BATCH_SIZE, RETRIES, WEBHOOK_BATCH

FUNCTION = "maintain"
READ_LIMIT = 1000
"""Records that one GetRecords returns at most."""

_IDLE_SECONDS = 0.2
_ENGINE_AWAY_SECONDS = 1.0
_LOOK_FOR_SHARDS_SECONDS = 5.0
_LONGEST_PAUSE_SECONDS = 10.0

POLICY = Policy(batch_size=BATCH_SIZE, retries=RETRIES, bisect=False)
"""The settings of the cloud's mapping, but without a maximum age: a laptop that slept for a day has a day-old stream."""

_log = logging.getLogger("gridview.pump")


def wanted(record: Record) -> bool:
    """The mapping's filter lets issue documents and the heartbeat through, so that the function's own writes do not wake it."""
    key = record["dynamodb"]["Keys"]
    pk, sk = key.get(PK, {}).get("S", ""), key.get(SK, {}).get("S", "")
    return bool(pk == BEAT or (pk.startswith(ISSUE_PREFIX) and sk.startswith(PROJECT_PREFIX)))


class Progress:
    """How far each shard of a stream is finished, kept in a file."""

    def __init__(self, path: Path, stream: str) -> None:
        """Read the file's progress of this stream. Another stream's progress counts as none, and so does a damaged file."""
        self._path = path
        self._stream = stream
        kept = files.read_json(path)
        if not isinstance(kept, dict) or kept.get("stream") != stream:
            kept = {}
        self._after: dict[str, str] = dict(kept.get("after", {}))
        self._finished: set[str] = set(kept.get("finished", []))

    def after(self, shard: str) -> str | None:
        """The sequence number up to which a shard is finished, or None."""
        return self._after.get(shard)

    def finished(self, shard: str) -> bool:
        """Whether a shard is closed and finished to its end."""
        return shard in self._finished

    def settle(self, shard: str, number: str) -> None:
        """Note that everything up to this sequence number is finished."""
        self._after[shard] = number
        self._save()

    def forget(self, shard: str) -> None:
        """Start over with what the stream still has of a shard."""
        self._after.pop(shard, None)
        self._save()

    def finish(self, shard: str) -> None:
        """Note that a closed shard is finished to its end."""
        self._after.pop(shard, None)
        self._finished.add(shard)
        self._save()

    def keep_only(self, shards: set[str]) -> None:
        """Forget the shards that the stream no longer has."""
        gone = (self._finished | self._after.keys()) - shards
        if gone:
            self._finished -= gone
            for shard in gone:
                self._after.pop(shard, None)
            self._save()

    def _save(self) -> None:
        files.write_json(
            self._path, {"stream": self._stream, "after": self._after, "finished": sorted(self._finished)}
        )


class Pump:
    """Moves a stream's records to a function, shard by shard, each parent before its children."""

    def __init__(
        self, client: Source, stream: str, progress: Progress, delivery_of: Callable[[str], Delivery]
    ) -> None:
        """`delivery_of` gives the delivery for a shard."""
        self._client = client
        self._stream = stream
        self._progress = progress
        self._delivery_of = delivery_of
        self._iterators: dict[str, str] = {}
        self._readable: list[str] = []
        self._look_again = 0.0

    def step(self, now: float) -> bool:
        """Read each readable shard once and deliver its records; False when there were none. `now` is monotonic, in seconds."""
        if now >= self._look_again:
            self._find_shards(now)
        moved = False
        for shard in tuple(self._readable):
            moved |= self._move(shard)
        return moved

    def _find_shards(self, now: float) -> None:
        shards = self._client.shards(self._stream)
        self._progress.keep_only({shard.id for shard in shards})
        unfinished = {shard.id for shard in shards if not self._progress.finished(shard.id)}
        # A parent that the stream no longer lists is trimmed: there is nothing to wait for.
        self._readable = [
            shard.id for shard in shards if shard.id in unfinished and shard.parent not in unfinished
        ]
        self._look_again = now + _LOOK_FOR_SHARDS_SECONDS

    def _move(self, shard: str) -> bool:
        # Taken out, and put back when all went well: after any trouble the shard is read from where it is settled.
        iterator = self._iterators.pop(shard, None)
        try:
            page = self._client.read(self._stream, iterator or self._begin(shard), READ_LIMIT)
        except StreamError as error:
            return self._recover(shard, error)
        for number in self._delivery_of(shard).deliver(page.records):
            self._progress.settle(shard, number)
        if page.next:
            self._iterators[shard] = page.next
        else:
            self._progress.finish(shard)
            self._look_again = 0.0
        return bool(page.records)

    def _begin(self, shard: str) -> str:
        return self._client.iterator(self._stream, shard, self._progress.after(shard))

    def _recover(self, shard: str, error: StreamError) -> bool:
        if error.code == TRIMMED:
            _log.warning("Records were trimmed before they were read.", extra={"shard": shard})
            self._progress.forget(shard)
        elif error.code == NOT_FOUND:
            self._look_again = 0.0
        elif error.code != EXPIRED:
            raise error
        return False


def pause(retry: int) -> None:
    """Wait before retry 1, 2, ... of a batch, longer each time."""
    time.sleep(min(_LONGEST_PAUSE_SECONDS, 0.1 * 2**retry))


@dataclass(frozen=True, slots=True)
class Mapping:
    """Which records of the stream go to which function, and how. `progress`: the file of how far they have been.

    `keep`: a batch that is given up is kept, so that it can be redriven.
    """

    function: str
    wanted: Callable[[Record], bool]
    progress: Path
    policy: Policy
    keep: bool = True


def run(endpoint: str, table: str, folder: Folder, invoke: Callable[[Any], Any], mapping: Mapping) -> None:
    """Pump for ever. `invoke` calls the function with an event. The data folder keeps progress and failed batches."""
    client = StreamClient(endpoint)
    stream = client.stream_of(table)

    def invoke_batch(records: list[Record]) -> Any:
        try:
            return invoke({"Records": records})
        except FunctionError:
            _log.exception("A batch failed.", extra={"records": len(records)})
            raise

    def discard(shard: str, records: list[Record], reason: Reason, invocations: int) -> None:
        _log.error("A batch was given up.", extra={"records": len(records), "reason": reason})
        if not mapping.keep:
            return
        failed_batches.keep_batch(
            folder.failed_batches,
            stream=stream,
            shard=shard,
            function=f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:gridview-{mapping.function}",
            records=records,
            reason=reason,
            invocations=invocations,
        )

    def delivery_of(shard: str) -> Delivery:
        return Delivery(
            policy=mapping.policy,
            invoke=invoke_batch,
            discard=functools.partial(discard, shard),
            wanted=mapping.wanted,
            now=time.time,
            pause=pause,
        )

    pump = Pump(client, stream, Progress(mapping.progress, stream), delivery_of)
    while True:
        try:
            if not pump.step(time.monotonic()):
                time.sleep(_IDLE_SECONDS)
        except (OSError, http.client.HTTPException, StreamError):
            _log.warning("The stream cannot be read for now.", exc_info=True)
            time.sleep(_ENGINE_AWAY_SECONDS)


def main() -> None:
    """`python -m devtools.local.pump`, started by the supervisor in the function's environment."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--letters", type=int, required=True, help="file descriptor of the queue's socket")
    parser.add_argument("--files", type=int, required=True, help="file descriptor of the bucket's socket")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    folder = Folder(arguments.data)
    sqs = SqsServer(folder.dead_letters, socket.socket(fileno=arguments.letters))
    sqs.start()
    S3Server(
        folder.exports,
        os.environ["AWS_SECRET_ACCESS_KEY"],
        socket.socket(fileno=arguments.files),
        batches=folder.failed_batches,
    ).start()
    upkeep = _pool(schedule.FUNCTION, size=1 + job_delivery.WORKERS)
    _start(schedule.run, upkeep.invoke)
    for _ in range(job_delivery.WORKERS):
        _start(job_delivery.run, sqs.queues[JOBS], upkeep.invoke)
    deliver = _pool(schedule.DELIVER, size=3)
    _start(schedule.run, deliver.invoke, task="webhooks")
    for name in (WEBHOOKS, WEBHOOK_RETRIES):
        _start(job_delivery.run, sqs.queues[name], deliver.invoke, most=WEBHOOK_BATCH)
    records = _pool(FUNCTION, size=1)
    mapping = Mapping(FUNCTION, wanted, folder.progress, POLICY)
    run(os.environ["AWS_ENDPOINT_URL_DYNAMODB"], os.environ["TABLE_NAME"], folder, records.invoke, mapping)


def _start(run: Callable[..., None], *arguments: Any, **named: Any) -> None:
    threading.Thread(target=run, args=arguments, kwargs=named, daemon=True).start()


def _pool(function: str, *, size: int) -> Pool:
    env = os.environ | {"POWERTOOLS_SERVICE_NAME": function}
    return Pool(function, env=env, size=size, timeout=FUNCTIONS[function].timeout_seconds)


if __name__ == "__main__":
    main()
