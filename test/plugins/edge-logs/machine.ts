import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { Ajv } from 'ajv';
import type { Parcel } from 'svc/contracts/edge-uplink';

import edgeFile from '../../../plugins/edge-logs/edge.json' with { type: 'json' };
import { makeGroup } from '../../../plugins/edge-logs/lines/group.ts';
import type { FileGroupSpec, JournalSpec, LogSpec } from '../../../plugins/edge-logs/lines/spec.ts';
import { Logs } from '../../../plugins/edge-logs/logs.ts';
import { noSkills } from '../edge-skills/no-skills.ts';

export interface Shipped {
  readonly nanos: string;
  readonly line: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>> | undefined;
}

/** The spec with its defaults, as the uplink hands it over; throws when the schema refuses it. */
export function specOf(given: unknown): LogSpec {
  const spec = structuredClone(given);
  const validate = new Ajv({ useDefaults: true }).compile(edgeFile.spec);
  if (!validate(spec)) {
    throw new Error(JSON.stringify(validate.errors));
  }
  return spec as LogSpec;
}

type Wish = Partial<Omit<LogSpec, 'files' | 'journal'>> & {
  readonly files?: readonly Partial<FileGroupSpec>[];
  readonly journal?: Partial<JournalSpec>;
};

/**
 * Folder of logs with their reader, which can be killed and restarted. Its clock only moves when
 * told to.
 */
export class Machine {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-edge-logs-')));
  readonly logsFolder = join(this.folder, 'var');
  readonly state = join(this.folder, 'state');
  readonly parcels: Parcel[] = [];
  readonly warnings: string[] = [];
  policy: readonly string[] = [`${this.folder}/**`];
  /** What becomes of a parcel; by default it is taken. */
  ship: (parcel: Parcel) => Promise<void> = async (parcel) => void this.parcels.push(parcel);
  /** Whether the manager hears of it. */
  online = true;
  now = Date.now();
  elapsed = 1_000_000;
  #logs: Logs | undefined;

  constructor(t: Pick<TestContext, 'after'>) {
    mkdirSync(this.logsFolder);
    mkdirSync(this.state);
    t.after(async () => {
      await this.#logs?.close();
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  get logs(): Logs {
    return this.#logs!;
  }

  path(name: string): string {
    return join(this.logsFolder, name);
  }

  append(name: string, text: string | Uint8Array): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    appendFileSync(this.path(name), text);
  }

  /** Starts as after a kill: nothing of the previous process is closed or stored. */
  async start(wish: Wish = {}): Promise<void> {
    await this.#kill();
    const spec = specOf({
      rescan_seconds: 1,
      ...wish,
      journal: { enabled: false, ...wish.journal },
      files: wish.files ?? [{ paths: [this.path('*.log')] }],
    });
    const say = (_: object, sentence: string): void => void this.warnings.push(sentence);
    this.#logs = await Logs.open({
      spec,
      groups: spec.files.map((group) => makeGroup(group, 'testbox')),
      policy: {
        current: () => ({
          tcp: [],
          webshell: false,
          skills: noSkills,
          plugins: { allowed: [] },
          logs: { paths: this.policy },
        }),
      },
      shipping: { ship: (parcel) => this.ship(parcel) },
      isHeard: () => this.online,
      folder: this.state,
      from: 'edge-logs',
      host: 'testbox',
      startedAt: this.now,
      clock: { now: () => this.now, monotonic: () => this.elapsed },
      log: { debug: say, info: say, warn: say, error: say },
      shipped: () => undefined,
    });
  }

  async stop(): Promise<void> {
    await this.#logs?.close();
    this.#logs = undefined;
  }

  async #kill(): Promise<void> {
    if (this.#logs !== undefined) {
      const path = join(this.state, 'checkpoint');
      const written = existsSync(path) ? readFileSync(path) : undefined;
      await this.stop();
      rmSync(path, { force: true });
      if (written !== undefined) {
        writeFileSync(path, written);
      }
    }
  }

  /** Lets time pass and the reader have its turn. */
  async tick(ms = 1_000): Promise<void> {
    this.now += ms;
    this.elapsed += ms;
    await this.logs.tick(new AbortController().signal);
  }

  get shipped(): readonly Shipped[] {
    return this.parcels.flatMap(linesOf);
  }

  lines(name?: string): readonly string[] {
    return this.shipped
      .filter(({ labels }) => name === undefined || labels['filename'] === this.path(name))
      .map(({ line }) => line);
  }
}

interface Push {
  readonly streams: readonly {
    readonly stream: Record<string, string>;
    readonly values: readonly [string, string, Record<string, string>?][];
  }[];
}

export function linesOf({ body }: Pick<Parcel, 'body'>): Shipped[] {
  const { streams } = JSON.parse(gunzipSync(body).toString()) as Push;
  return streams.flatMap(({ stream, values }) =>
    values.map(([nanos, line, metadata]) => ({ nanos, line, labels: stream, metadata })),
  );
}
