"""A bucket gives as much at once as it holds, and then by its rate."""

import pytest

from gridview.live.token_buckets import TokenBucket

NOW = 1_700_000_000.0
MS = round(NOW * 1_000)


def taken(bucket: TokenBucket, spent: int, now: float) -> tuple[int, int]:
    """How many are taken from a bucket at an instant, one after another, and its `spent` after them."""
    count = 0
    while bucket.has_room(spent, now):
        count, spent = count + 1, max(spent, round(now * 1_000)) + bucket.step
    return count, spent


@pytest.mark.parametrize("bucket", [TokenBucket(1, 1), TokenBucket(5, 2), TokenBucket(100, 50)])
def test_a_full_bucket_gives_its_size_and_then_its_rate(bucket: TokenBucket) -> None:
    count, spent = taken(bucket, 0, NOW)
    assert count == bucket.size
    assert taken(bucket, spent, NOW + 1)[0] == min(bucket.per_second, bucket.size)
