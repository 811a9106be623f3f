"""Makes matters.sql: the invented rows, and beside them reference data.

    python3 make.py > matters.sql

People, firms, matters, dates and file numbers are invented. Courts, terms and
rules of time limits are real and given with their source, as a sample: they are
not complete, may be out of date, and are no advice. Dates of matters are days
from the day they are read on, so that the example never ages.
"""
import random

rnd = random.Random(20260516)
out = []


def q(v):
    if v is None:
        return "NULL"
    if isinstance(v, (int, float)):
        return str(v)
    return "'" + str(v).replace("'", "''") + "'"


def table(name, columns, rows):
    out.append(f"CREATE TABLE {name} ({columns});")
    for i in range(0, len(rows), 40):
        out.append(f"INSERT INTO {name} VALUES\n" + ",\n".join("(" + ", ".join(q(v) for v in r) + ")" for r in rows[i:i + 40]) + ";")


PEOPLE = [
    ("u01", "Dr. Friederike Keller", "keller@example.invalid", "München", "partner"),
    ("u02", "Jonas Brandt", "brandt@example.invalid", "München", "trainee"),
    ("u03", "Dr. Tobias Sommer", "sommer@example.invalid", "Düsseldorf", "partner"),
    ("u04", "Marlene Vogt", "vogt@example.invalid", "München", "associate"),
    ("u05", "Elif Arslan", "arslan@example.invalid", "Düsseldorf", "associate"),
    ("u06", "Pascal Renaud", "renaud@example.invalid", "Paris", "counsel"),
    ("u07", "Henrike Osterloh", "osterloh@example.invalid", "München", "paralegal"),
    ("u08", "Dr. Benedikt Falk", "falk@example.invalid", "Düsseldorf", "counsel"),
    ("u09", "Camille Roussel", "roussel@example.invalid", "Paris", "associate"),
    ("u10", "Nils Petersen", "petersen@example.invalid", "München", "associate"),
    ("u11", "Svenja Kühn", "kuehn@example.invalid", "Düsseldorf", "paralegal"),
    ("u12", "Dr. Aurelia Conti", "conti@example.invalid", "Paris", "partner"),
]

UNITS = [
    ("e1", "Patent Litigation München", "practice", "München"), ("e2", "Patent Litigation Düsseldorf", "practice", "Düsseldorf"),
    ("e3", "UPC Desk Paris", "desk", "Paris"), ("e4", "EPO Prosecution", "practice", "München"),
    ("e5", "Kanzlei Lindqvist (Correspondent)", "correspondent", "Stockholm"), ("e6", "Studio Bellandi (Correspondent)", "correspondent", "Milano"),
]

# client, opponent, technology, root owner, office
CLIENTS = [
    ("Nordlicht", "Velum", "Windkraft-Getriebe", "u01", "München"), ("Tessera", "Okular", "Bildsensoren", "u01", "München"),
    ("Brennweite", "Aspera", "Objektive", "u01", "München"), ("Halm & Söhne", "Agrivo", "Saatgutdosierung", "u01", "München"),
    ("Quellwerk", "Hydranta", "Wasserfilter", "u03", "Düsseldorf"), ("Lumenova", "Straylight", "LED-Treiber", "u03", "Düsseldorf"),
    ("Cordelia Pharma", "Genexa", "Wirkstoffträger", "u03", "Düsseldorf"), ("Atelier Voss", "Prismatik", "Displayfolien", "u12", "Paris"),
    ("Ferrum Nord", "Kovalt", "Schweißroboter", "u12", "Paris"),
]
KINDS = {
    "client": "client", "infringement": "infringement", "revocation": "revocation", "opposition": "opposition", "prosecution": "prosecution",
}
COURTS_OF = {
    "infringement": ["UPC Lokalkammer München", "UPC Lokalkammer Düsseldorf", "UPC Lokalkammer Mannheim", "Landgericht München I", "Landgericht Düsseldorf"],
    "revocation": ["UPC Zentralkammer Paris", "Bundespatentgericht"], "opposition": ["Europäisches Patentamt"],
    "prosecution": ["Europäisches Patentamt", "Deutsches Patent- und Markenamt"],
}
projects, members = [], []
number = 0


def add(parent, kind, label, status, office):
    global number
    number += 1
    pid = f"p{number:02d}"
    path = (parent[5] if parent else "/") + pid + "/"
    row = (pid, parent[0] if parent else None, kind, label, f"HLC-2026-{1000 + number * 7}", path, status, office)
    projects.append(row)
    return row


for i, (client, opponent, tech, owner, office) in enumerate(CLIENTS):
    root = add(None, "client", client, "active", office)
    members.append((root[0], owner))
    inf = add(root, "infringement", f"{client} ./. {opponent}", "active", office)
    rev = add(inf, "revocation", f"{opponent} ./. {client} (Widerklage auf Nichtigerklärung)", "active", office)
    opp = add(root, "opposition", f"Einspruch {tech} EP 3 {410 + i * 17} {108 + i * 31} B1", rnd.choice(["active", "active", "closed"]), office)
    if i < 6:
        add(root, "prosecution", f"Anmeldung {tech} II", "active" if i != 2 else "closed", office)
