"""Events of AG-UI, read with the protocol's own models for Python.

BASE_URL is where the program listens and LIMINAL_KEY an access key with the scope
chat. It exits with 0 when all holds.
"""

import os
import uuid

import httpx
from ag_ui.core import Event, RunAgentInput
from pydantic import TypeAdapter

BASE, KEY = os.environ["BASE_URL"].rstrip("/"), os.environ["LIMINAL_KEY"]
EVENT = TypeAdapter(Event)


def run(thread, text=None, resume=None):
    body = RunAgentInput(
        thread_id=thread, run_id=uuid.uuid4().hex, state={}, tools=[], context=[], forwarded_props={},
        messages=[{"id": uuid.uuid4().hex, "role": "user", "content": text}] if text else [], resume=resume,
    )
    events = []
    with httpx.stream("POST", f"{BASE}/agui/assistant", headers={"x-api-key": KEY}, timeout=60,
                      json=body.model_dump(by_alias=True, exclude_none=True)) as answer:
        assert answer.status_code == 200, answer.read()
        for line in answer.iter_lines():
            if line.startswith("data: "):
                events.append(EVENT.validate_json(line[6:]))
    assert events[0].type == "RUN_STARTED", events
    return events


thread = "check-" + uuid.uuid4().hex
events = run(thread, "hello")
assert events[-1].type == "RUN_FINISHED" and events[-1].outcome.type == "success", events[-1]
assert "".join(e.delta for e in events if e.type == "TEXT_MESSAGE_CONTENT").strip()

asked = run(thread, "Summarize and compare")[-1]
assert asked.outcome.type == "interrupt", asked
question = asked.outcome.interrupts[0]
options = [o["const"] for o in question.response_schema["oneOf"]]

refused = run(thread, resume=[{"interruptId": str(uuid.uuid4()), "status": "resolved", "payload": "x"}])[-1]
assert refused.type == "RUN_ERROR" and refused.code == "not_pending", refused
answered = run(thread, resume=[{"interruptId": question.id, "status": "resolved", "payload": options[0]}])[-1]
assert answered.type == "RUN_FINISHED", answered
print("ag-ui-protocol: all holds")
