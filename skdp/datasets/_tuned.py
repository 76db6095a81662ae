"""The numbers of the made-up tables: round ones, so that its structure is plain to see."""

# A table of which models by person at an epsilon of 1 are useful, and which fits take a second.
N_VISITS = 10_000
# Any would do.
SEED = 20_240_701
FIRST_DAY = "2023-01-01"
# Two years and a half, so that the change in the middle of 2024 is well within.
N_DAYS = 912
# A person with more visits would be half of a year in the hospital.
MOST_VISITS = 12
# By word: its share of the visits, and what it adds to the log-odds.
ADMISSIONS = {"planned": (0.45, 0.0), "emergency": (0.45, 0.7), "transfer": (0.1, 0.4)}
DIAGNOSES = {
    "heart": (0.2, 0.6),
    "lungs": (0.15, 0.4),
    "stroke": (0.1, 0.2),
    "kidneys": (0.1, 0.3),
    "hip": (0.15, -0.4),
    "stomach": (0.18, 0.0),
    "eyes": (0.118, -1.0),
    # A word that private counts hide: twenty visits.
    "burns": (0.002, 0.5),
}
HOMES = {"with others": (0.6, 0.0), "alone": (0.3, 0.3), "care home": (0.1, 0.6)}
