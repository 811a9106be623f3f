"""How a rival is measured: one run after the other, then 16 at once, with the
processor time of this process and of PostgreSQL's processes.

It imports the standard library only. Times are in milliseconds.
"""

import argparse
import asyncio
import itertools
import json
import math
import os
import resource
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

HANDS = 16  # how many runs are under way at once in the second measurement


def arguments(**choices):
    """Reads what every driver is told by run.sh, and the driver's own choices."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", required=True, help="of the subject, as run.sh calls it")
    parser.add_argument("--runs", type=int, required=True, help="alone; twice as many at once")
    parser.add_argument("--postgres", required=True, help="URL of a superuser")
    parser.add_argument("--postmaster", type=int, required=True, help="process id of PostgreSQL")
    parser.add_argument("--dir", required=True, help="an empty folder to write in")
    parser.add_argument("--out", required=True, help="the file for the figures, JSON")
    parser.add_argument("--api", choices=["threads", "asyncio"], default="threads")
    for name, values in choices.items():
        parser.add_argument("--" + name, choices=values, required=True)
    return parser.parse_args()


def own_cpu():
    """Seconds of processor time this process has used, in all of its threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def family_cpu(parent, proc="/proc"):
    """Seconds of processor time a process, its living children and its ended
    ones have used: all of a PostgreSQL cluster, whose backends are children of
    one process. Each living process may be off by a tick of 10 ms."""
    ticks = 0
    for stat in Path(proc).glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue  # it has ended meanwhile; its parent has its time
        # The name, the second field, may hold spaces and brackets of its own.
        fields = text[text.rindex(")") + 2 :].split()
        if parent in (int(stat.parent.name), int(fields[1])):
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def disk_stall(path="/proc/pressure/io"):
    """Seconds since the start of the machine in which everything that could
    have run waited for a disk; 0 where the system does not tell."""
    try:
        text = Path(path).read_text()
    except OSError:
        return 0.0
    full = [line for line in text.splitlines() if line.startswith("full ")]
    return int(full[0].rpartition("total=")[2]) / 1e6 if full else 0.0


def quantile(values, q):
    """The nearest rank, as liminald bench takes it."""
    ordered = sorted(values)
    return ordered[max(math.ceil(q * len(ordered)), 1) - 1]


class Phase:
    """Measures a fixed number of runs: what they took together, in wall time
    and in processor time."""

    def __init__(self, postmaster):
        self.postmaster = postmaster
        self.took = []

    def __enter__(self):
        self.before = self.read()
        return self

    def __exit__(self, *_):
        self.after = self.read()

    def read(self):
        database = family_cpu(self.postmaster) if self.postmaster else 0.0
        return time.perf_counter(), own_cpu(), database, disk_stall()

    def figures(self):
        count = len(self.took)
        wall, own, database, stalled = (b - a for a, b in zip(self.before, self.after))
        return {
            "runs": count,
            "p50_ms": 1000 * quantile(self.took, 0.50),
            "p95_ms": 1000 * quantile(self.took, 0.95),
            "per_second": count / wall,
            "cpu_own_ms": 1000 * own / count,
            "cpu_database_ms": 1000 * database / count,
            "disk_stalled": stalled / wall,
        }


def measure_threads(run, runs, postmaster):
    """Measures a function, from one thread and then from 16."""

    def timed(phase):
        began = time.perf_counter()
        run()
        phase.took.append(time.perf_counter() - began)

    def together(count, phase):
        with ThreadPoolExecutor(HANDS) as pool:
            for done in [pool.submit(timed, phase) for _ in range(count)]:
                done.result()

    for _ in range(warm_up(runs)):
        run()
    with Phase(postmaster) as alone:
        for _ in range(runs):
            timed(alone)
    together(4 * HANDS, Phase(0))  # connections and threads are made here
    with Phase(postmaster) as at_once:
        together(2 * runs, at_once)
    return {"alone": alone.figures(), "at_once": at_once.figures()}


async def measure_asyncio(run, runs, postmaster):
    """Measures a coroutine function, from one task and then from 16."""

    async def timed(phase):
        began = time.perf_counter()
        await run()
        phase.took.append(time.perf_counter() - began)

    async def together(count, phase):
        tickets = itertools.islice(itertools.count(), count)

        async def hand():
            for _ in tickets:
                await timed(phase)

        await asyncio.gather(*(hand() for _ in range(HANDS)))

    for _ in range(warm_up(runs)):
        await run()
    with Phase(postmaster) as alone:
        for _ in range(runs):
            await timed(alone)
    await together(4 * HANDS, Phase(0))
    with Phase(postmaster) as at_once:
        await together(2 * runs, at_once)
    return {"alone": alone.figures(), "at_once": at_once.figures()}


def warm_up(runs):
    return max(20, runs // 6)


def save(args, label, store, figures, packages):
    """Writes the figures of one subject for table.py."""
    figures.update(
        name=args.name,
        label=label,
        store=store,
        versions={package: version(package) for package in packages},
    )
    Path(args.out).write_text(json.dumps(figures, indent=2) + "\n")
