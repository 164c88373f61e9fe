import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, test, type TestContext } from 'node:test';

import type { CarriedFile } from 'svc/contracts/drop-ins';

import { watchFolders } from '../../../bin/serve/watcher/watch.ts';
import { type Contribution, SvcError } from '../../../core/sdk/index.ts';
import { CarriedFileSet } from '../../../plugins/drop-ins/carried-files.ts';
import { type DropInOptions, DropIns } from '../../../plugins/drop-ins/drop-ins.ts';
import { dropFolder, listening, persona, shows, skill } from '../../host/drop-folder.ts';

const agents = (path: string): DropInOptions['roots'][number] => ({ kind: 'persona', path });

/** Drop-ins over a folder of agents and one of skills, and what they have published. */
function dropInsOf(t: TestContext, options: Partial<DropInOptions> = {}) {
  const folder = dropFolder(t);
  const clock = { time: 1_000 };
  const log = listening();
  const serving = {
    personas: new Map<string, string>(),
    skills: new Map<string, string>(),
    sources: [] as string[],
    times: 0,
  };
  const taken = new Map<string, string>();
  const carried: Contribution<CarriedFile>[] = [];
  const made = new DropIns({
    roots: [agents(folder.at('agents')), { kind: 'skill', path: folder.at('skills') }],
    carried: new CarriedFileSet(() => carried),
    live: {
      replace({ personas = [], skills = [] }) {
        const conflicts = [
          ...personas.map(({ name }) => `/personas/${name}`),
          ...skills.map(({ key }) => `/skills/${key}`),
        ].filter((path) => taken.has(path));
        if (conflicts.length > 0) {
          throw new SvcError('conflict', 'names are taken', {
            details: conflicts.map((path) => ({ path, message: `${taken.get(path)} declares it` })),
          });
        }
        serving.personas = new Map(personas.map(({ name, description }) => [name, description]));
        serving.skills = new Map(skills.map(({ key, description }) => [key, description]));
        serving.sources = personas.map(({ name, source }) => `${name} ${source}`);
        serving.times += 1;
      },
    },
    clock: { now: () => clock.time, monotonic: () => clock.time },
    log,
    ...options,
  });
  t.after(() => made.close());
  const entry = (file: string) => made.list().find((listed) => listed.file === file);
  /** A plugin brings or changes a file. */
  const carry = (pluginId: string, file: string, text: string, more: object = {}): void => {
    const id = `${pluginId}/${file}`;
    const others = carried.splice(0).filter((other) => other.id !== id);
    carried.push(...others, {
      id,
      pluginId,
      value: { file, path: `plugins/${id}`, text, ...more },
    });
  };
  return {
    folder,
    clock,
    log,
    serving,
    taken,
    carried,
    carry,
    dropIns: made,
    entry,
    states: () => made.list().map(({ name, state }) => `${name} ${state}`),
  };
}

/** The same with the watcher at work. */
async function liveDropIns(t: TestContext) {
  const all = dropInsOf(t);
  const watch = watchFolders({
    roots: [all.folder.at('agents'), all.folder.at('skills')],
    log: all.log,
    onChange: (paths) => all.dropIns.refresh(paths),
  });
  t.after(() => watch.close());
  await watch.ready;
  await all.dropIns.load();
  return all;
}

