"""OpenAI's client for Python: models, chat completions, streams, typed errors, and a
question that the next message answers, in the run that asked it."""
import os

import openai

base, key = os.environ["BASE_URL"], os.environ["LIMINAL_KEY"]
client = openai.OpenAI(base_url=base + "/v1", api_key=key, max_retries=0)

models = [m.id for m in client.models.list()]
assert "liminal" in models and "assistant" in models, models
assert client.models.retrieve("assistant").id == "assistant"

said = [{"role": "user", "content": "Summarize and compare"}]
asked = client.chat.completions.create(model="assistant", messages=said)
text = asked.choices[0].message.content
assert asked.choices[0].finish_reason == "stop", asked
assert "1. " in text and "2. " in text, text
run = asked.id

# The next message answers, in the same run.
said += [{"role": "assistant", "content": text}, {"role": "user", "content": "2"}]
answered = client.chat.completions.create(model="assistant", messages=said)
assert answered.id == run, (answered.id, run)
assert answered.choices[0].message.content, answered

# A stream says what the whole answer says, and counts at its end.
words, usage = "", None
for chunk in client.chat.completions.create(
    model="assistant",
    messages=[{"role": "user", "content": "Summarize and compare"}],
    stream=True,
    stream_options={"include_usage": True},
):
    if chunk.choices:
        words += chunk.choices[0].delta.content or ""
    usage = chunk.usage or usage
assert words == text, (words, text)
assert usage is not None and usage.total_tokens >= 0, usage


def fails(kind, call):
    try:
        call()
    except kind as err:
        return err
    raise AssertionError(f"no {kind.__name__}")


hello = [{"role": "user", "content": "Hello"}]
fails(openai.NotFoundError, lambda: client.chat.completions.create(model="no-such-model", messages=hello))
fails(openai.BadRequestError, lambda: client.chat.completions.create(model="assistant", messages=hello, n=2))
nobody = openai.OpenAI(base_url=base + "/v1", api_key="lim_nobody", max_retries=0)
fails(openai.AuthenticationError, lambda: nobody.models.list())
