import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { KnowledgeRead } from 'svc/contracts/knowledge';
import { useNoLeaks } from 'svc/testing';

import { type Json, knowledgeHouse, people } from './house.ts';

describe('documents', () => {
  test('are kept byte for byte, in versions with who and when, and a stale edit is a conflict', async (t) => {
    const { house, ask, add } = await knowledgeHouse(t);
    useNoLeaks(t, house);
    const content =
      '\uFEFF---\r\ntitle: x\r\n---\r\n\r\n# Disk **full**\r\n\ttabs  \u0000 and 磁盘 👍🏽\n\n\n';
    const made = await add('notes/disk.md', content, { tags: ['disk', 'host', 'disk'] });
    assert.deepEqual(
      [made.title, made.version, made.tags, made.source, made.size_bytes],
      ['Disk full', 1, ['disk', 'host'], 'manual', Buffer.byteLength(content)],
    );
    const read = await ask('GET', `/docs/${made.id}`);
    assert.equal(read.body.content, content);
    const tag = read.headers.get('etag')!;

    const second = await ask('PATCH', `/docs/${made.id}`, {
      as: 'anna',
      body: { content: '# Disk is full\nsecond' },
      headers: { 'if-match': tag },
    });
    assert.deepEqual(
      [second.status, second.body.version, second.body.title],
      [200, 2, 'Disk is full'],
    );
    const stale = await ask('PATCH', `/docs/${made.id}`, {
      body: { content: 'third' },
      headers: { 'if-match': tag },
    });
    assert.deepEqual([stale.status, stale.body.error], [409, 'conflict']);
    const old = await ask('PATCH', `/docs/${made.id}`, { body: { content: 'third', version: 1 } });
    assert.deepEqual([old.status, old.headers.get('x-svc-reason')], [409, 'knowledge.stale_edit']);
    assert.equal(
      (await ask('PATCH', `/docs/${made.id}`, { body: { content: '# Disk is full\nsecond' } })).body
        .version,
      2,
      'nothing has changed',
    );

    const { body: versions } = await ask('GET', `/docs/${made.id}/versions`);
    assert.deepEqual(
      versions.items.map(({ version, changed_by, title }: Json) => [version, changed_by, title]),
      [
        [2, 'anna@example.org', 'Disk is full'],
        [1, 'operator', 'Disk full'],
      ],
    );
    assert.equal((await ask('GET', `/docs/${made.id}/versions/1`)).body.content, content);
    assert.equal((await ask('GET', `/docs/${made.id}/versions/9`)).status, 404);
    assert.equal((await ask('DELETE', `/docs/${made.id}`)).status, 204);
    assert.equal((await ask('GET', `/docs/${made.id}`)).status, 404);
  });

  test('have paths that lead nowhere else, sizes and contents that can be kept', async (t) => {
    const { ask, add } = await knowledgeHouse(t);
    for (const path of [
      '/etc/passwd',
      '../x',
      'a/../b',
      'a//b',
      'a/',
      'a\\b',
      'a/\u0000',
      ' a',
      'a/ b',
      'x'.repeat(401),
      'a/'.repeat(20) + 'b',
      'a\u202Eb',
      '.',
    ]) {
      assert.equal(
        (await ask('POST', '/docs', { body: { path, content: 'x' } })).status,
        400,
        path,
      );
    }
    assert.equal(
      (await ask('POST', '/docs', { body: '{"path":"a.md","content":"\\ud800"}' })).status,
      400,
    );
    const large = 1_048_576;
    assert.equal(
      (await add('large.md', '\u0001'.repeat(large))).size_bytes,
      large,
      'each is six letters of the request',
    );
    assert.equal((await add('wide.md', '€'.repeat(large))).size_bytes, 3 * large);
    assert.equal(
      (await ask('POST', '/docs', { body: { path: 'larger.md', content: 'x'.repeat(large + 1) } }))
        .status,
      400,
    );
    await add('a/b.md', 'x');
    const taken = await ask('POST', '/docs', { body: { path: 'a/b.md', content: 'y' } });
    assert.deepEqual(
      [taken.status, taken.headers.get('x-svc-reason')],
      [409, 'knowledge.path_taken'],
    );
    assert.match(taken.body.message, /number \d/);
  });

  test('move, alone and with their whole folder', async (t) => {
    const { ask, add, paths } = await knowledgeHouse(t);
    const one = await add('ops/db/restart.md', '# Restart the database\nkadabra');
    await add('ops/db/deep/dump.md', '# Dump');
    await add('ops/dbx.md', '# Beside');
    assert.deepEqual(await paths('kadabra'), ['ops/db/restart.md']);
    const moved = await ask('PATCH', `/docs/${one.id}/move`, {
      body: { path: 'ops/db/start-again.md' },
    });
    assert.deepEqual(
      [moved.status, moved.body.path, moved.body.version],
      [200, 'ops/db/start-again.md', 1],
    );
    const folder = await ask('POST', '/paths/move', {
      body: { from: 'ops/db', to: 'runbooks/postgres' },
    });
    assert.deepEqual([folder.status, folder.body.documents], [200, 2]);
    const { body } = await ask('GET', '/docs');
    assert.deepEqual(
      body.items.map(({ path }: Json) => path),
      ['ops/dbx.md', 'runbooks/postgres/deep/dump.md', 'runbooks/postgres/start-again.md'],
    );
    assert.deepEqual(await paths('kadabra'), ['runbooks/postgres/start-again.md']);
    assert.equal(
      (await ask('POST', '/paths/move', { body: { from: 'runbooks', to: 'runbooks/x' } })).status,
      400,
    );
    assert.equal(
      (await ask('POST', '/paths/move', { body: { from: 'nowhere', to: 'x' } })).status,
      404,
    );
    await add('target/start-again.md', 'there');
    const clash = await ask('POST', '/paths/move', {
      body: { from: 'runbooks/postgres', to: 'target' },
    });
    assert.equal(clash.status, 409);
    assert.equal(
      (await ask('GET', '/docs?path_prefix=runbooks')).body.total,
      2,
      'a move that cannot be done moves nothing',
    );
    assert.equal((await ask('GET', '/docs?path_prefix=runbooks/')).body.total, 2);
    const { body: tree } = await ask('GET', '/paths');
    assert.deepEqual(
      tree.items.map(({ path, parent, documents, total }: Json) => [
        path,
        parent,
        documents,
        total,
      ]),
      [
        ['ops', '', 1, 1],
        ['runbooks', '', 0, 2],
        ['runbooks/postgres', 'runbooks', 1, 2],
        ['runbooks/postgres/deep', 'runbooks/postgres', 1, 1],
        ['target', '', 1, 1],
      ],
    );
  });

  test('move to where one of them still is, and are found there', async (t) => {
    const { ask, add, paths } = await knowledgeHouse(t);
    for (const path of ['a/b/b/x.md', 'a/b/x.md', 'a/b/b/👍.md']) {
      await add(path, `quagga\n${path}`);
    }
    assert.equal(
      (await ask('POST', '/paths/move', { body: { from: 'a/b', to: 'a' } })).body.documents,
      3,
    );
    const moved = (await ask('GET', '/docs')).body.items;
    assert.deepEqual(
      (await paths('quagga')).toSorted(),
      moved.map(({ path }: Json) => path).toSorted(),
    );
    for (const { id, path } of moved) {
      assert.equal((await ask('GET', `/docs/${id}`)).body.content, `quagga\na/b/${path.slice(2)}`);
    }
  });

  test('of one organization are seen by its members only, in lists, searches, skills and links', async (t) => {
    const { house, ask, add, paths } = await knowledgeHouse(t);
    const own = (
      await ask('POST', '/docs', {
        as: 'anna',
        body: { path: 'plans/secret.md', content: '# Secret plan\nxylophone', org_id: 1 },
      })
    ).body;
    await add('plans/open.md', '# Open plan\nxylophone for everybody');
    for (const [as, seen] of [
      ['anna', ['plans/open.md', 'plans/secret.md']],
      ['vera', ['plans/open.md', 'plans/secret.md']],
      ['bert', ['plans/open.md']],
    ] as const) {
      const { body } = await ask('GET', '/docs', { as });
      assert.deepEqual(
        [body.items.map(({ path }: Json) => path), body.total],
        [seen, seen.length],
        as,
      );
      assert.deepEqual((await paths('xylophone', '', as)).toSorted(), seen, as);
      assert.equal((await ask('GET', '/paths', { as })).body.items[0].total, seen.length, as);
      assert.equal(
        (await house.service(KnowledgeRead).read('plans/secret.md', people[as]!)) !== undefined,
        seen.length === 2,
        as,
      );
    }
    for (const [method, path, body] of [
      ['GET', `/docs/${own.id}`],
      ['PATCH', `/docs/${own.id}`, { title: 'Mine' }],
      ['PATCH', `/docs/${own.id}/move`, { path: 'mine.md' }],
      ['DELETE', `/docs/${own.id}`],
      ['GET', `/docs/${own.id}/versions`],
      ['GET', `/docs/${own.id}/versions/1`],
    ] as const) {
      assert.equal(
        (await ask(method, path, { as: 'bert', body })).status,
        404,
        `${method} ${path}`,
      );
    }
    assert.equal(
      (await ask('POST', '/docs', { as: 'bert', body: { path: 'x.md', content: 'x', org_id: 1 } }))
        .status,
      404,
    );
    assert.equal(
      (
        await ask('POST', '/docs', {
          as: 'bert',
          body: { path: 'plans/secret.md', content: 'his own', org_id: 2 },
        })
      ).status,
      201,
    );
    assert.equal(
      (await ask('POST', '/docs', { as: 'vera', body: { path: 'x.md', content: 'x' } })).status,
      403,
    );
  });
});
