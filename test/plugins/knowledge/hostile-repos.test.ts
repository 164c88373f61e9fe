import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { gitServers, type Origin, startGitHttps } from './git-servers.ts';
import { type Json, knowledgeHouse } from './house.ts';
import { changedOnPurpose } from '../../on-purpose.ts';
import { storedIn } from '../../kit/stored.ts';

interface Hostile {
  readonly make: (origin: Origin) => void;
  /** `ready`, or why it is refused. */
  readonly ends: string;
  readonly docs?: readonly string[];
  readonly skipped?: Readonly<Record<string, number>>;
  readonly branch?: string;
}

const file = (
  name: string,
  content = '# Text',
): { mode: string; name: string; content: string } => ({ mode: '100644', name, content });
const pointer =
  'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n';
/** File that exists if something in a repository was executed. */
const trap = join(tmpdir(), `svc-trap-${process.pid}`);

/** A tree that lists itself twenty times over: small to send, endless to unfold. */
function bomb(origin: Origin): void {
  let tree = origin.plain(
    'hash-object',
    '-w',
    '-t',
    'tree',
    '--stdin',
    Buffer.concat([Buffer.from('100644 a.md\0'), Buffer.from(origin.blob('# a'), 'hex')]),
  );
  for (let level = 0; level < 12; level++) {
    const entries = Array.from({ length: 10 }, (_, i) =>
      Buffer.concat([Buffer.from(`40000 d${i}\0`), Buffer.from(tree, 'hex')]),
    );
    tree = origin.plain('hash-object', '-w', '-t', 'tree', '--stdin', Buffer.concat(entries));
  }
  origin.head(tree);
}

const hostile: Readonly<Record<string, Hostile>> = {
  'a link to a file of the machine': {
    make: (origin) =>
      void origin.commitTree([
        file('a.md'),
        { mode: '120000', name: 'passwd.md', content: '/etc/passwd' },
      ]),
    ends: 'ready',
    docs: ['a.md'],
    skipped: { symlink: 1 },
  },
  'a submodule': {
    make: (origin) =>
      void origin.commitTree([
        file('.gitmodules', '[submodule "x"]\n\tpath = x\n\turl = https://127.0.0.1:1/x\n'),
        file('a.md'),
        { mode: '160000', name: 'x', oid: 'a'.repeat(40) },
      ]),
    ends: 'ready',
    docs: ['a.md'],
    skipped: { submodule: 1, other_type: 1 },
  },
  'a submodule whose address is an option': {
    make: (origin) =>
      void origin.commitTree([
        file('.gitmodules', '[submodule "x"]\n\tpath = x\n\turl = -u./touch\n'),
        { mode: '160000', name: 'x', oid: 'a'.repeat(40) },
      ]),
    ends: 'damaged',
  },
  'a name that leads out of the folder': {
    make: (origin) => void origin.commitTree([file('../../x.md')]),
    ends: 'damaged',
  },
  'a folder that is called ..': {
    make: (origin) =>
      void origin.commitTree([{ mode: '40000', name: '..', oid: origin.tree([file('x.md')]) }]),
    ends: 'damaged',
  },
  'a folder that is called .git': {
    make: (origin) =>
      void origin.commitTree([{ mode: '40000', name: '.git', oid: origin.tree([file('config')]) }]),
    ends: 'damaged',
  },
  'a folder that some disks take for .git': {
    make: (origin) =>
      void origin.commitTree([{ mode: '40000', name: '.GIT', oid: origin.tree([file('config')]) }]),
    ends: 'damaged',
  },
  'a name that is an option of ssh': {
    make: (origin) =>
      void origin.commitTree([
        file(`-oProxyCommand=touch ${trap.replaceAll('/', '%')}.md`),
        file('--upload-pack=x.md'),
      ]),
    ends: 'ready',
    docs: ['--upload-pack=x.md', `-oProxyCommand=touch ${trap.replaceAll('/', '%')}.md`],
  },
  'names with what is not seen, or is no text': {
    make: (origin) =>
      void origin.commitTree([
        file('a\u202eb.md'),
        file('line\nbreak.md'),
        file('good.md'),
        file('trailing .md '),
        file('x\\y.md'),
      ]),
    ends: 'ready',
    docs: ['good.md'],
    skipped: { bad_path: 4 },
  },
  'a filter that attributes ask for': {
    make: (origin) =>
      void origin.commitTree([
        file('.gitattributes', '* filter=evil diff=evil merge=evil\n*.md export-subst ident\n'),
        file('a.md', '# $Id$'),
      ]),
    ends: 'ready',
    docs: ['a.md'],
    skipped: { other_type: 1 },
  },
  'pointers instead of files': {
    make: (origin) => void origin.commit({ 'big.md': pointer, 'a.md': '# A' }),
    ends: 'ready',
    docs: ['a.md'],
    skipped: { lfs_pointer: 1 },
  },
  'bytes that are no text': {
    make: (origin) =>
      void origin.commit({
        'a.md': Buffer.from([0xff, 0x00, 0x01, 0x41]),
        'b.md': 'a\0b',
        'c.md': '# C',
      }),
    ends: 'ready',
    docs: ['c.md'],
    skipped: { not_text: 2 },
  },
  'a text of thirty megabytes that is small to send': {
    make: (origin) =>
      void origin.commit({ 'zeros.md': Buffer.alloc(30 * 1024 * 1024, 'a'), 'a.md': '# A' }),
    ends: 'ready',
    docs: ['a.md'],
    skipped: { too_large: 1 },
  },
  'more on disk than a repository may have': {
    make: (origin) => void origin.commit({ 'noise.bin': noise(6 * 1024 * 1024), 'a.md': '# A' }),
    ends: 'too_large',
  },
  'a tree that unfolds without an end': { make: bomb, ends: 'too_many_files' },
  'the same name twice': {
    make: (origin) => void origin.commitTree([file('a.md', '# one'), file('a.md', '# two')]),
    ends: 'damaged',
  },
  'a commit of the year 292277026596': {
    make: (origin) => {
      const tree = origin.tree([file('a.md')]);
      const commit = `tree ${tree}\nauthor x <x@y> 99999999999999999999 +0000\ncommitter x <x@y> 99999999999999999999 +0000\n\nx\n`;
      origin.git(
        'update-ref',
        'refs/heads/main',
        origin.plain('hash-object', '-w', '-t', 'commit', '--literally', '--stdin', commit),
      );
    },
    ends: 'damaged',
  },
  'a branch that is at a commit which is not there': {
    make: (origin) => origin.write('refs/heads/main', `${'0'.repeat(39)}1\n`),
    ends: 'damaged',
  },
  'no commit at all': { make: () => undefined, ends: 'branch_gone' },
  'a branch that is a folder': {
    make: (origin) => void origin.commit({ 'a.md': '# A' }, { branch: 'main/deep' }),
    ends: 'branch_gone',
    branch: 'main',
  },
  'hooks of its own': {
    make(origin) {
      origin.commit({
        'a.md': '# A',
        'hooks/post-checkout': `#!/bin/sh\ntouch ${trap}\n`,
        'hooks/reference-transaction': `#!/bin/sh\ntouch ${trap}\n`,
      });
    },
    ends: 'ready',
    docs: ['a.md'],
    skipped: { other_type: 2 },
  },
  'a document where somebody has one already': {
    make: (origin) => void origin.commit({ 'taken.md': '# of git', 'free.md': '# free' }),
    ends: 'ready',
    docs: ['free.md', 'taken.md'],
    skipped: { path_taken: 1 },
  },
};

