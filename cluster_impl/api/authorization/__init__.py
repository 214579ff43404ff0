"""Access control entries in front of handlers: what each user may ask for, and how other requests are refused."""
