"""The outputs that name the vault of backups. No CDK here: `./dev destroy` reads them too."""

from typing import Final

VAULT_OUTPUT: Final = "BackupVault"
"""The output with the name of the vault that the stack has made."""

FOUND_OUTPUT: Final = "BackupVaultFound"
"""The output with the name of a vault that was there before: CloudFormation cannot make it again."""
