// A stand-in for the server, for working on the client alone: it speaks the
// HTTP contract from memory, under the same policy as web.go, and plays a part
// for each of a few words in a message. Nothing of it ships.
//
//   node dev/mock.mjs [port]     then open http://127.0.0.1:<port>
//
// Words it knows: ambiguous, twice, several, write (text_input), strange
// (an unknown type), little, slow, drop, break, hostile, code. Anything else is
// answered with quotes.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const policy = /policy = ("[^;]+;[\s\S]*?)\n\nconst/.exec(readFileSync(new URL('../web.go', import.meta.url), 'utf8'))[1]
  .split('\n').map((line) => JSON.parse(line.trim().replace(/ \+$/, ''))).join('');
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.woff2': 'font/woff2' };
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const now = () => new Date().toISOString();

const users = new Map();
const tokens = new Map();
const conversations = new Map();
const runs = new Map();
const contexts = new Map();
const documents = new Map();
const artifacts = new Map();
const assistant = { id: randomUUID(), type: 'workflow.chat', name: 'assistant', visibility: 'global', owner_id: null, schema: { title: 'Document assistant' } };
const generative = process.env.GENERATIVE === '1';

class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, { status, code });
  }
}
const need = (thing) => {
  if (!thing) throw new Refusal(404, 'not_found', 'There is no such thing here.');
  return thing;
};

// ---- runs ------------------------------------------------------------------

function emit(run, kind, data, node) {
  const event = { seq: 1_000_000 + run.events.length + 1, kind, data, node };
  run.events.push(event);
  for (const wake of run.readers.splice(0)) wake();
}
const status = (run, node, message, done = false, more = {}) => emit(run, 'status', { node, message, done, ...more }, node);

async function speak(run, text, pace = 12) {
  for (let at = 0; at < text.length && !run.cancelled; at += 6) {
    run.text += text.slice(at, at + 6);
    emit(run, 'token', text.slice(at, at + 6));
    await sleep(pace);
  }
}

async function ask(run, ...questions) {
  const asked = questions.map(([interrupt_type, message, options, answer_schema]) => ({
    interrupt_id: randomUUID(), run_id: run.id, conversation_id: run.conversation, interrupt_type, message,
    options: options ?? null, answer_schema: answer_schema ?? null, created_at: now(),
  }));
  run.pending.push(...asked);
  run.status = 'waiting';
  for (const one of asked) emit(run, 'interrupt', one);
  emit(run, 'paused', { interrupt_ids: asked.map((one) => one.interrupt_id) });
  return Promise.all(asked.map((one) => new Promise((resolve) => run.waiting.set(one.interrupt_id, (value) => {
    run.pending = run.pending.filter((other) => other !== one);
    if (run.pending.length === 0) run.status = 'running';
    run.notices.push([one, value]);
    emit(run, 'resumed', { interrupt_id: one.interrupt_id });
    resolve(value);
  }))));
}

function close(run, message) {
  const conversation = conversations.get(run.conversation);
  run.ended = now();
  conversation.active = null;
  for (const [question, value] of run.notices) {
    add(conversation, { role: 'system', content: question.message, run_id: run.id, meta: { type: 'pal_assist_prompt' } });
    if (value !== null) add(conversation, { role: 'user', content: question.options?.find((o) => o.id === value)?.label ?? String(value), run_id: run.id });
  }
  if (message) add(conversation, { role: 'assistant', run_id: run.id, ...message });
}

function finish(run, citations, more = {}) {
  run.status = 'done';
  const segments = run.tools.map((used) => ({ type: 'tool_call', ...used }));
  close(run, { content: run.text, content_struct: { segments, citations }, meta: { model: 'extractive', ...more } });
  emit(run, 'message_done', { message_id: randomUUID(), content: run.text, citations, usage: { input_tokens: 40, output_tokens: 90 }, model: 'extractive', adapters: [], ...more });
}

function add(conversation, message) {
  conversation.messages.push({ id: randomUUID(), sender: message.role, seq: conversation.messages.length + 1, created_at: now(), ...message });
  conversation.updated_at = now();
}

function quotes() {
  const ready = [...documents.values()].filter((one) => one.status === 'ready');
  return ready.slice(0, 2).map((document, index) => {
    const found = document.text.search(/[^.\s][^.]*\b(years|seven|deadline)\b[^.]*\./i);
    const start = Math.max(0, found);
    const text = /[^.]*\.?/.exec(document.text.slice(start))[0];
    const bytes = (part) => Buffer.byteLength(part);
    return {
      n: index + 1, document_id: document.id, context_id: document.context_id, chunk_id: randomUUID(), title: document.title,
      path: document.path, heading: 'Retention', page: 0, start: bytes(document.text.slice(0, start)),
      end: bytes(document.text.slice(0, start)) + bytes(text), text, score: 0.8,
    };
  });
}

