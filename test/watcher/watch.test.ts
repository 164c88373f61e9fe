import assert from 'node:assert/strict';
import fs, {
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { watchFolders } from '../../bin/serve/watcher/watch.ts';
import type { WatchOptions } from '../../core/sdk/index.ts';
import { dropFolder, listening, shows } from '../host/drop-folder.ts';

/** Watches `roots` and records every reported path, until `forget`. */
async function watching(
  t: TestContext,
  roots: readonly string[],
  options: Partial<WatchOptions> = {},
) {
  const told = new Set<string>();
  const log = listening();
  const watch = watchFolders({
    roots,
    log,
    onChange: (paths) => paths.forEach((path) => told.add(path)),
    ...options,
  });
  t.after(() => watch.close());
  await watch.ready;
  return {
    told,
    log,
    watch,
    tells: (path: string) => shows(`told of ${path}`, () => told.delete(path)),
  };
}

describe('watching folders', () => {
  test('what changes while the first scan goes on is reported, and nothing else', async (t) => {
    const folder = dropFolder(t);
    for (let number = 0; number < 50; number += 1) {
      folder.write(`${number}/old.md`, '1');
    }
    // Times of files are those of the kernel's last tick.
    await delay(50);
    const told = new Set<string>();
    const watch = watchFolders({
      roots: [folder.path],
      log: listening(),
      onChange: (paths) => paths.forEach((path) => told.add(path)),
      since: Date.now() - 20,
    });
    t.after(() => watch.close());
    folder.write('49/new.md', '1');
    await delay(1);
    folder.write('0/new.md', '1');
    await watch.ready;
    const files = [folder.at('0/new.md'), folder.at('49/new.md')];
    await shows('told of both', () => files.every((file) => told.has(file)));
    await delay(300);
    // A folder has changed with what is in it.
    const folders = [folder.at('0'), folder.at('49')];
    assert.deepEqual([...told].filter((path) => !folders.includes(path)).sort(), files);
  });

  test('other rights or a new link to a file are no change, a folder with another of its name is', async (t) => {
    const [folder, outside] = [dropFolder(t), dropFolder(t)];
    folder.write('a.md', '1');
    utimesSync(folder.at('a.md'), new Date(0), new Date(0));
    folder.write('sub/b.md', '1');
    const { told, tells } = await watching(t, [folder.path]);
    chmodSync(folder.at('a.md'), 0o600);
    linkSync(folder.at('a.md'), outside.at('a.md'));
    renameSync(folder.at('sub'), outside.at('sub'));
    folder.write('sub/c.md', '1');
    await tells(folder.at('sub/b.md'));
    await tells(folder.at('sub/c.md'));
    folder.write('sub/d.md', '1');
    await tells(folder.at('sub/d.md'));
    assert.ok(!told.has(folder.at('a.md')));
    outside.write('sub/e.md', '1');
    await delay(300);
    assert.ok(![...told].some((path) => path.endsWith('e.md')));
  });

  test('tells of files that are added, edited, replaced by a rename, renamed and deleted, at any depth', async (t) => {
    const folder = dropFolder(t);
    const { tells } = await watching(t, [folder.path]);

    folder.write('a.md', '1');
    await tells(folder.at('a.md'));
    folder.write('a.md', '22');
    await tells(folder.at('a.md'));
    for (const content of ['333', '4444', '55555']) {
      renameSync(folder.write('a.md.tmp', content), folder.at('a.md'));
      await tells(folder.at('a.md'));
    }
    renameSync(folder.at('a.md'), folder.at('b.md'));
    await tells(folder.at('b.md'));
    await tells(folder.at('a.md'));
    unlinkSync(folder.at('b.md'));
    await tells(folder.at('b.md'));
    folder.write('deep/er/SKILL.md', '1');
    await tells(folder.at('deep/er/SKILL.md'));
    folder.write('deep/er/SKILL.md', '22');
    await tells(folder.at('deep/er/SKILL.md'));
    rmSync(folder.at('deep'), { recursive: true });
    await tells(folder.at('deep/er/SKILL.md'));
  });

  test('says nothing about what was there, nor about dot files, node_modules, editor leavings and what it was told to ignore', async (t) => {
    const folder = dropFolder(t);
    folder.write('old.md', '1');
    const { told, tells } = await watching(t, [folder.path], {
      ignore: (path) => path === folder.at('dist'),
    });
    for (const name of [
      '.hidden.md',
      '.git/HEAD',
      'node_modules/x/index.js',
      'a.md~',
      '.a.md.swp',
      'a.md.tmp',
      '#a.md#',
      '4913',
      'dist/a.md',
    ]) {
      folder.write(name, 'x');
    }
    folder.write('last.md', 'x');
    await tells(folder.at('last.md'));
    await delay(300);
    assert.deepEqual([...told], []);
  });

  test('watches below a folder whose own path has dots in it', async (t) => {
    const folder = dropFolder(t);
    mkdirSync(folder.at('.svc/node_modules/agents'), { recursive: true });
    const { tells } = await watching(t, [folder.at('.svc/node_modules/agents')]);
    folder.write('.svc/node_modules/agents/a.md', '1');
    await tells(folder.at('.svc/node_modules/agents/a.md'));
  });

  test('notices a root that does not exist yet, goes away, comes back at once or later', async (t) => {
    const folder = dropFolder(t);
    const root = folder.at('not/yet/here');
    const { tells } = await watching(t, [root]);

    folder.write('not/yet/here/a.md', '1');
    await tells(root);
    folder.write('not/yet/here/a.md', '22');
    await tells(`${root}/a.md`);

    rmSync(root, { recursive: true });
    mkdirSync(root);
    await tells(root);
    folder.write('not/yet/here/b.md', '1');
    await tells(`${root}/b.md`);

    rmSync(folder.at('not'), { recursive: true });
    await tells(root);
    folder.write('not/yet/here/c.md', '1');
    await tells(root);
    folder.write('not/yet/here/d.md', '1');
    await tells(`${root}/d.md`);
  });

  test('follows a root that is a link when the link is turned to another folder, and names paths as they were given', async (t) => {
    const folder = dropFolder(t);
    folder.write('v1/a.md', '1');
    folder.write('v2/a.md', '2');
    symlinkSync('v1', folder.at('current'));
    const { tells } = await watching(t, [folder.at('current')]);
    folder.write('v1/a.md', '11');
    await tells(folder.at('current/a.md'));
    symlinkSync('v2', folder.at('next'));
    renameSync(folder.at('next'), folder.at('current'));
    await tells(folder.at('current'));
    folder.write('v2/a.md', '22');
    await tells(folder.at('current/a.md'));
  });

  test('does not look behind links inside a root', async (t) => {
    const [folder, outside] = [dropFolder(t), dropFolder(t)];
    outside.write('secret/a.md', '1');
    symlinkSync(outside.at('secret'), folder.at('link'));
    linkSync(folder.write('plain.md', '1'), folder.at('hard.md'));
    const { told, tells } = await watching(t, [folder.path]);
    outside.write('secret/a.md', '22');
    outside.write('secret/b.md', '1');
    folder.write('last.md', '1');
    await tells(folder.at('last.md'));
    await delay(300);
    told.delete(folder.at('link'));
    assert.deepEqual([...told], []);
  });

  test('tells many changes together, and the root instead when they are too many to name', async (t) => {
    const folder = dropFolder(t);
    const batches: number[] = [];
    const { watch } = await watching(t, [folder.path], {
      onChange: (paths) => void batches.push(paths.size),
    });
    for (let file = 0; file < 1_500; file += 1) {
      folder.write(`${file}.md`, 'x');
    }
    await shows('the changes', () => batches.length > 0);
    await delay(500);
    await watch.close();
    assert.ok(batches.length <= 3, `told in ${batches.length} pieces`);
    assert.ok(Math.max(...batches) <= 1_000);
  });

  test('tells of a file that never rests', async (t) => {
    const folder = dropFolder(t);
    const { told } = await watching(t, [folder.path], { debounceMs: 60 });
    let writing = true;
    const writer = (async () => {
      for (let count = 0; writing; count += 1) {
        writeFileSync(folder.at('busy.md'), String(count));
        await delay(10);
      }
    })();
    await shows('told while it is being written', () => told.has(folder.at('busy.md'))).finally(
      () => (writing = false),
    );
    await writer;
  });

  test('goes on after whoever it tells has thrown', async (t) => {
    const folder = dropFolder(t);
    let calls = 0;
    const { log } = await watching(t, [folder.path], {
      onChange: async () => {
        calls += 1;
        throw new Error('no room on the shelf');
      },
    });
    folder.write('a.md', '1');
    await shows('the first call', () => calls === 1);
    folder.write('b.md', '1');
    await shows('the second call', () => calls === 2);
    assert.deepEqual(log.lines, Array(2).fill('error: failed to apply changed files'));
  });

  test('asks the files themselves when the system has no watches left, and says so once', async (t) => {
    const folder = dropFolder(t);
    folder.write('a/b/c.md', '1');
    const watch = fs.watch;
    fs.watch = () => {
      throw Object.assign(new Error('ENOSPC: System limit for number of file watchers reached'), {
        code: 'ENOSPC',
      });
    };
    syncBuiltinESMExports();
    t.after(() => {
      fs.watch = watch;
      syncBuiltinESMExports();
    });
    const { tells, log } = await watching(t, [folder.path]);
    await tells(folder.path);
    folder.write('a/b/c.md', '22');
    await tells(folder.at('a/b/c.md'));
    folder.write('new.md', '1');
    await tells(folder.at('new.md'));
    assert.deepEqual(log.lines, [
      'warn: no file watches left; polling this folder instead; raise fs.inotify.max_user_watches or ulimit -n',
    ]);
  });

  test('is silent once closed, also when it is closed before it is ready, and closes twice', async (t) => {
    const folder = dropFolder(t);
    const { told, watch } = await watching(t, [folder.path]);
    folder.write('a.md', '1');
    await watch.close();
    await watch.close();
    folder.write('b.md', '1');
    await delay(400);
    assert.deepEqual([...told], []);

    const early = watchFolders({
      roots: [folder.path],
      log: listening(),
      onChange: () => assert.fail('told after the end'),
    });
    await early.close();
    await early.ready;
  });
});
