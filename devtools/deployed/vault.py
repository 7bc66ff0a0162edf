"""The vault of a stack's backups, which outlives the stack: its contents, and its end."""

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from gridview.support import clock

_WAITS = 30
_WAIT_SECONDS = 2.0
"""AWS Backup deletes recovery points of a table in the background, within seconds."""


class Vault:
    """A vault by its name. `client`: of AWS Backup, in the stack's account and region."""

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self.name = name

    def exists(self) -> bool:
        """Whether there is such a vault; False if AWS does not say."""
        try:
            pages = self._client.get_paginator("list_backup_vaults").paginate()
            return any(
                one["BackupVaultName"] == self.name for page in pages for one in page["BackupVaultList"]
            )
        except (BotoCoreError, ClientError):
            return False

    def recovery_points(self) -> list[str]:
        """The ARNs of the recovery points in it."""
        pages = self._client.get_paginator("list_recovery_points_by_backup_vault").paginate(
            BackupVaultName=self.name
        )
        return [one["RecoveryPointArn"] for page in pages for one in page["RecoveryPoints"]]

    def remove(self) -> bool:
        """Delete the recovery points, then the vault; returns whether both are gone, after a minute at most.

        A vault lock, and a recovery point that is held, stay: False.
        """
        for arn in self.recovery_points():
            try:
                self._client.delete_recovery_point(BackupVaultName=self.name, RecoveryPointArn=arn)
            except ClientError:
                return False
        for wait in range(_WAITS):
            if wait:
                clock.sleep(_WAIT_SECONDS)
            if not self.recovery_points():
                break
        try:
            self._client.delete_backup_vault(BackupVaultName=self.name)
        except ClientError:
            return False
        return True