/** Bytes that no packer makes smaller, the same each time. */
function noise(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0, state = 1; i < length; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[i] = state >>> 16;
  }
  return bytes;
}

for (const [way, start] of Object.entries(gitServers)) {
  test(
    `hostile repositories over ${way}: each ends in a state of its own, runs nothing, leaves no file outside, and the house serves on`,
    { timeout: 240_000 },
    async (t) => {
      const server = await start(t);
      if (server === undefined) {
        return;
      }
      // Before the house begins, which these programs would hold up.
      Object.values(hostile).forEach(({ make }, index) => make(server.origin(`h${index}.git`)));
      const environment = {
        SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8,::1',
        ...server.environment,
        SVC_KNOWLEDGE_GIT_MAX_BYTES: String(4 * 1024 * 1024),
      };
      const { ask, add, house } = await knowledgeHouse(t, {
        plugins: ['programs', 'knowledge'],
        environment,
      });
      const access = await server.access({ ask });
      const names = Object.keys(hostile);
      const before = readdirSync(house.dataDir);
      await add(
        `hostile/${names.indexOf('a document where somebody has one already')}/taken.md`,
        '# Mine',
      );
      const ids = new Map<string, number>();
      for (const [index, name] of names.entries()) {
        hostile[name]!.make(server.origin(`h${index}.git`));
        const { branch } = hostile[name]!;
        const made = await ask('POST', '/repos', {
          body: {
            url: server.url(`h${index}.git`),
            mount: `hostile/${index}`,
            sync_interval: 0,
            ...access,
            ...(branch !== undefined && { branch }),
          },
        });
        assert.equal(made.status, 201, `${name}: ${JSON.stringify(made.body)}`);
        ids.set(name, made.body.id);
      }
      for (const deadline = Date.now() + 180_000; ; await pause(50)) {
        const { items } = (await ask('GET', '/repos?limit=200')).body;
        if (items.every(({ status }: Json) => status !== 'syncing')) {
          break;
        }
        assert.ok(Date.now() < deadline, 'all syncs end');
      }
      const { items } = (await ask('GET', '/repos?limit=200')).body;
      for (const [index, name] of names.entries()) {
        const { ends, docs = [], skipped = {} } = hostile[name]!;
        const {
          status,
          last_error_code: code,
          last_error: error,
          last_result: result,
        } = items.find(({ id }: Json) => id === ids.get(name));
        assert.equal(status === 'ready' ? 'ready' : code, ends, `${name}: ${error}`);
        const found = (await ask('GET', `/docs?path_prefix=hostile/${index}`)).body.items.map(
          ({ path }: Json) => path.slice(`hostile/${index}/`.length),
        );
        assert.deepEqual(
          found,
          name.startsWith('a document where') ? ['free.md', 'taken.md'] : docs,
          name,
        );
        assert.deepEqual(result?.skipped ?? {}, skipped, name);
      }
      assert.equal((await ask('GET', '/docs?source=manual')).body.items.length, 1);
      assert.ok(!existsSync(trap), 'nothing that a repository brought along was run');
      assert.deepEqual(
        readdirSync(house.dataDir).filter((name) => !before.includes(name) && name !== 'programs'),
        [],
        'nothing lies beside the folders of the house',
      );
      const own = join(house.dataDir, 'plugins', 'knowledge');
      assert.deepEqual(
        readdirSync(own).filter(
          (name) => !['empty', 'index', 'parser', 'repos', 'run'].includes(name),
        ),
        [],
      );
      assert.deepEqual(readdirSync(join(own, 'empty')), []);
    },
  );
}

