import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import Database from 'better-sqlite3';

import { counted } from '../counted.ts';
import type { Outcome } from '../exercise.ts';
import {
  ask,
  cleaned,
  manifest,
  personaText,
  skillText,
  startMarket,
  type Texts,
  upload,
  uploadConfirmed,
} from '../plugins/marketplace/market.ts';

type House = Awaited<ReturnType<typeof startMarket>>;

const texts = (version: string): Texts => ({
  'plugin.json': manifest('cycle', { version }),
  'agents/cycle-clerk.md': personaText('cycle-clerk'),
  ...Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [
      `skills/cycle-${index}/SKILL.md`,
      skillText(`cycle-${index}`, `Version ${version}.`),
    ]),
  ),
});

const route = { method: 'GET', path: '/api/v1/wheel', access: 'any', summary: 'Turns.' };
const wheel = (version: string): Texts => ({
  'plugin.json': manifest('wheel', {
    version,
    entry: 'index.js',
    mounts: ['/api/v1/wheel'],
    routes: [route],
  }),
  'index.js': `import { definePack } from 'svc/sdk'; export default definePack({ routes: { 'GET /api/v1/wheel': () => ({ version: '${version}' }) } });`,
});

/**
 * Installs, updates, rolls back and uninstalls a text pack, while a pack with code is updated under
 * its own callers.
 */
export async function run({
  cycles = 300,
  guns = 4,
  codeEvery = 10,
}: {
  readonly cycles?: number;
  readonly guns?: number;
  readonly codeEvery?: number;
} = {}): Promise<Outcome> {
  const undo: (() => unknown)[] = [];
  const house = await startMarket(
    { after: (step) => void undo.push(step as () => unknown) },
    { environment: { SVC_LOG_LEVEL: 'error' } },
  );
  const times: number[] = [];
  let wrong = 0;
  try {
    const must = async (expected: number, work: Promise<{ status: number }>): Promise<void> => {
      wrong += (await work).status === expected ? 0 : 1;
    };
    const cycle = async (): Promise<void> => {
      const began = performance.now();
      await must(201, upload(house, texts('1.0.0')));
      times.push(performance.now() - began);
      await must(201, upload(house, texts('2.0.0')));
      await must(200, ask(house, 'POST', '/installed/cycle/rollback'));
      await must(204, ask(house, 'DELETE', '/installed/cycle'));
    };
    await must(201, uploadConfirmed(house, wheel('1.0.0')));
    await must(201, uploadConfirmed(house, wheel('1.0.1')));
    await must(200, ask(house, 'POST', '/installed/wheel/rollback'));
    // What the first of its kind leaves for good, such as a compiled pattern, is no residue.
    await cycle();
    await cleaned(house);
    await house.settled();
    const before = stateOf(house);
    const shots = await fire(house, guns, async () => {
      for (const round of counted(cycles, 'cycles')) {
        await cycle();
        if (round % codeEvery === 0) {
          await must(201, uploadConfirmed(house, wheel(`1.${round + 1}.1`)));
          await must(200, ask(house, 'POST', '/installed/wheel/rollback'));
        }
      }
    });
    await must(200, ask(house, 'POST', '/installed/wheel/enable'));
    await cleaned(house);
    await house.settled();
    const residue = differences(before, stateOf(house));
    const median = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!;
    const { requests, failed } = shots;
    return {
      ok: failed === 0 && wrong === 0 && residue.length === 0 && median < 300,
      cycles,
      requests,
      failed,
      'changes that went wrong': wrong,
      'median install ms': Math.round(median),
      residue: residue.join('; '),
    };
  } finally {
    for (const step of undo) {
      await step();
    }
  }
}

async function fire(
  house: House,
  guns: number,
  battle: () => Promise<void>,
): Promise<{ requests: number; failed: number }> {
  const paths = [
    '/api/v1/wheel',
    '/api/v1/marketplace/installed',
    '/api/v1/agents',
    '/api/v1/skills',
  ];
  let [over, requests, failed] = [false, 0, 0];
  const gun = async (path: string): Promise<void> => {
    while (!over) {
      const reply = await house.fetch(path);
      await reply.arrayBuffer();
      requests += 1;
      failed += reply.status === 200 ? 0 : 1;
    }
  };
  const firing = Promise.all(
    Array.from({ length: guns }, (_, index) => gun(paths[index % paths.length]!)),
  );
  await battle();
  over = true;
  await firing;
  return { requests, failed };
}

/** All that could be left: effects in the process, files, rows. */
function stateOf(house: House): ReadonlyMap<string, string> {
  const state = new Map(
    Object.entries(house.census()).map(([what, count]) => [`census ${what}`, String(count)]),
  );
  for (const file of readdirSync(house.dataDir, { recursive: true, encoding: 'utf8' })) {
    // Copies and kept versions are named by their content.
    const plain = file.replaceAll(/[0-9a-f]{16,64}/g, '#');
    if (!/^svc\.db|\.db-(?:wal|shm)$|^cache\/(?!packs)/.test(file)) {
      state.set(`file ${plain}`, String(Number(state.get(`file ${plain}`) ?? 0) + 1));
    }
  }
  const db = new Database(join(house.dataDir, 'svc.db'), { readonly: true });
  const tables = db
    .prepare("select name from sqlite_master where type = 'table'")
    .pluck()
    .all() as string[];
  for (const table of tables.filter(
    (name) => !/^(?:sqlite_|audit_|marketplace_history)/.test(name),
  )) {
    state.set(`rows ${table}`, String(db.prepare(`select count(*) from "${table}"`).pluck().get()));
  }
  db.close();
  return state;
}

const differences = (
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].flatMap((key) =>
    before.get(key) === after.get(key)
      ? []
      : [`${key}: ${before.get(key) ?? 'none'}, then ${after.get(key) ?? 'none'}`],
  );
