"""Write the links of the README that need the address of the repository: badges of the tests, Binder and Colab.

    python assets/site/links.py     writes them between the two marks in the README

The address is one line of pyproject.toml, `Repository` below `[project.urls]`. While it is missing, there are no links.
Binder installs what `binder/` says. Colab installs nothing, so a first cell has to, and it has to allow widgets.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
ADDRESS = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)")
BLOCK = re.compile(r"(<!-- links: written by assets/site/links.py -->\n).*?(<!-- end of links -->)", re.DOTALL)
FIRST = "labs/00_start_here.ipynb"
LINKS = """[![Tests](https://github.com/{name}/actions/workflows/site.yml/badge.svg)](https://github.com/{name}/actions)
[![Binder](https://mybinder.org/badge_logo.svg)](https://mybinder.org/v2/gh/{name}/HEAD?urlpath=lab/tree/{first})
[![Colab](https://colab.research.google.com/assets/colab-badge.svg)](https://colab.research.google.com/github/{name}/blob/main/{first})

In Colab, run this in a first cell:

    !pip install "guidedviz[lab] @ git+https://github.com/{name}"
    from google.colab import output; output.enable_custom_widget_manager()
"""


def read_repository(pyproject: str) -> str:
    """The address of the repository, "" if it is not known.

    >>> read_repository('[project]')
    ''
    """
    urls = tomllib.loads(pyproject)["project"].get("urls", {})
    return str(urls.get("Repository", ""))


def write_links(repository: str) -> str:
    """The links for this repository.

    >>> write_links("")
    ''
    >>> write_links("https://github.com/ada/lab").splitlines()[1].partition("](")[0]
    '[![Binder'
    """
    if not repository:
        return ""
    found = ADDRESS.fullmatch(repository)
    if not found:
        raise SystemExit(f"pyproject.toml, Repository: saw {repository}, expected https://github.com/OWNER/NAME")
    return LINKS.format(name=found[1], first=FIRST)


def with_links(readme: str, links: str) -> str:
    """The README with these links between its marks."""
    return BLOCK.sub(lambda match: match[1] + links + match[2], readme)


def main() -> None:
    """Write the README."""
    links = write_links(read_repository((ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    README.write_text(with_links(README.read_text(encoding="utf-8"), links), encoding="utf-8")


if __name__ == "__main__":
    main()
