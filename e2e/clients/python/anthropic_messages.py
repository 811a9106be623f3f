"""Anthropic's client for Python: models, messages, streams, counts, typed errors, and a
question that the next message answers, in the run that asked it."""

import os

import anthropic

base, key = os.environ["BASE_URL"].rstrip("/"), os.environ["LIMINAL_KEY"]
client = anthropic.Anthropic(base_url=base, api_key=key, max_retries=0)


def user(text):
    return {"role": "user", "content": text}


def place(message):
    return message.model_extra["x_liminal"]["conversation_id"]


models = [m.id for m in client.models.list()]
assert "liminal" in models and "assistant" in models, models

# A turn, and the next ones in the same conversation, one of them as a stream.
system = "Be brief."
said = [user("Hello there")]
first = client.messages.create(model="liminal", max_tokens=512, system=system, messages=said)
assert first.stop_reason == "end_turn" and first.role == "assistant" and first.content[0].text, first
assert first.id == "msg_" + first.model_extra["x_liminal"]["run_id"], first
said += [{"role": "assistant", "content": first.content}, user("And more?")]
with client.messages.stream(model="liminal", max_tokens=512, system=system, messages=said) as stream:
    kinds = [event.type for event in stream if event.type != "ping"]
    final = stream.get_final_message()
assert kinds[0] == "message_start" and kinds[-3:] == ["content_block_stop", "message_delta", "message_stop"], kinds
assert final.content[-1].text and final.stop_reason == "end_turn", final
said += [{"role": "assistant", "content": final.content}, user("And last?")]
last = client.messages.create(model="liminal", max_tokens=512, system=system, messages=said)
assert place(first) == place(final) == place(last), (place(first), place(final), place(last))
assert client.messages.count_tokens(model="liminal", messages=said).input_tokens > 0

# The next message answers, in the same run.
said = [user("Summarize and compare")]
asked = client.messages.create(model="assistant", max_tokens=512, messages=said)
text = asked.content[0].text
assert asked.stop_reason == "end_turn" and "1. " in text and "2. " in text, asked
said += [{"role": "assistant", "content": asked.content}, user("2")]
answered = client.messages.create(model="assistant", max_tokens=512, messages=said)
assert answered.model_extra["x_liminal"]["run_id"] == asked.model_extra["x_liminal"]["run_id"], answered
assert answered.content[0].text, answered


def fails(kind, call):
    try:
        call()
    except kind as err:
        return err
    raise AssertionError(f"no {kind.__name__}")


hello = [user("Hello")]
wrong = fails(anthropic.NotFoundError, lambda: client.messages.create(model="claude-opus-9", max_tokens=9, messages=hello))
assert wrong.body["error"]["type"] == "not_found_error" and wrong.request_id, wrong.body
fails(anthropic.BadRequestError, lambda: client.messages.create(
    model="liminal", max_tokens=9, messages=hello + [{"role": "assistant", "content": "Hi"}]))
nobody = anthropic.Anthropic(base_url=base, api_key="lim_nobody", max_retries=0)
wrong = fails(anthropic.AuthenticationError, lambda: nobody.messages.create(model="liminal", max_tokens=9, messages=hello))
assert wrong.body["error"]["type"] == "authentication_error", wrong.body
print("anthropic: all holds")
