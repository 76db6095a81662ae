"""Numbers of figures that were chosen, each with its reason.

They were chosen by looking at figures of public tables with 5 to 47 columns, as they are shown on a
screen, a page and a slide.
"""

# Terms that are drawn by themselves, at most: more panels or bars are too small for a slide.
MOST_TERMS = 12
# Columns of a grid by the number of panels, up to the last: so that grids have no lonely panel.
COLUMNS_OF_GRID = {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3, 9: 3}
LARGEST_N_COLUMNS = 4
# Width and height of a panel without what is below it, in inches. A panel that stands alone is
# larger.
PANEL, ONLY_PANEL = (2.7, 1.8), (5.2, 3.2)
# Width of a panel of bars, which has labels beside it.
WIDTH_OF_BAR_PANEL = 3.2
# Height of a line of text below a panel, and width of a character in it, in inches.
LINE, CHARACTER = 0.14, 0.068
# Width of a character of a note below a figure, and of a word in a panel that stands alone.
CHARACTER_OF_NOTE, WIDTH_OF_WORD = 0.068, 0.3
# Names of terms in a display's repr, at most.
MOST_NAMES = 3
# Height that titles, labels of axes and notes need, in inches.
MARGIN = 0.5
# Longest line of a label of a place and of a title, in characters, before it is wrapped. A text is
# cut only where it is longer than the last number: it is a text then, and no label.
LONGEST_LINE, LONGEST_TITLE, LONGEST_TEXT = 20, 30, 80
# Words of a panel beside others, at most: more labels than these can't stand side by side.
MOST_WORDS = 12
# Words of a panel of bars, at most, the longest line of their labels in characters, and its height
# in inches.
MOST_BARS_OF_WORDS, LONGEST_LINE_OF_BAR, LINE_OF_BAR = 10, 30, 0.13
# Numbers that are drawn as points rather than as a curve, at most.
MOST_POINTS = 8
# Characters of the ticks of a curve, at most.
MOST_CHARACTERS_OF_TICKS = 20
# Up to so many characters, labels in a panel lie flat; from so many labels on they stand upright.
MOST_FLAT_CHARACTERS, FEWEST_UPRIGHT_LABELS = 34, 9
# Longest line of a label of a number that stands beside others, in characters.
LONGEST_FLAT_LABEL = 8
# Bands of noise widen the shared axis by this part of the range of values, at most: the band of a
# rare word would flatten all others.
LARGEST_PART_OF_BANDS = 0.3
# Height of the shares of records, of that of a panel, and room above them.
HEIGHT_OF_SHARES, ROOM_ABOVE_SHARES = 0.14, 0.04
# Distance of a value that stands beside a curve, of the curve's width.
STEP_BESIDE = 0.12
# Ticks of an axis of ratios: as many as can be read.
FEWEST_TICKS, MOST_TICKS = 4, 7
# Height of a bar of a waterfall with the room beside it, and of all else, and the width of the
# figure, in inches.
HEIGHT_OF_BAR, MARGIN_OF_BARS, WIDTH_OF_BARS = 0.36, 0.7, 7.0
