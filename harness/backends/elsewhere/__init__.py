"""The backend of a cluster that runs elsewhere: its owner's commands, and what is seen of them from outside."""
