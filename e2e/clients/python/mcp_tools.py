"""The Model Context Protocol's client for Python, in the revision without sessions and
in one with: lists, an assistant that is asked, a question that is answered by a form
and by a tool, documents as resources, and a wrong key."""

import asyncio
import os
import time

import httpx
import httpx2
import mcp_types as types
from mcp import MCPError
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

BASE, KEY = os.environ["BASE_URL"].rstrip("/"), os.environ["LIMINAL_KEY"]
ASKS = {"message": "Summarize and compare"}


def connect(mode, key=KEY, **more):
    http = httpx2.AsyncClient(headers={"Authorization": "Bearer " + key}, timeout=60)
    return Client(streamable_http_client(BASE + "/mcp", http_client=http), mode=mode, **more)


def document():
    """A document that has been read."""
    me = httpx.Client(base_url=BASE, headers={"x-api-key": KEY}, timeout=60)
    context = me.post("/v1/contexts", json={"name": "Checks"})
    assert context.status_code == 200, context.text
    sent = me.post("/v1/files/upload", data={"context_id": context.json()["data"]["id"]},
                   files={"file": ("tea.md", b"# Tea\n\nAssam is strong.\n", "text/markdown")})
    assert sent.status_code // 100 == 2, sent.text
    made = sent.json()["data"]["document"]
    for _ in range(300):
        now = me.get(f"/v1/documents/{made['id']}").json()["data"]
        if now["status"] == "ready":
            return made["id"]
        assert now["status"] != "failed", now
        time.sleep(0.1)
    raise AssertionError("the document is not read")


async def check(mode, document_id):
    asked = []

    async def form(_, params):
        field = params.requested_schema["properties"]["answer"]
        asked.append(params.message)
        if "oneOf" not in field:  # it asks further
            return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept", content={"answer": field["oneOf"][1]["const"]})

    async def left(_, params):
        return types.ElicitResult(action="cancel")

    # A form is shown, and the run goes on with what it says.
    async with connect(mode, elicitation_callback=form) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert {"ask_assistant", "answer", "run", "runs", "read_document", "search_documents"} <= set(names), names
        told = await client.call_tool("ask_assistant", ASKS)
        assert len(asked) == 2 and not told.is_error, (asked, told)
        assert told.structured_content["status"] == "done" and told.content[0].text, told
        uri = "liminal://documents/" + document_id
        assert uri in [str(r.uri) for r in (await client.list_resources()).resources]
        read = await client.read_resource(uri)
        assert "Assam is strong." in read.contents[0].text, read
        read = await client.call_tool("read_document", {"document_id": document_id})
        assert "Assam is strong." in read.content[0].text, read
        wrong = await client.call_tool("read_document", {"document_id": "nothing"})
        assert wrong.is_error, wrong

    # Without forms, and where one is left open, the question is told and waits.
    for more in ({}, {"elicitation_callback": left}):
        async with connect(mode, **more) as client:
            told = await client.call_tool("ask_assistant", ASKS)
            said = told.structured_content
            assert said["status"] == "waiting" and "1. " in told.content[0].text, told
            waits = await client.call_tool("runs", {"status": "waiting"})
            assert said["run_id"] in waits.content[0].text + str(waits.structured_content), waits
            told = await client.call_tool("answer", {"interrupt_id": said["questions"][0]["interrupt_id"], "answer": "2"})
            assert not told.is_error and told.structured_content["run_id"] == said["run_id"], told
            now = await client.call_tool("run", {"run_id": said["run_id"]})
            assert now.structured_content["status"] == told.structured_content["status"], now

    try:
        async with connect(mode, key="lim_nobody") as client:
            await client.list_tools()
    except BaseException as err:  # noqa: BLE001 - it comes in a group of its tasks
        assert refused(err), repr(err)
    else:
        raise AssertionError("a wrong key is taken")


def refused(err):
    return any(map(refused, getattr(err, "exceptions", ()))) or isinstance(err, MCPError) and err.error.data == {"reason": "key_invalid"}


async def main():
    document_id = document()
    for mode in ("2026-07-28", "legacy"):
        await check(mode, document_id)


asyncio.run(main())
assert httpx.post(BASE + "/mcp", json={}, headers={"Authorization": "Bearer lim_nobody"}).status_code == 401
print("mcp: all holds")
