"""The one table, with its one overloaded index and its stream."""

from collections.abc import Iterable
from typing import Any

from aws_cdk import Aws
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from gridview.encoding import keys
from infra.grants import Grant
from infra.retention import data_policy
from infra.settings import Settings


class GridTable(Construct):
    """A `TableV2` on demand, or the one that a restore made. `grant` allows single actions on table and GSI1, never a wildcard.

    A restored table is none of the stack's resources: CloudFormation cannot put it in the place of another in one deployment. The
    table that it replaces leaves the stack, and stays in the account.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self._emulator = settings.emulator
        # A restored table is encrypted by the same key, so the key stays whichever table is in use.
        key = self._key(settings) if settings.customer_key else None
        self.table = self._restored(settings) or self._own(settings, key)

    def _restored(self, settings: Settings) -> dynamodb.ITableV2 | None:
        if settings.restored_table is None:
            return None
        return dynamodb.TableV2.from_table_attributes(
            self,
            "Restored",
            table_name=settings.restored_table,
            table_stream_arn=settings.restored_stream,
            global_indexes=[keys.GSI1],
        )

    def _own(self, settings: Settings, key: kms.Key | None) -> dynamodb.ITableV2:
        text = dynamodb.AttributeType.STRING
        insights = dynamodb.ContributorInsightsSpecification(
            enabled=True, mode=dynamodb.ContributorInsightsMode.THROTTLED_KEYS
        )
        warm = dynamodb.WarmThroughput(
            read_units_per_second=settings.warm_reads or None,
            write_units_per_second=settings.warm_writes or None,
        )
        most: dict[str, Any] = {
            "max_read_request_units": settings.max_reads or None,
            "max_write_request_units": settings.max_writes or None,
        }
        # A throttled write of the index throttles the table's writes too, so both have the same settings.
        is_warm = bool(settings.warm_reads or settings.warm_writes)
        table = dynamodb.TableV2(
            self,
            "Table",
            partition_key=dynamodb.Attribute(name=keys.PK, type=text),
            sort_key=dynamodb.Attribute(name=keys.SK, type=text),
            billing=dynamodb.Billing.on_demand(**most),
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            dynamo_stream=dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
            time_to_live_attribute=keys.TTL_ATTRIBUTE,
            deletion_protection=settings.guarded,
            removal_policy=data_policy(settings),
            global_secondary_indexes=[
                dynamodb.GlobalSecondaryIndexPropsV2(
                    index_name=keys.GSI1,
                    partition_key=dynamodb.Attribute(name=keys.SK, type=text),
                    sort_key=dynamodb.Attribute(name=keys.SORT, type=text),
                    projection_type=dynamodb.ProjectionType.INCLUDE,
                    non_key_attributes=list(keys.PROJECTED_ATTRIBUTES),
                    warm_throughput=warm if is_warm else None,
                    **most,
                )
            ],
            warm_throughput=warm if is_warm else None,
            contributor_insights_specification=insights if settings.hot_keys else None,
        )
        if key is not None:
            _encrypt(table, key)
        return table

    def _key(self, settings: Settings) -> kms.Key:
        key = kms.Key(
            self,
            "Key",
            description="gridview: the table",
            enable_key_rotation=True,
            removal_policy=data_policy(settings),
        )
        # Like the policy of AWS's own key for DynamoDB: users of the table may use the key, and only through
        # DynamoDB.
        key.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.AnyPrincipal()],
                actions=[
                    "kms:Encrypt",
                    "kms:Decrypt",
                    "kms:ReEncrypt*",
                    "kms:GenerateDataKey*",
                    "kms:CreateGrant",
                    "kms:DescribeKey",
                ],
                resources=["*"],
                conditions={
                    "StringEquals": {
                        "kms:CallerAccount": Aws.ACCOUNT_ID,
                        "kms:ViaService": f"dynamodb.{Aws.REGION}.amazonaws.com",
                    }
                },
            )
        )
        return key

    @property
    def name(self) -> str:
        """The table's name, known at deployment."""
        return self.table.table_name

    @property
    def stream_arn(self) -> str:
        """The stream of new and old images."""
        arn = self.table.table_stream_arn
        assert arn is not None  # noqa: S101  the table is declared with a stream
        return arn

    def grant(self, role: iam.Role, grants: Iterable[Grant]) -> None:
        """Write these grants into the policy of a role."""
        index_arn = f"{self.table.table_arn}/index/{keys.GSI1}"
        for one in grants:
            statement = iam.PolicyStatement(
                effect=iam.Effect(one.effect.upper()),
                actions=list(one.actions),
                resources=[index_arn if one.on_index else self.table.table_arn],
                conditions={
                    operator: tests
                    for operator, tests in one.conditions.items()
                    # NOTE: MiniStack knows no partition keys of a request, and would refuse all that has to name one.
                    if not (self._emulator and operator == "Null")
                },
            )
            role.add_to_policy(statement)

    def grant_stream(self, grantee: iam.IGrantable, *actions: str) -> iam.Grant:
        """Allow `actions` on the stream."""
        return iam.Grant.add_to_principal(
            grantee=grantee, actions=list(actions), resource_arns=[self.stream_arn]
        )


def _encrypt(table: dynamodb.TableV2, key: kms.Key) -> None:
    # NOTE: `TableEncryptionV2` takes a key only in a stack that names its region, and this one names none.
    resource = table.node.default_child
    assert isinstance(resource, dynamodb.CfnGlobalTable)  # noqa: S101  what a TableV2 is made of
    resource.add_property_override("SSESpecification", {"SSEEnabled": True, "SSEType": "KMS"})
    resource.add_property_override("Replicas.0.SSESpecification.KMSMasterKeyId", key.key_arn)
