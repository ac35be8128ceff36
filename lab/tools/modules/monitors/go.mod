module headroom.dev/tools/monitors

go 1.26.0

// Only its CRDs are used, never its code: see the catalogue.
require github.com/prometheus-operator/prometheus-operator v0.85.0
