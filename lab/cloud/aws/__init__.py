"""What AWS answers: ids, ARNs and addresses that look like its own, and which changes replace a resource.

Replace-on-change properties follow the schemas of terraform-provider-aws (`ForceNew`, `RequiresReplace`),
which pulumi-aws 7.51 wraps; the account is the documentation's example account.
"""
