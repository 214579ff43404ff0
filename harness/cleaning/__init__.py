"""What a run makes outside its folder, and how exactly that is taken away again when the run died."""
