// The SDK of LangGraph for JavaScript against a running program: BASE_URL is where it
// listens, LIMINAL_KEY an access key with the scopes chat, read and write.
import assert from "node:assert/strict";
import { Client } from "@langchain/langgraph-sdk";

const client = new Client({ apiUrl: process.env.BASE_URL.replace(/\/$/, "") + "/langgraph", apiKey: process.env.LIMINAL_KEY });
const human = (text) => ({ messages: [{ type: "human", content: text }] });

const assistants = await client.assistants.search({ limit: 100 });
assert.ok(assistants.some((a) => a.graph_id === "liminal"));

const { thread_id: thread } = await client.threads.create({ metadata: { team: "checks" } });
const parts = [];
let created;
for await (const part of client.runs.stream(thread, "liminal", {
  input: human("hello"), streamMode: ["values", "messages-tuple", "updates", "custom"], onRunCreated: (run) => { created = run; },
})) parts.push(part);
assert.equal(parts[0].event, "metadata");
assert.equal(parts.at(-1).event, "end");
const stored = (await client.threads.getState(thread)).values.messages.at(-1);
const chunks = parts.filter((p) => p.event === "messages" && p.data[0].type === "AIMessageChunk");
assert.equal(chunks.map((p) => p.data[0].content).join("").trim(), stored.content.trim());
assert.ok(chunks.every((p) => p.data[0].id === stored.id));

const told = parts.filter((p) => p.id);
const rest = [];
for await (const part of client.runs.joinStream(thread, created.run_id, {
  lastEventId: told[1].id, streamMode: ["values", "messages-tuple", "updates", "custom"],
})) rest.push(part);
assert.deepEqual(rest.filter((p) => p.id).map((p) => p.id), told.slice(2).map((p) => p.id));

const asked = await client.runs.wait(thread, "assistant", { input: human("Summarize and compare") });
const [question] = asked.__interrupt__;
assert.equal((await client.threads.get(thread)).status, "interrupted");
const resumed = [];
for await (const part of client.runs.stream(thread, "assistant", { command: { resume: question.value.options[0].id }, streamMode: "values" })) resumed.push(part);
assert.equal(resumed[0].data.run_id, question.value.run_id);
assert.equal(resumed.at(-1).event, "end");

await client.store.putItem(["checks"], "js", { n: 1 });
assert.deepEqual((await client.store.getItem(["checks"], "js")).value, { n: 1 });
await client.store.deleteItem(["checks"], "js");
assert.equal((await client.runs.list(thread)).length, 2);
await client.threads.delete(thread);
await assert.rejects(client.threads.get(thread), (e) => e.status === 404);
console.log("@langchain/langgraph-sdk: all holds");
