"""The SDK of LangGraph for Python against a running program.

BASE_URL is where it listens and LIMINAL_KEY an access key with the scopes chat, read,
write and artifacts. It exits with 0 when all holds.
"""

import asyncio
import os
import uuid

import httpx
from langgraph_sdk import get_client
from langgraph_sdk.errors import AuthenticationError, ConflictError, InternalServerError, NotFoundError

BASE, KEY = os.environ["BASE_URL"].rstrip("/"), os.environ["LIMINAL_KEY"]

# A workflow that takes two seconds, and one whose two branches ask.
SLOW = {
    "kind": "workflow.chat", "title": "Slow", "entrypoint": "wait", "nodes": [
        {"id": "wait", "type": "tool_call", "tool": "time.wait_v1", "inputs": {"ms": 2000}, "description": "Waiting", "next": "end"},
        {"id": "end", "type": "end", "response": "slowly: ${input.message}"},
    ],
}
TWO = {
    "kind": "workflow.chat", "title": "Two questions", "entrypoint": "both", "nodes": [
        {"id": "both", "type": "parallel", "branches": [{"next": "colour"}, {"next": "size"}], "next": "end"},
        {"id": "colour", "type": "interrupt", "interrupt_type": "action_choice", "message": "Which colour?", "save_as": "colour",
         "options": [{"id": "red", "label": "Red"}, {"id": "blue", "label": "Blue"}]},
        {"id": "size", "type": "interrupt", "interrupt_type": "text_input", "message": "Which size?", "save_as": "size"},
        {"id": "end", "type": "end", "response": "${vars.colour} in ${vars.size}"},
    ],
}


def workflow(schema):
    name = "check." + uuid.uuid4().hex[:12]
    made = httpx.post(f"{BASE}/v1/artifacts", headers={"x-api-key": KEY}, timeout=60,
                      json={"type": "workflow", "name": name, "visibility": "private", "schema": schema})
    assert made.status_code == 200, made.text
    return name


def human(text):
    return {"messages": [{"role": "user", "content": text}]}


def text_of(parts):
    """The answer as pieces make it: those of one id together, and remove takes back."""
    said, order = {}, []
    for part in parts:
        if part.event != "messages":
            continue
        message = part.data[0]
        if message["type"] == "remove":
            said.pop(message["id"], None)
        elif message["type"] == "AIMessageChunk":
            if message["id"] not in order:
                order.append(message["id"])
            said[message["id"]] = said.get(message["id"], "") + message["content"]
    return said.get(order[-1], "") if order else ""


async def collect(stream):
    return [part async for part in stream]


def named(parts):
    return [(part.id, part.event) for part in parts]


