import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { type ChatRequest, complaintOf } from './chat-request.ts';
import {
  chunksOf,
  type Completion,
  completionOf,
  plainBody,
  promptTokens,
  type Usage,
} from './completion.ts';
import { demo } from './demo.ts';
import type { Misbehaviour } from './misbehaviour.ts';
import { type Reply, type Rule, Script } from './script.ts';

export interface FakeModelOptions {
  /** Default: the model of `demo.ts`. */
  readonly rules?: readonly Rule[];
  /** Faults of every answer, in addition to those of its rule. */
  readonly misbehave?: readonly Misbehaviour[];
  /** Names under `GET /v1/models`; any name is answered. */
  readonly models?: readonly string[];
  /** The key that callers must bring; default: any, or none. */
  readonly key?: string;
  /** Default: one that is free. */
  readonly port?: number;
}

/** One request as it came, and what was made of it. */
export interface Recorded {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Body as parsed; also of a refused request. */
  readonly body: ChatRequest;
  status: number;
  /**
   * Work that the model did, even if the caller did not stay for the answer; absent for a refusal.
   */
  usage?: Usage;
}

const tinyContext = 1_000;
const slowMs = 50;

/** An OpenAI-compatible server that says what its script says, refuses what picky providers refuse, and keeps what it was sent. */
export class FakeModel {
  readonly #script: Script;
  readonly #options: FakeModelOptions;
  readonly #server: Server;
  readonly #seen = new Set<string>();
  /** Every request for a completion, in order. */
  readonly requests: Recorded[] = [];

  private constructor(options: FakeModelOptions) {
    this.#options = options;
    this.#script = new Script(options.rules ?? demo);
    this.#server = createServer(
      (request, response) => void this.#answer(request, response).catch(() => response.destroy()),
    );
  }

  static async start(options: FakeModelOptions = {}): Promise<FakeModel> {
    const model = new FakeModel(options);
    model.#server.listen(options.port ?? 0, '127.0.0.1');
    await once(model.#server, 'listening');
    return model;
  }

  /** Base URL for clients. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Usage of all answers that were begun. */
  get usage(): Usage & { readonly requests: number } {
    const answered = this.requests.flatMap(({ usage }) => usage ?? []);
    const sum = (field: keyof Usage): number =>
      answered.reduce((total, usage) => total + usage[field], 0);
    return {
      prompt_tokens: sum('prompt_tokens'),
      completion_tokens: sum('completion_tokens'),
      total_tokens: sum('total_tokens'),
      requests: answered.length,
    };
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://fake');
    const body = await bodyOf(request);
    if (request.method === 'GET' && pathname === '/recorded') {
      send(response, 200, {
        usage: this.usage,
        requests: this.requests.map(({ body: sent, status, usage }) => ({
          status,
          usage,
          body: sent,
        })),
      });
    } else if (
      this.#options.key !== undefined &&
      request.headers.authorization !== `Bearer ${this.#options.key}`
    ) {
      refuse(response, {
        status: 401,
        code: 'invalid_api_key',
        message: 'incorrect API key provided',
      });
    } else if (request.method === 'GET' && pathname === '/v1/models') {
      const data = (this.#options.models ?? ['demo']).map((id) => ({
        id,
        object: 'model',
        created: 0,
        owned_by: 'svc',
      }));
      send(response, 200, { object: 'list', data });
    } else if (request.method === 'POST' && pathname === '/v1/chat/completions') {
      await this.#complete(request, body, response);
    } else {
      refuse(response, {
        status: 404,
        message: `unknown request URL: ${request.method} ${pathname}`,
      });
    }
  }

  async #complete(
    { headers }: IncomingMessage,
    text: string,
    response: ServerResponse,
  ): Promise<void> {
    const body = parsed(text) as ChatRequest;
    const record: Recorded = { headers, body, status: 200 };
    const number = this.requests.push(record);
    const complaint = complaintOf(body);
    const reply: Reply =
      complaint === undefined
        ? (this.#script.answer(body) ?? {
            error: {
              status: 400,
              code: 'no_rule',
              message: 'no rule of the script matches this request',
            },
          })
        : { error: { status: 400, message: complaint } };
    const faults = new Set([...(this.#options.misbehave ?? []), ...(reply.misbehave ?? [])]);
    const refusal = reply.error ?? this.#refusal(body, text, faults);
    if (refusal) {
      record.status = refusal.status;
      refuse(response, refusal);
      return;
    }
    if (faults.has('page')) {
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><title>Sign in</title>');
      return;
    }
    const completion = completionOf(body, reply, faults, number);
    record.usage = completion.usage;
    if (faults.has('hang')) {
      return;
    }
    if (body.stream === true) {
      await stream(response, completion, faults, body.stream_options?.include_usage === true);
    } else {
      await (faults.has('slow') ? pause(slowMs) : undefined);
      send(response, 200, plainBody(completion, faults));
    }
  }

  #refusal(body: ChatRequest, text: string, faults: ReadonlySet<Misbehaviour>): Reply['error'] {
    const isFirst = !this.#seen.has(text);
    this.#seen.add(text);
    if (isFirst && faults.has('rate-limit')) {
      return {
        status: 429,
        code: 'rate_limit_exceeded',
        message: 'rate limit reached',
        retry_after: 1,
      };
    }
    if (isFirst && faults.has('server-error')) {
      return { status: 500, message: 'the server had an error while processing your request' };
    }
    return faults.has('tiny-context') && promptTokens(body) > tinyContext
      ? {
          status: 400,
          code: 'context_length_exceeded',
          message: `this model's maximum context length is ${tinyContext} tokens`,
        }
      : undefined;
  }
}

