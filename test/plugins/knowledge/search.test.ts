import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import type { ThreadSetup } from 'svc/thread';

import { openIndex } from '../../../plugins/knowledge/search/open-index.ts';
import { type Answer, openSearch } from '../../../plugins/knowledge/search/searcher.ts';
import { type Json, knowledgeHouse } from './house.ts';

const playbook = `# OOM killer

The kernel killed a process because memory ran out.

## First readings

Look at \`node_memory_used_percent\` and the \`OOMKilled\` reason of the container.

| metric | meaning |
| --- | --- |
| node_memory_used_percent | memory that is used |

## The fix

\`\`\`sh
# not a heading
systemctl restart app
\`\`\`

## The fix

Second of the name: add swap space. Exit code 137, error E11000.
`;

describe('search', () => {
  test('finds by word family, identifier, error code, phrase, folder and tag, and says where', async (t) => {
    const { ask, add, paths } = await knowledgeHouse(t);
    await add('vault/host/oom.md', playbook, { tags: ['memory', 'kernel'] });
    await add(
      'vault/net/dns.md',
      '# DNS does not resolve\nThe resolver times out. Connection refused by 10.0.0.53.',
    );
    await add(
      'notes/disk.md',
      '# Filesystem is full\nNo space left on device. Delete old logs, memory is fine.',
    );
    assert.deepEqual(await paths('killing processes'), ['vault/host/oom.md']);
    assert.equal((await paths('node_memory_used_percent'))[0], 'vault/host/oom.md');
    assert.equal((await paths('oomkilled'))[0], 'vault/host/oom.md');
    assert.equal((await paths('OOM killed'))[0], 'vault/host/oom.md');
    assert.equal((await paths('E11000'))[0], 'vault/host/oom.md');
    assert.equal((await paths('memroy'))[0], 'vault/host/oom.md', 'letters that changed places');
    assert.equal((await paths('file system'))[0], 'notes/disk.md');
    assert.equal((await paths('filesytem'))[0], 'notes/disk.md');
    assert.equal((await paths('ENOSPC'))[0], 'notes/disk.md', 'another word for it');
    assert.deepEqual(await paths('"connection refused"'), ['vault/net/dns.md']);
    assert.equal(
      (await paths('the resolver times out while it asks for "app", connection refused'))[0],
      'vault/net/dns.md',
      'quotes in a message that was pasted demand nothing',
    );
    assert.deepEqual(await paths('"refused connection"'), []);
    assert.deepEqual(await paths('memory path:notes'), ['notes/disk.md']);
    assert.deepEqual(await paths('memory', '&path_prefix=notes/'), ['notes/disk.md']);
    assert.deepEqual(await paths('memory', '&tag=kernel'), ['vault/host/oom.md']);
    assert.deepEqual(await paths('memory tag:nothing'), []);
    assert.deepEqual(await paths('zzzqqq'), []);
    const unfit = await ask('GET', '/search?q=memory+of+the+harpsichord+in+the+orchestra');
    assert.deepEqual(
      [unfit.body.items[0].path, unfit.body.fits],
      ['vault/host/oom.md', false],
      'one word of many is no answer, and is said to be none',
    );
    const { body } = await ask('GET', `/search?q=${encodeURIComponent('swap space')}`);
    assert.equal(body.fits, true);
    const [hit] = body.items;
    assert.deepEqual(
      [hit.path, hit.heading, hit.anchor, hit.version, body.mode],
      ['vault/host/oom.md', 'OOM killer › The fix', 'the-fix-1', 1, 'lexical'],
    );
    const [{ text, marks }] = hit.highlights;
    assert.deepEqual(
      marks.map(([from, to]: [number, number]) => text.slice(from, to)),
      ['swap', 'space'],
    );
    for (const q of [
      '"',
      '(((',
      'NOT',
      '*',
      'a"b',
      'title:x',
      '^',
      '-',
      'path:',
      "'; drop table words; --",
      '{',
      'NEAR(a b)',
      '\u0000',
      '👍',
    ]) {
      assert.equal((await ask('GET', `/search?q=${encodeURIComponent(q)}`)).status, 200, q);
    }
  });

  test('forgets what was changed or deleted, and goes on with its index after a restart', async (t) => {
    const { ask, add, paths, house } = await knowledgeHouse(t);
    const doc = await add('a.md', 'quagga');
    assert.deepEqual(await paths('quagga'), ['a.md']);
    await ask('PATCH', `/docs/${doc.id}`, { body: { content: 'okapi' } });
    assert.deepEqual(await paths('quagga'), []);
    assert.deepEqual(await paths('okapi'), ['a.md']);
    await house.reload('knowledge');
    assert.deepEqual(await paths('okapi'), ['a.md']);
    await ask('DELETE', `/docs/${doc.id}`);
    assert.deepEqual(await paths('okapi'), []);
    let state: Json;
    do {
      state = (await ask('GET', '/index')).body;
    } while (state.documents > 0);
    assert.deepEqual(
      [state.state, state.chunks, state.behind, state.last_error],
      ['ready', 0, 0, null],
    );
  });

  test('has no thread before there is a document or a question, nor after a restart before the next one', async (t) => {
    const { add, paths, house } = await knowledgeHouse(t);
    const threads = async (): Promise<unknown> =>
      await Promise.all(
        ['index', 'search'].map(
          async (name) =>
            (await house.registry.current.checks.get(`knowledge/thread ${name}`)!.value.probe())
              .detail,
        ),
      );
    assert.deepEqual(await threads(), ['waiting', 'waiting']);
    await add('a.md', 'quagga');
    assert.deepEqual(await paths('quagga'), ['a.md']);
    assert.deepEqual(await threads(), ['running', 'running']);
    await house.reload('knowledge');
    assert.deepEqual(await threads(), ['waiting', 'waiting'], 'the index has everything already');
    assert.deepEqual(await paths('quagga'), ['a.md']);
    await add('b.md', 'okapi');
    assert.deepEqual(await paths('okapi'), ['b.md']);
  });

  test('tells of no word that only documents have which the asker may not see', async (t) => {
    const { ask, add } = await knowledgeHouse(t);
    const found = async (query: string, as: string): Promise<unknown> =>
      (await ask('GET', `/search?q=${encodeURIComponent(query)}`, { as })).body.items.map(
        ({ path, score }: Json) => [path, score],
      );
    await add('a.md', 'the vibraphane of the okapi');
    const before = [await found('vibraphone', 'bert'), await found('okapi', 'bert')];
    const hidden = await add('b.md', 'a vibraphone', { org_id: 1 });
    for (let number = 0; number < 5; number++) {
      await add(`c/${number}.md`, 'okapi', { org_id: 1 });
    }
    assert.deepEqual(
      ((await found('vibraphone', 'anna')) as [string, number][]).map(([path]) => path),
      ['b.md'],
    );
    assert.deepEqual([await found('vibraphone', 'bert'), await found('okapi', 'bert')], before);
    await ask('DELETE', `/docs/${hidden.id}`);
    assert.deepEqual(
      ((await found('vibraphone', 'anna')) as [string, number][]).map(([path]) => path),
      ['a.md'],
    );
  });

  test('is asked again of the index that took the place of the one it was about to open', async (t) => {
    const folder = fs.mkdtempSync(join(tmpdir(), 'svc-index-'));
    const setup = { data: { folder } } as ThreadSetup;
    const [index, search] = [await openIndex(setup), await openSearch(setup)];
    t.after(async () => {
      await Promise.all([index.close(), search.close()]);
      fs.rmSync(folder, { recursive: true });
    });
    const call = (service: typeof index, method: string, input?: unknown): unknown =>
      service.methods[method]!(input, undefined as never);
    const makeAnew = (): void =>
      ['begin', 'promote', 'sweep'].forEach((step) => call(index, step, { lineage: 'x' }));
    makeAnew();
    const exists = t.mock.method(fs, 'existsSync', () => {
      exists.mock.restore();
      syncBuiltinESMExports();
      makeAnew();
      return true;
    });
    syncBuiltinESMExports();
    assert.deepEqual(
      (
        call(search, 'search', {
          text: 'okapi',
          limit: 1,
          mode: 'lexical',
          audiences: { among: undefined, ofDevices: true },
        }) as Answer
      ).items,
      [],
    );
  });

  test('has its index made anew that is not what was written, or is gone', async (t) => {
    const folder = fs.mkdtempSync(join(tmpdir(), 'svc-index-'));
    t.after(() => fs.rmSync(folder, { recursive: true }));
    const said: string[] = [];
    const log = { warn: (_fields: object, message: string) => void said.push(message) };
    const setup = { data: { folder }, log } as unknown as ThreadSetup;
    const opened = async (steps: readonly string[]): Promise<readonly string[]> => {
      const index = await openIndex(setup);
      const call = (method: string): unknown =>
        index.methods[method]!({ lineage: 'x' }, undefined as never);
      const there = Object.keys(call('positions') as object);
      steps.forEach(call);
      await index.close();
      return there;
    };
    assert.deepEqual(await opened(['begin', 'promote']), []);
    assert.deepEqual(await opened([]), ['serving']);
    const file = join(folder, 'index-1.db');
    const bytes = fs.readFileSync(file);
    bytes[bytes.length - 5]! ^= 4;
    fs.writeFileSync(file, bytes);
    assert.deepEqual(await opened(['begin', 'promote']), []);
    assert.deepEqual(said, ['search index in index-1.db is unreadable; rebuilding']);
    assert.deepEqual(await opened([]), ['serving']);
    const [left] = fs.readdirSync(folder).filter((name) => /^index-\d+\.db$/.test(name));
    fs.rmSync(join(folder, left!));
    assert.deepEqual(await opened([]), []);
  });

  test('goes on while its index is made anew', async (t) => {
    const { ask, add, paths } = await knowledgeHouse(t);
    for (let number = 0; number < 30; number++) {
      await add(`n/${number}.md`, `# Number ${number}\nokapi ${number}`);
    }
    assert.equal((await ask('POST', '/index/rebuild')).status, 202);
    let state = 'rebuilding';
    while (state !== 'ready') {
      assert.equal((await paths('okapi', '&limit=50')).length, 30);
      state = (await ask('GET', '/index')).body.state;
    }
    await add('new.md', 'okapi too');
    assert.equal((await paths('okapi', '&limit=50')).length, 31);
  });

  test('is made anew as it was asked for, also when svc ends before that is done', async (t) => {
    const dataDir = fs.mkdtempSync(join(tmpdir(), 'svc-anew-'));
    t.after(() => fs.rmSync(dataDir, { recursive: true }));
    const serving = (): string =>
      fs.readFileSync(join(dataDir, 'plugins/knowledge/index/current'), 'utf8');
    const first = await knowledgeHouse(t, { dataDir });
    // Enough to be in the middle of it when svc ends.
    const long = Array.from(
      { length: 200 },
      (_, number) => `## Part ${number}\n\n${'the okapi of the forest '.repeat(20)}\n`,
    ).join('\n');
    for (let number = 0; number < 30; number++) {
      await first.add(`n/${number}.md`, long);
    }
    while ((await first.ask('GET', '/index')).body.state !== 'ready') {
      await pause(20);
    }
    const before = serving();
    assert.equal((await first.ask('POST', '/index/rebuild')).status, 202);
    await first.house.stop();

    const second = await knowledgeHouse(t, { dataDir });
    for (const deadline = Date.now() + 30_000; serving() === before;) {
      assert.ok(Date.now() < deadline, 'the index that was asked for serves within 30 s');
      await pause(20);
    }
    assert.equal((await second.paths('okapi', '&limit=50')).length, 30);
    while ((await second.ask('GET', '/index')).body.state !== 'ready') {
      await pause(20);
    }
    const made = serving();
    await second.house.stop();

    const third = await knowledgeHouse(t, { dataDir });
    await third.add('new.md', 'quagga');
    for (
      const deadline = Date.now() + 30_000;
      (await third.paths('quagga')).length === 0;
      await pause(20)
    ) {
      assert.ok(Date.now() < deadline, 'a new document is found');
    }
    assert.deepEqual(await third.paths('quagga'), ['new.md']);
    assert.equal(serving(), made, 'what was asked for once is made once');
  });
});
