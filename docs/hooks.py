"""What MkDocs does to the pages of this site besides Markdown.

* Formulas become MathML while the site is built, so that it needs no script and no network to show them.
* The table of bounds and the list of references come from the library itself.
* The gallery runs the scripts in ``examples/`` and shows their text, their output and their picture.
* Search works from files, without a server.
* Every command with its options is a page that the program writes; schemas of files come from the package.
* README, the home, CONTRIBUTING and CHANGELOG at the root of the repository are pages too.
"""

from __future__ import annotations

import ast
import contextlib
import html
import io
import re
import runpy
import tempfile
from pathlib import Path
from typing import Any

import commands
from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
LONG = 40  # characters of LaTeX; longer formulas in the text may be wider than a phone
REMOTE_WORKER = "https://unpkg.com/iframe-worker/shim"
LOGARITHM = re.compile(r"<mi>(log|exp)</mi>(?!<mo[^>]*>(?:&#x00028;|&#x0005B;|\|))")
"""Names of functions that are not followed by a bracket, and then need a space."""
OPERATORS = {
    "<mi>:</mi><mo>&#x0003D;</mo>": "<mo>&#x02254;</mo>",
    "<mo>&#x0003D;</mo><mi>:</mi>": "<mo>&#x02255;</mo>",
    "<mi>&#x0007E;</mi>": '<mo lspace="0.28em" rspace="0.28em">&#x0223C;</mo>',
    "<mo>&#x0002F;</mo>": '<mo lspace="0em" rspace="0em">/</mo>',
    "<msqrt>": '<msqrt><mspace height="0.75em"/>',  # over a low letter Chromium draws the bar through it
}
"""Signs that the converter takes apart, or puts too close to their neighbours."""
SHORT_FORMULA = re.compile(r'(\(?)(<math [^>]*display="inline">.*?</math>)([.,;:)]*)', re.DOTALL)
CELL = re.compile(r"<td[^>]*>.*?</td>", re.DOTALL)
INLINE_CODE = re.compile(r"(?<!<pre>)(?<!<span></span>)<code>([^<]*)</code>")
OPTION = re.compile(r"(?<![\w-])--[a-z]+")
BREAK = re.compile(r"(?<=[a-z0-9][/_.,(=:|])(?=[A-Za-z&])|(?<=[a-z])(?=[A-Z])")
"""Where a name in a narrow column may go on in the next line."""
MATH_DIRECTIVE = re.compile(r"<p>\.\. math::(.*?)</p>", re.DOTALL)
MATH_ROLE = re.compile(r":math:<code>(.*?)</code>", re.DOTALL)
NOT_DESCRIBED = re.compile(r'–\s*<div class="doc-md-description">\s*</div>')
OTHER_ROLE = re.compile(r":(?:func|class|meth|data|attr|mod):<code>~?(.*?)</code>", re.DOTALL)


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Add the pages that are not files of ``docs/``."""
    pages = {
        "index.md": home_page(),
        "contributing.md": (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        "references.md": references_page(),
        "commands.md": commands.page(),
    }
    schemas = sorted((ROOT / "src" / "votecert" / "schemas").glob("*.json"))
    pages |= {f"schemas/{one.name}": one.read_text(encoding="utf-8") for one in schemas}
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    gallery, pictures = gallery_page()
    files.append(File.generated(config, "gallery.md", content=gallery))
    for name, picture in pictures.items():
        files.append(File.generated(config, name, content=picture))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    markdown = markdown.replace("<!-- classes of bounds -->", bounds_classes())
    return markdown.replace("<!-- table of bounds -->", bounds_table())


def on_page_content(content: str, **_: Any) -> str:
    content = FORMULA.sub(lambda found: mathml(found[2], display=found[1] == "div"), content)
    content = MATH_DIRECTIVE.sub(lambda found: mathml(found[1], display=True), content)
    content = MATH_ROLE.sub(lambda found: mathml(found[1], display=False), content)
    content = SHORT_FORMULA.sub(with_punctuation, content)
    content = NOT_DESCRIBED.sub("", OTHER_ROLE.sub(r"<code>\1</code>", content))
    return CELL.sub(lambda cell: INLINE_CODE.sub(lambda code: code[0].replace(r"\|", "|"), cell[0]), content)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Code that breaks well on a phone: here, since search would index the places where it may break.

    The theme fetches from the network what lets search work without a server; take our own.
    """
    output = CELL.sub(lambda cell: INLINE_CODE.sub(in_a_narrow_column, cell[0]), output)
    output = INLINE_CODE.sub(lambda code: whole_options(code[0]), output)
    return output.replace(REMOTE_WORKER, "../" * page.url.count("/") + "worker.js")


def on_post_template(output_content: str, **_: Any) -> str:
    """The page for what is not there has no address of its own: its links start at the root."""
    return output_content.replace(REMOTE_WORKER, "/worker.js")


def in_a_narrow_column(code: re.Match[str]) -> str:
    """Breaks between the parts of a name, which would be anywhere otherwise."""
    return f"<code>{whole_options(BREAK.sub('<wbr>', code[1]))}</code>"


def whole_options(code: str) -> str:
    """No break after the dashes of an option."""
    return OPTION.sub(lambda option: f'<span class="whole">{option[0]}</span>', code)


def with_punctuation(formula: re.Match[str]) -> str:
    """No break between a formula and the bracket or stop beside it."""
    before, markup, after = formula.groups()
    return f'<span class="whole">{formula[0]}</span>' if before or after else markup


