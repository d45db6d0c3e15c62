"""True labels in a file of their own, by item."""

from __future__ import annotations

from votecert.rows.files.columns import Layout, find_column, listed
from votecert.rows.files.json_lines import Records
from votecert.rows.files.long import OneAnItem
from votecert.rows.files.open import Opened
from votecert.rows.files.table import Arrays, names_of, numbers_of
from votecert.rows.vocabulary import Vocabulary


def read_gold(table: Opened, layout: Layout, vocabulary: Vocabulary, source: str) -> dict[str, int]:
    """The number of each item's true label in the vocabulary.

    The column of the items is called as among the votes, or is the first; that of the labels is named by the
    layout, or is the only other one.
    """
    if isinstance(table, Arrays):
        raise ValueError(f"{source}: true labels by item are read from a table, not from arrays.")
    names = [name.strip() for name in table.names]
    item = str(layout.item) if str(layout.item) in names else names[0]
    others = [name for name in names if name != item]
    if layout.label is None and len(others) != 1:
        raise ValueError(
            f"{source}: say with label= which column holds the true label. Its columns are {listed(names)}."
        )
    label = str(layout.label) if layout.label is not None else others[0]
    if isinstance(table, Records):
        table, names = table.columns([item, label]), [item, label]
    places = [find_column(names, item, source), find_column(names, label, source)]
    items = names_of("items")
    labels = OneAnItem("true label", vocabulary, items)
    for block in table.blocks(sorted(set(places))):
        vocabulary.where = f"column {label!r} of {source}"
        labels.add(
            numbers_of(block.column(places[0]), items), numbers_of(block.column(places[1]), vocabulary)
        )
    numbers = labels.of_items(len(items.labels))
    if numbers is None:
        return {}
    named = zip(items.labels, numbers.tolist(), strict=True)
    return {str(name): number for name, number in named if number}
