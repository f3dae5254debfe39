"""Telemetry: traces and metrics of a conversation, made from its events, for who switched them on."""
