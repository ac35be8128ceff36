"""One rule a file; `policies.pack` lists them."""
