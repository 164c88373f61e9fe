import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';

import type { EdgeKeyVerifier } from 'svc/contracts/session';
import type { Clock } from 'svc/sdk';
import { startTestHost, type TestHost, type TestHostOptions } from 'svc/testing';
import {
  connect,
  type IdempotencyJournal,
  type MachineKey,
  openSweeper,
  sweepMs,
  type TunnelMethod,
  type TunnelService,
  type TunnelSession,
} from 'svc/tunnel';

import { systemClock, systemIds } from '../../../core/boot/time.ts';

const ids = systemIds(systemClock);
const log = { debug() {}, info() {}, warn() {}, error() {} };

export interface Keys {
  readonly access_key: string;
  readonly secret_key: string;
}

export interface SimulatedOptions {
  readonly machine?: string;
  /** Default: none, as an agent from before there were keys. */
  readonly key?: MachineKey | undefined;
  /** Its agent says that this key took the place of a damaged one. */
  readonly keyDamaged?: boolean;
  readonly boot?: string;
  readonly version?: string;
  readonly caps?: readonly string[];
  readonly purpose?: 'serve' | 'probe';
  readonly configHash?: string;
  /** Text of its clock. */
  /** Clock, if it reports its time. */
  readonly now?: () => number;
  readonly methods?: Readonly<Record<string, TunnelMethod>>;
  readonly services?: Readonly<Record<string, TunnelService>>;
  /** Default: none, commands run as often as they come. */
  readonly journal?: IdempotencyJournal;
  /** Interval of pings; default 20 s. */
  readonly pingMs?: number;
}

/** The n-th machine. */
export const machine = (n: number): string =>
  `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** Edges without an agent: real keys, a real tunnel, and methods that the test gives them. */
export function simulator(t: Pick<TestContext, 'after'>, url: string, clock: Clock = systemClock) {
  const sweeper = openSweeper(clock, (error) => assert.fail(String(error)));
  const timer = setInterval(() => sweeper.tick(), sweepMs);
  const sessions = new Set<TunnelSession>();
  t.after(async () => {
    await Promise.all([...sessions].map((session) => session.close()));
    clearInterval(timer);
  });
  return async function simulate(keys: Keys, options: SimulatedOptions = {}) {
    const { methods = {}, services = {} } = options;
    const caps = options.caps ?? [
      ...Object.keys(methods).map((name) => `call:${name}`),
      ...Object.keys(services).map((name) => `stream:${name}`),
    ];
    const connection = await connect({
      dial: { url: `${url}/internal/tunnel` },
      handshake: {
        sweeper,
        ids,
        accessKey: keys.access_key,
        secretKey: keys.secret_key,
        hello: {
          agent_id: options.machine ?? machine(1),
          boot_id: options.boot ?? 'boot-1',
          agent_version: options.version ?? 'v0.1.0',
          caps,
          purpose: options.purpose ?? 'serve',
        },
        machineKey: options.key,
        state: () => ({
          ...(options.configHash !== undefined && { config_hash: options.configHash }),
          ...(options.now && { now: options.now() }),
          ...(options.keyDamaged && { machine_key_damaged: true }),
        }),
      },
      session: {
        log,
        random: Math.random,
        journal: options.journal ?? memoryJournal,
        handlers: {
          methods: new Map(Object.entries(methods)),
          services: new Map(Object.entries(services)),
        },
        ...(options.pingMs !== undefined && { limits: { pingMs: options.pingMs } }),
      },
    });
    sessions.add(connection.session);
    return connection;
  };
}

/** The agent has one on disk; here a command runs as often as it comes. */
const memoryJournal: IdempotencyJournal = {
  run: async (_key, _fingerprint, work) => await work(),
  close: async () => undefined,
};

export async function edgeHouse(
  t: Pick<TestContext, 'after'>,
  options: Partial<TestHostOptions> = {},
) {
  const house = await startTestHost(t, { plugins: ['edge', 'device', 'topology'], ...options });
  return { house, ...around(house), simulate: simulator(t, house.url, options.clock) };
}

export function around(house: TestHost) {
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const answer = await house.fetch(path.startsWith('/internal') ? path : `/api/v1${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
  const create = async (name = 'edge') => {
    const { status, body, text } = await ask('POST', '/edges', { name });
    assert.equal(status, 201, text);
    return body as Keys & { readonly id: number };
  };
  const edge = async (id: number) => (await ask('GET', `/edges/${id}`)).body;
  return { ask, create, edge };
}

/** The verifier of keys that the plugin contributes, as sessions ask it. */
export const edgeKeys = ({ registry }: TestHost): EdgeKeyVerifier =>
  registry.current.contributions.get('session.credentials/edge-key')!.value
    .value as EdgeKeyVerifier;

export const freshMachine = (): string => randomUUID();

export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  ms = 20_000,
): Promise<Exclude<T, false | undefined | null>> {
  for (const deadline = Date.now() + ms; ;) {
    const found = await look();
    if (found) {
      return found as Exclude<T, false | undefined | null>;
    }
    assert.ok(Date.now() < deadline, `within ${ms / 1_000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
