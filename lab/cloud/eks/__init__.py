"""The pulumi-eks plugin as the recorded cloud knows it: `eks:index:Cluster` and the children it registers.

The children, their names and their inputs follow pulumi-eks 4.4 (nodejs/eks/cluster/cluster.ts and the files
beside it), written anew. The plugin's own questions to AWS (partition, add-on versions) are answered here,
never asked.
"""
