"""The pages of the trends: a folder without a server and without a network."""