# associates on single matters
by = {p[3]: p[0] for p in projects}
for label, who in [("Nordlicht ./. Velum", "u04"), ("Tessera ./. Okular", "u10"), ("Quellwerk ./. Hydranta", "u05"), ("Lumenova ./. Straylight", "u08"),
                   ("Atelier Voss ./. Prismatik", "u09"), ("Ferrum Nord ./. Kovalt", "u06"), ("Brennweite ./. Aspera", "u02"), ("Cordelia Pharma ./. Genexa", "u06"),
                   ("Atelier Voss ./. Prismatik", "u01")]:
    members.append((by[label], who))
members += [("p01", "u07"), (by["Quellwerk"], "u11")]
assert len(projects) == 42, len(projects)

TITLES = {
    "infringement": ["Klageerwiderung", "Replik", "Duplik", "Vorläufiger Einwand", "Stellungnahme zum Antrag auf Geheimhaltung", "Vorbereitung Zwischenanhörung", "Einreichung Übersetzungen", "Antrag auf Kostenfestsetzung"],
    "revocation": ["Erwiderung auf die Nichtigkeitswiderklage", "Hilfsanträge", "Replik zum Rechtsbestand", "Antrag auf Änderung des Patents", "Gutachten Sachverständiger"],
    "opposition": ["Einspruchsbegründung", "Stellungnahme des Patentinhabers", "Beschwerdebegründung", "Schriftsatz vor mündlicher Verhandlung"],
    "prosecution": ["Bescheidserwiderung", "Zahlung Jahresgebühr", "Prüfungsantrag", "Erteilungsabsicht: Zustimmung", "Übersetzung der Ansprüche"],
    "client": ["Mandatsbrief", "Budgetfreigabe", "Quartalsbericht an Mandantin"],
}
deadlines = []
offsets = [0, 0, 1, 1, 2, 3, 3, 4, 5, 6, -1, -3, -8]  # something is due this week, whenever it is read
order = [p for p in projects if p[2] != "client"] + [p for p in projects if p[2] == "client"]
hot = [by["Nordlicht ./. Velum"], by["Brennweite ./. Aspera"], by["Quellwerk ./. Hydranta"], by["Ferrum Nord ./. Kovalt"]]
n = 0
for pid in hot:
    p = next(p for p in projects if p[0] == pid)
    for k, off in enumerate(offsets[:13] if pid != hot[1] else [0, 2, 5, -2]):
        n += 1
        deadlines.append((f"d{n:03d}", pid, TITLES["infringement"][k % 8], off, "pending", COURTS_OF["infringement"][(k + int(pid[1:])) % 5] if k < 6 else COURTS_OF["infringement"][0], "u01" if k % 2 else "u04"))
while n < 160:
    p = order[n % len(order)]
    n += 1
    off = rnd.choice([rnd.randint(7, 120), rnd.randint(7, 60), rnd.randint(-200, -10)])
    status = "done" if off < 0 or rnd.random() < 0.1 else "pending"
    court = rnd.choice(COURTS_OF[p[2]]) if p[2] in COURTS_OF else None
    deadlines.append((f"d{n:03d}", p[0], rnd.choice(TITLES[p[2]]), off, status, court, rnd.choice(PEOPLE)[0]))

MEETINGS = [("Mandantengespräch", "Videokonferenz", 60), ("Mündliche Verhandlung", None, 300), ("Zwischenanhörung", "Videokonferenz", 120), ("Teamrunde", "Raum Isar", 45),
            ("Abstimmung Sachverständiger", "Raum Seine", 90), ("Vergleichsgespräch", "Kanzlei der Gegenseite", 120)]
appointments = []
spread = [0, 0, 1, 2, 3, 5, 6, 8, 9, 11, 13, 17, 20, 24, 27]
for k in range(60):
    pid = (hot * 4)[k] if k < 16 else order[(k * 5) % len(order)][0]
    p = next(p for p in projects if p[0] == pid)
    title, place, minutes = MEETINGS[k % 6]
    place = place or (COURTS_OF.get(p[2]) or ["Kanzlei München"])[0]
    off = spread[k % len(spread)] if k < 45 else rnd.randint(30, 120)
    hour = 9 + (k * 2) % 8
    minute = (0, 30)[k % 2]
    end = hour * 60 + minute + minutes
    appointments.append((f"a{k + 1:02d}", pid, title, off, f"{hour:02d}:{minute:02d}", f"{end // 60:02d}:{end % 60:02d}", place))