def mathml(latex: str, display: bool) -> str:
    """One formula. What cannot be converted stops the build."""
    markup = convert(html.unescape(latex).strip(), display="block" if display else "inline")
    markup = LOGARITHM.sub(r'<mi>\1</mi><mspace width="0.17em"/>', markup)
    for written, meant in OPERATORS.items():
        markup = markup.replace(written, meant)
    if display:
        return f'<span class="formula">{markup}</span>'
    return f'<span class="long-formula">{markup}</span>' if len(latex) > LONG else markup


def bounds_table() -> str:
    """Every registered bound, from the registry."""
    from votecert import BOUNDS

    lines = [
        "| bound | guarantee | classes | learned | from |",
        "|---|---|---|---|---|",
    ]
    for name, bound in BOUNDS.items():
        learnable = bound.differentiable or name == "occam"
        sources = "; ".join(short_reference(key) for key in bound.references)
        lines.append(
            f"| [`{name}`](theory/{THEORY.get(name, 'others')}.md#{anchor(name)})<br>{bound.title} "
            f"| {'yes' if bound.is_guarantee else '**no**'} | {'any' if bound.multiclass else '2'} "
            f"| {'yes' if learnable else ''} | {sources} |"
        )
    return "\n".join(lines)


def bounds_classes() -> str:
    """The reference of every registered bound."""
    from votecert import BOUNDS

    paths = dict.fromkeys(f"{type(bound).__module__}.{type(bound).__name__}" for bound in BOUNDS.values())
    return "\n\n".join(f"::: {path}\n    options:\n      members: false" for path in paths)


THEORY = {"occam": "occam", "dirichlet": "dirichlet"}
"""Pages of the bounds that have one of their own."""


def anchor(name: str) -> str:
    """The heading of a bound in the theory chapter, which must exist."""
    return "bound-" + name.replace("+", "p")


def short_reference(key: str) -> str:
    """First author and year, linked to the entry."""
    from votecert.references import BIBTEX

    fields = dict(re.findall(r"(\w+) = \{(.*?)\},?\n", BIBTEX[key], re.DOTALL))
    authors = re.split(r"\s+and\s+", fields["author"])
    names = [plain(author.split(",")[0]) for author in authors]
    who = names[0] if len(names) == 1 else " & ".join(names) if len(names) == 2 else f"{names[0]} et al."
    return f"[{who} {fields['year']}](references.md#{key})"


def plain(latex: str) -> str:
    """A name without LaTeX's accents and braces."""
    accents = {r"\'e": "é", r"\`e": "è", r"\c{c}": "ç", r"\"u": "ü", r"\"o": "ö", r"\'a": "á", r"\'o": "ó"}
    for mark, letter in accents.items():
        latex = latex.replace(mark, letter)
    return re.sub(r"[{}\\]", "", latex)


def home_page() -> str:
    """The README, with its links as they are on the site."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in ("CONTRIBUTING", "CHANGELOG"):
        text = text.replace(f"({name}.md)", f"({name.lower()}.md)")
    return text.replace("](docs/", "](").replace("[citing](CITATION.cff)", "citing (`CITATION.cff`)")


def references_page() -> str:
    from votecert.references import BIBTEX

    entries = "\n\n".join(f"## {key} {{#{key}}}\n\n```bibtex\n{entry}\n```" for key, entry in BIBTEX.items())
    return f"# References\n\n`certificate.cite()` prints those behind a certificate.\n\n{entries}\n"


def gallery_page() -> tuple[str, dict[str, bytes]]:
    """Run every example: its docstring, code, output and picture."""
    parts = ["# Gallery\n\nShort scripts from the folder `examples/`; each runs in a few seconds.\n"]
    pictures: dict[str, bytes] = {}
    for script in sorted((ROOT / "examples").glob("*.py")):
        source = script.read_text(encoding="utf-8")
        title, _, text = (ast.get_docstring(ast.parse(source)) or script.stem).partition("\n")
        code, shown = source.split('"""', 2)[2].strip(), []
        for paper, style in PAPERS.items():
            printed, picture = run_example(script, style)
            if picture:
                name = f"gallery/{script.stem}-{paper}.png"
                pictures[name] = picture
                shown.append(f"![{title.rstrip('.')}]({name}#only-{paper}){{.example}}")
        parts.append(f"## {title.rstrip('.')}\n\n{text.strip()}\n\n{chr(10).join(shown)}\n")
        parts.append(f'```python title="examples/{script.name}"\n{code}\n```\n')
        if printed:
            parts.append(f"Output:\n\n```text\n{printed.rstrip()}\n```\n")
    return "\n".join(parts), pictures


PAPERS = {
    "light": {},
    "dark": ["dark_background", {"savefig.facecolor": "#1e2129", "axes.facecolor": "#1e2129"}],
}
"""Styles of pictures for the two looks of the site, and the colour of its dark pages."""


def run_example(script: Path, style: Any) -> tuple[str, bytes | None]:
    """What a script prints and the picture it writes, in a folder of its own."""
    import matplotlib as mpl
    from matplotlib import pyplot

    mpl.use("Agg")
    output = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(output),
        pyplot.style.context(style),
    ):
        runpy.run_path(str(script), run_name="__main__")
        written = list(Path(folder).glob("*.png"))
        picture = written[0].read_bytes() if written else None
        pyplot.close("all")
    return output.getvalue(), picture