async function tool(run, name, args, summary, ms) {
  const id = randomUUID();
  emit(run, 'tool_call', { id, name, arguments: args });
  await sleep(ms);
  run.tools.push({ name, arguments: args, result: summary, duration_ms: ms, status: 'ok' });
  emit(run, 'tool_result', { id, name, status: 'ok', summary, duration_ms: ms });
}

const docOptions = [{ id: 'd1', label: 'BankNegara2024' }, { id: 'd2', label: 'Deriv2024' }, { id: 'all', label: 'All of these' }];
const which = ['doc_choice', 'Two regulations match. Which one should I audit against?', docOptions];

async function play(run, message) {
  const has = (word) => new RegExp(`(^|\\W)${word}(_|ly\\b|\\b)`, 'i').test(message);
  await sleep(120);
  status(run, 'classify', 'Clarifying intent...');
  await sleep(60);
  status(run, 'classify', 'Clarifying intent...', true);
  status(run, 'search', 'Finding documents...');
  await tool(run, 'rag.search_v1', { question: message, k: 8 }, '3 passages', 118);
  status(run, 'search', 'Finding documents...', true, { docs_found: [] });
  let value;
  if (has('twice')) {
    await ask(run, which);
    [value] = await ask(run, ['action_choice', 'And what should I do with it?', [{ id: 'audit', label: 'Audit' }, { id: 'summarize', label: 'Summarize' }]]);
  } else if (has('several')) {
    [value] = await ask(run, which, ['action_choice', 'And what should I do with it?', [{ id: 'audit', label: 'Audit' }, { id: 'summarize', label: 'Summarize' }]]);
  } else if (has('ambiguous')) [value] = await ask(run, which);
  else if (has('write')) [value] = await ask(run, ['text_input', 'Please tag the document you would like to reference.']);
  else if (has('strange')) [value] = await ask(run, ['colour_wheel', 'Which colour should the report have?']);
  else if (has('little')) [value] = await ask(run, ['retrieval_low', 'I found little about this. How should I go on?', [{ id: 'tag_docs', label: '📄 Tag specific documents' }, { id: 'continue', label: 'Continue anyway' }]]);
  status(run, 'answer', 'Researching your question...');
  if (has('break')) {
    await speak(run, 'This begins well and then ');
    run.status = 'failed';
    run.error = { code: 'server_error', message: 'The model did not answer in time. Nothing was changed; ask again.' };
    close(run, null);
    return emit(run, 'error', { code: 'server_error', message: 'The model did not answer in time. Nothing was changed; ask again.', node: 'answer' });
  }
  const citations = quotes();
  await speak(run, answerTo(message, value, citations), has('slow') ? 28 : 8);
  if (run.cancelled) {
    run.status = 'cancelled';
    close(run, { content: run.text, content_struct: { segments: [], citations: [] }, meta: { model: 'extractive' } });
    return emit(run, 'cancel_ack', { content: run.text });
  }
  status(run, 'answer', 'Researching your question...', true);
  finish(run, citations, value === null ? { suppressed: true } : {});
}

function answerTo(message, value, citations) {
  const said = value === undefined ? '' : `You said **${value}**. `;
  if (/hostile/i.test(message)) {
    return `${said}Raw HTML must never run: <img src=x onerror="window.__xss=1"> <script>window.__xss=1</script> [click](javascript:window.__xss=1) ![pixel](https://example.com/pixel.png)\n\n<div onclick="window.__xss=1">block</div>\n\nand [9] is no source.`;
  }
  if (/code/i.test(message)) {
    return `${said}## Keeping until\n\n\`\`\`go\nfunc keepUntil(end time.Time) time.Time {\n\treturn end.AddDate(7, 0, 0) // not 5\n}\n\`\`\`\n\n| Clause | E-mail | Rule |\n|---|---|---|\n| Retention | 5 years | 7 years |\n| Basis | none | s. 13 |\n`;
  }
  if (/slow|drop/i.test(message)) {
    return said + Array.from({ length: 30 }, (_, n) => `Sentence ${n + 1} of a long answer that is still being written.`).join(' ');
  }
  if (citations.length === 0) return `${said}I found nothing about this in your documents.`;
  const list = citations.map((one, n) => `${n + 1}. *${one.title}* says: “${one.text.trim()}” [${one.n}]`).join('\n');
  return `${said}The closest passages in **your documents** are these.\n\n${list}\n\n> Quoted word for word; nothing is generated.`;
}

