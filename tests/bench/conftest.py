from tests.engine.conftest import dummy_account

__all__ = ["dummy_account"]
