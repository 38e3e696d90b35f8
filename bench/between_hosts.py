#!/usr/bin/env python3
"""Compares a worklist between two hosts with bare puts of as many bytes, and with one put per item, in turns.

    bench/between_hosts.py --build build/cpu
    bench/between_hosts.py --delay-ms 0 --rounds 5 --items 65536

The hosts are network namespaces of this machine (two_hosts.py: root, iproute2), with one process of one thread on each. Items of
16 bytes hop from PE to PE at random, so half of the hops go to the other host (tests/contract/openshmem_worklist.cpp). On each
PE, --items items are in flight at any time. Bare puts (bench/worklist/bare_puts.cpp) are as large as the mean message of that
worklist, go in both directions at the same time, and transfer as many bytes in all. They run no items. So the same hops are also
run on two PEs of one process, which share memory: that shows how fast the processors run the hops themselves. Build all programs:
cmake --build build/cpu --target openshmem_worklist bare_puts slow_wire shoal_cli.

A round runs one command of each kind. Shown are millions of items transferred per second, by both hosts together, as medians over
the rounds. Exit status 1 if a command failed or an item was lost.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import host
import two_hosts

ITEM_BYTES = 16
# name: how many items a channel holds, bytes of a batch
SHAPES = {"4 KiB": (65536, 4096), "16 KiB": (262144, 16384), "64 KiB": (1048576, 65536)}
ONE_ITEM = (64, ITEM_BYTES)


class Bench:
    def __init__(self, hosts, options):
        self.hosts, self.options = hosts, options
        self.shoal = options.build.resolve() / "shoal"
        self.worklist = options.build.resolve() / "tests" / "openshmem_worklist"
        self.bare = options.build.resolve() / "bare_puts"
        for program in (self.shoal, self.worklist, self.bare):
            if not program.exists():
                raise host.BenchError(f"{program}: there is none; build it first (--help says how)")

    def run(self, *words, here=False):
        line, settings = ([*map(str, words)], {}) if here else self.hosts.line_on_both(str(self.shoal), 2, *words)
        try:
            done = subprocess.run(
                line,
                env={**os.environ, **settings},
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise host.BenchError(f"{' '.join(map(str, words))}: not done after 120 s") from None
        if done.returncode != 0:
            said = (done.stdout + done.stderr).strip().splitlines()[-1:] or ["no message"]
            raise host.BenchError(f"{' '.join(map(str, words))}: exit status {done.returncode}: {said[0]}")
        return done.stdout

    def items(self, shape, operations, on_their_way, here=False):
        """Millions of items transferred per second, and items per message. `here`: between two PEs of one process."""
        pes = 2 if here else 1
        out = self.run(self.worklist, pes, 1, operations, *shape, 60, "none", "persistent", on_their_way, here=here)
        found = re.search(r"right: .* in ([0-9.]+) s.*; (\d+) travelled, ([0-9.]+) in a message", out)
        if not found:
            raise host.BenchError(f"items were lost or doubled: {out.strip()}")
        return int(found[2]) / float(found[1]) / 1e6, float(found[3])

    def puts(self, put_bytes, all_bytes):
        """Millions of items per second that the bytes of bare puts amount to."""
        out = self.run(self.bare, put_bytes, max(1, round(all_bytes / 2e6)))
        return float(re.search(r"([0-9.]+) MB/s", out)[1]) / ITEM_BYTES


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/cpu"))
    parser.add_argument(
        "--delay-ms", type=float, default=0.1, help="each way, by slow_wire; 0: the kernel's devices alone"
    )
    parser.add_argument("--loss", type=float, default=0, help="of all frames, 0 to 1")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--operations", type=int, default=4_000_000, help="hops of a run")
    parser.add_argument(
        "--items", type=int, nargs="+", default=[4096, 65536], help="of each PE, on their way at any time"
    )
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES), help="bytes of a batch")
    options = parser.parse_args()
    if min(options.rounds, options.operations, *options.items) < 1 or options.delay_ms < 0 or not 0 <= options.loss < 1:
        parser.error(
            "--rounds, --operations and --items are at least 1, --delay-ms at least 0, --loss from 0 to below 1"
        )
    if why := two_hosts.why_none():
        print(f"between_hosts: {why}", file=sys.stderr)
        return 1
    try:
        with (
            tempfile.TemporaryDirectory(prefix="shoal-hosts-") as folder,
            two_hosts.TwoHosts(
                Path(folder), str(options.build.resolve() / "slow_wire"), options.delay_ms, options.loss
            ) as hosts,
        ):
            measure(Bench(hosts, options), options)
    except (host.BenchError, two_hosts.HostsError) as error:
        print(f"between_hosts: {error}", file=sys.stderr)
        return 1
    return 0


def measure(bench, options):
    print(f"# {' '.join(sys.argv)}; idle {host.idle_fraction() or 0:.0%} of {host.machine()['cores']} cores")
    single = [bench.items(ONE_ITEM, 100_000, 4096)[0] for _ in range(options.rounds)]
    single_puts = [bench.puts(ITEM_BYTES, 1_600_000) for _ in range(options.rounds)]
    one = statistics.median(single_puts)
    print(
        f"one item a message: {statistics.median(single):.3f} million a second; bare puts of {ITEM_BYTES} bytes: {one:.3f}"
    )
    print(
        "batch    on their way   items/s [M]  in a message   bare puts   of them   of one put an item   in memory   of it"
    )
    for shape in options.shapes:
        for on_their_way in options.items:
            rows = []
            for _ in range(options.rounds):
                rate, together = bench.items(SHAPES[shape], options.operations, on_their_way)
                put_bytes = max(1, round(together)) * ITEM_BYTES
                in_memory, _ = bench.items(SHAPES[shape], options.operations, on_their_way, here=True)
                rows.append((rate, together, bench.puts(put_bytes, options.operations / 2 * ITEM_BYTES), in_memory))
            rate, together, bare, in_memory = (statistics.median(column) for column in zip(*rows, strict=True))
            print(
                f"{shape:8} {on_their_way:12} {rate:13.2f} {together:13.0f} {bare:11.2f} {rate / bare:9.2f}"
                f" {rate / one:12.0f} {in_memory:19.2f} {rate / in_memory:7.2f}",
                flush=True,
            )


if __name__ == "__main__":
    sys.exit(main())