async def main():
    client = get_client(url=BASE + "/langgraph", api_key=KEY)
    slow, two = workflow(SLOW), workflow(TWO)

    # Assistants
    found = await client.assistants.search(limit=100)
    names = {a["graph_id"]: a for a in found}
    assert "liminal" in names and slow in names, names.keys()
    assert (await client.assistants.get(slow))["assistant_id"] == names[slow]["assistant_id"]
    assert (await client.assistants.get_schemas(slow))["graph_id"] == slow
    assert any(n["id"] == "wait" for n in (await client.assistants.get_graph(slow))["nodes"])
    assert await client.assistants.count() >= 3

    # A turn, waited for, and its thread
    thread = await client.threads.create(metadata={"team": "checks"}, graph_id="liminal")
    tid = thread["thread_id"]
    values = await client.runs.wait(tid, "liminal", input=human("hello"))
    assert [m["type"] for m in values["messages"]] == ["human", "ai"], values
    first = values["messages"][-1]
    state = await client.threads.get_state(tid)
    assert state["values"]["messages"][-1]["id"] == first["id"] and state["next"] == []
    assert (await client.threads.search(metadata={"team": "checks"}, limit=100))[0]["status"] == "idle"

    # Every mode, and the answer by its pieces as it is stored
    created = []
    parts = await collect(client.runs.stream(
        tid, "liminal", input=human("and again"), stream_mode=["values", "updates", "messages-tuple", "custom"], on_run_created=created.append))
    events = [p.event for p in parts]
    assert events[0] == "metadata" and events[-1] == "end", events
    assert {"values", "messages"} <= set(events), events
    stored = (await client.threads.get_state(tid))["values"]["messages"][-1]["content"]
    assert text_of(parts).strip() == stored.strip(), (text_of(parts), stored)
    run_id = created[0]["run_id"]
    assert (await client.runs.get(tid, run_id))["status"] == "success"
    assert len(await client.runs.list(tid)) == 2

    # A stream that is cut after any of its events, and joined, loses and doubles nothing;
    # only how the run ended is told again
    told = [p for p in parts if p.id]
    for at, part in enumerate(told[:-1]):
        rest = await collect(client.runs.join_stream(tid, run_id, last_event_id=part.id, stream_mode=["values", "updates", "messages-tuple", "custom"]))
        want, got = told[at + 1:], [p for p in rest if p.id]
        assert named(got) in (named(want), named(told[-2:])), (part.id, rest)
    assert (await client.runs.join(tid, run_id))["messages"][-1]["content"] == stored
    history = await client.threads.get_history(tid, limit=10)
    assert len(history) == 5 and history[0]["values"]["messages"][-1]["content"] == stored

    # What was said is said otherwise at the checkpoint before it
    forked = await client.runs.wait(tid, "liminal", input=human("otherwise"), checkpoint=history[2]["checkpoint"])
    assert [m["content"] for m in forked["messages"] if m["type"] == "human"] == ["hello", "otherwise"], forked

    # A copy goes its own way
    copy = await client.threads.copy(tid)
    assert copy["thread_id"] != tid and len(copy["values"]["messages"]) == 4

    # An interrupt, resumed
    asked = await client.runs.wait(tid, "assistant", input=human("Summarize and compare"))
    question = asked["__interrupt__"][0]
    assert question["value"]["config"]["allow_respond"] and question["value"]["options"], question
    assert (await client.threads.get(tid))["status"] == "interrupted"
    answered = await client.runs.wait(tid, "assistant", command={"resume": {question["id"]: question["value"]["options"][0]["id"]}})
    assert answered.get("__interrupt__", [{}])[0].get("id") != question["id"]
    if "__interrupt__" in answered:  # it asks further; a person who skips it
        await client.runs.wait(tid, "assistant", command={"resume": None})

    # Two at once are put one after the other, and each is answered by its id
    t2 = (await client.threads.create())["thread_id"]
    parts = await collect(client.runs.stream(t2, two, input=human("order"), stream_mode="updates"))
    (colour,) = [p for p in parts if "__interrupt__" in (p.data or {})][-1].data["__interrupt__"]
    assert colour["value"]["message"] == "Which colour?", colour
    inbox = [{"type": "response", "args": "Blue"}]  # as Agent Inbox answers
    left = await client.runs.wait(t2, two, command={"resume": {colour["id"]: inbox}})
    (size,) = left["__interrupt__"]
    assert size["value"]["message"] == "Which size?" and size["id"] != colour["id"], size
    done = await client.runs.wait(t2, two, command={"resume": {size["id"]: "XL"}})
    assert done["messages"][-1]["content"] == "blue in XL", done

    # Four ways of a second task
    for strategy in ("reject", "enqueue", "interrupt", "rollback"):
        t3 = (await client.threads.create())["thread_id"]
        before = await client.runs.create(t3, slow, input=human("first"))
        try:
            after = await client.runs.create(t3, slow, input=human("second"), multitask_strategy=strategy)
            assert strategy != "reject"
            end = await client.runs.join(t3, after["run_id"])
            humans = [m["content"] for m in end["messages"] if m["type"] == "human"]
            assert end["messages"][-1]["content"] == "slowly: second", end
            assert humans == (["second"] if strategy == "rollback" else ["first", "second"]), (strategy, humans)
            status = (await client.runs.get(t3, before["run_id"]))["status"]
            assert status == ("success" if strategy == "enqueue" else "interrupted"), (strategy, status)
        except ConflictError:
            assert strategy == "reject"
            await client.runs.cancel(t3, before["run_id"], wait=True)
            assert (await client.runs.get(t3, before["run_id"]))["status"] == "interrupted"

    # Without a thread
    alone = await client.runs.wait(None, "liminal", input=human("alone"))
    assert alone["messages"][-1]["type"] == "ai"
    assert "end" in [p.event async for p in client.runs.stream(None, "liminal", input=human("alone"))]

    # Items
    namespace = ["checks", uuid.uuid4().hex]
    await client.store.put_item(namespace, key="tea", value={"kind": "Assam"})
    assert (await client.store.get_item(namespace, key="tea"))["value"] == {"kind": "Assam"}
    assert len((await client.store.search_items(namespace, filter={"kind": "Assam"}))["items"]) == 1
    assert namespace in (await client.store.list_namespaces(prefix=["checks"], limit=1000))["namespaces"]
    await client.store.delete_item(namespace, key="tea")

    # Errors are the SDK's own
    for call, kind in (
        (client.threads.get(str(uuid.uuid4())), NotFoundError),
        (client.store.get_item(namespace, key="tea"), NotFoundError),
        (client.assistants.get("nobody"), NotFoundError),
        (client.threads.update_state(tid, {"messages": []}), InternalServerError),
        (get_client(url=BASE + "/langgraph", api_key="lim_no").threads.search(), AuthenticationError),
    ):
        try:
            await call
            raise AssertionError(f"no {kind}")
        except kind as e:
            assert e.message, e
    await client.threads.delete(tid)


asyncio.run(main())
print("langgraph-sdk: all holds")
