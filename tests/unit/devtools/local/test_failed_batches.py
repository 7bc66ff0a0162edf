import json
import re
from pathlib import Path

from devtools.local.delivery import Reason
from devtools.local.failed_batches import keep_batch


def test_a_batch_is_kept_whole_as_lambda_writes_it_to_a_bucket(tmp_path: Path) -> None:
    records = [
        {"dynamodb": {"SequenceNumber": f"{n:021d}", "ApproximateCreationDateTime": 1_700_000_000 + n}}
        for n in (4, 5)
    ]
    folder = tmp_path / "failed-batches"
    kept = {
        keep_batch(
            folder,
            stream="arn:s",
            shard="shardId-1",
            function="arn:f",
            records=records,
            reason=Reason.RETRIES,
            invocations=6,
        )
        for _ in range(2)
    }
    assert {path for path in folder.rglob("*") if path.is_file()} == kept
    assert len(kept) == 2
    for path in kept:
        assert re.fullmatch(
            r"aws/lambda/[0-9a-f-]{36}/shardId-1/\d{4}/\d\d/\d\d/\d{4}-\d\d-\d\dT\d\d\.\d\d\.\d\d-[0-9a-f-]{36}",
            str(path.relative_to(folder)),
        )
        batch = json.loads(path.read_text())
        assert batch["requestContext"]["condition"] == "RetryAttemptsExhausted"
        assert batch["requestContext"]["approximateInvokeCount"] == 6
        assert batch["DDBStreamBatchInfo"] == {
            "shardId": "shardId-1",
            "startSequenceNumber": f"{4:021d}",
            "endSequenceNumber": f"{5:021d}",
            "approximateArrivalOfFirstRecord": "2023-11-14T22:13:24Z",
            "approximateArrivalOfLastRecord": "2023-11-14T22:13:25Z",
            "batchSize": 2,
            "streamArn": "arn:s",
        }
        assert json.loads(batch["payload"]) == {"Records": records}
    # No half-written file is beside them.
    assert list(tmp_path.iterdir()) == [folder]
