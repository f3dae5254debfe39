"""The conversation at the keyboard: inputs in their order, one turn at a time, whatever it is shown on."""
