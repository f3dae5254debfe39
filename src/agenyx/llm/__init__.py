"""Model providers: one HTTP client, one stream, adapters without I/O, the catalogue, the embedded model."""
