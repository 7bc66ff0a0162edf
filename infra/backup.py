"""Backups of the table in AWS Backup, beside its own point-in-time recovery of 35 days."""

from aws_cdk import Duration
from aws_cdk import aws_backup as backup
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from constructs import Construct

from infra.checks import acknowledge
from infra.retention import data_policy
from infra.settings import Settings

KEPT = Duration.days(35)


class NightlyBackup(Construct):
    """A copy each night in a vault that outlives stack and table; whoever wants copies elsewhere adds rules to the plan."""

    def __init__(
        self, scope: Construct, construct_id: str, *, settings: Settings, table: dynamodb.ITableV2
    ) -> None:
        super().__init__(scope, construct_id)
        vault = backup.BackupVault(self, "Vault", removal_policy=data_policy(settings))
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
                "AWSBackupServiceRolePolicyForBackup]": "AWS Backup's own policy: it knows what its copies of a table need."
            },
        )
