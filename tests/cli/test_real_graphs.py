"""Breadth-first search of real graphs, compared with levels that two other libraries agreed on (by checksum)."""

import hashlib
import json
import os
import pathlib
import unittest

from command import ROOT, CommandTest, read_npy

DATA = pathlib.Path(os.environ.get("SHOAL_DATA") or ROOT.parent / "shared" / "data")
MANIFEST = DATA / "MANIFEST.json"
# Small enough to read in a second, and of each kind: mesh, road, web-like skew, directed, disconnected.
GRAPHS = ["wiki-Vote", "4elt", "email-enron", "bremen-time", "luxembourg_osm", "as-caida20071105"]
WAYS = {
    "hub": ["--strategy", "levels"],
    "first": ["--strategy", "async"],
    "mid": ["--strategy", "async", "--pes", "3", "--partition", "random"],
    "far": ["--strategy", "levels", "--pes", "2"],
}


@unittest.skipUnless(MANIFEST.exists(), f"no real graphs: {MANIFEST} is not there (SHOAL_DATA names the folder)")
class RealGraphs(CommandTest):
    def test_levels(self) -> None:
        items = {i["name"]: i for i in json.loads(MANIFEST.read_text(encoding="utf-8"))["items"]}
        for name in GRAPHS:
            item = items[name]
            graph = DATA / item["folder"] / item["canonical"]["file"]
            for which, way in WAYS.items():
                want = item["bfs"][which]
                with self.subTest(graph=name, source=want["source"]):
                    direction = [] if item["directed"] else ["--undirected"]
                    args = ["bfs", graph, *direction, *way, "--device", "cpu", "--source", want["source"], "--verify"]
                    got = self.good(*args, "--output", "levels.npy", "--json").json()
                    self.assertEqual(got["trials"][0]["reached"], want["reached"])
                    self.assertEqual(got["trials"][0]["depth"], want["max_depth"])
                    _, data = read_npy(self.folder / "levels.npy")
                    self.assertEqual(hashlib.sha256(data).hexdigest(), want["depth_sha256"])


if __name__ == "__main__":
    unittest.main()
