import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { messageOf } from 'svc/sdk';

import { FakeModel } from '../../plugins/model/cli/fake-model/fake-model.ts';
import { say } from '../bench/tunnel-stand.ts';
import type { Outcome, Row } from '../exercise.ts';
import { findPeer } from '../peers.ts';
import { startWholeHouse, type WholeHouse } from '../whole-house.ts';
import { Ledger, ledgerEnvironment, ledgerPassword, writing } from './ledger.ts';
import { numbers } from './seeded.ts';
import { fillDisk, mountSmallDisk, unmount } from './small-disk.ts';

const diskMb = 900;
const settleMs = 90_000;
const startMs = 240_000;

/**
 * The whole product under one misfortune after the other, drawn by `seed`: kill -9, stops, a full disk, a slow one, clocks that jump, a
 * process that is frozen, a model that is cut off. Meanwhile everything is written to; after each step all that was acknowledged must be there.
 */
export async function run({
  steps = 200,
  seed = 1,
  hold = 4,
  only = '',
}: {
  readonly steps?: number;
  readonly seed?: number;
  readonly hold?: number;
  readonly only?: string;
} = {}): Promise<Outcome> {
  const chaos = await Chaos.begin();
  const draw = numbers(Number(seed));
  const random = (): number => draw(1_000_000) / 1_000_000;
  const rows: Row[] = [];
  try {
    const names = (Object.keys(misfortunes) as (keyof typeof misfortunes)[]).filter(
      (name) => name.includes(String(only)) && chaos.can(name),
    );
    for (let step = 1; step <= Number(steps); step++) {
      const name = names[Math.floor(random() * names.length)]!;
      const row = await chaos.step(step, name, random, Number(hold));
      rows.push(row);
      say(JSON.stringify(row));
    }
    const kinds = names.map((name) => {
      const all = rows.filter(({ misfortune }) => misfortune === name);
      return {
        misfortune: name,
        steps: all.length,
        lost: all.reduce((sum, { lost }) => sum + Number(lost), 0),
        'slowest back, s': Math.max(0, ...all.map((row) => Number(row['back, s']))),
      };
    });
    return {
      ok: rows.every(({ ok }) => ok === true),
      steps,
      seed,
      ...chaos.acknowledged,
      refused: chaos.refused,
      kinds,
    };
  } finally {
    await chaos.end();
  }
}

/** Fault that happens to svc while it is written to; resolves once it is over. */
type Misfortune = (chaos: Chaos, random: () => number, holdMs: number) => Promise<void>;

const misfortunes = {
  kill: async (chaos) => await chaos.restart('SIGKILL'),
  stop: async (chaos) => await chaos.restart('SIGTERM'),
  'kill twice': async (chaos, random) => {
    await chaos.restart('SIGKILL');
    await pause(random() * 500);
    await chaos.restart('SIGKILL');
  },
  frozen: async (chaos, _random, holdMs) => {
    process.kill(chaos.pid, 'SIGSTOP');
    await pause(holdMs);
    process.kill(chaos.pid, 'SIGCONT');
  },
  'full disk': async (chaos, _random, holdMs) => await chaos.fill(holdMs, false),
  'full disk and a kill': async (chaos, _random, holdMs) => await chaos.fill(holdMs, true),
  'slow disk': async (chaos, _random, holdMs) => await chaos.slowDisk(holdMs * 2),
  'clock ahead': async (chaos, random, holdMs) =>
    await chaos.jump(60 + Math.round(random() * 7_200), holdMs),
  'clock behind': async (chaos, random, holdMs) =>
    await chaos.jump(-60 - Math.round(random() * 7_200), holdMs),
  'model cut off': async (chaos, _random, holdMs) => await chaos.cutModel(holdMs),
} satisfies Readonly<Record<string, Misfortune>>;

class Chaos {
  readonly #folder: string;
  readonly #disk: string;
  readonly #mounted: boolean;
  readonly #faketime = findPeer('libfaketimeMT.so.1');
  readonly #strace = findPeer('strace');
  readonly #environment: Record<string, string>;
  readonly #ledger = new Ledger((path, init) => this.#house.fetch(path, init));
  #model: FakeModel;
  #house!: WholeHouse;
  #offset = 0;

  static async begin(): Promise<Chaos> {
    const chaos = new Chaos(await FakeModel.start());
    try {
      await chaos.#start();
      await chaos.#ledger.furnish();
      return chaos;
    } catch (error) {
      // The caller does not get it then, so what has begun is ended here.
      await chaos.end();
      throw error;
    }
  }

