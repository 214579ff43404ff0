"""Requests that no library has, versions of those that kio has, and the ways in which a request gets no answer."""
