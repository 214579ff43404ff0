"""The base of all HTML pages: one template, one style sheet, one Jinja environment.

A page is one file that needs nothing beside it: styles and scripts are part of it.
"""

from importlib.resources import files

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup


def page_environment(package: str) -> Environment:
    """Return an environment with the templates of `package`, which may extend `base.html.j2`.

    `source(name)` in a template inserts a file of the package, or of this one, as it is.
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package, "."), PackageLoader(__name__, ".")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )

    def source(name: str) -> Markup:
        owner = package if files(package).joinpath(name).is_file() else __name__
        return Markup(files(owner).joinpath(name).read_text(encoding="utf-8"))

    environment.globals["source"] = source
    return environment
