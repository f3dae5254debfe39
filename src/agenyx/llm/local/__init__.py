"""The embedded offline model: fetching its file, and serving it from a child process on loopback.

Knows where files lie and how a server of its own is started; nothing of sessions, tools or surfaces.
"""
