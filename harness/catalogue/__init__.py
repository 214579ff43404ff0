"""Requirement catalogues: the rules that verdicts name, from the files of all installed packages."""

from fencepost.harness.catalogue.installed import add_catalogue, catalogue, describe
from fencepost.harness.catalogue.model import Catalogue, CatalogueError, Document, Requirement

__all__ = ["Catalogue", "CatalogueError", "Document", "Requirement", "add_catalogue", "catalogue", "describe"]