// ---- HTTP ------------------------------------------------------------------

async function body(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

function signedIn(request) {
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const user = tokens.get(token);
  if (!user) throw new Refusal(401, 'unauthorized', 'Sign in first.');
  return user;
}

function enter(user, response) {
  const token = randomUUID();
  tokens.set(token, user);
  const refresh = randomUUID();
  tokens.set(`refresh:${refresh}`, user);
  response.setHeader('Set-Cookie', `liminal_refresh=${refresh}; Path=/v1/auth; HttpOnly; SameSite=Strict`);
  const { password: _, ...shown } = user;
  return { user: shown, access_token: token, refresh_token: refresh, session_id: randomUUID(), session_expires_at: now() };
}

const conversationOf = (id, user) => {
  const found = need(conversations.get(id));
  if (found.user !== user.id) need(null);
  return found;
};
const shown = ({ messages: _m, active, user: _u, ...row }) => ({ ...row, pending: (runs.get(active)?.pending.length ?? 0) > 0 });

const routes = {
  'GET /v1/config/ui': () => ({
    version: '0.1.0-mock', model: { name: 'extractive', generative }, temporal_ui: { base: 'http://127.0.0.1:8233', namespace: 'default' },
    first_run: users.size === 0, upload: { max_bytes: 20_000_000, extensions: ['.txt', '.md', '.html', '.pdf'] },
  }),
  'POST /v1/auth/signup': async ({ json, response }) => {
    const { email, password } = json;
    if (users.has(email)) throw new Refusal(409, 'conflict', 'There is an account with this address. Sign in instead.');
    const user = { id: randomUUID(), email, password, role: users.size === 0 ? 'admin' : 'user' };
    users.set(email, user);
    return enter(user, response);
  },
  'POST /v1/auth/login': ({ json, response }) => {
    const user = users.get(json.email);
    if (user?.password !== json.password) throw new Refusal(401, 'unauthorized', 'The e-mail or the password is wrong.');
    return enter(user, response);
  },
  'POST /v1/auth/refresh': ({ request, response }) => {
    const cookie = /liminal_refresh=([^;]+)/.exec(request.headers.cookie ?? '')?.[1];
    const user = tokens.get(`refresh:${cookie}`);
    if (!user) throw new Refusal(401, 'unauthorized', 'The session has ended. Sign in again.');
    tokens.delete(`refresh:${cookie}`);
    return enter(user, response);
  },
  'POST /v1/auth/logout': ({ response }) => {
    response.setHeader('Set-Cookie', 'liminal_refresh=; Path=/v1/auth; Max-Age=0');
    return {};
  },
  'GET /v1/auth/oauth': () => ({ providers: [] }),
  'GET /v1/auth/links': () => ({ links: [] }),
  'GET /v1/auth/mfa': () => ({ enabled: false, recovery_codes_left: 0 }),
  'GET /v1/auth/sessions': ({ request }) => ({
    data: [{ id: '1', client: 'web', user_agent: request.headers['user-agent'], address: '127.0.0.1', signed_in_at: now(), used_at: now(), expires_at: now(), current: true }],
    next_cursor: null,
  }),
  'POST /v1/auth/request_reset': () => ({}),
  'POST /v1/auth/request_verification': () => ({}),
  'GET /v1/auth/me': ({ user }) => ({ user }),
  'GET /v1/conversations': ({ user }) => ({
    data: [...conversations.values()].filter((one) => one.user === user.id).toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1)).map(shown),
    next_cursor: null,
  }),
  'PATCH /v1/conversations/:id': ({ id, json, user }) => ({ conversation: shown(Object.assign(conversationOf(id, user), json)) }),
  'DELETE /v1/conversations/:id': ({ id, user }) => conversations.delete(conversationOf(id, user).id) && {},
  'GET /v1/conversations/:id/messages': ({ id, user }) => {
    const one = conversationOf(id, user);
    const run = runs.get(one.active);
    const pending = run?.pending ?? [];
    return {
      data: one.messages.filter((message) => !message.meta?.suppressed), next_cursor: null,
      pending_interrupt: pending[0] ?? null, pending_interrupts: pending,
      active_run: run ? { id: run.id, status: run.status, request_id: run.request, last_seq: run.events.at(-1)?.seq ?? 0 } : null,
    };
  },
  'POST /v1/chat': ({ json, user }) => {
    if (json.message.includes('refuse')) throw new Refusal(429, 'rate_limited', 'Too many questions in a minute. Wait a little.');
    const id = json.conversation_id ?? randomUUID();
    if (!conversations.has(id)) {
      conversations.set(id, { id, user: user.id, title: json.message.slice(0, 50), status: 'open', active_context_id: json.context_id ?? '', created_at: now(), updated_at: now(), messages: [], active: null });
    }
    const one = conversationOf(id, user);
    if (one.active) throw new Refusal(409, 'conflict', 'An answer is still being written in this conversation.');
    const run = { id: randomUUID(), user: user.id, conversation: id, request: json.client_request_id, status: 'running', events: [], readers: [], pending: [], waiting: new Map(), notices: [], tools: [], text: '', cancelled: false, started: now() };
    runs.set(run.id, run);
    add(one, { role: 'user', content: json.message, run_id: run.id });
    one.active = run.id;
    void play(run, `${artifacts.get(json.workflow_id)?.name ?? ''} ${json.message}`);
    return { conversation_id: id, message_id: randomUUID(), user_message_id: one.messages.at(-1).id, run_id: run.id, stream_id: run.id, stream_url: `/v1/runs/${run.id}/events` };
  },
  'POST /v1/chat/cancel': ({ json }) => {
    const run = need(runs.get(json.run_id));
    run.cancelled = true;
    return { run_id: run.id, status: run.status };
  },
  'POST /v1/chat/resume': ({ json }) => {
    const run = need([...runs.values()].find((one) => one.waiting.has(json.interrupt_id)));
    const settle = run.waiting.get(json.interrupt_id);
    if (!run.pending.some((one) => one.interrupt_id === json.interrupt_id)) throw new Refusal(409, 'conflict', 'This question was already answered.');
    settle(json.resume_value.type === 'cancel' ? null : json.resume_value.value);
    return { run_id: run.id, stream_url: `/v1/runs/${run.id}/events`, interrupt_id: json.interrupt_id };
  },
  'GET /v1/interrupts': ({ user }) => ({ data: [...runs.values()].filter((one) => one.user === user.id).flatMap((one) => one.pending), next_cursor: null }),
  'GET /v1/runs/:id': ({ id }) => {
    const run = need(runs.get(id));
    return { run: { id, kind: 'chat', status: run.status, workflow_id: `chat:${run.conversation}:${run.request}`, error: run.error, trace: [{ node: 'classify' }, { node: 'search' }, { node: 'answer' }], created_at: run.started, started_at: run.started, ended_at: run.ended } };
  },
  'GET /v1/artifacts': ({ user }) => ({ data: [...artifacts.values()].filter((one) => one.user === user.id).concat(assistant), next_cursor: null }),
  'POST /v1/artifacts': ({ json, user }) => {
    const made = { id: randomUUID(), user: user.id, type: json.type, name: json.name, visibility: 'private', owner_id: user.id, schema: {} };
    artifacts.set(made.id, made);
    return { artifact: made };
  },
  'GET /v1/contexts': ({ user }) => ({
    data: [...contexts.values()].filter((one) => one.user === user.id).map((one) => ({ ...one, documents: 0, chunks: 0 })), next_cursor: null,
  }),
  'POST /v1/contexts': ({ json, user }) => {
    const made = { id: randomUUID(), user: user.id, name: json.name, visibility: 'private', created_at: now() };
    contexts.set(made.id, made);
    return { context: made };
  },
  'GET /v1/contexts/:id/documents': ({ id }) => ({ data: [...documents.values()].filter((one) => one.context_id === id).map(({ text: _, ...row }) => row), next_cursor: null }),
  'GET /v1/documents/:id': ({ id }) => ({ document: need(documents.get(id)) }),
  'DELETE /v1/documents/:id': ({ id }) => documents.delete(id) && {},
  'GET /v1/documents/:id/text': ({ id, url }) => {
    const document = need(documents.get(id));
    const bytes = Buffer.from(document.text);
    const [start, end, margin] = ['start', 'end', 'margin'].map((name) => Number(url.searchParams.get(name)));
    const cut = (from, to) => bytes.subarray(Math.max(0, from), to).toString();
    return { title: document.title, start, end, before: cut(start - margin, start), quote: cut(start, end), after: cut(end, end + margin), heading: 'Retention', page: 0, length: bytes.length };
  },
  'GET /v1/files/limits': () => ({ max_bytes: 20_000_000, extensions: ['.txt', '.md', '.html', '.pdf'] }),
  'POST /v1/files/upload': ({ raw, user }) => {
    const form = raw.toString();
    const name = /filename="([^"]+)"/.exec(form)[1];
    const context_id = /name="context_id"\r\n\r\n([^\r]+)/.exec(form)[1];
    const text = /filename=[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/.exec(form)[1];
    const run = { id: randomUUID(), user: user.id, events: [], readers: [], status: 'running', pending: [], waiting: new Map(), text: '' };
    runs.set(run.id, run);
    const document = { id: randomUUID(), context_id, title: name.replace(/\.[^.]+$/, ''), path: `files/${name}`, mime: 'text/plain', size: text.length, status: 'reading', text, run_id: run.id };
    documents.set(document.id, document);
    void ingest(run, document);
    return { file: { path: document.path, name, size: text.length }, document, run_id: run.id };
  },
};

