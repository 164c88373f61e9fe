import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Outcome, Row } from '../exercise.ts';
import { ask, manifest, startMarket, uploadConfirmed } from '../plugins/marketplace/market.ts';

type House = Awaited<ReturnType<typeof startMarket>>;

/**
 * Deliberate misbehaviour of a pack, with the word for its outcome: of its process, or of the
 * answer.
 */
interface Misdeed {
  readonly does: string;
  readonly code: string;
  readonly ends: RegExp;
}

const misdeeds: readonly Misdeed[] = [
  { does: 'spins', code: 'for (;;);', ends: /^spinning$/ },
  {
    does: 'asks its tables without end',
    code: `await svc.db.all('with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c');`,
    ends: /^endless-statement$/,
  },
  {
    does: 'leaks',
    code: 'const all = []; for (;;) { all.push(Buffer.alloc(8e6, 1)); await new Promise((r) => setTimeout(r, 5)); }',
    ends: /^out-of-memory$/,
  },
  {
    does: 'floods RPC',
    code: `const say = (id) => { const text = Buffer.from(JSON.stringify({ t: 'ask', id, method: 'all', input: [] })); const head = Buffer.alloc(4); head.writeUInt32BE(text.length);
      return Buffer.concat([head, text]); };
      require('node:fs').writeSync(3, Buffer.concat(Array.from({ length: 500 }, (_, id) => say(id)))); await new Promise(() => {});`,
    ends: /^flooding$/,
  },
  {
    does: 'forks',
    code: `require('node:child_process').fork('x');`,
    ends: /^denied ChildProcess$/,
  },
  { does: 'exits', code: 'process.exit(7);', ends: /^exited$/ },
  {
    does: 'answers garbage',
    code: `require('node:fs').writeSync(3, Buffer.from([0, 0, 0, 3, 1, 2, 3])); await new Promise(() => {});`,
    ends: /^garbage$/,
  },
  { does: 'never answers', code: 'await new Promise(() => {});', ends: /^late$/ },
  {
    does: 'writes 1 GB',
    code: `const file = require('node:fs').openSync('/tmp/gigabyte', 'w'); for (let at = 0; at < 1e9; at += 1e6) require('node:fs').writeSync(file, Buffer.alloc(1e6));`,
    ends: /^denied FileSystemWrite$/,
  },
  {
    does: 'reads svc.db',
    code: `return require('node:fs').readFileSync(call.body.file).length;`,
    ends: /^denied FileSystemRead$/,
  },
  {
    does: 'opens a socket',
    code: `require('node:net').connect(call.body.port, '127.0.0.1');`,
    ends: /^denied Net$/,
  },
];

const pack = (id: string, { code }: Misdeed) => ({
  'plugin.json': manifest(id, {
    entry: 'index.js',
    mounts: [`/api/v1/${id}`],
    routes: [
      {
        method: 'POST',
        path: `/api/v1/${id}`,
        access: 'any',
        summary: 'Does it.',
        body: { type: 'object' },
      },
    ],
    limits: { rss_mb: 160, call_ms: 8_000 },
    permissions: { disk_mb: 4 },
  }),
  'index.js': `import { definePack } from 'svc/sdk';
    export default definePack({ routes: { 'POST /api/v1/${id}': async (call, svc) => { ${code.replace(/\/\*.*?\*\//g, '')} } } });`,
});

/** Eleven packs that misbehave, one after the other, while others are served: how each ends, and what the others felt. */
export async function run({
  quietMs = 2_000,
  most = Infinity,
}: { readonly quietMs?: number; readonly most?: number } = {}): Promise<Outcome> {
  const undo: (() => unknown)[] = [];
  const house = await startMarket(
    { after: (step) => void undo.push(step as () => unknown) },
    { environment: { SVC_LOG_LEVEL: 'error' } },
  );
  const rows: Row[] = [];
  try {
    const chosen = misdeeds.slice(0, most);
    for (const [index, misdeed] of chosen.entries()) {
      const { status, body } = await uploadConfirmed(
        house,
        pack(`misdeed-${index}`, misdeed),
        'a drill of packs that misbehave',
      );
      assert.equal(status, 201, JSON.stringify(body));
    }
    const quiet: number[] = [];
    const busy: number[] = [];
    for (const [index, { does, ends }] of chosen.entries()) {
      const id = `misdeed-${index}`;
      let ended = '';
      const before = await firedAt(house, () => sleep(quietMs));
      const during = await firedAt(
        house,
        async () => void ([ended] = await Promise.all([endOf(house, id, ends), sleep(quietMs)])),
      );
      quiet.push(...before.times);
      busy.push(...during.times);
      rows.push({
        pack: does,
        ended,
        named: ends.test(ended),
        'p99 before ms': p99Of(before.times),
        'p99 during ms': p99Of(during.times),
        requests: during.times.length,
        failed: during.failed,
      });
    }
    const { items } = (await ask(house, 'GET', '/installed')).body as {
      items: { pack_id: string; state: string }[];
    };
    const unnamed = rows.filter(({ named }) => named !== true).length;
    const failed = rows.reduce((sum, row) => sum + Number(row['failed']), 0);
    return {
      ok: unnamed === 0 && failed === 0,
      unnamed,
      failed,
      'p99 quiet ms': p99Of(quiet),
      'p99 during misdeeds ms': p99Of(busy),
      packs: items.length,
      misdeeds: rows,
    };
  } finally {
    for (const step of undo) {
      await step();
    }
  }
}

/**
 * Returns the outcome in a word: of the process if that has ended, else of the answer. The answer
 * may come before the end of the process that is its cause, so another word is waited for.
 */
async function endOf(house: House, id: string, ends: RegExp): Promise<string> {
  const reply = await house.fetch(`/api/v1/${id}`, {
    method: 'POST',
    body: JSON.stringify({ file: `${house.dataDir}/svc.db`, port: 1 }),
  });
  const { message = '' } = (await reply.json()) as { message?: string };
  const [, permission] = /denied access without permission: (\w+)/.exec(message) ?? [];
  let word =
    permission !== undefined
      ? `denied ${permission}`
      : /did not respond to route within/.test(message)
        ? 'late'
        : `${reply.status} ${message}`;
  for (let look = 0; look < 200 && !ends.test(word); look += 1) {
    await sleep(50);
    const { process } = await house.json<{ process: { ended: string | null } | null }>(
      `/api/v1/packs/${id}`,
    );
    word = process?.ended ?? word;
  }
  return word;
}

/** Requests of others during `work`: how long each took, and how many failed. */
async function firedAt(
  house: House,
  work: () => Promise<unknown>,
): Promise<{ readonly times: readonly number[]; readonly failed: number }> {
  const times: number[] = [];
  let [over, failed] = [false, 0];
  const gun = async (path: string): Promise<void> => {
    while (!over) {
      const began = performance.now();
      const reply = await house.fetch(path);
      await reply.arrayBuffer();
      times.push(performance.now() - began);
      failed += reply.status === 200 ? 0 : 1;
      await sleep(5);
    }
  };
  const firing = Promise.all(['/api/v1/agents', '/api/v1/marketplace/installed'].map(gun));
  await work();
  over = true;
  await firing;
  return { times, failed };
}

/** Returns the 99th percentile. */
function p99Of(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.round((sorted[Math.floor(sorted.length * 0.99)] ?? 0) * 10) / 10;
}
