"""Transcripts in the layout that other programs read and write: sessions go out to it, and come in from it."""
