#!/usr/bin/env python3
"""Draws one plane of a grid, as written by `shoal jacobi3d ... --slice z=30 --output plane.npy`.

    plot_grid.py PLANE.npy OUT.png [--axes xy] [--title TEXT]

The first axis goes down. Needs matplotlib (Debian: python3-matplotlib).
"""

import argparse
import sys


def draw(args: argparse.Namespace) -> str:
    """Returns a message if the plane cannot be drawn, else an empty text."""
    import matplotlib
    import numpy

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    with open(args.plane, "rb") as file:
        plane = numpy.load(file, allow_pickle=False)
    if plane.ndim != 2:
        return f"{args.plane} has {plane.ndim} dimensions and not 2; write one plane of the grid (--slice)"
    figure, axes = plt.subplots(figsize=(6, 5))
    image = axes.imshow(plane, cmap="viridis", interpolation="nearest")
    axes.set_ylabel(args.axes[0])
    axes.set_xlabel(args.axes[1])
    axes.set_title(args.title, fontsize=9)
    figure.colorbar(image, ax=axes)
    figure.tight_layout()
    figure.savefig(args.out, dpi=150)
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description="Draws a plane of a grid.")
    parser.add_argument("plane", metavar="PLANE.npy")
    parser.add_argument("out", metavar="OUT.png")
    parser.add_argument("--axes", default="xy", help="names of the plane's two axes")
    parser.add_argument("--title", default="")
    args = parser.parse_args()
    if len(args.axes) != 2:
        parser.error("--axes has two letters, such as xz")
    try:
        wrong = draw(args)
    except ImportError as error:
        wrong = f"{error} (Debian: apt install python3-matplotlib)"
    except (OSError, ValueError) as error:
        wrong = f"{args.plane}: {error}"
    if wrong:
        print(f"plot_grid: {wrong}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
