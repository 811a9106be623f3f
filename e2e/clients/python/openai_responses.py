"""OpenAI's client for Python on the Responses API: an answer, the order of a stream's
events, a question that previous_response_id answers, work in the background that is
read on from any event and cancelled, and typed errors."""

import os
import uuid

import httpx
import openai

base, key = os.environ["BASE_URL"].rstrip("/"), os.environ["LIMINAL_KEY"]
client = openai.OpenAI(base_url=base + "/v1", api_key=key, max_retries=0)


def workflow(ms):
    """A workflow that takes a while."""
    name = "check." + uuid.uuid4().hex[:12]
    made = httpx.post(base + "/v1/artifacts", headers={"x-api-key": key}, timeout=60, json={
        "type": "workflow", "name": name, "visibility": "private", "schema": {
            "kind": "workflow.chat", "title": "Slow", "entrypoint": "wait", "nodes": [
                {"id": "wait", "type": "tool_call", "tool": "time.wait_v1", "inputs": {"ms": ms}, "description": "Waiting", "next": "end"},
                {"id": "end", "type": "end", "response": "slowly: ${input.message}"},
            ]}})
    assert made.status_code == 200, made.text
    return name


# An answer, read again, gone on from, and branched off from.
first = client.responses.create(model="liminal", input="Hello there", metadata={"team": "checks"})
assert first.status == "completed" and first.output_text and first.metadata == {"team": "checks"}, first
assert client.responses.retrieve(first.id).output_text == first.output_text
second = client.responses.create(model="liminal", input="And more?", previous_response_id=first.id)
assert second.previous_response_id == first.id and second.output_text, second
other = client.responses.create(model="liminal", input="Or else?", previous_response_id=first.id)
place = lambda r: r.model_extra["x_liminal"]["conversation_id"]
assert place(second) == place(first) != place(other), (place(first), place(second), place(other))
items = client.responses.input_items.list(second.id).data
assert [i.content[0].text for i in items] == ["And more?"], items

# A stream, in the protocol's order; its pieces are its answer.
events = list(client.responses.create(model="liminal", input="Hello there", stream=True))
order = []
for event in events:
    if not order or order[-1] != event.type:
        order.append(event.type)
assert order == ["response." + name for name in (
    "created", "in_progress", "output_item.added", "content_part.added", "output_text.delta",
    "output_text.done", "content_part.done", "output_item.done", "completed")], order
numbers = [e.sequence_number for e in events]
assert numbers == sorted(set(numbers)), numbers
whole = events[-1].response
assert "".join(e.delta for e in events if e.type == "response.output_text.delta").strip() == whole.output_text.strip() != ""
with client.responses.stream(model="liminal", input="Hello there") as stream:
    for event in stream:
        pass
    assert stream.get_final_response().output_text == whole.output_text

# A question is the answer's text, and the next response answers it in the same run.
asked = client.responses.create(model="assistant", input="Summarize and compare")
assert "1. " in asked.output_text and "2. " in asked.output_text, asked.output_text
answered = client.responses.create(model="assistant", input="2", previous_response_id=asked.id)
run = lambda r: r.model_extra["x_liminal"]["run_id"]
assert run(answered) == run(asked) and answered.id != asked.id and answered.output_text, answered
assert client.responses.retrieve(asked.id).output_text == asked.output_text

# Work in the background is there at once, and read on from any event.
slow = workflow(2000)
begun = client.responses.create(model=slow, input="one", background=True)
assert begun.status in ("queued", "in_progress") and begun.background, begun
told = list(client.responses.retrieve(begun.id, stream=True))
assert told[-1].type == "response.completed" and told[-1].response.output_text == "slowly: one", told[-1]
for at, event in enumerate(told):
    rest = list(client.responses.retrieve(begun.id, stream=True, starting_after=event.sequence_number))
    assert [(e.sequence_number, e.type) for e in rest] == [(e.sequence_number, e.type) for e in told[at + 1:]], (event, rest)
assert client.responses.retrieve(begun.id).status == "completed"

# And cancelled.
begun = client.responses.create(model=workflow(20000), input="two", background=True)
assert client.responses.cancel(begun.id).status == "cancelled"
assert client.responses.retrieve(begun.id).status == "cancelled"
client.responses.delete(begun.id)


def fails(kind, call):
    try:
        call()
    except kind as err:
        return err
    raise AssertionError(f"no {kind.__name__}")


fails(openai.NotFoundError, lambda: client.responses.retrieve(begun.id))
fails(openai.NotFoundError, lambda: client.responses.retrieve("resp_" + str(uuid.uuid4())))
wrong = fails(openai.NotFoundError, lambda: client.responses.create(model="no-such-model", input="Hello"))
assert wrong.code == "model_not_found", wrong
wrong = fails(openai.BadRequestError, lambda: client.responses.create(model="liminal", input="Hello", background=True, store=False))
assert wrong.param == "store", wrong
nobody = openai.OpenAI(base_url=base + "/v1", api_key="lim_nobody", max_retries=0)
fails(openai.AuthenticationError, lambda: nobody.responses.create(model="liminal", input="Hello"))
print("openai responses: all holds")