describe('dropping files into folders', () => {
  test('a persona shows when it is added, edited, broken, repaired, renamed and deleted', async (t) => {
    const { folder, serving, entry } = await liveDropIns(t);
    const file = folder.at('agents/scout.md');

    folder.write('agents/scout.md', persona('scout', 'first'));
    await shows(
      'scout',
      () => serving.personas.get('scout') === 'first' && entry(file)?.state === 'ok',
    );
    folder.write('agents/scout.md', persona('scout', 'second'));
    await shows('the edit', () => serving.personas.get('scout') === 'second');
    folder.write('agents/scout.md', persona('scout', 'third', 'permission_mode: writ\n'));
    await shows('the break', () => entry(file)?.state === 'stale');
    assert.match(
      entry(file)?.error ?? '',
      /scout\.md: permission_mode must be one of .*; got "writ"$/,
    );
    assert.equal(serving.personas.get('scout'), 'second');
    renameSync(folder.write('agents/scout.md.tmp', persona('scout', 'fourth')), file);
    await shows(
      'the repair',
      () =>
        serving.personas.get('scout') === 'fourth' &&
        entry(file)?.state === 'ok' &&
        entry(file)?.error === undefined,
    );
    folder.write('agents/scout.md', persona('ranger'));
    await shows(
      'the new name',
      () => serving.personas.has('ranger') && !serving.personas.has('scout'),
    );
    renameSync(file, folder.at('agents/ranger.md'));
    await shows(
      'the new file',
      () => entry(folder.at('agents/ranger.md'))?.state === 'ok' && entry(file) === undefined,
    );
    unlinkSync(folder.at('agents/ranger.md'));
    await shows(
      'the end',
      () => serving.personas.size === 0 && entry(folder.at('agents/ranger.md')) === undefined,
    );
  });

  test('a skill shows when it is added, edited, broken, repaired and deleted', async (t) => {
    const { folder, serving, entry } = await liveDropIns(t);
    const file = folder.at('skills/read-logs/SKILL.md');

    folder.write('skills/read-logs/SKILL.md', skill('read-logs', 'first'));
    await shows('the skill', () => serving.skills.get('read-logs') === 'first');
    folder.write('skills/read-logs/SKILL.md', skill('read-log', 'second'));
    await shows('the break', () => entry(file)?.state === 'stale');
    assert.match(entry(file)?.error ?? '', /name is "read-log" but the folder is "read-logs"/);
    folder.write('skills/read-logs/SKILL.md', skill('read-logs', 'third'));
    await shows('the repair', () => serving.skills.get('read-logs') === 'third');
    rmSync(folder.at('skills/read-logs'), { recursive: true });
    await shows('the end', () => serving.skills.size === 0 && entry(file) === undefined);
  });

  test('two files that swap their names swap what they say', async (t) => {
    const { folder, serving, dropIns } = await liveDropIns(t);
    folder.write('agents/a.md', persona('a', 'from a'));
    folder.write('agents/b.md', persona('b', 'from b'));
    await shows('both', () => serving.personas.size === 2);
    renameSync(folder.at('agents/a.md'), folder.at('agents/swap'));
    renameSync(folder.at('agents/b.md'), folder.at('agents/a.md'));
    renameSync(folder.at('agents/swap'), folder.at('agents/b.md'));
    const named = () => Object.fromEntries(dropIns.list().map(({ file, name }) => [file, name]));
    await shows(
      'the swap',
      () => named()[folder.at('agents/a.md')] === 'b' && named()[folder.at('agents/b.md')] === 'a',
    );
    assert.deepEqual(serving.personas, new Map([['b', 'from b'], ['a', 'from a']])); // prettier-ignore
  });

  test('a folder may come later, go, and come back', async (t) => {
    const { folder, serving } = await liveDropIns(t);
    folder.write('agents/scout.md', persona('scout', 'first'));
    await shows('scout', () => serving.personas.has('scout'));
    rmSync(folder.at('agents'), { recursive: true });
    await shows('nobody', () => serving.personas.size === 0);
    folder.write('new/scout.md', persona('scout', 'second'));
    renameSync(folder.at('new'), folder.at('agents'));
    await shows('scout again', () => serving.personas.get('scout') === 'second');
  });
});

