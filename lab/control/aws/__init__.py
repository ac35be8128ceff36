"""The AWS account of the lab: moto, with answers in front of it for what moto lacks, and what Karpenter looks up."""
