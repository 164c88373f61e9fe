import { AsyncLocalStorage } from 'node:async_hooks';
import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';

import { OperatorAuthenticator } from '../../core/auth/index.ts';
import {
  type ChangePort,
  type ChangeWitness,
  checkRoute,
  type HttpOptions,
  HttpServer,
  type IdempotencyRow,
  type Transaction,
} from '../../core/http/index.ts';
import { Draft, type Generation, type Outage, Registry } from '../../core/registry/index.ts';
import type {
  AuditRecord,
  AuthenticatorContract,
  Clock,
  Credential,
  Ids,
  Logger,
  PluginManifest,
  Principal,
  RouteDeclaration,
} from '../../core/sdk/index.ts';
import { generationOf } from '../registry/fixtures.ts';

export const operatorToken = 'svc_op_test';

export const realClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };
export const realIds: Ids = {
  uuid: () => randomUUID(),
  token: (bytes = 32) => randomBytes(bytes).toString('base64url'),
};

type Row =
  | { readonly kind: 'audit'; readonly record: AuditRecord }
  | { readonly kind: 'idempotency'; readonly row: IdempotencyRow }
  | { readonly kind: 'change'; readonly value: unknown };

/** A transaction of the memory store: rows that become visible together. */
interface Unit {
  readonly rows: Row[];
}

/** Storage in memory with the semantics the pipeline asks for: units, roll-back, witnesses. */
export class MemoryChanges implements ChangePort {
  rows: Row[] = [];
  blocked: string | undefined;
  /** Makes the next audit append fail. */
  failAudit = false;
  failCommit = false;
  auditDelayMs = 0;
  readonly #witnesses = new AsyncLocalStorage<ChangeWitness>();
  readonly answers = new Map<string, IdempotencyRow>();

  get audit(): AuditRecord[] {
    return this.rows.flatMap((row) => (row.kind === 'audit' ? [row.record] : []));
  }

  get changes(): unknown[] {
    return this.rows.flatMap((row) => (row.kind === 'change' ? [row.value] : []));
  }

  witness<R>(witness: ChangeWitness, work: () => R): R {
    return this.#witnesses.run(witness, work);
  }

  /** Performs a plugin's own write: its rows, then the witness, then all of it or nothing. */
  async change(value: unknown): Promise<void> {
    const unit: Unit = { rows: [{ kind: 'change', value }] };
    const witness = this.#witnesses.getStore();
    await witness?.beforeCommit(unit as unknown as Transaction);
    if (this.failCommit) {
      this.failCommit = false;
      witness?.undone();
      throw new Error('the disk said no');
    }
    this.#commit(unit);
  }

  async write(work: (tx: Transaction) => Promise<void>): Promise<void> {
    const unit: Unit = { rows: [] };
    await work(unit as unknown as Transaction);
    this.#commit(unit);
  }

  writable(): string | undefined {
    return this.blocked;
  }

  readonly trail = {
    append: async (tx: Transaction, record: AuditRecord): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, this.auditDelayMs));
      if (this.failAudit) {
        throw new Error('no space left for the trail');
      }
      (tx as unknown as Unit).rows.push({ kind: 'audit', record });
    },
  };

  readonly idempotency: ChangePort['idempotency'] = {
    find: async (place, notBefore) => {
      const row = this.answers.get(JSON.stringify([place.principal, place.route, place.key]));
      return row && row.createdAt >= notBefore ? row : undefined;
    },
    insert: async (tx, row) => void (tx as unknown as Unit).rows.push({ kind: 'idempotency', row }),
    complete: async (place, answer) => {
      const key = JSON.stringify([place.principal, place.route, place.key]);
      this.answers.set(key, { ...this.answers.get(key)!, answer });
    },
  };

  #commit(unit: Unit): void {
    this.rows.push(...unit.rows);
    for (const row of unit.rows) {
      if (row.kind === 'idempotency') {
        this.answers.set(JSON.stringify([row.row.principal, row.row.route, row.row.key]), row.row);
      }
    }
  }
}

/** `user-7:edge:create,device:*` as a bearer token is user 7 with those grants; `gone` is nobody. */
export class TestAuthenticator implements AuthenticatorContract {
  readonly revoked = new Set<string>();
  slow = false;

