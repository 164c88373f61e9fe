import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Serving, Shell } from 'svc/cli';
import { messageOf } from 'svc/sdk';
import { Application } from '../sim/application.ts';
import { startFleet } from '../sim/fleet.ts';
import { hostOf } from '../sim/host.ts';
import type { SimOptions } from '../sim/options.ts';
import { ScriptedModel } from './scripted-model.ts';
import { Inbox } from './inbox.ts';
import { arrived, type Ask, drawTopology, remembered, reported, setUp } from './scene.ts';

export interface DemoOptions {
  readonly shell: Shell;
  readonly port: number;
  readonly hosts: number;
  /** When a host breaks, after the hosts have come. */
  readonly faultAfterMs: number;
  /** Prints one line of what happens. */
  readonly tell: (line: string) => void;
}

const seed = 'demo';
const email = 'demo@example.org';
const askMs = 30_000;
const pastMs = 30 * 60_000;
/** Host of the failing application; never the first, which is the entry point. */
const brokenHost = 6;

/** A whole svc with hosts that are not there, in a folder of its own that goes with it. */
export class Demo {
  readonly password: string;
  readonly email = email;
  readonly #house: Serving;
  readonly #options: DemoOptions;
  readonly #over = new AbortController();
  readonly #undo: (() => unknown)[];

  private constructor(
    options: DemoOptions,
    house: Serving,
    password: string,
    undo: (() => unknown)[],
  ) {
    this.#options = options;
    this.#house = house;
    this.password = password;
    this.#undo = undo;
  }

  /** Resolves once it serves; its hosts come behind that. */
  static async start(options: DemoOptions): Promise<Demo> {
    const undo: (() => unknown)[] = [];
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-demo-'));
    undo.push(() => rmSync(dataDir, { recursive: true, force: true }));
    try {
      const model = await ScriptedModel.start(options.shell.program);
      undo.push(() => model.close());
      const password = options.shell.ids.token(12);
      const environment = {
        SVC_HTTP_ADDR: `127.0.0.1:${options.port || (await freePort())}`,
        SVC_DATA_DIR: dataDir,
        SVC_LOG_LEVEL: 'warn',
        SVC_EDGE_LOCAL: 'false',
        SVC_ADMIN_EMAIL: email,
        SVC_ADMIN_PASSWORD: password,
        SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
        SVC_LLM_COMPATIBLE_BASE_URL: model.url,
        SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
        // The scripted model has nothing to say of an investigation.
        SVC_INVESTIGATE_ASSIST: 'false',
      };
      const house = await options.shell.serve(environment);
      undo.push(() => house.stop('the demo ends'));
      return new Demo(options, house, password, undo);
    } catch (error) {
      await undone(undo);
      throw error;
    }
  }

  get url(): string {
    return this.#house.url;
  }

  get dataDir(): string {
    return this.#house.dataDir;
  }

  /** Brings the hosts, lets one of them break, and tells what svc makes of it; resolves with the end of the story. */
  async play(): Promise<void> {
    const { tell } = this.#options;
    try {
      await this.#play();
    } catch (error) {
      if (!this.#over.signal.aborted) {
        tell(`The demo cannot go on: ${messageOf(error)}`);
      }
    }
  }

  async #play(): Promise<void> {
    const { tell, hosts, faultAfterMs } = this.#options;
    const { signal } = this.#over;
    const inbox = await Inbox.open(({ event, title, text, facts, link }) => {
      const cause = facts?.find(({ name }) => name === 'Likely cause')?.text;
      tell(
        `Notification sent to a phone (${event}): ${[title, text, cause && `likely cause: ${cause}`, link].filter(Boolean).join(' — ')}`,
      );
    });
    this.#undo.push(() => inbox.close());
    const { token } = await this.#ask<{ token: string }>('/api/v1/edges/enrolments', {
      max_uses: hosts,
    });
    const simulated: SimOptions = {
      manager: new URL(this.url),
      token,
      count: hosts,
      ramp: 1,
      seed,
      failProb: 0,
      intervalMs: 5_000,
      metrics: 'full',
      logsPerSecond: 0.2,
      requestsPerMinute: 60,
      pastMs,
      fault: { kind: 'disk', host: brokenHost, afterMs: faultAfterMs },
    };
    const application = new Application(simulated, 1);
    await setUp(this.#ask, { told: inbox.url, service: application.serviceOf(1) });
    const breaksAt = performance.now() + faultAfterMs;
    const fleet = startFleet(simulated, this.dataDir, this.#options.shell);
    this.#undo.push(async () => {
      fleet.stop();
      await fleet.ended;
    });
    const known = await arrived(this.#ask, simulated, signal);
    await remembered(this.#ask, simulated, signal);
    const needs = await drawTopology(this.#ask, simulated, known, signal);
    tell(
      `${known.size} hosts have connected with their last ${pastMs / 60_000} minutes of data; ${needs} dependencies are in the topology`,
    );
    const inMs = Math.max(0, breaksAt - performance.now());
    const when = inMs > 0 ? `In ${Math.ceil(inMs / 1_000)} s` : 'By now';
    tell(`${when} the disk of ${hostOf(seed, brokenHost).hostname} is full; svc has to find out`);
    const { incident, summary } = await reported(this.#ask, signal, (first) =>
      tell(`No cause found yet, investigating again: ${first}`),
    );
    tell(`Incident ${incident} was investigated: ${summary}`);
    tell(
      'A scripted model answers in chat: ask it to "call metrics_query {"query":"node_filesystem_used_percent"}"',
    );
    tell(
      `Open ${this.url}/ui/incidents/${incident}, or run: svc investigate show ${incident} --data ${this.dataDir}`,
    );
  }

  readonly #ask: Ask = async <T>(path: string, body?: object): Promise<T> => {
    const { token } = this.#house;
    const answer = await fetch(this.url + path, {
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(askMs),
    });
    const text = await answer.text();
    if (!answer.ok) {
      throw new Error(`${path} was answered ${answer.status}: ${text.slice(0, 300)}`);
    }
    return JSON.parse(text) as T;
  };

  async stop(): Promise<void> {
    this.#over.abort();
    await undone(this.#undo);
  }
}

/** The last thing first; one that cannot be undone leaves the others to be. */
async function undone(steps: (() => unknown)[]): Promise<void> {
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    try {
      await step();
    } catch (error) {
      process.stderr.write(
        `svc: failed to stop part of the demo: ${messageOf(error)}; remove svc-demo-* from ${tmpdir()} if it is still there\n`,
      );
    }
  }
}

/** One for the links of notices, too, which are made before it listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
