"""Measures DBOS: a workflow of five steps that do nothing, in PostgreSQL.

Only the name and the database are configured, as in its programming guide.
"""

import asyncio
import sys
import uuid

import database
import measure
from dbos import DBOS, SetWorkflowID

STEPS = 5


@DBOS.step()
def step():
    return None


@DBOS.workflow()
def five(message):
    for _ in range(STEPS):
        step()


@DBOS.step()
async def step_async():
    return None


@DBOS.workflow()
async def five_async(message):
    for _ in range(STEPS):
        await step_async()


def check(workflow):
    """What was measured must have kept each step."""
    kept = len(DBOS.list_workflow_steps(workflow))
    if kept != STEPS:
        raise SystemExit(f"a workflow of {STEPS} steps left {kept}")


def with_threads(args):
    figures = measure.measure_threads(lambda: five("hello"), args.runs, args.postmaster)
    workflow = str(uuid.uuid4())
    with SetWorkflowID(workflow):
        five("hello")
    check(workflow)
    return figures


async def with_asyncio(args):
    figures = await measure.measure_asyncio(lambda: five_async("hello"), args.runs, args.postmaster)
    workflow = str(uuid.uuid4())
    with SetWorkflowID(workflow):
        await five_async("hello")
    await asyncio.to_thread(check, workflow)
    return figures


def main():
    args = measure.arguments()
    url = database.fresh(args.postgres, "rivals_dbos").replace("postgres://", "postgresql://")
    DBOS(config={"name": "rivals", "system_database_url": url, "log_level": "WARNING"})
    DBOS.launch()
    try:
        figures = asyncio.run(with_asyncio(args)) if args.api == "asyncio" else with_threads(args)
    finally:
        DBOS.destroy()
    label = "DBOS, async" if args.api == "asyncio" else "DBOS"
    measure.save(args, label, "PostgreSQL", figures, ["dbos"])


if __name__ == "__main__":
    sys.exit(main())
