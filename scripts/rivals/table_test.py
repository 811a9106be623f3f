"""Tests what counts and what prints: python3 -m unittest table_test, in this folder.

The standard library is all it needs; rivals_test.go runs it with the Go tests.
"""

import asyncio
import json
import os
import tempfile
import unittest
from pathlib import Path

import measure
import table


def report(**values):
    rows = [{"what": f"{table.FIVE}, {what}", "value": value, "unit": "ms", "of": "400 alone"} for what, value in values.items()]
    return {"version": "v9", "machine": "2 cores", "stands": "SQLite, embedded Temporal", "quick": False, "rows": rows}


def rival(name, label, own, database, p50, rate, stalled=0.0):
    phase = {"runs": 300, "p50_ms": p50, "p95_ms": 2 * p50, "per_second": rate, "cpu_own_ms": own, "cpu_database_ms": database, "disk_stalled": stalled}
    return {"name": name, "label": label, "store": "PostgreSQL", "versions": {name: "1.2"}, "alone": phase, "at_once": phase}


class Table(unittest.TestCase):
    def printed(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for number, (name, content) in enumerate(files.items()):
                path = Path(folder) / f"{name}.json"
                path.write_text(json.dumps(content))
                os.utime(path, ns=(number, number))
            subjects = table.read(folder)
        return "\n".join([table.heading(subjects, "15"), *table.table(subjects), *table.ratios(subjects), *table.stalls(subjects)])

    def test_a_row_spans_its_rounds_and_names_the_databases_share(self):
        ours = report(p50=10, p95=12, CPU=20)
        ours["rows"].append({"what": f"{table.FIVE}, 16 at once", "value": 100, "unit": "/s", "of": "10s"})
        ours["rows"].append({"what": f"{table.FIVE}, CPU with 16 at once", "value": 18, "unit": "ms", "of": "10s"})
        text = self.printed(
            {
                "1-liminal": ours,
                "1-lang": rival("lang", "Lang", 30, 10, 20, 50),
                "2-liminal": ours,
                "2-lang": rival("lang", "Lang", 32, 12, 20, 50, stalled=0.6),
            }
        )
        self.assertIn("| **Liminal** | SQLite, embedded Temporal | 10.0 | 12.0 | 20.0 | 100 | 18.0 |", text)
        self.assertIn("| Lang | PostgreSQL | 20.0 | 40.0 | 40.0–44.0 (30.0–32.0 + 10.0–12.0) | 50 | 40.0–44.0 (30.0–32.0 + 10.0–12.0) |", text)
        self.assertIn("Liminal over Lang, PostgreSQL: CPU 0.48 ×, p50 0.50 ×, rate at 16 2.00 ×.", text)
        self.assertIn("The disk stalled for 60% of Lang, PostgreSQL, round 2.", text)
        self.assertIn("lang 1.2, liminald v9", text)
        self.assertIn("300 runs alone and 600 at 16 at once", text)

    def test_without_liminal_nothing_is_compared(self):
        text = self.printed({"1-lang": rival("lang", "Lang", 30, 10, 20, 50)})
        self.assertNotIn("Liminal over", text)
        self.assertIn("One round.", text)

    def test_a_bench_without_the_turn_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "no rows of a turn"):
            table.liminal(report() | {"rows": [{"what": "search", "value": 1}]})


class Measure(unittest.TestCase):
    def test_a_familys_time_has_living_and_ended_children(self):
        with tempfile.TemporaryDirectory() as proc:
            for pid, parent, times in ((10, 1, "100 50 30 20"), (11, 10, "7 3 0 0"), (12, 11, "1000 0 0 0"), (13, 1, "1000 0 0 0")):
                (Path(proc) / str(pid)).mkdir()
                text = f"{pid} (post (gres) S) S {parent} 1 1 0 -1 4194560 1 2 3 4 {times} 20 0 1 0 5 6 7"
                (Path(proc) / str(pid) / "stat").write_text(text)
            self.assertEqual(measure.family_cpu(10, proc), 210 / os.sysconf("SC_CLK_TCK"))

    def test_quantiles_take_the_nearest_rank(self):
        self.assertEqual([measure.quantile([3, 1, 2, 4], q) for q in (0.5, 0.95)], [2, 4])

    def test_the_kernels_word_on_the_disk_is_read(self):
        with tempfile.NamedTemporaryFile("w+") as file:
            file.write("some avg10=0.00 avg60=0.00 avg300=0.00 total=9000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\n")
            file.flush()
            self.assertEqual(measure.disk_stall(file.name), 2.5)
        self.assertEqual(measure.disk_stall("/nowhere"), 0)

    def test_every_run_counts_and_no_warm_up(self):
        done = []

        async def run():
            done.append(1)

        for figures in (measure.measure_threads(lambda: done.append(1), 30, 0), asyncio.run(measure.measure_asyncio(run, 30, 0))):
            self.assertEqual((figures["alone"]["runs"], figures["at_once"]["runs"]), (30, 60))
        self.assertEqual(len(done), 2 * (20 + 30 + 4 * measure.HANDS + 60))


if __name__ == "__main__":
    unittest.main()
