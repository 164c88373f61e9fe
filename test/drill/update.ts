import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { readPlan } from '../../bin/upkeep/update/files.ts';
import { say } from '../bench/tunnel-stand.ts';
import type { Outcome, Row } from '../exercise.ts';
import { KeptProgram, killPlan } from '../kept-program.ts';
import type { WholeHouse } from '../whole-house.ts';
import { parcelOf, readBack, type Signal, signals } from './telemetry-crash-model.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Max steps, more than names are given, moved and removed next to the program. */
const mostSteps = 24;

/**
 * Two real builds, the second with one more migration: update and back again under load, killed before and after each step by which the
 * program is replaced, and then at random moments of the one that serves. The old or the new serves each time, with all that was acknowledged.
 * In parts: `keep` names a folder in which the builds stay, `when` and `from` where it begins.
 */
export async function run({
  steps = mostSteps,
  from = 0,
  when: only = 'before,after',
  kills = 6,
  keep = '',
}: {
  readonly steps?: number;
  readonly from?: number;
  readonly when?: string;
  readonly kills?: number;
  readonly keep?: string;
} = {}): Promise<Outcome> {
  const folder = keep === '' ? mkdtempSync(join(tmpdir(), 'svc-update-')) : String(keep);
  const began = performance.now();
  const [one, two] = [await built(folder, '1.0.0'), await built(folder, '2.0.0')];
  say(`two builds after ${Math.round((performance.now() - began) / 1_000)} s`);
  const program = join(folder, 'svc');
  const dataDir = join(folder, 'data');
  // What an earlier part has left.
  readdirSync(folder)
    .filter((name) => name === 'data' || /^svc(\.|$)/.test(name))
    .forEach((name) => rmSync(join(folder, name), { recursive: true }));
  cpSync(one, program);
  const kept = new KeptProgram(program, dataDir, {
    SVC_EDGE_LOCAL: 'false',
    XDG_CACHE_HOME: join(folder, 'cache'),
  });
  const load = new Load(kept);
  const plan = killPlan(folder, program);
  const rows: Row[] = [];
  try {
    kept.start();
    await load.write();
    const working = load.begin();
    for (const when of (['before', 'after'] as const).filter((one) => String(only).includes(one))) {
      for (let step = Number(from); step < Number(steps); step++) {
        plan.set(step, when);
        const row = await round(`${when} ${step}`, {
          program,
          dataDir,
          two,
          kept,
          load,
          options: plan.options,
        });
        rows.push(row);
        say(JSON.stringify(row));
        if (plan.left()) {
          break;
        }
      }
    }
    for (let kill = 0; kill < kills; kill++) {
      const row = await round(`server ${kill}`, {
        program,
        dataDir,
        two,
        kept,
        load,
        killAfterMs: 1_000 + kill * 1_500,
      });
      rows.push(row);
      say(JSON.stringify(row));
    }
    load.end();
    await working;
    const lost = await load.lost();
    return {
      ok: lost === 0 && rows.every(({ ok }) => ok === true),
      rounds: rows.length,
      starts: kept.starts,
      acknowledged: load.acknowledged,
      lost,
      cases: rows,
    };
  } finally {
    load.end();
    await kept.stop('SIGKILL');
    if (keep === '') {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

interface Round {
  readonly program: string;
  readonly dataDir: string;
  readonly two: string;
  readonly kept: KeptProgram;
  readonly load: Load;
  /** Node options of the process that is to be killed. */
  readonly options?: string;
  readonly killAfterMs?: number;
}

/** One update that is killed, finished by another where that is needed, and taken back. */
async function round(
  name: string,
  { program, dataDir, two, kept, load, options, killAfterMs }: Round,
): Promise<Row> {
  const update = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
    finished(
      program,
      ['update', ...args, '--data', dataDir, '--program', program, '--hold', '1'],
      environment,
    );
  const before = load.acknowledged;
  const killing =
    killAfterMs === undefined ? undefined : pause(killAfterMs).then(() => kept.kill());
  const first = await update(
    [two, '--unsigned'],
    options === undefined ? {} : { NODE_OPTIONS: options },
  );
  await killing;
  const served = await kept.version();
  await settled(program, kept);
  if ((await kept.version()) === '1.0.0') {
    const again = await update([two, '--unsigned']);
    assert.equal(again.code, 0, `${name}, again: ${again.said}`);
  }
  assert.equal(await kept.version(), '2.0.0');
  await settled(program, kept);
  const back = await update(['--back']);
  assert.equal(back.code, 0, `${name}, back: ${back.said}`);
  assert.equal(await kept.version(), '1.0.0');
  await settled(program, kept);
  const lost = await load.lost();
  return {
    round: name,
    ok: lost === 0 && ['1.0.0', '2.0.0'].includes(served),
    killed: first.code === null,
    served,
    acknowledged: load.acknowledged - before,
    lost,
  };
}

/**
 * Waits until the version on trial has passed or was rolled back. If the update ended between the
 * switch and the restart, it is started by whoever ends the old one.
 */
async function settled(program: string, kept: KeptProgram): Promise<void> {
  let ended = false;
  for (const deadline = Date.now() + 60_000; ; await pause(100)) {
    const record = readPlan(program);
    if (record === undefined || existsSync(`${program}.next`)) {
      return;
    }
    assert.ok(
      Date.now() < deadline,
      `an update is not settled: ${JSON.stringify(record)} ${kept.said.slice(-2_000)}`,
    );
    if (!ended && record.starts === 0 && Date.now() > deadline - 55_000) {
      ended = true;
      kept.kill();
    }
  }
}

async function finished(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<{ code: number | null; said: string }> {
  const child = spawn(program, args, {
    env: { ...process.env, SVC_HTTP_ADDR: '127.0.0.1:0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => (said += String(chunk)));
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, said };
}

/** Telemetry and rows, written one after another; what was answered with yes has to be there. */
class Load {
  readonly #kept: KeptProgram;
  readonly #epoch = Date.now() - 3_600_000;
  readonly #pushed: Record<Signal, Set<number>> = {
    metrics: new Set(),
    logs: new Set(),
    traces: new Set(),
  };
  readonly #edges = new Set<string>();
  #number = 0;
  #ended = false;

  constructor(kept: KeptProgram) {
    this.#kept = kept;
  }

  get acknowledged(): number {
    return this.#edges.size + signals.reduce((sum, signal) => sum + this.#pushed[signal].size, 0);
  }

  async begin(): Promise<void> {
    while (!this.#ended) {
      await this.write();
      await pause(100);
    }
  }

  end(): void {
    this.#ended = true;
  }

  /** Writes one of each kind; a write whose answer was lost is not acknowledged. */
  async write(): Promise<void> {
    const number = this.#number++;
    for (const signal of signals) {
      const { path, type, encoding, body } = parcelOf(signal, number, this.#epoch);
      const headers = {
        'content-type': type,
        ...(encoding !== undefined && { 'content-encoding': encoding }),
      };
      const answer = await this.#kept
        .fetch(path, { method: 'POST', headers, body })
        .catch(() => undefined);
      if (answer !== undefined && answer.status < 300) {
        this.#pushed[signal].add(number);
      }
    }
    const name = `edge-${number}`;
    const made = await this.#kept
      .fetch('/api/v1/edges', { method: 'POST', body: JSON.stringify({ name }) })
      .catch(() => undefined);
    if (made?.status === 201) {
      this.#edges.add(name);
    }
  }

  async lost(): Promise<number> {
    const house = {
      fetch: (path: string, init?: RequestInit) => this.#kept.fetch(path, init),
    } as WholeHouse;
    let lost = 0;
    for (const signal of signals) {
      const expected = new Set(this.#pushed[signal]);
      const found = await readBack(house, signal, {
        from: 0,
        to: this.#number,
        epoch: this.#epoch,
      });
      lost += [...expected].filter((number) => !found.has(number)).length;
    }
    const edges = new Set(this.#edges);
    const names = new Set<string>();
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page = (await (
        await this.#kept.fetch(`/api/v1/edges?limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`)
      ).json()) as EdgePage;
      page.items.forEach(({ name }) => names.add(name));
      // Empty on the last page.
      cursor = page.next_cursor || undefined;
    }
    return lost + [...edges].filter((name) => !names.has(name)).length;
  }
}

interface EdgePage {
  readonly items: readonly { readonly name: string }[];
  readonly next_cursor?: string | null;
}

/** A checkout of that version, and the binary made of it; the second has one more migration. */
async function built(folder: string, number: string): Promise<string> {
  const [checkout, out] = [join(folder, `checkout-${number}`), join(folder, `svc-${number}`)];
  if (existsSync(out)) {
    return out;
  }
  for (const name of readdirSync(root).filter(
    (entry) => !['node_modules', '.git', 'dist', 'data', 'docs', 'test'].includes(entry),
  )) {
    cpSync(join(root, name), join(checkout, name), { recursive: true });
  }
  cpSync(join(root, 'docs'), join(checkout, 'docs'), { recursive: true });
  cpSync(join(root, 'test/kit'), join(checkout, 'test/kit'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
  const file = join(checkout, 'package.json');
  writeFileSync(
    file,
    JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), version: number }),
  );
  if (number !== '1.0.0') {
    const migrations = join(checkout, 'plugins/edge/migrations');
    const next = String(readdirSync(migrations).length + 1).padStart(3, '0');
    writeFileSync(
      join(migrations, `${next}-add-colour.sql`),
      'ALTER TABLE edge_edges ADD COLUMN colour TEXT;\nCREATE TABLE edge_colours (id INTEGER PRIMARY KEY) STRICT;\n',
    );
  }
  await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', 'bin/dev/build.ts', '--out', out],
    {
      cwd: checkout,
      timeout: 300_000,
    },
  );
  return out;
}
