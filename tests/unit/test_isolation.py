import os
import socket

import pytest
from pytest_socket import SocketBlockedError


def test_unit_tests_reach_no_network() -> None:
    with pytest.raises(SocketBlockedError):
        socket.create_connection(("127.0.0.1", 9), timeout=1)


def test_unit_tests_have_no_account() -> None:
    assert os.environ["AWS_ACCESS_KEY_ID"] == "testing"
    assert "AWS_PROFILE" not in os.environ
