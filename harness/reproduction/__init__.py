"""A failure, once found, again: replayed, judged anew, made smaller, packed up for another machine."""
