"""What a run leaves behind: its folder, its journal, its verdict. Imports nothing of the harness."""
