// The client of AG-UI, whose verifier holds every run to the protocol's order:
// BASE_URL is where the program listens, LIMINAL_KEY an access key with the scope chat.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { HttpAgent } from "@ag-ui/client";

const agent = new HttpAgent({
  url: process.env.BASE_URL.replace(/\/$/, "") + "/agui/assistant", threadId: "check-" + randomUUID(),
  headers: { Authorization: "Bearer " + process.env.LIMINAL_KEY },
});
async function run(parameters) {
  const events = [];
  await agent.runAgent(parameters, { onEvent: ({ event }) => { events.push(event); } });
  return events;
}
const says = (content) => agent.addMessage({ id: randomUUID(), role: "user", content });

says("hello");
let events = await run({});
assert.equal(events.at(-1).outcome.type, "success");
assert.equal(agent.messages.at(-1).role, "assistant");
assert.ok(agent.messages.at(-1).content.length > 0);

says("Summarize and compare");
events = await run({});
const { outcome } = events.at(-1);
assert.equal(outcome.type, "interrupt");
const [question] = outcome.interrupts;
const payload = question.responseSchema.oneOf[0].const;
events = await run({ resume: [{ interruptId: question.id, status: "resolved", payload }] });
assert.equal(events.at(-1).type, "RUN_FINISHED");
console.log("@ag-ui/client: all holds");
