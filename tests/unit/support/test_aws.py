"""Clients of AWS: what a function spends on making one."""

from typing import Any

import pytest
from botocore.loaders import JSONFileLoader

from gridview.support import aws


def test_the_models_of_a_service_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[str]()
    load = JSONFileLoader.load_file

    def counted(self: JSONFileLoader, path: str) -> Any:
        read.append(path)
        return load(self, path)

    aws.learn("sts")
    monkeypatch.setattr(JSONFileLoader, "load_file", counted)
    aws.client("sts")
    assert read == []
