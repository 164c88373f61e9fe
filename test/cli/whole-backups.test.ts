import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { createBackup } from '../../bin/upkeep/backup/backup.ts';
import { partsOf, readManifest } from '../../bin/upkeep/backup/manifest.ts';
import { restoreBackup } from '../../bin/upkeep/backup/restore.ts';
import { journalName, swapIn } from '../../bin/upkeep/backup/swap.ts';
import { openIn } from '../storage/folder.ts';
import { scratch, type Serving, serving, svc } from './launcher.ts';

const product = { version: '1.0.0', root: '' };

/** Sends numbers to the three stores until stopped, counting what was acknowledged. */
function load(house: Serving) {
  const sent = { metrics: 0, logs: 0, traces: 0 };
  let ends = false;
  const post = async (path: string, body: unknown): Promise<void> => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${house.token}` };
    const answer = await fetch(house.url + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    assert.ok(answer.ok, `${path}: ${answer.status} ${await answer.text()}`);
  };
  const at = (n: number): string => String(BigInt(Date.now()) * 1_000_000n + BigInt(n));
  const rounds = async (): Promise<void> => {
    for (let n = 1; !ends; n++) {
      const attributes = [{ key: 'n', value: { intValue: String(n) } }];
      const dataPoints = [{ timeUnixNano: at(0), asDouble: n, attributes }];
      await post('/v1/metrics', {
        resourceMetrics: [
          { scopeMetrics: [{ metrics: [{ name: 'kept', gauge: { dataPoints } }] }] },
        ],
      });
      sent.metrics = n;
      await post('/loki/api/v1/push', {
        streams: [{ stream: { app: 'kept' }, values: [[at(n), `line ${n}`]] }],
      });
      sent.logs = n;
      const span = {
        traceId: n.toString(16).padStart(32, '0'),
        spanId: n.toString(16).padStart(16, '0'),
        name: 'kept',
        startTimeUnixNano: at(0),
        endTimeUnixNano: at(5),
      };
      await post('/v1/traces', {
        resourceSpans: [{ scopeSpans: [{ spans: [{ ...span, attributes }] }] }],
      });
      sent.traces = n;
    }
  };
  const done = rounds();
  return {
    sent,
    async end(): Promise<void> {
      ends = true;
      await done;
    },
    async reached(count: number): Promise<void> {
      while (sent.traces < count) {
        await Promise.race([new Promise((resolve) => setTimeout(resolve, 10)), done]);
      }
    },
  };
}

async function answers(
  house: Serving,
): Promise<{ metrics: number; logs: number; traces: boolean }> {
  const json = async <T>(path: string): Promise<T> => (await (await house.fetch(path)).json()) as T;
  const metrics = await json<{ data: { result: { value: [number, string] }[] } }>(
    `/prometheus/api/v1/query?query=${encodeURIComponent('count(last_over_time(kept[1h]))')}`,
  );
  const logs = await json<{ data: { result: { values: unknown[] }[] } }>(
    `/loki/api/v1/query_range?limit=5000&query=${encodeURIComponent('{app="kept"}')}`,
  );
  const trace = await house.fetch(`/tempo/api/traces/${'1'.padStart(32, '0')}`);
  return {
    metrics: Number(metrics.data.result[0]?.value[1] ?? 0),
    logs: logs.data.result.reduce((sum, { values }) => sum + values.length, 0),
    traces: trace.ok,
  };
}

test('a backup made while svc is written to brings metrics, logs and traces back elsewhere', async (t) => {
  const folder = scratch(t);
  const here = await serving(t, join(folder, 'data'));
  const writing = load(here);
  await writing.reached(20);
  const before = { ...writing.sent };
  const made = await svc([
    'backup',
    'create',
    join(folder, 'one'),
    '--with-key',
    '--data',
    join(folder, 'data'),
    '--json',
  ]);
  assert.equal(made.code, 0, made.stderr);
  const parts = made.json<{ parts: { part: string }[] }>().parts.map(({ part }) => part);
  ['database', 'metrics', 'logs', 'traces', 'key'].forEach((part) =>
    assert.ok(parts.includes(part), `${part} in ${parts.join()}`),
  );
  await writing.end();
  assert.deepEqual(
    readdirSync(join(folder, 'data')).filter((name) => name.endsWith('.copying')),
    [],
  );

  await t.test('everything acknowledged before it began is in it', async (part) => {
    const restored = await svc([
      'backup',
      'restore',
      join(folder, 'one'),
      '--data',
      join(folder, 'elsewhere'),
    ]);
    assert.equal(restored.code, 0, restored.stderr);
    assert.match(restored.stdout, /\n {2}metrics /);
    const there = await serving(part, join(folder, 'elsewhere'));
    const found = await answers(there);
    assert.ok(
      found.metrics >= before.metrics && found.logs >= before.logs && found.traces,
      `${JSON.stringify(found)} of ${JSON.stringify(before)}`,
    );
    assert.equal((await there.fetch('/readyz')).status, 200);
    assert.doesNotMatch(there.said(), /damaged|missing/);
  });

  await t.test(
    'the next one on the same disk takes no room for what has not changed, and telemetry may be left out, in words',
    async () => {
      mkdirSync(join(folder, 'data', 'packs', 'notes'), { recursive: true });
      writeFileSync(join(folder, 'data', 'packs', 'notes', 'plugin.json'), '{}');
      writeFileSync(join(folder, 'data', 'svc.yaml'), 'log: { level: warn }\n');
      const small = await svc([
        'backup',
        'create',
        join(folder, 'two'),
        '--without-telemetry',
        '--data',
        join(folder, 'data'),
      ]);
      assert.match(small.stdout, /not included: logs, metrics, traces, the secret key/);
      const next = await svc([
        'backup',
        'create',
        join(folder, 'three'),
        '--base',
        join(folder, 'two'),
        '--data',
        join(folder, 'data'),
      ]);
      assert.equal(next.code, 0, next.stderr);
      const pack = join('packs', 'notes', 'plugin.json');
      assert.equal(
        statSync(join(folder, 'three', pack)).ino,
        statSync(join(folder, 'two', pack)).ino,
      );
      assert.match(
        (await svc(['backup', 'verify', join(folder, 'three')])).stdout,
        /settings file/,
      );
      await here.end();
      writeFileSync(join(folder, 'data', 'svc.yaml'), 'log: { level: error }\n');
      assert.equal(
        (await svc(['backup', 'restore', join(folder, 'three'), '--data', join(folder, 'data')]))
          .code,
        0,
      );
      assert.match(readFileSync(join(folder, 'data', 'svc.yaml'), 'utf8'), /warn/);
    },
  );
});

test('a key in a backup can be sealed with a passphrase, and opens with no other', async (t) => {
  const folder = scratch(t);
  const dataDir = join(folder, 'data');
  await (await openIn(dataDir)).close();
  const passphrase = 'correct horse battery';
  await assert.rejects(
    createBackup(join(folder, 'weak'), { dataDir, product, withKey: true, passphrase: 'short' }),
    /passphrase is too short: use at least 12 characters/,
  );
  await createBackup(join(folder, 'sealed'), { dataDir, product, withKey: true, passphrase });
  assert.ok(!existsSync(join(folder, 'sealed', 'secret.key')));
  const key = readFileSync(join(dataDir, 'keys', 'secret.key'), 'utf8').trim();
  assert.ok(!readFileSync(join(folder, 'sealed', 'secret.key.sealed')).includes(key));
  const to = join(folder, 'to');
  await assert.rejects(
    restoreBackup(join(folder, 'sealed'), to, product),
    /is sealed: pass its passphrase/,
  );
  await assert.rejects(
    restoreBackup(join(folder, 'sealed'), to, product, { passphrase: 'another passphrase' }),
    /does not decrypt the key/,
  );
  assert.ok(!existsSync(join(to, 'svc.db')), 'nothing was put in place');
  await restoreBackup(join(folder, 'sealed'), to, product, { passphrase });
  assert.equal(readFileSync(join(to, 'keys', 'secret.key'), 'utf8').trim(), key);
});

test('a restore that is cut short between any two moves is finished by the next start', async (t) => {
  const folder = scratch(t);
  const write = (dataDir: string, text: string): void => {
    for (const unit of ['plugins/notes', 'plugins/other']) {
      mkdirSync(join(dataDir, unit), { recursive: true });
      writeFileSync(join(dataDir, unit, 'text'), text);
    }
  };
  const source = join(folder, 'source');
  await (await openIn(source)).close();
  write(source, 'new');
  await createBackup(join(folder, 'backup'), { dataDir: source, product, files: 'all' });
  // After how many of its renames the process is killed.
  for (let moves = 0; moves <= 5; moves++) {
    const dataDir = join(folder, `live${moves}`);
    await (await openIn(dataDir)).close();
    write(dataDir, 'old');
    writeFileSync(join(dataDir, 'plugins', 'notes', 'only-old'), '');
    const incoming = join(dataDir, 'restore.incoming');
    for (const { name } of readManifest(join(folder, 'backup')).files) {
      mkdirSync(join(incoming, name, '..'), { recursive: true });
      writeFileSync(join(incoming, name), readFileSync(join(folder, 'backup', name)));
    }
    const kept = 'before-restore-2026-01-02T030405.678Z';
    const units = ['plugins/notes', 'plugins/other'];
    writeFileSync(
      join(dataDir, journalName),
      JSON.stringify({ aside: kept, units: units.map((unit) => ({ unit, brought: true })) }),
    );
    mkdirSync(join(dataDir, kept, 'plugins'), { recursive: true });
    const renames = units.flatMap((unit) => [
      [join(dataDir, unit), join(dataDir, kept, unit)],
      [join(incoming, unit), join(dataDir, unit)],
    ]);
    renames.slice(0, moves).forEach(([from, to]) => renameSync(from!, to!));
    if (moves === 5) {
      rmSync(join(incoming, 'svc.db'));
    }
    assert.deepEqual(swapIn(dataDir, undefined), { aside: join(dataDir, kept), damage: undefined });
    units.forEach((unit) =>
      assert.equal(
        readFileSync(join(dataDir, unit, 'text'), 'utf8'),
        'new',
        `${unit} after ${moves} moves`,
      ),
    );
    units.forEach((unit) =>
      assert.equal(readFileSync(join(dataDir, kept, unit, 'text'), 'utf8'), 'old'),
    );
    assert.ok(
      !existsSync(join(dataDir, 'plugins', 'notes', 'only-old')) &&
        !existsSync(incoming) &&
        !existsSync(join(dataDir, journalName)),
    );
    assert.equal(swapIn(dataDir, undefined), undefined);
  }
});

test('a journal of a restore moves nothing out of the data folder, and nothing of others into it', (t) => {
  const folder = scratch(t);
  const dataDir = join(folder, 'data');
  for (const path of ['data', 'others']) {
    mkdirSync(join(folder, path));
  }
  const [good, unit] = ['before-restore-2026-01-02T030405.678Z', 'plugins/notes'];
  for (const [aside, moved] of [
    [good, '../others'],
    [good, 'plugins/../../others'],
    [good, '/etc'],
    ['../others', unit],
    ['a/b', unit],
    [good, 7],
  ] as const) {
    writeFileSync(
      join(dataDir, journalName),
      JSON.stringify({ aside, units: [{ unit: moved, brought: false }] }),
    );
    assert.throws(() => swapIn(dataDir, undefined), /was not written by a restore/);
    assert.ok(existsSync(join(folder, 'others')));
  }
});

test('a manifest cannot name files outside of what a backup holds', async (t) => {
  const folder = scratch(t);
  const source = join(folder, 'source');
  await (await openIn(source)).close();
  const manifest = await createBackup(join(folder, 'backup'), {
    dataDir: source,
    product,
    files: 'all',
  });
  assert.deepEqual(
    partsOf(manifest).map(({ part }) => part),
    ['database'],
  );
  for (const name of [
    '../x',
    'plugins/../../x',
    '/etc/passwd',
    'plugins//x',
    'keys/operator.token',
    'plugins/a/./b',
    'run.json',
    'plugins\\x',
    'packs/a\0b',
  ]) {
    writeFileSync(
      join(folder, 'backup', 'manifest.json'),
      JSON.stringify({ ...manifest, files: [...manifest.files, { name, sha256: '', bytes: 0 }] }),
    );
    assert.throws(
      () => readManifest(join(folder, 'backup')),
      /does not list the files of a backup/,
      name,
    );
  }
});
