import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Parts of a request that a change of svc may change; digits and times do not count. */
const parts = {
  tools: ['tools', 'toolConfig'],
  system: ['system', 'instructions', 'systemInstruction', 'system_instruction'],
  messages: ['messages', 'input', 'contents'],
} as const;
type Part = keyof typeof parts;
type Digests = Readonly<Record<Part, string>>;

/** First line of a recording. */
interface Head {
  readonly model: string;
  /** When it was made: times in its replies are moved by what has passed since. */
  readonly at: string;
}

/** One reply of a model, as it came over the wire. */
interface RecordedReply {
  readonly case: string;
  readonly turn: number;
  readonly request: Digests;
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** What a replay found changed since the recording, by case. */
export type Changes = ReadonlyMap<string, readonly string[]>;

export interface Recorder {
  /** Base URL for svc in place of the provider's. */
  readonly url: string;
  readonly changes: Changes;
  /** Says which case the next requests belong to. */
  turnTo(id: string): void;
  close(): Promise<void>;
}

const digestChars = 16;
const iso = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** Stands between svc and the provider, and writes every reply to a file. */
export async function record(file: string, model: string, vendor: string): Promise<Recorder> {
  const head: Head = { model, at: new Date().toISOString() };
  writeFileSync(file, `${JSON.stringify(head)}\n`);
  return await serve(async ({ id, turn }, request, body) => {
    const headers = Object.fromEntries(
      Object.entries(request.headers).flatMap(([name, value]) =>
        value === undefined ||
        ['host', 'content-length', 'connection', 'accept-encoding'].includes(name)
          ? []
          : [[name, String(value)]],
      ),
    );
    const reply = await fetch(vendor + (request.url ?? ''), {
      method: request.method ?? 'POST',
      headers,
      ...(body !== '' && { body }),
    });
    const recorded: RecordedReply = {
      case: id,
      turn,
      request: digestsOf(body),
      status: reply.status,
      type: reply.headers.get('content-type') ?? 'application/json',
      body: await reply.text(),
    };
    // What was refused for the moment is asked again, and only the answer counts.
    if (reply.ok && request.method === 'POST') {
      appendFileSync(file, `${JSON.stringify(recorded)}\n`);
    }
    return recorded;
  });
}

/** Returns the model of a recording. */
export const recordedModel = (file: string): string => headOf(linesOf(file)).model;

/** Answers with the recorded replies, in their order for each case, and notes where requests have changed. */
export async function replay(file: string): Promise<Recorder> {
  const lines = linesOf(file);
  const passed = Date.now() - Date.parse(headOf(lines).at);
  const replies = new Map(
    lines.slice(1).map((line) => {
      const reply = JSON.parse(line) as RecordedReply;
      return [`${reply.case} ${reply.turn}`, reply] as const;
    }),
  );
  const changes = new Map<string, readonly string[]>();
  const recorder = await serve(({ id, turn }, { method }, body) => {
    if (method !== 'POST') {
      // What models there are is not recorded; svc asks for it when it likes.
      return { status: 404, type: 'application/json', body: '{}' };
    }
    const found = replies.get(`${id} ${turn}`);
    if (found === undefined) {
      note(changes, id, ['turns']);
      return {
        status: 400,
        type: 'application/json',
        body: JSON.stringify({
          error: { message: `the recording has no turn ${turn} of ${id}`, type: 'not_recorded' },
        }),
      };
    }
    const now = digestsOf(body);
    note(
      changes,
      id,
      Object.keys(parts).filter((part) => now[part as Part] !== found.request[part as Part]),
    );
    return { ...found, body: moved(found.body, passed) };
  });
  return { ...recorder, url: recorder.url, changes };
}

function note(changes: Map<string, readonly string[]>, id: string, found: readonly string[]): void {
  if (found.length > 0) {
    changes.set(id, [...new Set([...(changes.get(id) ?? []), ...found])]);
  }
}

type Answer = Pick<RecordedReply, 'status' | 'type' | 'body'>;

async function serve(
  answer: (
    asked: { readonly id: string; readonly turn: number },
    request: IncomingMessage,
    body: string,
  ) => Answer | Promise<Answer>,
): Promise<Recorder> {
  let id = '';
  let turn = 0;
  const reply = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
    }
    turn += request.method === 'POST' ? 1 : 0;
    const { status, type, body } = await answer(
      { id, turn },
      request,
      Buffer.concat(chunks).toString('utf8'),
    );
    turn -= status === 200 || request.method !== 'POST' ? 0 : 1;
    response.writeHead(status, { 'content-type': type }).end(body);
  };
  const server: Server = createServer(
    (request, response) => void reply(request, response).catch(() => response.destroy()),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    changes: new Map(),
    turnTo(next) {
      id = next;
      turn = 0;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function digestsOf(body: string): Digests {
  let read: Readonly<Record<string, unknown>> = {};
  try {
    read = JSON.parse(body) as typeof read;
  } catch {
    // A request that is no JSON has no parts, and equals any other.
  }
  const digest = (names: readonly string[]): string =>
    createHash('sha256')
      .update(
        JSON.stringify(names.map((name) => read[name] ?? null)).replaceAll(
          /\b[0-9a-f]{8,}\b|\d+(?:\.\d+)?/g,
          '0',
        ),
      )
      .digest('hex')
      .slice(0, digestChars);
  return {
    tools: digest(parts.tools),
    system: digest(parts.system),
    messages: digest(parts.messages),
  };
}

const moved = (body: string, ms: number): string =>
  body.replaceAll(iso, (time) => new Date(Date.parse(time) + ms).toISOString());

const linesOf = (file: string): readonly string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');

function headOf([first = '']: readonly string[]): Head {
  const head = JSON.parse(first) as Partial<Head>;
  if (typeof head.model !== 'string' || typeof head.at !== 'string') {
    throw new TypeError('the first line of a recording names its model and time');
  }
  return { model: head.model, at: head.at };
}
