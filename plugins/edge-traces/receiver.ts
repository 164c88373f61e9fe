import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

import type { SvcError } from 'svc/sdk';
import { messageOf } from 'svc/sdk';

import { accept, jsonType, protobufType, refuse } from './answer.ts';
import { countSpans } from './count-spans.ts';
import { errors } from './errors.ts';
import type { TraceSpec } from './spec.ts';

/** Export as it is passed on. */
export interface Export {
  readonly contentType: string;
  readonly contentEncoding: 'gzip' | undefined;
  readonly body: Uint8Array;
  readonly spans: number;
}

const path = '/v1/traces';
const unpackedTimes = 4;
/** Max size of all exports being read together. */
const maxInFlight = 8 * 1024 * 1024;
const maxConnections = 64;
const headersMs = 10_000;
const requestMs = 30_000;
const shipMs = 20_000;

const unpack = promisify(gunzip);
const pack = promisify(gzip);

/** OTLP over HTTP for programs of this machine: an export is answered when it is kept. */
export class Receiver {
  readonly #spec: TraceSpec;
  readonly #keep: (one: Export) => Promise<void>;
  readonly #server: Server;
  #inFlight = 0;
  #unpacking: Promise<unknown> = Promise.resolve();
  #trouble: string | undefined;

  constructor(spec: TraceSpec, keep: (one: Export) => Promise<void>) {
    this.#spec = spec;
    this.#keep = keep;
    this.#server = createServer(
      { headersTimeout: headersMs, requestTimeout: requestMs },
      (request, response) => this.#answer(request, response),
    );
    this.#server.maxConnections = maxConnections;
  }

  get listening(): boolean {
    return this.#server.listening;
  }

  /** Why it does not listen, once that has been tried. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Rejects when it cannot be, such as while another program has the port. */
  async listen(): Promise<void> {
    const { address, port } = this.#spec;
    try {
      await listen(this.#server, port, address);
      this.#trouble = undefined;
    } catch (error) {
      this.#trouble = `failed to listen on port ${port}: ${messageOf(error)}`;
      throw error;
    }
  }

  close(): Promise<void> {
    return close(this.#server);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const json = typeOf(request) === jsonType;
    void this.#take(request, json).then(
      () => accept(response, json),
      (error: unknown) => refuse(response, json, error),
    );
  }

  async #take(request: IncomingMessage, json: boolean): Promise<void> {
    const { max_body_bytes: maxBytes } = this.#spec;
    const encoding = admit(request, maxBytes);
    const size = Number(request.headers['content-length'] ?? maxBytes);
    if (this.#inFlight + size > maxInFlight) {
      throw errors.too_many_exports({ retryAfterSeconds: 1 });
    }
    this.#inFlight += size;
    try {
      const body = await read(request, maxBytes);
      // One after the other: an unpacked export is large for a moment.
      const counted = this.#unpacking.then(async () =>
        countSpans(
          encoding === 'gzip' ? await unpacked(body, maxBytes * unpackedTimes) : body,
          json,
        ),
      );
      this.#unpacking = counted.catch(() => undefined);
      const spans = await counted;
      if (spans > 0) {
        const content =
          encoding === 'gzip' ? ({ contentEncoding: 'gzip', body } as const) : await packed(body);
        await inTime(
          this.#keep({ contentType: json ? jsonType : protobufType, spans, ...content }),
        );
      }
    } finally {
      this.#inFlight -= size;
    }
  }
}

/**
 * Refuses by its head what is no export. A browser page cannot send these types without a
 * preflight, which is not answered.
 */
function admit(request: IncomingMessage, maxBytes: number): 'gzip' | undefined {
  if (request.url?.split('?', 1)[0] !== path) {
    throw errors.other_path({ path });
  }
  if (request.method !== 'POST') {
    throw errors.other_verb({ path }, { headers: { allow: 'POST' } });
  }
  if (![protobufType, jsonType].includes(typeOf(request))) {
    throw errors.content_type({ path, protobufType, jsonType });
  }
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'gzip' && encoding !== 'identity') {
    throw errors.content_encoding();
  }
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    throw tooLarge(maxBytes);
  }
  return encoding === 'gzip' ? encoding : undefined;
}

const typeOf = ({ headers }: IncomingMessage): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();

const tooLarge = (maxBytes: number): SvcError =>
  errors.too_large({ maxBytes, unpackedBytes: maxBytes * unpackedTimes });

async function read(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) {
      throw tooLarge(maxBytes);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function unpacked(body: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    return await unpack(body, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw tooLarge(maxBytes / unpackedTimes);
    }
    throw errors.not_gzip({ cause: error });
  }
}

/** Compresses for the disk and the connection; what does not shrink stays as it is. */
async function packed(body: Buffer): Promise<Pick<Export, 'body' | 'contentEncoding'>> {
  const smaller = await pack(body, { level: 1 });
  return smaller.length < body.length
    ? { body: smaller, contentEncoding: 'gzip' }
    : { body, contentEncoding: undefined };
}

async function inTime(kept: Promise<void>): Promise<void> {
  const late = AbortSignal.timeout(shipMs);
  await new Promise<void>((resolve, reject) => {
    late.addEventListener('abort', () => reject(errors.not_stored_in_time()));
    kept.then(resolve, reject);
  });
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Exports that are being read are answered; connections that are only kept open are closed. */
async function close(server: Server): Promise<void> {
  if (!server.listening) {
    return;
  }
  const patience = AbortSignal.timeout(closeMs);
  patience.addEventListener('abort', () => server.closeAllConnections());
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

const closeMs = 5_000;
