"""Alert rules: what should wake somebody, and what should only be seen, each with its page of the runbook."""
