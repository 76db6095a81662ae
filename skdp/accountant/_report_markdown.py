"""A report as Markdown, for a data-protection file or a model card."""

import re

# What would mean something to a reader of Markdown, or of the HTML in it; GitHub makes links of
# addresses without markup, too.
_MARKUP = re.compile(r"([\\`*_\[\]<>#|~$&]|:(?=//)|(?<=www)\.)", re.IGNORECASE)
# GitHub looks for mail addresses and names of users after escapes are undone: to break them takes a
# character, which has no width.
_AT = "@\N{WORD JOINER}"
# Numbers that events show, by the word before them.
_NUMBERS = {
    "Gaussian": (
        "that of Gaussian is the noise's standard deviation over the bound on a contribution, or "
        "where it is called pairwise, over the distance between neighbours' values"
    ),
    "Poisson": "that of Poisson is the probability that a record takes part in a step",
    "Laplace": "that of Laplace is the noise's scale over the bound on a contribution",
    "NoisyMax": "that of NoisyMax is the scale of the noise on each score",
    "RandomizedResponse": "that of RandomizedResponse is the probability that a label is replaced",
    "Erasure": "that of Erasure is the probability that everything is revealed",
}


def explain_numbers(released):
    """Say what the numbers are in the words for what was released.

    Parameters
    ----------
    released : str
        As a report's `event`.

    Returns
    -------
    text : str
    """
    shown = [text for word, text in _NUMBERS.items() if f"{word}(" in released]
    return "; ".join([shown[0].replace("that of", "the number of", 1), *shown[1:]])


def report_markdown(title, entries):
    """Write a table of titles and texts, and below it a list for each tuple of texts.

    Parameters
    ----------
    title : pair of str
        Head of the table.
    entries : iterable of (str, str or tuple of str)

    Returns
    -------
    text : str
        In GitHub's dialect, without headings.
    """
    entries = list(entries)
    table = [title, ("---", "---")]
    table += [pair for pair in entries if isinstance(pair[1], str)]
    lines = [f"| {' | '.join(cells)} |" for cells in map(_cells, table)]
    for name, items in entries:
        if not isinstance(items, str):
            lines += ["", f"**{_plain(name)}**", "", *(f"- {_plain(item)}" for item in items)]
    return "\n".join(lines) + "\n"


def _cells(row):
    return [_plain(cell) for cell in row]


def _plain(text):
    """Return a text as one line that reads as it is."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split())).replace("@", _AT)
