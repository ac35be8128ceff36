"""What the cloud would refuse, seen before a resource is made."""

import json

from tests.engine.cloud.conftest import Make
from tests.engine.cloud.projects import steps

_TWO_PROBLEMS = """
import pulumi_aws as aws

vpc = aws.ec2.Vpc("network", cidr_block="10.0.0.0/16")
aws.ec2.Subnet("a", vpc_id=vpc.id, cidr_block="10.0.0.0/24")
aws.ec2.Subnet("b", vpc_id=vpc.id, cidr_block="10.0.0.128/25")
aws.s3.Bucket("weights", bucket="Weights_Of_Headroom")
"""

_GOOD = """
import pulumi_aws as aws

vpc = aws.ec2.Vpc("network", cidr_block="10.0.0.0/16")
aws.ec2.Subnet("a", vpc_id=vpc.id, cidr_block="10.0.0.0/25")
aws.ec2.Subnet("b", vpc_id=vpc.id, cidr_block="10.0.0.128/25")
aws.s3.Bucket("weights", bucket="weights-of-headroom")
"""


def test_a_preview_reports_every_refusal_at_once(make: Make) -> None:
    outcome = make(_TWO_PROBLEMS).preview()
    assert outcome.status == "refused"
    assert [(refusal.name, refusal.path) for refusal in outcome.refusals] in (
        [("a", "cidrBlock"), ("weights", "bucket")],
        [("b", "cidrBlock"), ("weights", "bucket")],
    )


def test_a_refusal_names_the_resource_the_given_and_the_allowed(make: Make) -> None:
    problems = make(_TWO_PROBLEMS).preview().problems
    assert (
        "aws:s3/bucket:Bucket weights: bucket: given 'Weights_Of_Headroom'; allowed 3 to 63 lower-case letters, digits,"
        " dots and hyphens, first and last a letter or digit; shorten or rename it"
    ) in problems


def test_the_near_twin_is_accepted(make: Make) -> None:
    assert make(_GOOD).preview().ok


def test_up_stops_before_the_refused_resource_is_made(make: Make) -> None:
    outcome = make(_TWO_PROBLEMS).cloud.up("dev")
    assert outcome.status == "refused"
    refused = {refusal.urn for refusal in outcome.refusals}
    assert refused
    assert not refused & {call.urn for call in outcome.calls}


def test_a_question_to_the_cloud_is_refused(make: Make) -> None:
    outcome = make("import pulumi_aws as aws\naws.get_caller_identity()\n").preview()
    assert outcome.status == "refused"
    assert (
        "given a question to the cloud while building: call aws:index/getCallerIdentity:getCallerIdentity"
        in (outcome.problems[0])
    )


def test_an_output_printed_into_a_trust_policy_is_refused(make: Make) -> None:
    """PU11: a document with the text of an Output in it is no policy."""
    source = """
import pulumi_aws as aws

queue = aws.sqs.Queue("events")
aws.iam.Role("reader", assume_role_policy='{"Statement": "' + str(queue.arn) + '"}')
"""
    outcome = make(source).preview()
    assert [(refusal.name, refusal.path) for refusal in outcome.refusals] == [("reader", "assumeRolePolicy")]
    assert "Output.json_dumps" in outcome.problems[0]


def test_a_managed_policy_over_the_limit_is_refused(make: Make) -> None:
    statement = {
        "Effect": "Allow",
        "Action": "s3:GetObject",
        "Resource": [f"arn:aws:s3:::b/{i:05}" for i in range(400)],
    }
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    outcome = make(f"import pulumi_aws as aws\naws.iam.Policy('reader', policy={document!r})\n").preview()
    assert [refusal.allowed for refusal in outcome.refusals] == ["at most 6144 without white space"]


def test_two_resources_of_one_name_are_refused(make: Make) -> None:
    source = """
import pulumi_aws as aws

aws.sqs.Queue("first", name="interruption")
aws.sqs.Queue("second", name="interruption")
"""
    outcome = make(source).preview()
    assert [refusal.path for refusal in outcome.refusals] == ["name"]


def test_a_component_without_a_recording_says_what_to_use_instead(make: Make) -> None:
    source = """
import pulumi_eks as eks

eks.Cluster("cluster")
"""
    outcome = make(source).preview()
    assert outcome.status == "refused"
    (refusal,) = outcome.refusals
    assert "skipDefaultNodeGroup: given false" in refusal.fix
    assert "vpcId: given none" in refusal.fix


_KEPT = """
import pulumi
import pulumi_aws as aws

keep = pulumi.Config("headroom").get_bool("keep")
aws.s3.Bucket("weights", opts=pulumi.ResourceOptions(protect=keep))
aws.sqs.Queue("interruption")
aws.eks.Cluster(
    "cluster",
    role_arn="arn:aws:iam::111122223333:role/eks",
    deletion_protection=keep,
    vpc_config={"subnet_ids": ["subnet-1", "subnet-2"]},
)
"""


def test_a_cluster_with_deletion_protection_is_not_deleted_until_it_is_off(make: Make) -> None:
    project = make(_KEPT.replace("protect=keep", "protect=False"))
    project.configure(keep=True)
    project.up()
    outcome = project.cloud.destroy("dev")
    assert outcome.status == "refused"
    assert outcome.problems == (
        "aws:eks/cluster:Cluster cluster: deletionProtection: given true on a cluster that is to be deleted;"
        " allowed false; set cluster.deletionProtection: false, bring the stack up, then destroy it",
    )
    project.configure(keep=False)
    project.up()
    assert project.cloud.destroy("dev").ok


def test_a_protected_bucket_stops_the_destroy_or_is_left_out(make: Make) -> None:
    project = make(_KEPT.replace("deletion_protection=keep", "deletion_protection=False"))
    project.configure(keep=True)
    project.up()
    outcome = project.cloud.destroy("dev")
    assert outcome.status == "failed"
    assert "it is protected" in outcome.problems[0]
    assert project.cloud.destroy("dev", exclude_protected=True).ok
    assert "Bucket weights" in steps(project.preview(), "same")
