"""What reviewers are told to ask, by number, and which rows of a card answer it.

Sources, read in November 2026; doc/out_of_python.rst has what each number is about:

- OWASP AISVS 1.0, chapter C11.2. A chapter C12 on privacy was taken out in June 2026, before 1.0.
- ISO/IEC 27559:2022, by the titles of its table of contents.
- W3C, Considerations for Reviewing Differential Privacy Systems, draft note of 12 February 2026, by
  its abstract, which has no numbers.
"""

# By source, for each number the rows that answer it; without one, no card does.
QUESTIONS = {
    "OWASP AISVS 1.0": {
        "11.2.1": (),
        "11.2.2": (),
        "11.2.3": (),
        "11.2.4": ("Guarantee", "Covers", "Preparation and tuning"),
        "11.2.5": ("Audit",),
    },
    "ISO/IEC 27559:2022": {
        "6.2": (),
        "6.3.2": ("Purpose", "Justification"),
        "6.3.3": (),
        "7.2.2": ("Protects", "A record is"),
        "7.2.4": ("Domain",),
        "7.3.2": ("Guarantee",),
        "7.3.4": ("Guarantee", "Adjacency"),
        "8.2.2": ("Gaussian DP", "Delta", "zCDP"),
        "8.2.3": ("Audit",),
        "8.3.2": (),
        "8.3.3": ("Released", "Floating point"),
        "9.2.2": ("Curator",),
        "9.3": (),
        "9.4": (),
    },
    "W3C's draft note of February 2026": {
        "privacy": ("Guarantee", "Gaussian DP"),
        "utility": ("Score",),
        "trusted parties": ("Trust model",),
    },
}


def answers(titles):
    """Yield for each source which of a card's titles answer what it asks, and what none does."""
    for source, numbers in QUESTIONS.items():
        answered, left = [], []
        for number, answering in numbers.items():
            there = [title for title in answering if title in titles]
            if there:
                answered.append(f"{number} by {', '.join(there)}")
            else:
                left.append(number)
        if left:
            answered.append(f"not by this card: {', '.join(left)}")
        yield f"Asked by {source}", "; ".join(answered)