test(
  'a kill in the middle of a sync: what was good stays, the next start says so and goes on, and no key or lock is left',
  { timeout: 120_000 },
  async (t) => {
    const server = await startGitHttps(t);
    if (server === undefined) {
      return;
    }
    const origin = server.origin('wiki.git');
    const head = origin.commit(
      Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`p/${i}.md`, `# Page ${i}`])),
    );
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-knowledge-kill-'));
    t.after(() => rmSync(dataDir, { recursive: true, force: true }));
    const environment = {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8,::1',
      SVC_KNOWLEDGE_GIT_AUTHORITIES: server.authority,
    };
    const options = { plugins: ['programs', 'knowledge'], environment, dataDir };
    const first = await knowledgeHouse(t, options);
    const until = async (ask: typeof first.ask, holds: (repo: Json) => boolean): Promise<Json> => {
      for (const deadline = Date.now() + 60_000; ; await pause(10)) {
        const [repo] = (await ask('GET', '/repos')).body.items;
        if (repo !== undefined && holds(repo)) {
          return repo;
        }
        assert.ok(Date.now() < deadline, JSON.stringify(repo));
      }
    };
    await first.ask('POST', '/repos', { body: { url: server.url('wiki.git'), sync_interval: 0 } });
    const good = await until(first.ask, ({ status }) => status === 'ready');
    assert.deepEqual([good.last_commit, good.doc_count], [head, 300]);
    // As a kill leaves it: a sync that is noted and not ended, some documents of it, a key, and git's own locks.
    const next = origin.commit({
      ...Object.fromEntries(
        Array.from({ length: 300 }, (_, i) => [`p/${i}.md`, `# Page ${i}, second`]),
      ),
      'p/new.md': '# New',
    });
    await first.house.stop();
    const own = join(dataDir, 'plugins', 'knowledge');
    const [clone] = readdirSync(join(own, 'repos'));
    const leave = `cd ${own} && mkdir -p run/x && echo key > run/x/key && cd repos/${clone} && touch shallow.lock HEAD.lock objects/pack/tmp_pack_x && mkdir -p refs/svc && touch refs/svc/next.lock`;
    assert.equal(spawnSync('sh', ['-c', leave]).status, 0);
    const db = storedIn(dataDir);
    db.prepare("UPDATE knowledge_repos SET status = 'syncing'").run();
    db.close();
    changedOnPurpose(dataDir);

    const second = await knowledgeHouse(t, options);
    const after = await until(second.ask, ({ status }) => status === 'ready');
    assert.deepEqual(
      [after.last_commit, after.doc_count, after.last_result.changed, after.last_result.added],
      [next, 301, 300, 1],
    );
    assert.ok(second.house.lines.join('').length > 0);
    assert.ok(!existsSync(join(own, 'run', 'x')));
    assert.equal(
      readdirSync(join(own, 'repos', clone!)).filter((name) => name.endsWith('.lock')).length,
      0,
    );
    assert.match(readFileSync(join(own, 'repos', clone!, 'HEAD'), 'utf8'), /^ref: /);
  },
);
