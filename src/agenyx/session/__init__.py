"""One conversation as append-only records, and the pure function that says what comes next."""