  authenticate({
    scheme,
    value,
  }: Credential): Principal | undefined | Promise<Principal | undefined> {
    const principal = this.#find(scheme, value);
    return this.slow
      ? new Promise((resolve) => setTimeout(resolve, 5)).then(() => principal)
      : principal;
  }

  #find(scheme: Credential['scheme'], value: string): Principal | undefined {
    if (this.revoked.has(value)) {
      return undefined;
    }
    if (scheme === 'basic') {
      return value === 'edge-1:secret'
        ? { kind: 'edge', id: '1', role: 'edge', grants: [] }
        : undefined;
    }
    if (scheme === 'ticket') {
      return value === 'good'
        ? { kind: 'user', id: '1', role: 'user', grants: ['webshell'] }
        : undefined;
    }
    const [, id, grants] = /^user-(\d+)(?:=(.*))?$/.exec(value) ?? [];
    return id === undefined
      ? undefined
      : { kind: 'user', id, role: 'user', grants: grants?.split(',') ?? [] };
  }
}

export interface LogLine {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export interface House {
  readonly url: string;
  readonly port: number;
  readonly registry: Registry;
  readonly changes: MemoryChanges;
  readonly authenticator: TestAuthenticator;
  readonly server: HttpServer;
  readonly logs: LogLine[];
  readonly strikes: { readonly owner: string; readonly label: string; readonly error: unknown }[];
  readonly observed: { readonly route: string; readonly status: number }[];
  publish(
    id: string,
    routes: readonly RouteDeclaration[],
    more?: { number?: number; outages?: readonly Outage[]; manifest?: Partial<PluginManifest> },
  ): Generation;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // The tests look into replies of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

/** A real server on a loopback port over a registry made by hand; `core` provides authenticator and trail. */
export async function openHouse(
  routes: readonly RouteDeclaration[],
  options: Partial<HttpOptions> = {},
  wanted = 0,
): Promise<House> {
  const registry = new Registry();
  const changes = new MemoryChanges();
  const authenticator = new TestAuthenticator();
  const logs: LogLine[] = [];
  const strikes: House['strikes'][number][] = [];
  const observed: House['observed'][number][] = [];
  const line =
    (level: string): Logger['info'] =>
    (fields, message) =>
      void logs.push({ level, fields, message });

  const publish: House['publish'] = (id, declared, { number = 1, outages, manifest } = {}) => {
    const draft = new Draft(generationOf(id, number, manifest));
    for (const declaration of declared) {
      draft.add('routes', checkRoute(declaration), declaration);
    }
    registry.publish({ add: [draft.seal()], ...(outages && { outages }) });
    return draft.generation;
  };

  const core = new Draft(generationOf('core'));
  core.add('services', 'auth.authenticator', { version: '1.0.0', instance: authenticator });
  core.add('services', 'audit.trail', { version: '1.0.0', instance: changes.trail });
  registry.publish({ add: [core.seal()] });
  publish('area', routes);

  const server = new HttpServer({
    registry,
    changes,
    clock: realClock,
    ids: realIds,
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
    cursorKey: createSecretKey(randomBytes(32)),
    operator: new OperatorAuthenticator(operatorToken),
    strike: (owner, label, error) => void strikes.push({ owner: owner.label, label, error }),
    observe: (route, status) => void observed.push({ route, status }),
    checkResponses: true,
    ...options,
  });
  const port = await server.listen('127.0.0.1', wanted);
  const url = `http://127.0.0.1:${port}`;

  return {
    url,
    port,
    registry,
    changes,
    authenticator,
    server,
    logs,
    strikes,
    observed,
    publish,
    call: (method, path, given = {}) => call(url, method, path, given),
    close: () => server.close(1_000),
  };
}

async function call(
  url: string,
  method: string,
  path: string,
  { token = operatorToken, body, headers = {} }: CallOptions,
): Promise<Answer> {
  const json = body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array);
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(json && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: json ? JSON.stringify(body) : (body as string) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not every reply is JSON; such a test looks at `text`.
  }
}

/** Waits for what has to become true soon. */
export async function until(what: () => boolean, deadlineMs = 5_000): Promise<void> {
  const from = performance.now();
  while (!what()) {
    if (performance.now() - from > deadlineMs) {
      throw new Error(`still not true after ${deadlineMs} ms: ${what.toString()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
