"""Measures LangGraph: a graph of five nodes in a row that do nothing.

The checkpointers are made as their documentation makes them: a pool of 20
connections for PostgreSQL, one connection for SQLite, all other settings as
they come.
"""

import asyncio
import os
import sqlite3
import sys
import uuid
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TypedDict

import database
import measure

os.environ["LANGSMITH_TRACING"] = "false"  # whatever the shell has: it would call out

from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool

STEPS = 5
POOL = {"max_size": 20, "kwargs": {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}}


class State(TypedDict):
    message: str


def compiled(step, saver):
    graph = StateGraph(State)
    names = [f"n{i + 1}" for i in range(STEPS)]
    for name in names:
        graph.add_node(name, step)
    for begin, end in zip([START, *names], [*names, END]):
        graph.add_edge(begin, end)
    return graph.compile(checkpointer=saver)


def fresh_thread():
    return {"configurable": {"thread_id": str(uuid.uuid4())}}


def check(durability, checkpoints):
    """What was measured must have kept what it says: with sync a checkpoint of
    the input and one after each node at least, with exit one at the end."""
    if (durability == "sync") != (checkpoints > STEPS) or checkpoints == 0:
        raise SystemExit(f"a run with durability {durability} left {checkpoints} checkpoints")


@contextmanager
def saver_of(args):
    if args.store == "sqlite":
        connection = sqlite3.connect(Path(args.dir) / "langgraph.db", check_same_thread=False)
        yield SqliteSaver(connection)
        connection.close()
        return
    with ConnectionPool(database.fresh(args.postgres, "rivals_langgraph"), **POOL) as pool:
        saver = PostgresSaver(pool)
        saver.setup()
        yield saver


@asynccontextmanager
async def async_saver_of(args):
    if args.store == "sqlite":
        async with AsyncSqliteSaver.from_conn_string(str(Path(args.dir) / "langgraph.db")) as saver:
            yield saver
        return
    async with AsyncConnectionPool(database.fresh(args.postgres, "rivals_langgraph"), **POOL) as pool:
        saver = AsyncPostgresSaver(pool)
        await saver.setup()
        yield saver


def with_threads(args, postmaster):
    with saver_of(args) as saver:
        graph = compiled(lambda state: {}, saver)

        def run(thread=None):
            graph.invoke({"message": "hello"}, thread or fresh_thread(), durability=args.durability)

        figures = measure.measure_threads(run, args.runs, postmaster)
        thread = fresh_thread()
        run(thread)
        check(args.durability, len(list(graph.get_state_history(thread))))
        return figures


async def with_asyncio(args, postmaster):
    async with async_saver_of(args) as saver:

        async def step(state):
            return {}

        graph = compiled(step, saver)

        async def run(thread=None):
            await graph.ainvoke({"message": "hello"}, thread or fresh_thread(), durability=args.durability)

        figures = await measure.measure_asyncio(run, args.runs, postmaster)
        thread = fresh_thread()
        await run(thread)
        check(args.durability, len([state async for state in graph.aget_state_history(thread)]))
        return figures


def main():
    args = measure.arguments(store=["postgres", "sqlite"], durability=["sync", "exit"])
    postmaster = args.postmaster if args.store == "postgres" else 0
    if args.api == "asyncio":
        figures = asyncio.run(with_asyncio(args, postmaster))
    else:
        figures = with_threads(args, postmaster)
    packages = ["langgraph", "langgraph-checkpoint", f"langgraph-checkpoint-{args.store}"]
    label = f"LangGraph `{args.durability}`, {'ainvoke' if args.api == 'asyncio' else 'invoke'}"
    measure.save(args, label, {"postgres": "PostgreSQL", "sqlite": "SQLite"}[args.store], figures, packages)


if __name__ == "__main__":
    sys.exit(main())