describe('what lies in the folders', () => {
  test('is all there after loading, with its times', async (t) => {
    const { folder, clock, serving, dropIns } = dropInsOf(t);
    folder.write('agents/a.md', persona('a'));
    folder.write('agents/b.md', 'no header');
    folder.write('agents/notes.txt', 'not a persona');
    folder.write('agents/deeper/c.md', persona('c'));
    folder.write('skills/s/SKILL.md', skill('s'));
    folder.write('skills/s/reference.md', 'more');
    folder.write('skills/empty/notes.md', 'not a skill');
    folder.write('skills/README.md', 'not a skill');
    await dropIns.load();
    assert.deepEqual(dropIns.list(), [
      {
        kind: 'persona',
        name: 'a',
        file: folder.at('agents/a.md'),
        state: 'ok',
        loaded_at: 1_000,
        changed_at: 1_000,
      },
      {
        kind: 'persona',
        name: 'b',
        file: folder.at('agents/b.md'),
        state: 'broken',
        error: `${folder.at('agents/b.md')}: The first line must be exactly ---, which opens the header, but it is "no header".`,
        loaded_at: undefined,
        changed_at: 1_000,
      },
      {
        kind: 'skill',
        name: 's',
        file: folder.at('skills/s/SKILL.md'),
        state: 'ok',
        loaded_at: 1_000,
        changed_at: 1_000,
      },
    ]);
    assert.deepEqual(
      [[...serving.personas.keys()], [...serving.skills.keys()], serving.times],
      [['a'], ['s'], 1],
    );

    clock.time = 2_000;
    folder.write('agents/a.md', 'broken');
    await dropIns.refresh(new Set([folder.at('agents/a.md')]));
    const [a, b] = dropIns.list();
    assert.deepEqual([a?.state, a?.loaded_at, a?.changed_at], ['stale', 1_000, 2_000]);
    assert.equal(b?.changed_at, 1_000);
  });

  test('is published only when it is something else', async (t) => {
    const { folder, serving, dropIns } = dropInsOf(t);
    await dropIns.load();
    assert.equal(serving.times, 0);
    folder.write('agents/a.md', persona('a'));
    await dropIns.load();
    await dropIns.load();
    folder.write('agents/a.md', persona('a'));
    await dropIns.refresh(new Set([folder.at('agents/a.md')]));
    folder.write('agents/b.md', 'broken');
    await dropIns.refresh(new Set([folder.at('agents')]));
    assert.equal(serving.times, 1);
  });

  test('is found by any hint about its root, also when the hint about the file was lost', async (t) => {
    const { folder, serving, dropIns } = dropInsOf(t);
    folder.write('agents/a.md', persona('a', 'first'));
    await dropIns.load();
    folder.write('agents/a.md', persona('a', 'second, longer'));
    folder.write('agents/b.md', persona('b'));
    await dropIns.refresh(new Set([folder.at('skills/x')]));
    assert.deepEqual([...serving.personas.values()], ['first']);
    await dropIns.refresh(new Set([folder.at('agents/gone.md')]));
    assert.deepEqual([...serving.personas.values()], ['second, longer', 'a test agent']);
  });

  test('is read once more for all who ask while a pass runs', async (t) => {
    let passes = 0;
    const { folder, serving, dropIns } = dropInsOf(t, {
      carried: new CarriedFileSet(() => ((passes += 1), [])),
    });
    folder.write('agents/a.md', persona('a', 'first'));
    const first = dropIns.load();
    const waiting = Array.from({ length: 2_000 }, (_, index) =>
      dropIns.refresh(new Set([folder.at(`agents/${index}.md`)])),
    );
    folder.write('agents/1.md', persona('b'));
    await Promise.all([first, ...waiting]);
    assert.deepEqual([[...serving.personas.keys()].sort(), passes], [['a', 'b'], 2]);
  });

  test('carries where it came from', async (t) => {
    const { folder, serving, carry, dropIns } = dropInsOf(t);
    carry('forest', 'agents/a.md', persona('a'));
    folder.write('agents/b.md', persona('b'));
    await dropIns.load();
    assert.deepEqual(serving.sources, ['a builtin', 'b disk']);
  });

  test('may also be carried by plugins: a broken file breaks nothing else, and keeps its last good version', async (t) => {
    const { serving, carried, carry, dropIns, states, entry } = dropInsOf(t);
    carry('forest', 'agents/scout.md', persona('scout', 'first'));
    carry('forest', 'agents/evil.md', '---js\n{}\n---\n');
    carry('forest', 'skills/walk/SKILL.md', skill('walk'));
    await dropIns.refresh();
    assert.deepEqual(
      [[...serving.personas.keys()], [...serving.skills.keys()]],
      [['scout'], ['walk']],
    );
    assert.deepEqual(states(), ['evil broken', 'scout ok', 'walk ok']);
    assert.match(
      entry('plugins/forest/agents/evil.md')?.error ?? '',
      /^plugins\/forest\/agents\/evil\.md: The first line must be exactly ---/,
    );

    carry('forest', 'agents/scout.md', 'broken');
    await dropIns.refresh();
    assert.deepEqual(
      [serving.personas.get('scout'), entry('plugins/forest/agents/scout.md')?.state],
      ['first', 'stale'],
    );
    carried.length = 0;
    await dropIns.refresh();
    assert.deepEqual([serving.personas.size, serving.skills.size, dropIns.list()], [0, 0, []]);
  });

  test('is named in the log once where it is passed over', async (t) => {
    const { folder, log, dropIns } = dropInsOf(t);
    folder.write('agents/a.md', persona('a'));
    folder.write('agents/scout.txt', persona('scout'));
    folder.write('agents/.scout.md.swp', 'x');
    folder.write('agents/scout.md~', 'x');
    folder.write('agents/deeper/c.md', persona('c'));
    folder.write('skills/read-logs.md', skill('read-logs'));
    folder.write('skills/empty/notes.md', 'not a skill');
    folder.write('skills/README.md', 'what is here');
    await dropIns.load();
    await dropIns.load();
    const ignored =
      'warn: file ignored: a persona is agents/NAME.md, a skill is skills/NAME/SKILL.md';
    assert.deepEqual(log.lines.slice(2), Array(4).fill(ignored));
    unlinkSync(folder.at('agents/scout.txt'));
    await dropIns.load();
    folder.write('agents/scout.txt', 'again');
    await dropIns.load();
    assert.equal(log.lines.filter((line) => line === ignored).length, 5);
  });

  test('is told in the log once, as it comes, breaks and goes', async (t) => {
    const { folder, log, dropIns } = dropInsOf(t);
    const file = folder.write('agents/a.md', persona('a'));
    await dropIns.load();
    folder.write('agents/a.md', 'broken');
    await dropIns.load();
    await dropIns.load();
    folder.write('agents/a.md', persona('a'));
    await dropIns.load();
    unlinkSync(file);
    await dropIns.load();
    assert.deepEqual(log.lines, [
      'info: personas and skills loaded from files',
      'debug: persona "a" loaded',
      `warn: ${file}: The first line must be exactly ---, which opens the header, but it is "broken".`,
      'info: persona "a" loaded',
      'info: persona "a" removed',
    ]);
  });
});

