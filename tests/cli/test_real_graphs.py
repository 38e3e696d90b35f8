"""Real graphs: results compared with those on which two other libraries agreed (by checksum; ranks by distance)."""

import array
import gzip
import hashlib
import json
import os
import pathlib
import unittest

from baseline import ENVIRONMENT
from command import ROOT, CommandTest, read_npy

DATA = pathlib.Path(os.environ.get("SHOAL_DATA") or ROOT.parent / "shared" / "data")
LAUNCHER = os.environ.get("SHOAL_OSHRUN", "")
MANIFEST = DATA / "MANIFEST.json"
# Graphs that can be read in a second, one or more of each kind: mesh, road, web-like skew, directed, disconnected.
GRAPHS = ["wiki-Vote", "4elt", "email-enron", "bremen-time", "luxembourg_osm", "as-caida20071105"]
WAYS = {
    "hub": ["--strategy", "levels"],
    "first": ["--strategy", "async"],
    "mid": ["--strategy", "async", "--pes", "3", "--partition", "random"],
    "far": ["--strategy", "levels", "--pes", "2"],
}


@unittest.skipUnless(MANIFEST.exists(), f"no real graphs: {MANIFEST} is not there (SHOAL_DATA names the folder)")
class RealGraphs(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        items = {i["name"]: i for i in json.loads(MANIFEST.read_text(encoding="utf-8"))["items"]}
        self.items = [items[name] for name in GRAPHS]

    def file(self, item: dict) -> pathlib.Path:
        return DATA / item["folder"] / item["canonical"]["file"]

    def graph(self, item: dict, file: pathlib.Path | None = None) -> list[object]:
        """The arguments of a command line for the graph, which runs it on the CPU and verifies it."""
        flags = [] if item["directed"] else ["--undirected"]
        return [file or self.file(item), *flags, "--device", "cpu", "--verify"]

    def weighed(self, item: dict) -> pathlib.Path:
        """A directed graph with the weights of its "hash255" results: a hash of source and target in this order.

        (The command's hash255 takes the smaller end first, in all graphs.)
        """
        path = self.folder / f"{item['name']}.wel"
        if not path.exists():
            with gzip.open(self.file(item), "rt") as lines, path.open("w") as out:
                for line in lines:
                    if line.startswith("#"):
                        continue
                    u, v = map(int, line.split()[:2])
                    out.write(f"{u} {v} {1 + ((u * 2654435761 ^ v * 40503) & 0xFFFFFFFF) % 255}\n")
        return path

    def test_levels(self) -> None:
        for item in self.items:
            for which, way in WAYS.items():
                want = item["bfs"][which]
                with self.subTest(graph=item["name"], source=want["source"]):
                    args = ["bfs", *self.graph(item), *way, "--source", want["source"]]
                    got = self.good(*args, "--output", "levels.npy", "--json").json()
                    self.assertEqual(got["trials"][0]["reached"], want["reached"])
                    self.assertEqual(got["trials"][0]["depth"], want["max_depth"])
                    _, data = read_npy(self.folder / "levels.npy")
                    self.assertEqual(hashlib.sha256(data).hexdigest(), want["depth_sha256"])

    def test_distances(self) -> None:
        ways = dict(WAYS, hub=["--strategy", "delta"], far=["--strategy", "delta", "--pes", "2", "--delta", "3"])
        for item in self.items:
            for which, want in item["sssp"].items():
                weights, source = which.split("_")
                with self.subTest(graph=item["name"], which=which):
                    turned = weights == "hash255" and item["directed"]
                    graph = self.graph(item, self.weighed(item) if turned else None)
                    args = ["sssp", *graph, *ways[source], "--source", want["source"], "--output", "d.npy"]
                    args += ["--weights", "file" if turned or weights == "own" else weights]
                    got = self.good(*args, "--json").json()["trials"][0]
                    self.assertEqual((got["reached"], got["farthest"]), (want["reached"], want["max_distance"]))
                    _, data = read_npy(self.folder / "d.npy", "<i8")
                    self.assertEqual(hashlib.sha256(data).hexdigest(), want["dist_sha256"])

    def test_components(self) -> None:
        for item, way in zip(
            self.items, (["--strategy", "hook"], ["--strategy", "async"], ["--pes", "3"]) * 2, strict=True
        ):
            with self.subTest(graph=item["name"]):
                got = self.good("components", *self.graph(item), *way, "--output", "c.npy", "--json").json()["trials"][
                    0
                ]
                self.assertEqual((got["components"], got["largest"]), (item["wcc"]["count"], item["wcc"]["largest"]))
                _, data = read_npy(self.folder / "c.npy")
                self.assertEqual(hashlib.sha256(data).hexdigest(), item["wcc"]["label_sha256"])

    def test_ranks(self) -> None:
        for item, way in zip(
            self.items, (["--strategy", "pull"], ["--strategy", "async"], ["--pes", "2"]) * 2, strict=True
        ):
            with self.subTest(graph=item["name"]):
                self.good("pagerank", *self.graph(item), *way, "--tolerance", "1e-7", "--output", "r.npy")
                _, data = read_npy(self.folder / "r.npy", "<f8")
                with gzip.open(DATA / item["folder"] / item["pagerank"]["file"]) as packed:
                    (self.folder / "want.npy").write_bytes(packed.read())
                _, right = read_npy(self.folder / "want.npy", "<f8")
                pairs = zip(array.array("d", data), array.array("d", right), strict=True)
                self.assertLessEqual(sum(abs(a - b) for a, b in pairs), 1.1e-7)

    @unittest.skipUnless(LAUNCHER, "no OpenSHMEM was found, so the engine is not built")
    def test_several_processes(self) -> None:
        for item, processes, strategy in zip(
            self.items, (2, 3, 4, 2, 3, 4), ("async", "levels", "async") * 2, strict=True
        ):
            search, paths, directed = item["bfs"]["mid"], item["sssp"]["hash255_mid"], item["directed"]
            graph = self.graph(item)
            weighed = self.graph(item, self.weighed(item) if directed else None)
            for name, line, want in (
                ("bfs", [*graph, "--strategy", strategy, "--source", search["source"]], search["depth_sha256"]),
                (
                    "sssp",
                    [*weighed, "--source", paths["source"], "--weights", "file" if directed else "hash255"],
                    paths["dist_sha256"],
                ),
                ("components", graph, item["wcc"]["label_sha256"]),
            ):
                with self.subTest(graph=item["name"], command=name, processes=processes):
                    words = ["run", "-n", processes, "--", name, *line, "--threads", 1]
                    answer = self.shoal(*words, "--output", "many.npy", env={**os.environ, **ENVIRONMENT})
                    self.assertEqual(answer.status, 0, answer.out + answer.err)
                    _, data = read_npy(self.folder / "many.npy", "<i8" if name == "sssp" else "<i4")
                    self.assertEqual(hashlib.sha256(data).hexdigest(), want)


if __name__ == "__main__":
    unittest.main()
