"""Stories as tests: run a plan, tell who watches how far it is, and turn its verdict into what pytest understands."""
