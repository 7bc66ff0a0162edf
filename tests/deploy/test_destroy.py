"""`./dev destroy`, after all other tests have written to the stack. Runs last (see conftest)."""

from tests.deploy.conftest import Deployment
from tests.support.assembly import ARGUMENTS


def test_destroy_leaves_nothing_of_the_stack(deployment: Deployment) -> None:
    assert _left(deployment) != []
    deployment.dev("destroy", "--force", *ARGUMENTS)
    assert _left(deployment) == []


def _left(deployment: Deployment) -> list[str]:
    """The names of all resources of the stack in the account; the ones from `cdk bootstrap` stay."""
    client = deployment.client
    stacks = client("cloudformation").describe_stacks()["Stacks"]
    distributions = client("cloudfront").list_distributions()["DistributionList"]
    # MiniStack makes the log group of a function that was still running again, without a retention. On AWS, functions may
    # not create log groups (tests/infra/test_grants.py).
    groups = client("logs").describe_log_groups()["logGroups"]
    names = [
        *(stack["StackName"] for stack in stacks if stack["StackStatus"] != "DELETE_COMPLETE"),
        *client("dynamodb").list_tables()["TableNames"],
        *(one["FunctionName"] for one in client("lambda").list_functions()["Functions"]),
        *(one["LayerName"] for one in client("lambda").list_layers()["Layers"]),
        *(one["Name"] for one in client("apigatewayv2").get_apis()["Items"]),
        *(one["Name"] for one in client("cognito-idp").list_user_pools(MaxResults=60)["UserPools"]),
        *(one["Comment"] for one in distributions.get("Items", ())),
        *client("sqs").list_queues().get("QueueUrls", []),
        *(one["Name"] for one in client("s3").list_buckets()["Buckets"]),
        *(one["Name"] for one in client("secretsmanager").list_secrets()["SecretList"]),
        *(one["logGroupName"] for one in groups if "retentionInDays" in one),
        *(one["TopicArn"] for one in client("sns").list_topics()["Topics"]),
        *(one["Name"] for one in client("events").list_rules()["Rules"]),
        *(one["AlarmName"] for one in client("cloudwatch").describe_alarms()["MetricAlarms"]),
        *(one["DashboardName"] for one in client("cloudwatch").list_dashboards()["DashboardEntries"]),
        *(one["RoleName"] for one in client("iam").list_roles()["Roles"]),
    ]
    mappings = client("lambda").list_event_source_mappings()["EventSourceMappings"]
    return [name for name in names if "gridview" in name.lower()] + [one["UUID"] for one in mappings]