async function ingest(run, document) {
  for (let done = 0; done <= 12; done += 4) {
    emit(run, 'progress', { done, total: 12, unit: 'chunks', message: 'Reading' });
    await sleep(150);
  }
  if (document.text.includes('BROKEN')) {
    Object.assign(document, { status: 'failed', error: 'This file says it is text, but it is not. Save it again as UTF-8.' });
    return emit(run, 'error', { code: 'validation_error', message: document.error });
  }
  Object.assign(document, { status: 'ready', chunks: 12 });
  emit(run, 'message_done', { content: '' });
}

const ends = new Set(['message_done', 'error', 'cancel_ack', 'paused']);

async function events(run, request, response, url) {
  let after = Number(request.headers['last-event-id'] ?? url.searchParams.get('after') ?? 0);
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' });
  let sent = 0;
  for (;;) {
    for (const event of run.events.filter((one) => one.seq > after)) {
      const { seq, kind, data, node } = event;
      response.write(`id: ${seq}\nevent: ${kind}\ndata: ${JSON.stringify({ event: kind, data, node, request_id: run.request })}\n\n`);
      after = seq;
      if (ends.has(kind)) return response.end();
      if (++sent === 25 && run.text.includes('Sentence') && !run.dropped && conversations.get(run.conversation)?.title.toLowerCase().includes('drop')) {
        run.dropped = true;
        return response.destroy();
      }
    }
    await new Promise((wake) => run.readers.push(wake));
  }
}

