"""The base of all HTML pages: templates, style sheets, one Jinja environment.

A page is one file that needs nothing beside it: styles and scripts are part of it. A page of many rows extends
`tables.html.j2` and makes its tables by the macro `table` of `parts.html.j2`, which have a filter and an order.
"""

import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup


def page_environment(package: str) -> Environment:
    """Return an environment with the templates of `package`, which may extend those of this one.

    `source(name)` in a template inserts a file of the package, or of this one, as it is.
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package, "."), PackageLoader(__name__, ".")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )

    @cache  # each of thousands of pages has them
    def source(name: str) -> Markup:
        owner = package if files(package).joinpath(name).is_file() else __name__
        return Markup(files(owner).joinpath(name).read_text(encoding="utf-8"))

    environment.globals["source"] = source
    return environment


def relative_link(file: Path, folder: Path) -> str:
    """Return the link to a file from a page in `folder`; empty if there is no such file."""
    return quote(Path(os.path.relpath(file, folder)).as_posix()) if file.is_file() else ""
