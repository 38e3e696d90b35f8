#!/usr/bin/env python3
"""A second implementation of the generators in plain Python. Prints the fingerprints that generate_test.cpp compares
with.

Usage: generate_oracle.py. Written from the description in include/shoal/graph/edge_functions.hpp; slow on purpose.
"""

M = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(x: int) -> int:
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & M
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & M
    return x ^ (x >> 31)


def draw(key: int, i: int, number: int) -> int:
    return mix((mix(key ^ mix((i + GOLDEN) & M)) + (number + 1) * GOLDEN) & M)


def permute(key: int, bits: int, v: int) -> int:
    """Four rounds of add, odd multiply, xor-shift on `bits` bits."""
    shift = (bits + 1) // 2 if bits > 2 else 1
    for r in range(4):
        x = draw(key, bits, r)
        v = (v + x % 2**32) * ((x >> 32) | 1) % 2**bits
        v ^= v >> shift
    return v


def kron_edge(seed: int, scale: int, i: int) -> tuple[int, int]:
    u = v = 0
    for level in range(scale):
        x = draw(mix((2 * seed + 1) & M), i, level // 2)
        r = (x >> 32 if level % 2 else x) % 2**32
        share = [round(s * 2**32) for s in (0.57, 0.76, 0.95)]
        quadrant = sum(r >= s for s in share)
        u, v = 2 * u + quadrant // 2, 2 * v + quadrant % 2
    key = mix(2 * seed & M)
    return permute(key, scale, u), permute(key, scale, v)


def uniform_edge(seed: int, scale: int, i: int) -> tuple[int, int]:
    x = draw(mix((2 * seed + 1) & M), i, 0)
    return (x >> 32) % 2**scale, x % 2**32 % 2**scale


def community_of(seed: int, scale: int, degree: int, v: int) -> tuple[int, int]:
    """First vertex and size of v's community. Parts are divided until small; smaller ones may stay whole by
    chance."""
    first, count = 0, 2**scale
    x = mix(mix((2 * seed + 1) & M) ^ 0x63757473)
    stays = round((1 - 0.5**0.5) * 2**32)
    while count >= 64 * degree and (count > 2**scale // 32 or x >> 32 >= stays):
        left = count * (2**30 + x % 2**32 // 2) >> 32
        if v < first + left:
            count, x = left, mix((x + GOLDEN) & M)
        else:
            first, count, x = first + left, count - left, mix((x + 2 * GOLDEN) & M)
    return first, count


def community_edge(
    seed: int, scale: int, i: int, degree: int = 16, mixing: float = 0.2, skew: int = 3, shuffled: bool = False
) -> tuple[int, int]:
    where, ranks, leaves = (draw(mix((2 * seed + 1) & M), i, k) for k in range(3))
    homes = [(where >> 32) % 2**scale, where % 2**scale]
    if leaves >> 11 >= int(mixing * 2**53):
        homes[1] = homes[0]
    ends = []
    for home, x in zip(homes, (ranks >> 32, ranks % 2**32)):
        first, count = community_of(seed, scale, degree, home)
        power = x
        for _ in range(skew - 1):
            power = power * x // 2**32
        v = first + power * count // 2**32 * 2654435761 % count
        ends.append(permute(mix(2 * seed & M), scale, v) if shuffled else v)
    return ends[0], ends[1]


def road_edges(seed: int, side: int, deleted: float):
    threshold = int(deleted * 2**53) << 11
    key = mix((2 * seed + 1) & M)
    for v in range(side * side):
        if v % side + 1 < side and draw(key, 2 * v, 0) >= threshold:
            yield v, v + 1
        if v // side + 1 < side and draw(key, 2 * v + 1, 0) >= threshold:
            yield v, v + side


def fingerprint(n: int, edges, directed: bool = False) -> str:
    arcs = {(u, v) for u, v in edges if u != v}
    if not directed:
        arcs |= {(v, u) for u, v in arcs}
    offsets = [0] * (n + 1)
    for u, _ in arcs:
        offsets[u + 1] += 1
    for v in range(n):
        offsets[v + 1] += offsets[v]
    code = 0xCBF29CE484222325
    for x in offsets + [v for _, v in sorted(arcs)]:
        code = (code ^ x) * 0x100000001B3 & M
    return f"0x{code:X}ull"


if __name__ == "__main__":
    print("kron:7", fingerprint(2**7, (kron_edge(1, 7, i) for i in range(16 * 2**7))))
    print("kron:8,...", fingerprint(2**8, (kron_edge(99, 8, i) for i in range(5 * 2**8)), directed=True))
    big = 12345678901234567890
    print("uniform:7,...", fingerprint(2**7, (uniform_edge(big, 7, i) for i in range(16 * 2**7))))
    print("community:14,...", fingerprint(2**14, (community_edge(1, 14, i, degree=1) for i in range(2**14))))
    args = {"degree": 2, "mixing": 0.75, "skew": 5, "shuffled": True}
    edges = (community_edge(77, 11, i, **args) for i in range(2 * 2**11))
    print("community:11,...", fingerprint(2**11, edges, directed=True))
    print("road:30,...", fingerprint(900, road_edges(1, 30, 0.25)))
