"""Prints what run.sh measured as one Markdown table.

    table.py --dir RESULTS [--note TEXT]

RESULTS holds a file ROUND-NAME.json for each measurement: of a rival as
measure.py writes it, of Liminal (NAME liminal) as `liminald bench --json` does.
It imports the standard library only.
"""

import argparse
import json
import os
import platform
import sys
from datetime import datetime, timezone
from pathlib import Path

# The rows of `liminald bench` that are read, by what follows the subject's name.
FIVE = "turn of 5 no-op nodes"
FLOOR = "empty workflow (the floor)"
BENCH = {
    ("alone", "p50_ms"): ", p50",
    ("alone", "p95_ms"): ", p95",
    ("alone", "cpu_own_ms"): ", CPU",
    ("at_once", "per_second"): ", 16 at once",
    ("at_once", "cpu_own_ms"): ", CPU with 16 at once",
}


def liminal(report):
    """The subjects of one report of `liminald bench`, as a rival's figures. A
    row that it does not have is left out."""
    values = {row["what"]: row["value"] for row in report["rows"]}
    found = []
    for name, subject, label in (("liminal", FIVE, "**Liminal**"), ("floor", FLOOR, "the engine below it: an empty workflow, no steps")):
        figures = {"name": name, "label": label, "store": report["stands"], "versions": {"liminald": report["version"]}}
        for (phase, key), suffix in BENCH.items():
            if subject + suffix in values:
                figures.setdefault(phase, {})[key] = values[subject + suffix]
        if "alone" in figures:
            found.append(figures)
    if not any(figures["name"] == "liminal" for figures in found):
        raise SystemExit(f"liminald bench printed no rows of a {FIVE}; it has {sorted(values)}")
    return found


def read(folder):
    """Every subject's rounds, in the order in which they were measured first."""
    subjects = {}
    files = sorted(Path(folder).glob("*.json"), key=lambda file: file.stat().st_mtime_ns)
    for file in files:
        figures = json.loads(file.read_text())
        for one in liminal(figures) if file.stem.endswith("-liminal") else [figures]:
            subjects.setdefault(one["name"], []).append(one)
    return subjects


def span(rounds, pick, digits=1):
    """A figure over the rounds: the lowest and the highest."""
    values = [value for value in map(pick, rounds) if value is not None]
    if not values:
        return "–"
    low, high = (f"{value:.{digits}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low}–{high}"


def figure(phase, key):
    return lambda one: one.get(phase, {}).get(key)


def cpu(phase):
    """Processor time a run, of the process and of its database together."""

    def pick(one):
        figures = one.get(phase, {})
        if "cpu_own_ms" not in figures:
            return None
        return figures["cpu_own_ms"] + figures.get("cpu_database_ms", 0)

    return pick


def cpu_cell(rounds, phase):
    both = span(rounds, cpu(phase))
    if not any(one.get(phase, {}).get("cpu_database_ms") for one in rounds):
        return both
    return f"{both} ({span(rounds, figure(phase, 'cpu_own_ms'))} + {span(rounds, figure(phase, 'cpu_database_ms'))})"


HEAD = ["five no-op steps a run", "kept in", "alone, p50 ms", "p95 ms", "CPU ms a run (own + database)", "16 at once, runs/s", "CPU ms a run at 16"]


def table(subjects):
    lines = ["| " + " | ".join(HEAD) + " |", "|---|---|" + "---:|" * (len(HEAD) - 2)]
    for rounds in subjects.values():
        cells = [
            rounds[0]["label"],
            rounds[0]["store"],
            span(rounds, figure("alone", "p50_ms")),
            span(rounds, figure("alone", "p95_ms")),
            cpu_cell(rounds, "alone"),
            span(rounds, figure("at_once", "per_second"), 0),
            cpu_cell(rounds, "at_once"),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def mean(rounds, pick):
    values = [value for value in map(pick, rounds) if value is not None]
    return sum(values) / len(values) if values else None


def ratios(subjects):
    """Liminal's figures over each rival's, by the mean of the rounds."""
    lines = []
    ours = subjects.get("liminal")
    for name, rounds in subjects.items():
        if not ours or name in ("liminal", "floor"):
            continue
        parts = []
        for words, pick in (("CPU", cpu("alone")), ("p50", figure("alone", "p50_ms")), ("rate at 16", figure("at_once", "per_second"))):
            mine, theirs = mean(ours, pick), mean(rounds, pick)
            if mine and theirs:
                parts.append(f"{words} {mine / theirs:.2f} ×")
        lines.append(f"- Liminal over {rounds[0]['label']}, {rounds[0]['store']}: " + ", ".join(parts) + ".")
    return ["Liminal is ahead where processor time and p50 are below 1 and a rate is above:", "", *lines] if lines else []


def stalls(subjects):
    """The measurements during which the disk stood still for a tenth of the
    time: their wall times are the disk's."""
    lines = []
    for rounds in subjects.values():
        for number, one in enumerate(rounds, 1):
            worst = max(one.get(phase, {}).get("disk_stalled", 0) for phase in ("alone", "at_once"))
            if worst > 0.1:
                lines.append(f"- The disk stalled for {worst:.0%} of {one['label']}, {one['store']}, round {number}.")
    return lines


def processor(path="/proc/cpuinfo"):
    try:
        for line in Path(path).read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()


def heading(subjects, postgres):
    versions = {}
    for rounds in subjects.values():
        versions.update(rounds[0]["versions"])
    runs = next((rounds[0]["alone"]["runs"] for name, rounds in subjects.items() if name not in ("liminal", "floor")), None)
    sentences = [
        f"Measured on {datetime.now(timezone.utc):%Y-%m-%d} on {os.cpu_count()} cores ({processor()}), {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, PostgreSQL {postgres} (fsync on): "
        + ", ".join(f"{name} {number}" for name, number in sorted(versions.items()))
        + "."
    ]
    rounds = max(map(len, subjects.values()))
    if runs:
        sentences.append(f"Rivals: {runs} runs alone and {2 * runs} at 16 at once, each after a warm-up.")
    sentences.append("One round." if rounds == 1 else f"{rounds} rounds in turns; from–to is over the rounds.")
    return " ".join(sentences)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", required=True)
    parser.add_argument("--postgres", default="?", help="its version")
    parser.add_argument("--note", default="")
    args = parser.parse_args()
    subjects = read(args.dir)
    if not subjects:
        raise SystemExit(f"no measurements in {args.dir}")
    lines = [heading(subjects, args.postgres), ""]
    if args.note:
        lines += [args.note, ""]
    lines += table(subjects)
    for part in (ratios(subjects), stalls(subjects)):
        if part:
            lines += ["", *part]
    print("\n".join(lines))


if __name__ == "__main__":
    sys.exit(main())