async function stream(
  response: ServerResponse,
  completion: Completion,
  faults: ReadonlySet<Misbehaviour>,
  withUsage: boolean,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.socket?.setNoDelay();
  const chunks = chunksOf(completion, faults, withUsage);
  const half = ['stall', 'ping', 'cut', 'stream-error', 'endless'].some((fault) =>
    faults.has(fault as Misbehaviour),
  );
  for (const chunk of half ? chunks.slice(0, Math.ceil(chunks.length / 2)) : chunks) {
    await (faults.has('slow') ? pause(slowMs) : undefined);
    await write(response, frame(chunk), faults);
  }
  if (faults.has('stall')) {
    return;
  }
  while (faults.has('ping') && !response.closed) {
    await pause(slowMs);
    await write(response, ': ping\n\n', faults);
  }
  while (faults.has('endless') && !response.closed) {
    await write(response, frame(chunks[1]!), faults);
  }
  if (faults.has('cut')) {
    // After what was written has left.
    response.socket?.destroySoon();
    return;
  }
  if (faults.has('stream-error')) {
    await write(
      response,
      frame({
        error: {
          message: 'the server had an error while streaming',
          type: 'server_error',
          code: null,
        },
      }),
      faults,
    );
  }
  response.end('data: [DONE]\n\n');
}

const frame = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`;

/** A frame at once, or its bytes in pieces that end where no character does. */
async function write(
  response: ServerResponse,
  text: string,
  faults: ReadonlySet<Misbehaviour>,
): Promise<void> {
  const bytes = Buffer.from(text);
  const cuts = faults.has('split-utf8')
    ? [...bytes.keys()].filter((at) => (bytes[at]! & 0xc0) === 0x80)
    : [];
  for (const [index, cut] of [...cuts, bytes.length].entries()) {
    if (!response.write(bytes.subarray(cuts[index - 1] ?? 0, cut)) && !response.closed) {
      // Whichever comes first takes the listeners of the other away.
      const came = new AbortController();
      const until = (event: string) => once(response, event, { signal: came.signal });
      await Promise.race([until('drain'), until('close')]).finally(() => came.abort());
    }
    await (cuts.length > 0 ? pause(1) : undefined);
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) {
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(body));
}

function refuse(
  response: ServerResponse,
  { status, message = 'refused by the script', code, retry_after }: NonNullable<Reply['error']>,
): void {
  const error = {
    message,
    type: status >= 500 ? 'server_error' : 'invalid_request_error',
    param: null,
    code: code ?? null,
  };
  send(
    response,
    status,
    { error },
    retry_after === undefined ? {} : { 'retry-after': String(retry_after) },
  );
}
