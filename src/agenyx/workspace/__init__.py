"""Files of the workspace: roots, text and its encodings, the edit matcher, walking, git facts. Knows no tool."""
