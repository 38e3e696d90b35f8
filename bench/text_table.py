"""Formats tables of figures as lines of text."""


def table(corner, columns, rows, cells):
    """Lines of text. `cells` has a text for each (row, column)."""
    widths = [max([len(c), *(len(cells.get((r, c), "-")) for r in rows)]) for c in columns]
    first = max([len(corner), *map(len, rows)])
    lines = ["  " + corner.ljust(first) + "".join(f"  {c:>{w}}" for c, w in zip(columns, widths))]
    for r in rows:
        lines.append(
            "  " + r.ljust(first) + "".join(f"  {cells.get((r, c), '-'):>{w}}" for c, w in zip(columns, widths))
        )
    return lines
