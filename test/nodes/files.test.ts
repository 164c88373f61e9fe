import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';

import { isFollowed } from '../../bin/serve/nodes/files/followed.ts';
import { Follower } from '../../bin/serve/nodes/files/follower.ts';
import { FileOffer } from '../../bin/serve/nodes/files/offer.ts';

const lasting = new AbortController().signal;

function folders(t: TestContext) {
  const place = mkdtempSync(join(tmpdir(), 'svc-follow-'));
  t.after(() => rmSync(place, { recursive: true }));
  const [owner, own] = [join(place, 'owner'), join(place, 'own')];
  [owner, own].forEach((folder) => mkdirSync(folder));
  const offer = new FileOffer(owner);
  const put = (folder: string, path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  return {
    owner,
    own,
    put,
    has: (path: string) =>
      existsSync(join(own, path)) ? readFileSync(join(own, path), 'utf8') : undefined,
    offer: async (path: string): Promise<Readable> => {
      const answer = await offer.answer(path);
      assert.ok(answer !== undefined, 'the owner has no such file');
      return Readable.from(answer);
    },
  };
}

test('a node that follows has the files of the owner, byte for byte, and not what belongs to one node', async (t) => {
  const { owner, own, put, has, offer } = folders(t);
  put(owner, 'agents/night.md', 'quiet');
  put(owner, 'packs/lamp/index.js', 'x'.repeat(300_000));
  put(owner, 'plugins/webshell/recordings/1.cast', '');
  put(owner, 'plugins/audit/audit-head.json', '{}');
  put(owner, 'keys/secret.key', 'secret');
  put(owner, 'plugins/metricsdb/blocks/1', 'samples');
  put(owner, 'plugins/lamp/tables.db', 'a database');
  put(owner, 'svc.yaml', 'http: {}');
  symlinkSync('/etc/passwd', join(owner, 'agents/link.md'));
  put(own, 'keys/secret.key', 'own');
  const follower = new Follower({ dataDir: own, ask: offer });
  assert.equal(follower.behind, undefined);
  await follower.look(lasting);
  assert.equal(follower.behind, 0);
  assert.equal(has('packs/lamp/index.js')?.length, 300_000);
  assert.deepEqual(
    [has('agents/night.md'), has('plugins/webshell/recordings/1.cast')],
    ['quiet', ''],
  );
  assert.equal(has('keys/secret.key'), 'own');
  assert.deepEqual(
    readdirSync(own, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /metricsdb|tables|svc\.yaml|link|tmp$/.test(name),
    ),
    [],
  );

  await t.test('what changes or goes there does so here', async () => {
    put(owner, 'agents/night.md', 'loud!');
    rmSync(join(owner, 'packs'), { recursive: true });
    await follower.look(lasting);
    assert.deepEqual([has('agents/night.md'), has('packs/lamp/index.js')], ['loud!', undefined]);
    assert.equal(existsSync(join(own, 'set-aside')), false);
  });

  await t.test(
    'what this node made as the owner of its time is set aside, also after a restart',
    async () => {
      put(own, 'plugins/webshell/recordings/2.cast', 'nobody else has it');
      put(own, 'agents/night.md', 'my own');
      await new Follower({ dataDir: own, ask: offer }).look(lasting);
      assert.deepEqual(
        [has('agents/night.md'), has('plugins/webshell/recordings/2.cast')],
        ['loud!', undefined],
      );
      assert.deepEqual(
        [has('set-aside/agents/night.md'), has('set-aside/plugins/webshell/recordings/2.cast')],
        ['my own', 'nobody else has it'],
      );
    },
  );
});

test('a path that leads out of the folders is refused, on both sides', async (t) => {
  const { own, put, offer } = folders(t);
  const hostile = [
    '../keys/secret.key',
    'agents/../keys/secret.key',
    'agents/./x',
    'agents//x',
    '/etc/passwd',
    'agents',
    'keys/secret.key',
    'node.json',
    'agents/a\\b',
    'agents/a\0b',
    'plugins/metricsdb/wal/1',
    'plugins/lamp/tables.db-wal',
    `agents/${'a'.repeat(500)}`,
    7,
    null,
  ];
  assert.deepEqual(hostile.filter(isFollowed), []);
  for (const path of hostile) {
    await assert.rejects(
      offer(`/file?path=${encodeURIComponent(String(path))}`),
      /has no such file/,
    );
    const files = [{ path, bytes: 1, sha256: 'a'.repeat(64) }];
    const lying = async (): Promise<Readable> => Readable.from([JSON.stringify({ files })]);
    await assert.rejects(new Follower({ dataDir: own, ask: lying }).look(lasting), /is not a file/);
  }
  assert.deepEqual(readdirSync(own), []);

  await t.test('also through a link in the data folder of the one that follows', async () => {
    const { own: linked, owner, offer: ask } = folders(t);
    put(owner, 'agents/night.md', 'quiet');
    symlinkSync(owner, join(linked, 'agents'));
    await assert.rejects(
      new Follower({ dataDir: linked, ask }).look(lasting),
      /agents is not a folder/,
    );
  });
});

test('a file that is not what was announced is not kept, and the others are', async (t) => {
  const { owner, own, put, has, offer } = folders(t);
  put(owner, 'skills/a/SKILL.md', 'as announced');
  put(owner, 'skills/b/SKILL.md', 'right');
  for (const instead of ['as announce!', 'short', 'much longer than announced']) {
    const ask = async (path: string): Promise<Readable> =>
      path.includes('a%2FSKILL') ? Readable.from([instead]) : offer(path);
    const follower = new Follower({ dataDir: own, ask });
    await assert.rejects(follower.look(lasting), /changed while it was copied/);
    assert.equal(follower.behind, 1);
    assert.deepEqual([has('skills/a/SKILL.md'), has('skills/b/SKILL.md')], [undefined, 'right']);
  }
  const away = (): Promise<Readable> => Promise.reject(new Error('nobody answers'));
  await assert.rejects(new Follower({ dataDir: own, ask: away }).look(lasting), /nobody answers/);
  assert.equal(has('skills/b/SKILL.md'), 'right', 'an owner that does not answer deletes nothing');
  assert.deepEqual(
    readdirSync(own).filter((name) => name.endsWith('.tmp')),
    [],
  );
});
