import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';

import type { ToolSource } from 'svc/contracts/skill';
import { isSvcError, PackLoader } from 'svc/sdk';
import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

const home = mkdtempSync(join(tmpdir(), 'svc-contributions-'));
after(() => rmSync(home, { recursive: true, force: true }));

const principal = { kind: 'user', id: '7', name: 'anna', role: 'user', grants: [] } as const;
const skill = (key: string) => ({
  key,
  name: key,
  description: `Does ${key}.`,
  class: 'mutating',
  params: { type: 'object' },
});

/** A pack with these skills by their code, and whatever else its manifest says. */
function packOf(
  skills: Readonly<Record<string, string>>,
  manifest: object = {},
  more = '',
  migration?: string,
): string {
  const folder = join(mkdtempSync(join(home, 'case-')), 'mill');
  mkdirSync(folder);
  const every = {
    id: 'mill',
    version: '1.0.0',
    title: 'Mill',
    description: 'Mills.',
    kind: 'pack',
    entry: 'index.js',
    engines: { host: '^1.0.0' },
  };
  writeFileSync(
    join(folder, 'plugin.json'),
    JSON.stringify({ ...every, skills: Object.keys(skills).map(skill), ...manifest }),
  );
  const bodies = Object.entries(skills).map(([key, body]) => `${JSON.stringify(key)}: ${body}`);
  writeFileSync(
    join(folder, 'index.js'),
    `let started = 0;\nexports.default = { ${more} skills: { ${bodies.join(', ')} } };`,
  );
  if (migration !== undefined) {
    mkdirSync(join(folder, 'migrations'));
    writeFileSync(join(folder, 'migrations', '001.sql'), migration);
  }
  return folder;
}

/** Starts a host with the pack in `plugins`, so that nobody has to accept it. */
async function houseWith(t: TestContext, folder: string): Promise<TestHost> {
  const house = await startTestHost(t, { plugins: ['packs', folder] });
  useNoLeaks(t, house);
  assert.equal(house.host.explain('mill').state, 'active', house.host.explain('mill').cause);
  return house;
}

const sourceIn = (house: TestHost): ToolSource =>
  house.registry.current.contributions.get('skill.sources/pack:mill')!.value.value as ToolSource;

const call = (
  house: TestHost,
  key: string,
  params: object = {},
  signal = new AbortController().signal,
  timeoutMs = 20_000,
): Promise<unknown> =>
  sourceIn(house).run(
    key,
    { ...params },
    {
      principal,
      device_id: undefined,
      edge_id: undefined,
      timeoutMs,
      signal,
      idempotencyKey: undefined,
      approval: undefined,
      class: 'mutating',
    },
  );

const unavailable = (message: RegExp) => (error: unknown) => {
  assert.ok(isSvcError(error) && error.code === 'unavailable', String(error));
  assert.match(error.message, message);
  return true;
};

test('a skill is listed as its manifest declares it, and is given params and the facts of its caller alone', async (t) => {
  const house = await houseWith(t, packOf({ 'mill-echo': 'async (input) => input' }));
  const { params: schema, ...declared } = skill('mill-echo');
  assert.deepEqual(sourceIn(house).list(), [
    {
      ...declared,
      tier: 'specialty',
      scope: 'manager',
      schema,
      source: 'pack:mill',
      trust: 'untrusted',
    },
  ]);
  assert.deepEqual(await call(house, 'mill-echo', { grain: 'rye' }), {
    params: { grain: 'rye' },
    principal: { id: '7', kind: 'user', role: 'user' },
  });
});

test('a skill that fails, is late, is given up or dies says so, and the pack goes on', async (t) => {
  const folder = packOf({
    'mill-fail': `() => { throw new Error('the stone is broken'); }`,
    'mill-wait': `(_input, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => { started += 1; resolve(); }))`,
    'mill-die': '() => process.exit(3)',
    'mill-count': '() => started',
  });
  const house = await houseWith(t, folder);
  await assert.rejects(call(house, 'mill-fail'), /the stone is broken/);
  await assert.rejects(
    call(house, 'mill-wait', {}, undefined, 100),
    unavailable(/did not respond to skill within 100 ms/),
  );
  const given = new AbortController();
  const left = call(house, 'mill-wait', {}, given.signal);
  await call(house, 'mill-count');
  given.abort(new Error('nobody waits'));
  await assert.rejects(left, /nobody waits/);
  assert.equal(await call(house, 'mill-count'), 2, 'both were told to stop');
  await assert.rejects(
    call(house, 'mill-die'),
    unavailable(/stopped during the call: exited with code 3/),
  );
  for (
    const deadline = Date.now() + 20_000;
    ;
    await new Promise((resolve) => setTimeout(resolve, 50))
  ) {
    const count = await call(house, 'mill-count').catch(() => undefined);
    if (count !== undefined) {
      assert.equal(count, 0, 'another process');
      break;
    }
    assert.ok(Date.now() < deadline, 'within 20 s it is there again');
  }
});

