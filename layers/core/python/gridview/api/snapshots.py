"""SnapStart: the steps of a function before Lambda takes a snapshot of it, and after each start from that
snapshot.

Every environment that starts from a snapshot has the same memory. So it must have no credentials, and no
connection that the other side has long closed. The random numbers of all would also be the same.
"""

import importlib
import os
import random
from collections.abc import Callable, Sequence

from gridview.support import aws

Step = Callable[[], object]


def start(connect: Sequence[Step], services: Sequence[str], later: Sequence[str] = ()) -> None:
    """Do the steps of a function once before its first event: take the steps of `connect`, in their order.

    Without SnapStart that is now. With SnapStart it is after each start from the snapshot. The snapshot
    itself contains botocore's models of `services`, and the modules of `later`, which are otherwise imported
    when a request first needs them.
    """
    if os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE") != "snap-start":
        for step in connect:
            step()
        return
    # Lambda's Python runtimes bring this library along, from the version on that can be snapshotted.
    from snapshot_restore_py import (  # type: ignore[import-not-found]
        register_after_restore,
        register_before_snapshot,
    )

    register_before_snapshot(_learn, services, later)
    # The jitter of retries: environments that start together would otherwise collide again and again.
    register_after_restore(random.seed)
    for step in connect:
        register_after_restore(step)


def _learn(services: Sequence[str], later: Sequence[str]) -> None:
    for service in services:
        aws.learn(service)
    for module in later:
        importlib.import_module(module)
