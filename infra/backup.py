"""Backups of the table in AWS Backup, beside its own point-in-time recovery of 35 days."""

from aws_cdk import CfnOutput, Duration, RemovalPolicy
from aws_cdk import aws_backup as backup
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from constructs import Construct

from infra.backup_vault import FOUND_OUTPUT, VAULT_OUTPUT
from infra.checks import acknowledge
from infra.settings import Settings

KEPT = Duration.days(35)


class NightlyBackup(Construct):
    """A copy each night in a vault that outlives stack and table. For copies elsewhere add rules to the plan.

    CloudFormation never deletes the vault, since it cannot delete one with copies: `./dev destroy` does when it is asked to. So a
    stack that backs up again, or a new one of the same name, finds it, and uses it.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, settings: Settings, table: dynamodb.ITableV2
    ) -> None:
        super().__init__(scope, construct_id)
        name = settings.vault_name
        vault: backup.IBackupVault
        if settings.backup_vault_exists:
            vault = backup.BackupVault.from_backup_vault_name(self, "Found", name)
        else:
            vault = backup.BackupVault(
                self,
                "Vault",
                backup_vault_name=name,
                removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
            )
        output = FOUND_OUTPUT if settings.backup_vault_exists else VAULT_OUTPUT
        CfnOutput(self, output, value=name).override_logical_id(output)
        plan = backup.BackupPlan(self, "Plan", backup_vault=vault)
        plan.add_rule(
            backup.BackupPlanRule(
                schedule_expression=events.Schedule.cron(hour="2", minute="17"), delete_after=KEPT
            )
        )
        selection = plan.add_selection(
            "Table", resources=[backup.BackupResource.from_arn(table.table_arn)], allow_restores=False
        )
        acknowledge(
            selection,
            {
                "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/"
                "AWSBackupServiceRolePolicyForBackup]": "AWS Backup's own policy has the permissions that copies of a table need."
            },
        )
