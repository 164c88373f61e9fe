import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { WholeHouse } from '../whole-house.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Time limit of a step on a busy machine. */
export const stepMs = 180_000;

/** Asks the manager as its operator; again where it has too much to do. */
export async function ask<T>(
  house: Pick<WholeHouse, 'fetch'>,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const answer = await house.fetch(`/api/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (answer.status === 503) {
    await pause(1_000);
    return await ask(house, method, path, body);
  }
  if (!answer.ok) {
    throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
  }
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

/** Polls until there is something to return. */
export async function until<T>(
  what: string,
  found: () => Promise<T | undefined | false> | T | undefined | false,
  withinMs = stepMs,
): Promise<T> {
  for (const deadline = performance.now() + withinMs; ; await pause(100)) {
    const value = await found();
    if (value !== undefined && value !== false) {
      return value;
    }
    if (performance.now() > deadline) {
      throw new Error(`${what}: not within ${withinMs / 1_000} s`);
    }
  }
}

export interface AgentOptions {
  readonly folder: string;
  readonly name: string;
  /** Address at which the agent reaches the manager. */
  readonly manager: string;
  readonly policy: string;
  /** Command that the agent is started by, such as one that enters a namespace. */
  readonly before?: readonly string[];
}

/** `svc edge` in a process of its own, as an owner runs it. */
export class RealAgent {
  readonly id: number;
  readonly name: string;
  readonly #command: readonly string[];
  #child: ChildProcess | undefined;
  #said = '';

  private constructor(id: number, name: string, command: readonly string[]) {
    this.id = id;
    this.name = name;
    this.#command = command;
  }

  /** Enrols an agent and starts it. */
  static async start(
    house: Pick<WholeHouse, 'fetch'>,
    { folder, name, manager, policy, before = [] }: AgentOptions,
  ): Promise<RealAgent> {
    const { id, access_key, secret_key } = await ask<{
      id: number;
      access_key: string;
      secret_key: string;
    }>(house, 'POST', '/edges', { name });
    const home = join(folder, name);
    mkdirSync(home, { recursive: true });
    const tunnel = { manager, tunnel_path: '/internal/tunnel', edge_id: id, name };
    writeFileSync(join(home, 'edge.json'), JSON.stringify({ ...tunnel, access_key, secret_key }), {
      mode: 0o600,
    });
    writeFileSync(join(home, 'policy.yaml'), policy);
    const program = [process.execPath, join(root, 'bin/svc'), 'edge', '--data', home];
    const agent = new RealAgent(id, name, [...before, ...program]);
    agent.run();
    return agent;
  }

  run(): void {
    const [program, ...args] = this.#command;
    this.#child = spawn(program!, args, {
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.on('data', (chunk) => (this.#said = (this.#said + String(chunk)).slice(-20_000)));
    }
  }

  /** What it has printed of late. */
  get said(): string {
    return this.#said;
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit');
      child.kill(signal);
      await gone;
    }
  }
}

/** Waits until all agents are connected. */
export const online = (house: Pick<WholeHouse, 'fetch'>, agents: readonly RealAgent[]) =>
  until('the connection of all agents', async () => {
    const { items } = await ask<{ items: { id: number; status: string }[] }>(
      house,
      'GET',
      '/edges?limit=100',
    );
    return agents.every(({ id }) =>
      items.some((edge) => edge.id === id && edge.status === 'online'),
    );
  });