describe('a name that two want', () => {
  test('goes to the first root, then to the first file; the others say who has it and take over when it is free', async (t) => {
    const folder = dropFolder(t);
    const { dropIns, serving, states, entry } = dropInsOf(t, {
      roots: [agents(folder.at('one')), agents(folder.at('two'))],
    });
    folder.write('two/a.md', persona('scout', 'from two/a'));
    folder.write('two/b.md', persona('scout', 'from two/b'));
    await dropIns.load();
    assert.deepEqual([...serving.personas.values()], ['from two/a']);

    folder.write('one/z.md', persona('scout', 'from one/z'));
    await dropIns.load();
    assert.deepEqual([...serving.personas.values()], ['from one/z']);
    assert.deepEqual(states(), ['scout ok', 'scout broken', 'scout broken']);
    assert.equal(
      entry(folder.at('two/a.md'))?.error,
      `${folder.at('two/a.md')}: the name "scout" is already used by ${folder.at('one/z.md')}; rename one of them`,
    );

    folder.write('one/z.md', 'broken');
    await dropIns.load();
    assert.deepEqual(states(), ['scout stale', 'scout broken', 'scout broken']);
    unlinkSync(folder.at('one/z.md'));
    unlinkSync(folder.at('two/a.md'));
    await dropIns.load();
    assert.deepEqual([...serving.personas.values()], ['from two/b']);
  });

  test('stays with the file that has it: one beside it that sorts before it is refused, until that one is gone', async (t) => {
    const { folder, dropIns, serving, entry } = dropInsOf(t);
    folder.write('agents/scout.md', persona('scout', 'the first'));
    await dropIns.load();
    folder.write('agents/aaa.md', persona('scout', 'the second'));
    await dropIns.load();
    assert.deepEqual([...serving.personas.values()], ['the first']);
    assert.match(
      entry(folder.at('agents/aaa.md'))?.error ?? '',
      /the name "scout" is already used by .*scout\.md; rename one of them$/,
    );
    // Broken, it keeps its name and its last good version.
    folder.write('agents/scout.md', 'broken');
    await dropIns.load();
    assert.deepEqual([...serving.personas.values()], ['the first']);
    unlinkSync(folder.at('agents/scout.md'));
    await dropIns.load();
    assert.deepEqual([...serving.personas.values()], ['the second']);
  });

  test('goes to the file that a plugin carries, of two plugins to the first by id, whichever was loaded last', async (t) => {
    const { folder, serving, carry, dropIns, entry } = dropInsOf(t);
    folder.write('agents/scout.md', persona('scout', 'from the folder'));
    await dropIns.load();
    carry('forest', 'agents/scout.md', persona('scout', 'from forest'));
    carry('desert', 'agents/scout.md', persona('scout', 'from desert'));
    await dropIns.refresh();
    assert.equal(serving.personas.get('scout'), 'from desert');
    carry('desert', 'agents/scout.md', persona('scout', 'from desert again'));
    await dropIns.refresh();
    assert.equal(serving.personas.get('scout'), 'from desert again');
    assert.match(
      entry(folder.at('agents/scout.md'))?.error ?? '',
      /is already used by plugins\/desert\/agents\/scout\.md; rename one of them$/,
    );
  });

  test('never goes to a pack while a file that ships with svc or lies in a folder has it', async (t) => {
    const { folder, serving, carry, dropIns, entry } = dropInsOf(t);
    carry('a-pack', 'agents/scout.md', persona('scout', 'from a pack'), { pack: 'a-pack' });
    carry('a-pack', 'agents/coordinator.md', persona('coordinator', 'from a pack'), {
      pack: 'a-pack',
    });
    await dropIns.load();
    assert.deepEqual([...serving.personas.values()].toSorted(), ['from a pack', 'from a pack']);
    folder.write('agents/scout.md', persona('scout', 'from the folder'));
    carry('forest', 'agents/coordinator.md', persona('coordinator', 'shipped'));
    await dropIns.load();
    assert.deepEqual(
      [serving.personas.get('scout'), serving.personas.get('coordinator')],
      ['from the folder', 'shipped'],
    );
    assert.match(entry('plugins/a-pack/agents/scout.md')?.error ?? '', /is already used by/);
  });

  test('stays with a plugin that has it; the file says so, the rest serves, and it comes up when the plugin goes', async (t) => {
    const { folder, serving, taken, dropIns, entry } = dropInsOf(t);
    taken.set('/personas/scout', 'plugin "forest"').set('/skills/read-logs', 'plugin "logs"');
    folder.write('agents/scout.md', persona('scout'));
    folder.write('agents/ranger.md', persona('ranger'));
    folder.write('skills/read-logs/SKILL.md', skill('read-logs'));
    await dropIns.load();
    assert.deepEqual([[...serving.personas.keys()], [...serving.skills.keys()]], [['ranger'], []]);
    assert.equal(
      entry(folder.at('agents/scout.md'))?.error,
      `${folder.at('agents/scout.md')}: the name "scout" is taken by a plugin (plugin "forest" declares it); rename the one in the file`,
    );
    assert.equal(entry(folder.at('skills/read-logs/SKILL.md'))?.state, 'broken');

    await dropIns.refresh(new Set());
    assert.equal(serving.times, 1, 'asking again changes nothing while the plugin is there');
    taken.clear();
    await dropIns.refresh(new Set());
    assert.deepEqual(
      [[...serving.personas.keys()], [...serving.skills.keys()]],
      [['ranger', 'scout'], ['read-logs']],
    );
    assert.equal(entry(folder.at('agents/scout.md'))?.state, 'ok');
  });
});