  private constructor(model: FakeModel) {
    this.#model = model;
    this.#folder = mkdtempSync(join(tmpdir(), 'svc-chaos-'));
    this.#disk = mkdtempSync(join(this.#folder, 'disk-'));
    this.#mounted = mountSmallDisk(this.#disk, diskMb);
    writeFileSync(join(this.#folder, 'password'), ledgerPassword, { mode: 0o600 });
    const clock = join(this.#folder, 'clock');
    this.#environment = {
      ...ledgerEnvironment(join(this.#folder, 'password')),
      SVC_LLM_COMPATIBLE_BASE_URL: model.url,
      SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
      ...(this.#faketime !== undefined && {
        LD_PRELOAD: this.#faketime,
        FAKETIME_TIMESTAMP_FILE: clock,
        FAKETIME_NO_CACHE: '1',
        DONT_FAKE_MONOTONIC: '1',
        NO_FAKE_STAT: '1',
      }),
    };
    this.#setClock();
  }

  get pid(): number {
    return this.#house.pid;
  }

  get acknowledged(): Readonly<Record<string, number>> {
    return this.#ledger.acknowledged;
  }

  get refused(): number {
    return this.#ledger.refused;
  }

  can(name: keyof typeof misfortunes): boolean {
    const needs = name.includes('full')
      ? this.#mounted
      : name.includes('clock')
        ? this.#faketime !== undefined
        : name !== 'slow disk' || this.#strace !== undefined;
    return needs;
  }

  async step(
    step: number,
    name: keyof typeof misfortunes,
    random: () => number,
    hold: number,
  ): Promise<Row> {
    // One misfortune that it does not outlive is one failure, and not all that come after.
    if (!existsSync(`/proc/${this.pid}`)) {
      await this.#start();
    }
    const writes = writing(this.#ledger, 50);
    await pause(500 + random() * 1_500);
    let failed = '';
    try {
      await misfortunes[name](this, random, hold * 1_000);
    } catch (error) {
      failed = messageOf(error).slice(0, 1_000);
    }
    const over = performance.now();
    const back = failed === '' && (await this.#isBack());
    const backSeconds = (performance.now() - over) / 1_000;
    await writes.end();
    const lost = back
      ? await this.#ledger
          .lost()
          .catch((error: unknown) => [`nothing could be read: ${messageOf(error)}`])
      : ['everything'];
    return {
      step,
      misfortune: name,
      ok: back && lost.length === 0,
      'back, s': Math.round(backSeconds * 10) / 10,
      lost: lost.length,
      what: failed || lost.slice(0, 5).join('; '),
    };
  }

  async end(): Promise<void> {
    await this.#house?.end('SIGKILL');
    await this.#model.close();
    if (this.#mounted) {
      unmount(this.#disk);
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async restart(signal: NodeJS.Signals): Promise<void> {
    await this.#house.end(signal);
    await this.#start();
  }

  async #start(): Promise<void> {
    this.#house = await startWholeHouse({
      dataDir: join(this.#disk, 'data'),
      environment: this.#environment,
      startMs,
    });
    this.#ledger.signOut();
  }

  /** Waits until it is ready, and accepts each kind of write again. */
  async #isBack(): Promise<boolean> {
    for (
      const deadline = performance.now() + settleMs;
      performance.now() < deadline;
      await pause(100)
    ) {
      const ready = await this.#house.fetch('/readyz').catch(() => undefined);
      const body = JSON.stringify({ name: `back-${performance.now()}` });
      const taken = await this.#house
        .fetch('/api/v1/edges', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        })
        .catch(() => undefined);
      if (ready?.ok === true && taken?.status === 201) {
        return true;
      }
    }
    return false;
  }

  /** Fills the disk to the last byte from outside. */
  async fill(holdMs: number, andKill: boolean): Promise<void> {
    const free = fillDisk(this.#disk);
    await pause(holdMs);
    if (andKill) {
      await this.#house.end('SIGKILL');
    }
    free();
    if (andKill) {
      await this.#start();
    }
  }

  /** Each sync of the disk takes a fifth of a second longer. */
  async slowDisk(holdMs: number): Promise<void> {
    const inject = 'inject=fsync,fdatasync:delay_enter=200000';
    const tracer = spawn(
      this.#strace!,
      [
        '-f',
        '-qq',
        '-o',
        '/dev/null',
        '-e',
        'trace=fsync,fdatasync',
        '-e',
        inject,
        '-p',
        String(this.pid),
      ],
      {
        stdio: 'ignore',
      },
    );
    await pause(holdMs);
    const gone = new Promise((resolve) => tracer.once('exit', resolve));
    tracer.kill('SIGINT');
    await gone;
  }

  /** Steps the clock, and back, as if it were corrected. */
  async jump(seconds: number, holdMs: number): Promise<void> {
    this.#offset += seconds;
    this.#setClock();
    await pause(holdMs);
    this.#offset -= seconds;
    this.#setClock();
    this.#ledger.signOut();
  }

  async cutModel(holdMs: number): Promise<void> {
    const port = Number(new URL(this.#model.url).port);
    await this.#model.close();
    await pause(holdMs);
    this.#model = await FakeModel.start({ port });
  }

  #setClock(): void {
    const file = join(this.#folder, 'clock');
    writeFileSync(`${file}.new`, `${this.#offset >= 0 ? '+' : ''}${this.#offset}\n`);
    renameSync(`${file}.new`, file);
  }
}
