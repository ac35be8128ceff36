"""Grafana dashboards as data: what a person looks at, drawn from the series that triggers and alerts read."""