describe('what is refused', () => {
  test('links, also to good files inside the root, and everything that is not a plain file', async (t) => {
    const { folder, serving, dropIns, entry } = dropInsOf(t);
    folder.write('outside/secret.md', persona('secret'));
    folder.write('outside/s/SKILL.md', skill('s'));
    folder.write('agents/a.md', persona('a'));
    symlinkSync(folder.at('outside/secret.md'), folder.at('agents/link.md'));
    symlinkSync('a.md', folder.at('agents/inner.md'));
    symlinkSync('nowhere', folder.at('agents/dangling.md'));
    execFileSync('mkfifo', [folder.at('agents/pipe.md')]);
    mkdirSync(folder.at('skills'));
    symlinkSync(folder.at('outside/s'), folder.at('skills/s'));
    folder.write('skills/t/notes.md', '');
    symlinkSync(folder.at('outside/s/SKILL.md'), folder.at('skills/t/SKILL.md'));
    await dropIns.load();
    assert.deepEqual([[...serving.personas.keys()], [...serving.skills.keys()]], [['a'], []]);
    for (const file of [
      'agents/link.md',
      'agents/inner.md',
      'agents/dangling.md',
      'skills/s/SKILL.md',
      'skills/t/SKILL.md',
    ]) {
      assert.match(
        entry(folder.at(file))?.error ?? '',
        /is a symbolic link or lies behind one; put the file itself in the folder$/,
        file,
      );
    }
    assert.match(entry(folder.at('agents/pipe.md'))?.error ?? '', /is not a plain file$/);
  });

  test('a file that was good and becomes a link keeps its last good version', async (t) => {
    const { folder, serving, dropIns, states } = dropInsOf(t);
    const file = folder.write('agents/a.md', persona('a'));
    await dropIns.load();
    unlinkSync(file);
    symlinkSync('/etc/hostname', file);
    await dropIns.load();
    assert.deepEqual([[...serving.personas.keys()], states()], [['a'], ['a stale']]);
  });

  test('but not a root that is a link itself: that is how an operator mounts it', async (t) => {
    const { folder, serving, dropIns } = dropInsOf(t);
    folder.write('mounted/a.md', persona('a'));
    symlinkSync('mounted', folder.at('agents'));
    await dropIns.load();
    assert.deepEqual([...serving.personas.keys()], ['a']);
  });

  test('files that are too large or no text, with the reason', async (t) => {
    const { folder, dropIns, entry } = dropInsOf(t);
    folder.write('agents/large.md', persona('large') + 'x'.repeat(64 * 1024));
    folder.write('agents/binary.md', Buffer.from([0x2d, 0x2d, 0x2d, 0xff, 0xfe]));
    await dropIns.load();
    assert.match(
      entry(folder.at('agents/large.md'))?.error ?? '',
      /large\.md: is larger than 64 KiB/,
    );
    assert.match(
      entry(folder.at('agents/binary.md'))?.error ?? '',
      /binary\.md: is not UTF-8 text; save it in that encoding$/,
    );
  });

  test('a folder that cannot be read at the moment, while what it had goes on serving', async (t) => {
    const { folder, serving, dropIns, entry } = dropInsOf(t);
    folder.write('agents/a.md', persona('a'));
    await dropIns.load();
    renameSync(folder.at('agents'), folder.at('aside'));
    symlinkSync('agents', folder.at('agents'));
    await dropIns.load();
    assert.match(entry(folder.at('agents'))?.error ?? '', /agents: cannot be read \(ELOOP/);
    assert.deepEqual([...serving.personas.keys()], ['a']);
    unlinkSync(folder.at('agents'));
    renameSync(folder.at('aside'), folder.at('agents'));
    await dropIns.load();
    assert.equal(entry(folder.at('agents')), undefined);
  });

  test(
    'a file that may not be read, while what it had goes on serving',
    { skip: process.getuid?.() === 0 && 'root may read everything' },
    async (t) => {
      const { folder, serving, dropIns, entry } = dropInsOf(t);
      const file = folder.write('agents/a.md', persona('a'));
      await dropIns.load();
      chmodSync(file, 0o000);
      await dropIns.load();
      assert.match(entry(file)?.error ?? '', /a\.md: cannot be read \(EACCES/);
      assert.equal(entry(file)?.state, 'stale');
      assert.deepEqual([...serving.personas.keys()], ['a']);
      chmodSync(file, 0o600);
      await dropIns.load();
      assert.equal(entry(file)?.state, 'ok');
    },
  );

  test('a file whose name is not UTF-8 is listed as unreadable', async (t) => {
    const { folder, serving, dropIns, entry } = dropInsOf(t);
    folder.write('agents/good.md', persona('good'));
    const name = Buffer.concat([
      Buffer.from(folder.at('agents/bad')),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('.md'),
    ]);
    writeFileSync(name, persona('bad'));
    await dropIns.load();
    assert.deepEqual([...serving.personas.keys()], ['good']);
    assert.match(entry(folder.at('agents'))?.error ?? '', /bad.*\.md is not UTF-8, so the file/);
  });

  test('more than 2,000 files in one root: the first ones serve and the listing says so', async (t) => {
    const { folder, serving, dropIns, entry } = dropInsOf(t);
    for (let index = 0; index <= 2_000; index += 1) {
      folder.write(`agents/${String(index).padStart(4, '0')}.md`, persona(`p${index}`));
    }
    await dropIns.load();
    assert.equal(serving.personas.size, 2_000);
    assert.equal(serving.personas.has('p2000'), false);
    assert.equal(
      entry(folder.at('agents'))?.error,
      `${folder.at('agents')}: contains 2001 files; only the first 2000 by name are read, remove some`,
    );
    unlinkSync(folder.at('agents/0000.md'));
    await dropIns.refresh(new Set([folder.at('agents/0000.md')]));
    assert.equal(serving.personas.has('p2000'), true);
    assert.equal(entry(folder.at('agents')), undefined);
  });
});

describe('the end and trouble on the way', () => {
  test('nothing is read or published once closed', async (t) => {
    const { folder, serving, dropIns } = dropInsOf(t);
    folder.write('agents/a.md', persona('a'));
    const loading = dropIns.load();
    await dropIns.close();
    await loading;
    await dropIns.load();
    await dropIns.close();
    assert.equal(serving.times, 0);
  });

  test('a publication that fails is told to who asked, and tried again the next time', async (t) => {
    let fails = true;
    const published: string[][] = [];
    const { folder, dropIns } = dropInsOf(t, {
      live: {
        replace({ personas = [] }) {
          if (fails) {
            throw new SvcError('unavailable', 'the registry is away');
          }
          published.push(personas.map(({ name }) => name));
        },
      },
    });
    folder.write('agents/a.md', persona('a'));
    await assert.rejects(dropIns.load(), /the registry is away/);
    fails = false;
    await dropIns.refresh(new Set());
    assert.deepEqual(published, [['a']]);
  });
});