FIRST = "Anja Boris Clara Dirk Edda Felix Greta Hanno Ines Jakob Karin Lukas Mona Niklas Olga Philipp Rosa Stefan Thea Ulrich".split()
LAST = "Ahrens Bender Carstens Dorn Ebert Feld Gruber Hartung Iversen Jansen Kolb Lorenz Mertens Noll Ostermann Pohl Richter Seidel Thoma Unger".split()
parties = []
k = 0
for p in projects:
    if p[2] == "client":
        client = p[3]
        parties.append((f"b{len(parties) + 1:03d}", p[0], f"{client} GmbH", "client", None))
        continue
    base = next(c for c in CLIENTS if next(r for r in projects if r[5] == "/" + p[5].split("/")[1] + "/")[3] == c[0])
    parties.append((f"b{len(parties) + 1:03d}", p[0], f"{base[0]} GmbH", "client", "Dr. Friederike Keller" if base[3] == "u01" else dict((u[0], u[1]) for u in PEOPLE)[base[3]]))
    parties.append((f"b{len(parties) + 1:03d}", p[0], f"{base[1]} S.A.", "opponent", f"{FIRST[k % 20]} {LAST[(k * 7) % 20]}"))
    parties.append((f"b{len(parties) + 1:03d}", p[0], f"{FIRST[(k + 9) % 20]} {LAST[(k * 3 + 5) % 20]}", rnd.choice(["inventor", "expert", "witness"]), None))
    k += 1
while len(parties) < 130:
    p = order[len(parties) % len(order)]
    parties.append((f"b{len(parties) + 1:03d}", p[0], f"{rnd.choice(FIRST)} {rnd.choice(LAST)}", rnd.choice(["expert", "witness", "translator"]), None))
parties = parties[:130]
attached = []
for i, p in enumerate(projects):
    for u in {UNITS[i % 6][0], UNITS[(i * 2 + 1) % 6][0]} if p[2] != "client" else set():
        attached.append((p[0], u))
attached.sort()
events = []
WHAT = ["Schriftsatz eingegangen", "Frist notiert", "Notiz ergänzt", "Termin bestätigt", "Beteiligten ergänzt", "Dokument abgelegt"]
for i in range(90):
    pid = (hot * 8)[i] if i < 32 else order[(i * 11) % len(order)][0]
    events.append((f"v{i + 1:02d}", pid, -(i % 30), WHAT[i % 6], PEOPLE[i % 12][1]))

table("people", "id TEXT PRIMARY KEY, name TEXT NOT NULL, mail TEXT NOT NULL, office TEXT NOT NULL, role TEXT NOT NULL", PEOPLE)
table("units", "id TEXT PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, office TEXT NOT NULL", UNITS)
table("projects", "id TEXT PRIMARY KEY, parent_id TEXT, kind TEXT NOT NULL, label TEXT NOT NULL, reference TEXT NOT NULL, path TEXT NOT NULL, status TEXT NOT NULL, office TEXT NOT NULL", projects)
table("members", "project_id TEXT NOT NULL, person_id TEXT NOT NULL", members)
table("deadlines", "id TEXT PRIMARY KEY, project_id TEXT NOT NULL, title TEXT NOT NULL, due_in INTEGER NOT NULL, status TEXT NOT NULL, court TEXT, person_id TEXT", deadlines)
table("appointments", "id TEXT PRIMARY KEY, project_id TEXT NOT NULL, title TEXT NOT NULL, starts_in INTEGER NOT NULL, start_time TEXT NOT NULL, end_time TEXT NOT NULL, location TEXT", appointments)
table("parties", "id TEXT PRIMARY KEY, project_id TEXT NOT NULL, name TEXT NOT NULL, role TEXT NOT NULL, represented_by TEXT", parties)
table("project_units", "project_id TEXT NOT NULL, unit_id TEXT NOT NULL", attached)
table("events", "id TEXT PRIMARY KEY, project_id TEXT NOT NULL, happened_in INTEGER NOT NULL, what TEXT NOT NULL, who TEXT NOT NULL", events)

exec(open("reference.py", encoding="utf-8").read())
table("courts", "slug TEXT PRIMARY KEY, name TEXT NOT NULL, name_en TEXT NOT NULL, country TEXT NOT NULL, kind TEXT NOT NULL, address TEXT NOT NULL", COURTS)
table("vacations", "court_slug TEXT NOT NULL, name TEXT NOT NULL, period TEXT NOT NULL", VACATIONS)
table("terms", "de TEXT NOT NULL, en TEXT NOT NULL, definition_de TEXT NOT NULL, definition_en TEXT NOT NULL, category TEXT NOT NULL", TERMS)
table("rules", "rule_code TEXT NOT NULL, concept_label TEXT NOT NULL, concept_en TEXT NOT NULL, trigger_event TEXT NOT NULL, trigger_en TEXT NOT NULL, deadline_text TEXT NOT NULL, deadline_en TEXT NOT NULL, legal_source TEXT NOT NULL", RULES)
assert (len(COURTS), len(TERMS), len(RULES)) == (24, 90, 60), (len(COURTS), len(TERMS), len(RULES))
assert (len(PEOPLE), len(projects), len(deadlines), len(appointments), len(parties), len(UNITS)) == (12, 42, 160, 60, 130, 6)
print("\n".join(out))
