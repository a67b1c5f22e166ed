"""What no lesson has, by its looks: one row each, of where it is looked for and what to say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nbformat import NotebookNode

from _tools.lesson import sentences, without_fences

_NAMES = ("PyTorch", "NumPy", "SymPy", "JupyterLab", "Jupyter", "Python", "GitHub")
PROSE, MARKDOWN, CODE, PRINTED, WARNED = "prose", "markdown", "code", "stdout", "stderr"
TEXT, HTML, LATEX, SVG = "text/plain", "text/html", "text/latex", "image/svg+xml"
MARKUP = (HTML, SVG, "application/javascript")
OUTPUT = (PRINTED, WARNED, TEXT, LATEX, *MARKUP)
# Words that no prose has, and what to say to them. A phrase goes here, too.
WORDS = {
    r"(?:behavi|col|fav|flav|hon|lab|neighb)our\w*|grey(?:s|ish|scale)?|cent(?:re|red|res|ring)"
    r"|(?:milli|centi|kilo)?met(?:re|res)|analys(?:e|ed|ing|er)|(?:licen|defen|preten)ce"
    r"|(?:travel|label|model|cancel|signal|total|channel)l(?:ed|ing|er|ers)|artefacts?|whilst"
    r"|(?:\w+(?:al|im|er|tom|dom)|\w\w+(?:ar|or|it|bol)|emphas|organ|util|recogn|token|modern)"
    r"is(?:e|ed|es|er|ers|ing|able|ation|ations)"
    r"|learnt|programmes?|catalogues?|judgements?|maths|amongst": "American English spells it "
    "differently",
    r"amazing\w*|awesome|blazing(?:ly)?|cutting[- ]edge|deep dives?|delv(?:e|es|ing)"
    r"|effortless(?:ly)?|exciting|game[- ]chang\w+|incredibl[ey]|leverag(?:e|es|ed|ing)"
    r"|magic(?:al|ally)?|mind[- ]blowing|powerful|revolution\w+|seamless(?:ly)?"
    r"|state[- ]of[- ]the[- ]art|supercharg\w+|unleash\w*|world[- ]class|obviously"
    r"|trivial(?:ly)?|needless to say|simply|of course": "say what it does, or leave it out",
}
# Phrases that nobody says today, in lessons, pages, messages and comments, and what to say instead.
PHRASES = {
    r"(?<=, )for (?:(?:an?|the|no|this) )?\w+ (?:is|are|was|were|has|have|can|will|would|may|must"
    r"|needs?|do|does|did)": "because",
    r"whom|who(?:so|m)?ever": "'you', or name who it is",
    r"anew|afresh": "again, or a new one",
    r"shall": "should, or will",
    r"by means of": "using",
    r"in (?:the )?place of": "instead of",
    r"(?:be|is|are|being) rid of": "get rid of",
    r"and (?:so )?it is so|and so it is|and there is no more to it": "and that's true",
    r"(?:becomes?|became|comes?|came) of": "happens to, or the result of",
    r"(?:hangs?|hung|hanging) on": "depends on, or sits on",
    r"(?:is|are) catching": "is contagious",
    r"(?:do|does|did) more(?! than)|stands? on one leg": "what it adds",
    r"in truth|in earnest": "really, actually",
    r"(?:comes?|came|runs?|ran|fires?|fired) behind|from behind": "after",
    r"upstream of": "toward the inputs, or toward the loss",
    r"(?<!you )(?:is|are|was|were|be) told(?! apart)": "is reported, or who reports it",
    r"surname|seat of": "namespace, where it sits",
    r"the (?:choice|letter|answer) may stand": "the letter is right",
    r"slips?": "a mistake",
    r"after you have compared": "what is inside",
}
# What is looked for, as (rule, where, pattern, what to say).
ROWS: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    *(("words", (PROSE,), rf"(?i)\b(?:{words})\b", says) for words, says in WORDS.items()),
    *(
        ("phrases", (PROSE,), rf"(?i)(?<![\w-])(?:{each})(?!\w)", f"say {says}")
        for each, says in PHRASES.items()
    ),
    *(
        ("words", (PROSE,), rf"\b(?!{n}\b)(?i:{n.replace('Lab', ' ?Lab')})\b", f"is written {n}")
        for n in _NAMES
    ),
    (
        "words",
        (MARKDOWN, CODE),
        "[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f]",
        "a symbol: use words",
    ),
    (
        "opt-outs",
        (CODE,),
        r"#\s*(?:NBVAL_\w+|PYTEST_VALIDATE_\w+)",
        "takes the cell out of the comparison",
    ),
    ("errors", (WARNED,), ".+", "is on the error stream; show it as output, or fix it"),
    (
        "paths",
        OUTPUT,
        r"/(?:home|Users|root|tmp|work|opt|usr|var|private)/|\b[A-Z]:\\|site-packages"
        r"|ipykernel_\d|file://|\b0x[0-9a-fA-F]{4,}",
        "is a path, or an address in memory, and differs from machine to machine",
    ),
    (
        "outside-addresses",
        MARKUP,
        r"https?://(?!www\.w3\.org/)[^\s\"'<>]+|(?:src|href)\s*=\s*[\"']//[^\"']+|@import\b",
        "reaches outside",
    ),
    (
        "long-floats",
        (PRINTED, WARNED, TEXT, LATEX),
        r"\d\.\d{10,}",
        "is a float in full, and its last digits depend on the machine; use show()",
    ),
    ("alt-text", (MARKDOWN,), r"!\[\s*\]\(", "an image without alternative text: ![words](file)"),
    (
        "alt-text",
        (MARKDOWN, HTML, SVG),
        r"(?i)<img\b(?![^>]*\balt\s*=\s*([\"'])\s*[^\s\"'])[^>]*>",
        "an <img> without alt=",
    ),
    (
        "alt-text",
        (MARKDOWN, HTML, SVG),
        r"(?is)<svg\b(?!(?:(?!</svg>).)*(?:<title>\s*\S|aria-label\s*=\s*[\"']\s*\S))",
        "an <svg> without <title> or aria-label",
    ),
)
_EMBEDDED = re.compile(r"base64,[A-Za-z0-9+/=\s]+")


def texts(cell: NotebookNode) -> Iterator[tuple[str, str]]:
    """Give the texts of a cell, each with where it stands; embedded files are cut out.

    Args:
        cell: of a lesson.
    """
    if cell.cell_type == "markdown":
        yield PROSE, sentences(cell.source)
        yield MARKDOWN, without_fences(cell.source)
        return
    yield CODE, cell.source
    for output in cell.outputs:
        if output.output_type == "stream":
            yield output.name, output.text
        elif output.output_type == "error":
            yield TEXT, f"{output.ename}: {output.evalue}"
        for kind, content in output.get("data", {}).items():
            if kind in OUTPUT:
                yield kind, _EMBEDDED.sub("base64,", content)


def found_in(where: str, text: str) -> Iterator[tuple[str, str]]:
    """Find what the rows object to.

    Args:
        where: such as PROSE.
        text: what stands there.

    Yields:
        The rule, and what is wrong.
    """
    for rule, places, pattern, says in ROWS:
        for match in re.finditer(pattern, text) if where in places else ():
            yield rule, f"{match[0][:80]!r}: {says}"