function serveFile(response, pathname) {
  const path = normalize(pathname === '/' ? '/index.html' : pathname);
  let content;
  let name = path;
  try {
    content = readFileSync(join(dist, path));
  } catch {
    if (path.startsWith('/assets/')) return response.writeHead(404).end();
    name = '/index.html';
    content = readFileSync(join(dist, 'index.html'));
  }
  response.writeHead(200, { 'Content-Type': types[extname(name)] ?? 'application/octet-stream', 'Content-Security-Policy': policy, 'Cache-Control': 'no-cache' });
  response.end(content);
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, 'http://mock');
  if (!url.pathname.startsWith('/v1/')) return serveFile(response, url.pathname);
  const reply = (code, value) => {
    response.writeHead(code, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ ...value, request_id: randomUUID() }));
  };
  try {
    const open = url.pathname === '/v1/config/ui' || url.pathname.startsWith('/v1/auth/') && url.pathname !== '/v1/auth/me';
    const user = open ? null : signedIn(request);
    const follow = /^\/v1\/runs\/([^/]+)\/events$/.exec(url.pathname);
    if (follow) return await events(need(runs.get(follow[1])), request, response, url);
    const id = /[0-9a-f-]{36}/.exec(url.pathname)?.[0];
    const route = need(routes[`${request.method} ${url.pathname.replace(/[0-9a-f-]{36}/, ':id')}`]);
    const raw = await body(request);
    const json = request.headers['content-type']?.includes('json') ? JSON.parse(raw.toString() || '{}') : {};
    reply(200, { status: 'ok', data: await route({ request, response, url, id, raw, json, user }) });
  } catch (error) {
    if (!(error instanceof Refusal)) console.error(error);
    reply(error.status ?? 500, { status: 'error', error: { code: error.code ?? 'server_error', message: error.message } });
  }
});
server.listen(Number(process.argv[2] ?? 4173), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
