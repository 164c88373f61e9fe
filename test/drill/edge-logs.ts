import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { budget, matcher } from 'svc/query';

import { type LogStore, openLogStore } from '../../plugins/logs/store/store.ts';
import type { Outcome } from '../exercise.ts';
import { Writer } from './edge-logs-model.ts';
import { crashOptions } from './logs-crash-model.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./edge-logs-child.ts', import.meta.url));
/** Max time without a line while something is missing. */
const patienceMs = 60_000;

/**
 * Programs write, files are rotated in both ways, the reader is killed at random moments and at random steps of its work, and the
 * manager is away for half of the time: in the end the log store has every line once and in order. A reader that reads for half a
 * second hardly gets far: longer runs need longer lives, or rotated files are removed before anybody has read them.
 */
export async function run({
  seconds = 60,
  'away-seconds': awaySeconds = seconds / 2,
  'life-seconds': lifeSeconds = 0.5,
}: {
  readonly seconds?: number;
  readonly 'away-seconds'?: number;
  readonly 'life-seconds'?: number;
} = {}): Promise<Outcome> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-edge-logs-drill-')));
  ['logs', 'state', 'buffer', 'store'].forEach((name) => mkdirSync(join(folder, name)));
  const writers = (['rename', 'copy', 'none'] as const).map(
    (rotation) => new Writer(join(folder, 'logs', `${rotation}.log`), rotation),
  );
  const agent = new Agent(folder);
  const manager = new Manager(folder);
  await manager.open();
  try {
    agent.start(0);
    // Files that were there before the first look are read from their end.
    await agent.ready();
    const began = performance.now();
    for (let elapsed = 0; elapsed < seconds * 1_000; elapsed = performance.now() - began) {
      agent.start(0.01 / lifeSeconds);
      for (const writer of writers) {
        writer.write();
        writer.rotatePerhaps();
      }
      if (agent.reads && Math.random() < 0.005 / lifeSeconds) {
        agent.kill();
      }
      if (elapsed > awaySeconds * 1_000) {
        await manager.take();
      }
      await pause(5);
    }
    writers.forEach((writer) => writer.finish());
    await agent.end();
    agent.start(0);
    for (let cameAt = performance.now(), missing = 'everything'; missing !== ''; await pause(100)) {
      if (await manager.take()) {
        cameAt = performance.now();
      } else {
        missing = await manager.missing(writers);
        assert.ok(
          missing === '' || performance.now() < cameAt + patienceMs,
          `nothing comes any more, and ${missing}`,
        );
      }
    }
    await agent.end();
    await manager.take();
    await manager.reopen();
    for (const writer of writers) {
      const numbers = await manager.numbers(writer.path);
      const wrong = numbers.findIndex((number, i) => number !== i + 1);
      assert.ok(
        wrong < 0 && numbers.length === writer.written,
        `${numbers.length} of ${writer.written} lines of ${writer.path}, around ${wrong}: ${numbers.slice(Math.max(0, wrong - 5), wrong + 15).join(' ')}`,
      );
    }
    const rotations = writers.reduce((sum, writer) => sum + writer.rotations, 0);
    return {
      ok: true,
      lines: writers.reduce((sum, { written }) => sum + written, 0),
      rotations,
      kills: agent.kills,
      'pushed again': manager.repeated,
    };
  } finally {
    await agent.end();
    await manager.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

class Agent {
  readonly #folder: string;
  #process: ChildProcess | undefined;
  /** True once it reads, when its lifetime begins: a busy machine takes longer to start it. */
  #reads = false;
  #ended: Promise<unknown> = Promise.resolve();
  kills = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Starts it unless it runs. */
  start(deadly: number): void {
    if (this.#process === undefined) {
      const running = spawn(process.execPath, [...programOf(child), this.#folder, String(deadly)], {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
      this.#process = running;
      this.#reads = false;
      running.once('message', () => (this.#reads = true));
      this.#ended = new Promise((resolve) => {
        running.once('exit', () => {
          this.kills += 1;
          this.#process = undefined;
          resolve(undefined);
        });
      });
    }
  }

  async ready(): Promise<void> {
    for (
      const deadline = performance.now() + 30_000;
      !readdirSync(join(this.#folder, 'state')).includes('checkpoint');
      await pause(20)
    ) {
      assert.ok(performance.now() < deadline, 'the reader is there within 30 s');
    }
  }

  get reads(): boolean {
    return this.#reads;
  }

  kill(): void {
    this.#process?.kill('SIGKILL');
  }

  async end(): Promise<void> {
    this.kill();
    await this.#ended;
  }
}

/** Takes what the agent has left, each parcel at times twice, as after an answer that was lost. */
class Manager {
  readonly #folder: string;
  #store: LogStore | undefined;
  #taken = 0;
  repeated = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async open(): Promise<void> {
    this.#store = await openLogStore({ folder: join(this.#folder, 'store'), ...crashOptions });
  }

  async reopen(): Promise<void> {
    await this.close();
    await this.open();
  }

  async close(): Promise<void> {
    await this.#store?.close();
    this.#store = undefined;
  }

  /** Takes lines; returns whether there were any. */
  async take(): Promise<boolean> {
    const before = this.#taken;
    const names = readdirSync(join(this.#folder, 'buffer')).filter((name) => /^\d+$/.test(name));
    for (const number of names.map(Number).toSorted((a, b) => a - b)) {
      if (number <= this.#taken) {
        continue;
      }
      const body = readFileSync(join(this.#folder, 'buffer', String(number)));
      const again = Math.random() < 0.1;
      for (let i = 0; i < (again ? 2 : 1); i++) {
        const { rejected, reasons } = await this.#store!.push('loki-json', body, {
          encoding: 'gzip',
        });
        assert.equal(rejected, 0, reasons.join('; '));
        await this.#store!.tidy();
      }
      this.repeated += again ? 1 : 0;
      this.#taken = number;
    }
    return this.#taken > before;
  }

  async missing(writers: readonly Writer[]): Promise<string> {
    const gaps: string[] = [];
    for (const { path, written } of writers) {
      const found = new Set(await this.numbers(path));
      const lost = upTo(written).filter((number) => !found.has(number));
      if (lost.length > 0) {
        gaps.push(
          `${lost.length} of ${written} lines of ${path} are missing, the first is ${lost[0]}`,
        );
      }
    }
    return gaps.join('; ');
  }

  async numbers(path: string): Promise<number[]> {
    const limits = budget({ timeoutMs: 120_000, now: () => performance.now() });
    const selected = this.#store!.source().select(
      [matcher('filename', '=', path)],
      { ms: 0, ns: 0 },
      { ms: 4e12, ns: 0 },
      { direction: 'forward' },
      limits,
    );
    const numbers: number[] = [];
    for await (const { entries } of selected) {
      numbers.push(...entries.map(({ line }) => Number(line.split(' ')[1])));
    }
    assert.deepEqual(limits.warnings, []);
    return numbers;
  }
}
