"""Hooks: what a person or a trusted workspace hangs on events. Kinds command, http and callback, behind one port."""