test('a start finds the tables, many questions wait their turn, and another generation finds what was written', async (t) => {
  const folder = packOf(
    {
      'mill-starts': `(_input, { db }) => db.all('select count(*) as n from starts')`,
      'mill-many': `async (_input, { db }) => (await Promise.all(Array.from({ length: 500 }, () => db.all('select count(*) as n from starts')))).length`,
    },
    { permissions: { disk_mb: 4 }, limits: { call_ms: 60_000 } },
    `async start({ db }) { await db.run('insert into starts (at) values (?)', Date.now()); },`,
    'CREATE TABLE starts (id INTEGER PRIMARY KEY, at INTEGER) STRICT;',
  );
  const house = await houseWith(t, folder);
  assert.equal(await call(house, 'mill-many'), 500);
  await house.reload('mill');
  await house.reload('mill');
  assert.equal(await call(house, 'mill-many'), 500);
  assert.deepEqual(await call(house, 'mill-starts'), [{ n: 3 }]);
});

test('migrations without room for tables, and tables without the right, are named', async (t) => {
  const none = await startTestHost(t, {
    plugins: ['packs', packOf({}, {}, '', 'CREATE TABLE a (b);')],
  });
  assert.match(
    none.host.explain('mill').cause!,
    /has migrations\/001\.sql but no permission for tables: request "permissions": \{"disk_mb": 64\}/,
  );
  const house = await houseWith(
    t,
    packOf({ 'mill-ask': `(_input, { db }) => db.all('select 1')` }),
  );
  await assert.rejects(call(house, 'mill-ask'), /svc has no method all for this pack/);
});

test('a child that asks more at once than it may is ended', async (t) => {
  const flood = `() => { const fs = require('node:fs'); for (let id = 1e6; id < 1e6 + 40; id += 1) { const body = Buffer.from(JSON.stringify({ t: 'ask', id, method: 'all', input: ['select 1'] })); const head = Buffer.alloc(4); head.writeUInt32BE(body.length); fs.writeSync(3, Buffer.concat([head, body])); } return new Promise(() => {}); }`;
  const house = await houseWith(
    t,
    packOf({ 'mill-flood': flood }, { permissions: { disk_mb: 1 } }),
  );
  await assert.rejects(
    call(house, 'mill-flood'),
    unavailable(/made more than 16 concurrent requests to svc/),
  );
});

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (
    const deadline = Date.now() + 20_000;
    !(await holds());
    await new Promise((resolve) => setTimeout(resolve, 50))
  ) {
    assert.ok(Date.now() < deadline, 'within 20 s');
  }
}

const endless =
  'with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) as n from c';

test('a statement without an end is ended at its deadline with the process it runs in, and the next one finds the tables as they were', async (t) => {
  const folder = packOf(
    {
      'mill-spin': `(_input, { db }) => db.all(${JSON.stringify(endless)})`,
      'mill-count': `(_input, { db }) => db.all('select count(*) as n from grains')`,
      'mill-blob': `async (_input, { db }) => { await db.run("insert into grains (b, f) values (x'00ff', 9e999)"); const [row] = await db.all('select b, f from grains'); return [Buffer.from(row.b).toString('hex'), String(row.f)]; }`,
    },
    { permissions: { disk_mb: 4 }, limits: { call_ms: 1_000 } },
    '',
    'CREATE TABLE grains (id INTEGER PRIMARY KEY, b BLOB, f REAL) STRICT;',
  );
  const house = await houseWith(t, folder);
  assert.deepEqual(await call(house, 'mill-blob'), ['00ff', 'Infinity']);
  await assert.rejects(call(house, 'mill-spin'), unavailable(/.+/));
  const loader = house.service(PackLoader) as unknown as {
    processOf(id: string): { causeKind: string; cause: string };
  };
  await until(() => loader.processOf('mill').causeKind === 'endless-statement');
  assert.match(
    loader.processOf('mill').cause,
    /[Tt]he process for its tables was ended: it ran a statement \(with recursive .*\) for more than 750 ms/,
  );
  await assert.rejects(
    call(house, 'mill-count'),
    unavailable(/The tables of mill are backing-off: the process was ended/),
  );
  let rows: unknown;
  await until(
    async () => (rows = await call(house, 'mill-count').catch(() => undefined)) !== undefined,
  );
  assert.deepEqual(rows, [{ n: 1 }]);
});

test('a house stops while a statement without an end runs', async (t) => {
  const folder = packOf(
    { 'mill-spin': `(_input, { db }) => db.all(${JSON.stringify(endless)})` },
    { permissions: { disk_mb: 4 }, limits: { call_ms: 60_000, drain_ms: 500 } },
  );
  const house = await houseWith(t, folder);
  const spinning = assert.rejects(call(house, 'mill-spin', {}, undefined, 60_000));
  await house.stop();
  await spinning;
});

test('a pack whose migration fails or has no end does not come up', async (t) => {
  for (const [sql, why] of [
    [
      'CREATE TABLE a (b); CREATE TABLE a (b);',
      /The tables of mill cannot be opened: .*already exists/,
    ],
    [
      `CREATE TABLE a AS ${endless};`,
      /The process for its tables was ended: it ran its migrations for more than 3000 ms/,
    ],
  ] as const) {
    const house = await startTestHost(t, {
      plugins: [
        'packs',
        packOf({}, { permissions: { disk_mb: 4 }, limits: { activate_ms: 4_000 } }, '', sql),
      ],
    });
    const { state, cause } = house.host.explain('mill');
    assert.equal(state, 'failed', cause);
    assert.match(cause!, why);
  }
});
