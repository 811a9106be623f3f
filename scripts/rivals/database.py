"""A fresh PostgreSQL database for each measurement."""

import psycopg
from psycopg import sql

DURABLE = ("fsync", "synchronous_commit", "full_page_writes")


def fresh(superuser, name):
    """Makes an empty database and returns its URL. PostgreSQL must keep what it
    was told through a power cut, as its documentation has it by default: a rival
    that waits for no disk would be measured at another task."""
    with psycopg.connect(superuser, autocommit=True) as connection:
        for setting in DURABLE:
            (value,) = connection.execute(sql.SQL("SHOW {}").format(sql.Identifier(setting))).fetchone()
            if value != "on":
                raise SystemExit(f"PostgreSQL has {setting} = {value}; the comparison needs it on")
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        connection.execute("CHECKPOINT")  # or the last subject's pages are written in this one's time
    return superuser.replace("/postgres?", f"/{name}?")
