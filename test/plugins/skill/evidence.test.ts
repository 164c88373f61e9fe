import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import type { Principal } from 'svc/sdk';

import { loadMigrations } from '../../../core/storage/migration-text.ts';
import { EvidenceStore } from '../../../plugins/skill/evidence-store.ts';
import { evidenceTextOf } from '../../../plugins/skill/evidence-text.ts';
import { digestOf, readIn } from '../../../plugins/skill/reading.ts';
import type { SkillTables } from '../../../plugins/skill/tables.ts';
import { flipBit } from '../../drill/flip-bit.ts';
import { withStorage } from '../../storage/folder.ts';

const migrations = loadMigrations(
  fileURLToPath(new URL('../../../plugins/skill/migrations', import.meta.url)),
);
const anna: Principal = { kind: 'user', id: '3', role: 'user', grants: ['skill:*'] };

test('evidence is bounded in total and in time, its rows and its files alike', () =>
  withStorage(async (storage, dir) => {
    await storage.migrate('skill', migrations);
    let now = Date.UTC(2026, 0, 1);
    const limits: Record<string, number> = { 'skill.evidence_mb': 1, 'skill.evidence_days': 30 };
    const folder = join(dir, 'evidence');
    const store = new EvidenceStore({
      folder,
      tables: storage.tables<SkillTables>('skill'),
      settings: { get: <T>(key: string) => limits[key] as T },
      clock: { now: () => now, monotonic: () => 0 },
      toolOf: (key) => (key === 't' ? { reads: ['logs'] } : undefined),
    });
    const about = { tool: 't', trust: 'untrusted' as const, principal: anna };
    const [old, large] = [
      await store.keep(evidenceTextOf('old'), about),
      await store.keep(evidenceTextOf('x'.repeat(600_000)), about),
    ];
    now += 20 * 86_400_000;
    const newer = await store.keep(evidenceTextOf('y'.repeat(600_000)), about);
    assert.deepEqual([old.id, large.id, newer.id, newer.bytes], ['E1', 'E2', 'E3', 600_000]);
    assert.equal(await store.tidy(), 2, 'the oldest make room');
    assert.deepEqual(readdirSync(folder), ['E3.txt']);
    await assert.rejects(store.read('E1', anna), { code: 'not_found' });
    const token = { ...anna, kind: 'token' as const, grants: ['read:skill'] };
    await assert.rejects(store.read('E3', token), /E3 is a result of t; .+ lacks read:logs/);
    const both = { ...token, grants: ['read:skill', 'read:logs'] };
    assert.equal((await store.read('E3', both)).text.length, 600_000);
    await assert.rejects(store.read('E3', { ...anna, id: '4' }), { code: 'not_found' });
    await assert.rejects(store.read('../E3', anna), { code: 'not_found' });
    await assert.rejects(
      store.read('E3', { ...anna, selectors: ['customer=acme'] }),
      { code: 'not_found' },
      'it was asked for when all devices were seen',
    );
    now += 31 * 86_400_000;
    assert.equal(await store.tidy(), 1);
    assert.deepEqual(readdirSync(folder), []);
    // A number is never given again.
    assert.equal((await store.keep(evidenceTextOf('again'), about)).id, 'E4');
    const huge = await store.keep(evidenceTextOf('z'.repeat(17 * 1024 * 1024)), about);
    assert.deepEqual(
      [huge.truncated, huge.bytes, (await store.read(huge.id, anna)).text.length],
      [true, 17 * 1024 * 1024, 16 * 1024 * 1024],
    );
  }));

test('who sees some devices alone reads what they have asked for under the same selectors, and nothing that no person has asked for', () =>
  withStorage(async (storage, dir) => {
    await storage.migrate('skill', migrations);
    const store = new EvidenceStore({
      folder: join(dir, 'evidence'),
      tables: storage.tables<SkillTables>('skill'),
      settings: { get: <T>() => 1 as T },
      clock: { now: () => 0, monotonic: () => 0 },
      toolOf: (key) => (key === 't' ? { reads: ['logs'] } : undefined),
    });
    const [acme, other] = [['customer=acme'], ['customer=bravo']];
    const about = { tool: 't', trust: 'untrusted' as const };
    const own = await store.keep(evidenceTextOf('theirs'), {
      ...about,
      principal: { ...anna, selectors: acme },
    });
    const house = await store.keep(evidenceTextOf('of the house'), {
      ...about,
      principal: { kind: 'system', id: 'investigate', role: 'viewer', grants: [] },
    });
    assert.equal((await store.read(own.id, { ...anna, selectors: acme })).text, 'theirs');
    assert.equal((await store.read(own.id, anna)).text, 'theirs', 'who sees all again');
    assert.equal((await store.read(house.id, anna)).text, 'of the house');
    await assert.rejects(store.read(own.id, { ...anna, selectors: other }), { code: 'not_found' });
    await assert.rejects(store.read(own.id, { ...anna, id: '4', selectors: acme }), {
      code: 'not_found',
    });
    await assert.rejects(store.read(house.id, { ...anna, selectors: acme }), { code: 'not_found' });
  }));

test('a text is read on to its end, whatever its lines are like', () => {
  const text = `${'a'.repeat(25_000)}\n${Array.from({ length: 500 }, (_, index) => `row ${index} "${'\u0001'.repeat(10)}"`).join('\n')}\nend`;
  let [seen, from] = ['', 1];
  for (let turn = 0; turn < 100 && from !== 0; turn++) {
    const { lines, next } = readIn(text, { from });
    assert.ok(JSON.stringify(lines).length <= 6_100 && lines.length > 0);
    seen += lines.map((line) => line.slice(line.indexOf(': ') + 2)).join('');
    from = next ?? 0;
  }
  assert.equal(seen, text.replaceAll('\n', ''));
  assert.deepEqual(readIn(text, { filter: '^ROW 499 ' }).matching, 1);
  assert.equal(readIn('', {}).total_lines, 1);
  const { head, tail } = digestOf(text);
  assert.ok(
    text.startsWith(head.replaceAll('\n', '').slice(0, 2_000)) &&
      tail.endsWith('end') &&
      head.length + tail.length < 5_000,
  );
});

test('evidence whose file has changed is not read as what the tool said; its file is named', () =>
  withStorage(async (storage, dir) => {
    await storage.migrate('skill', migrations);
    const folder = join(dir, 'evidence');
    const store = new EvidenceStore({
      folder,
      tables: storage.tables<SkillTables>('skill'),
      settings: { get: <T>() => 1 as T },
      clock: { now: () => 0, monotonic: () => 0 },
      toolOf: (key) => (key === 't' ? { reads: ['logs'] } : undefined),
    });
    const { id } = await store.keep(evidenceTextOf('free: 12 GB, é'), {
      tool: 't',
      trust: 'untrusted',
      principal: anna,
    });
    assert.equal((await store.read(id, anna)).text, 'free: 12 GB, é');
    flipBit(join(folder, `${id}.txt`), 6);
    await assert.rejects(store.read(id, anna), {
      code: 'unavailable',
      message: /evidence\/E1\.txt, the text of evidence E1, is damaged: restore it from a backup/,
    });
  }));
