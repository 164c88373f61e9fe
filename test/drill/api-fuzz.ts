import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  type Answer,
  Answers,
  type ApiDocument,
  type DocumentedOperation,
} from './api-fuzz-answers.ts';
import { type Schema, Values } from './api-fuzz-values.ts';
import type { Outcome, Row } from '../exercise.ts';
import { numbers } from './seeded.ts';
import { startWholeHouse } from '../whole-house.ts';

interface Target {
  readonly method: string;
  readonly path: string;
  readonly operation: DocumentedOperation;
}

/**
 * Routes called with non-existent ids only: a real one would delete what the rest of the drill
 * uses.
 */
const neverReal = /^\/api\/v1\/(plugins|system-settings|packs|tokens|keys)\//;

/** Every operation of the document, asked as it says and as it does not: each answer has to be one that the document knows. */
export async function run({
  requests = 30_000,
  seed = 1,
  at = '',
  token = '',
  only = '',
} = {}): Promise<Outcome> {
  if (at !== '') {
    return await fuzz({ url: at, token, requests, seed, only });
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-api-fuzz-'));
  const house = await startWholeHouse({ dataDir: join(folder, 'data') });
  try {
    return await fuzz({ url: house.url, token: house.token, requests, seed, only });
  } finally {
    await house.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Plan {
  readonly url: string;
  readonly token: string;
  readonly requests: number;
  readonly seed: number;
  readonly only: string;
}

async function fuzz({ url, token, requests, seed, only }: Plan): Promise<Outcome> {
  const document = (await (
    await fetch(`${url}/api/v1/openapi.json`, { headers: { authorization: `Bearer ${token}` } })
  ).json()) as ApiDocument;
  const targets = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Target => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
  const asked = targets.filter(({ path }) => path.includes(only));
  const fuzzer = new Fuzzer(url, token, seed);
  const answers = new Answers(document);
  const violations = new Map<string, number>();
  const answered = new Set<Target>();
  let failed = 0;
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < requests) {
      const target = asked[next++ % asked.length]!;
      const answer = await fuzzer.ask(target);
      failed += answer.status === 500 ? 1 : 0;
      if (answer.status < 300) {
        answered.add(target);
      }
      const violation = answers.violation(target.operation, answer);
      if (violation !== undefined) {
        const row = `${target.method} ${target.path}  ${violation}`;
        violations.set(row, (violations.get(row) ?? 0) + 1);
      }
    }
  };
  await Promise.all(Array.from({ length: 4 }, worker));
  const rows: Row[] = [...violations]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([violation, times]) => ({ violation, times }));
  return {
    ok: rows.length === 0 && failed === 0,
    operations: asked.length,
    requests,
    'operations that answered 2xx': answered.size,
    'answers 500': failed,
    'answers outside the document': rows.reduce((sum, row) => sum + Number(row['times']), 0),
    violations: rows,
  };
}

class Fuzzer {
  readonly #url: string;
  readonly #token: string;
  readonly #below: (bound: number) => number;
  readonly #values: Values;
  /** Ids that answers have named, by the path that lists them. */
  readonly #ids = new Map<string, Set<string>>();
  readonly #etags = new Map<string, string>();

  constructor(url: string, token: string, seed: number) {
    this.#url = url;
    this.#token = token;
    this.#below = numbers(seed);
    this.#values = new Values(this.#below);
  }

