"""The surface for programs: records as JSON lines, in both directions. One module a concern; `main` wires them."""