  async ask({ method, path, operation }: Target): Promise<Answer> {
    const target = this.#path(path, operation) + this.#search(operation);
    const headers: Record<string, string> = this.#rarely(20)
      ? {}
      : { authorization: `Bearer ${this.#token}` };
    const etag = this.#etags.get(target);
    if (etag !== undefined && this.#rarely(3)) {
      headers['if-none-match'] = etag;
    }
    if (method === 'POST' && this.#rarely(30)) {
      headers['idempotency-key'] = `key-${this.#below(20)}`;
    }
    const body =
      method === 'GET' || method === 'DELETE' ? undefined : this.#body(operation, headers);
    const leave = new AbortController();
    const late = setTimeout(() => leave.abort(), 40_000);
    const response = await fetch(this.#url + target, {
      method,
      headers,
      signal: leave.signal,
      redirect: 'manual',
      ...(body !== undefined && { body }),
    });
    try {
      return await this.#read(response, path, target);
    } finally {
      clearTimeout(late);
      leave.abort();
    }
  }

  async #read(response: Response, path: string, target: string): Promise<Answer> {
    const type = (response.headers.get('content-type') ?? '').split(';')[0]!;
    if (type === 'text/event-stream') {
      return { status: response.status, type, bytes: 1, json: undefined };
    }
    const text = await response.text();
    const etag = response.headers.get('etag');
    if (etag !== null) {
      this.#etags.set(target, etag);
    }
    const json =
      type === 'application/json' && text !== '' ? (JSON.parse(text) as unknown) : undefined;
    if (response.ok) {
      this.#learn(path, json);
    }
    return {
      status: response.status,
      type: text === '' && response.status !== 200 ? '' : type,
      bytes: text.length,
      json,
    };
  }

  #learn(path: string, json: unknown): void {
    const items = (json as { items?: unknown } | undefined)?.items ?? json;
    for (const item of [items].flat().slice(0, 20) as Record<string, unknown>[]) {
      for (const name of ['id', 'name', 'key', 'uid']) {
        const id = item?.[name];
        if (typeof id === 'string' || typeof id === 'number') {
          this.#ids.set(path, (this.#ids.get(path) ?? new Set()).add(String(id)));
        }
      }
    }
  }

  #path(path: string, operation: DocumentedOperation): string {
    return path.replace(/\{(\w+)\}/g, (part, name: string, offset: number) => {
      const known = [...(this.#ids.get(path.slice(0, offset - 1)) ?? [])];
      const schema =
        operation.parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)
          ?.schema ?? {};
      const isReal = known.length > 0 && !neverReal.test(path) && !this.#rarely(4);
      const id = isReal
        ? this.#values.pick(known)
        : this.#rarely(3)
          ? this.#values.twisted(schema, name)
          : this.#values.sound(schema, name);
      const text = typeof id === 'string' ? id : JSON.stringify(id);
      return (
        // oxlint-disable-next-line no-control-regex -- what no client can put into a path
        encodeURIComponent(text.slice(0, 200).replace(/[/\\\u0000-\u001f]/g, '')) ||
        part.slice(1, -1)
      );
    });
  }

  #search(operation: DocumentedOperation): string {
    const search = new URLSearchParams();
    for (const { name, required, schema } of operation.parameters.filter(
      (parameter) => parameter.in === 'query',
    )) {
      if (required ? !this.#rarely(15) : this.#rarely(3)) {
        const value = this.#rarely(6)
          ? this.#values.twisted(schema, name)
          : this.#values.sound(schema, name);
        for (const one of [value].flat()) {
          search.append(name, typeof one === 'string' ? one : JSON.stringify(one));
        }
      }
    }
    if (this.#rarely(25)) {
      search.append('not_a_parameter', '1');
    }
    return search.size === 0 ? '' : `?${search.toString()}`;
  }

  #body({ requestBody }: DocumentedOperation, headers: Record<string, string>): string | undefined {
    if (requestBody === undefined) {
      return this.#rarely(20)
        ? (Object.assign(headers, { 'content-type': 'application/json' }), '{"a":1}')
        : undefined;
    }
    const type = this.#values.pick(Object.keys(requestBody.content));
    headers['content-type'] = this.#rarely(30)
      ? 'text/x-nothing'
      : type === '*/*'
        ? 'application/octet-stream'
        : type;
    if (this.#rarely(40)) {
      return '{"cut';
    }
    if (this.#rarely(300)) {
      return JSON.stringify({ a: 'x'.repeat(70 * 1_048_576) });
    }
    const schema: Schema = requestBody.content[type]!.schema;
    const body = this.#rarely(2) ? this.#values.sound(schema) : this.#values.twisted(schema);
    return typeof body === 'string' && !type.endsWith('json') ? body : JSON.stringify(body);
  }

  #rarely(oneIn: number): boolean {
    return this.#below(oneIn) === 0;
  }
}
