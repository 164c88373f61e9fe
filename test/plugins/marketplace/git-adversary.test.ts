import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';

import { filesOfCommit } from '../../../plugins/marketplace/git/commit-files.ts';
import { SmartHttp } from '../../../plugins/marketplace/git/smart-http.ts';
import { ask, startMarket } from './market.ts';

type Kind = 'commit' | 'tree' | 'blob' | 'delta';
interface Part {
  readonly kind: Kind;
  readonly data: Buffer;
  /** Name of the base of a delta. */
  readonly base?: string;
}

const numbers: Readonly<Record<Kind, number>> = { commit: 1, tree: 2, blob: 3, delta: 7 };
const nameOf = (kind: string, data: Buffer): string =>
  createHash('sha1').update(`${kind} ${data.length}\0`).update(data).digest('hex');

function packOf(parts: readonly Part[], count = parts.length): Buffer {
  const head = Buffer.alloc(12);
  head.write('PACK');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(count, 8);
  const bodies = parts.flatMap(({ kind, data, base }) => {
    const bytes = [(numbers[kind] << 4) | (data.length & 15) | (data.length > 15 ? 0x80 : 0)];
    for (let rest = data.length >> 4; rest > 0; rest >>= 7) {
      bytes.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    }
    return [
      Buffer.from(bytes),
      base === undefined ? Buffer.alloc(0) : Buffer.from(base, 'hex'),
      deflateSync(data),
    ];
  });
  const whole = Buffer.concat([head, ...bodies]);
  return Buffer.concat([whole, createHash('sha1').update(whole).digest()]);
}

const entry = (mode: string, name: string, id: string): Buffer =>
  Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(id, 'hex')]);
const blob = Buffer.from('hello');
const blobName = nameOf('blob', blob);

/** A commit whose root has these entries, besides what else comes with it. */
function commitOf(
  entries: readonly Buffer[],
  more: readonly Part[] = [],
): { readonly pack: Buffer; readonly commit: string } {
  const tree = Buffer.concat(entries);
  const commit = Buffer.from(
    `tree ${nameOf('tree', tree)}\nauthor a <a> 0 +0000\ncommitter a <a> 0 +0000\n\nx\n`,
  );
  return {
    pack: packOf([
      { kind: 'commit', data: commit },
      { kind: 'tree', data: tree },
      { kind: 'blob', data: blob },
      ...more,
    ]),
    commit: nameOf('commit', commit),
  };
}

test('what a repository sends is plain files below the pack, in bounds, or refused in words', () => {
  const folder = (levels: number): { readonly top: Buffer; readonly parts: Part[] } => {
    let [id, mode] = [blobName, '100644'];
    const parts: Part[] = [];
    for (let level = 0; level < levels; level += 1) {
      // Each folder has the one below twice.
      const data = Buffer.concat([entry(mode, 'a', id), entry(mode, 'b', id)]);
      parts.push({ kind: 'tree', data });
      [id, mode] = [nameOf('tree', data), '40000'];
    }
    return { top: entry('40000', 'x', id), parts };
  };
  const bomb = folder(40);
  const huge = Buffer.concat(
    Array.from({ length: 60_000 }, (_, index) => entry('100644', `f${index}`, blobName)),
  );
  const cases: readonly (readonly [
    name: string,
    sent: { readonly pack: Buffer; readonly commit: string },
    says: RegExp,
  ])[] = [
    ['a submodule', commitOf([entry('160000', 'sub', blobName)]), /"sub" is a submodule/],
    ['a link', commitOf([entry('120000', 'link', blobName)]), /"link" is a symbolic link/],
    ['a name that leads out', commitOf([entry('100644', '..', blobName)]), /leads out of the pack/],
    [
      'a folder that leads out',
      commitOf(
        [entry('40000', '..', nameOf('tree', Buffer.from(entry('100644', 'x', blobName))))],
        [{ kind: 'tree', data: entry('100644', 'x', blobName) }],
      ),
      /leads out/,
    ],
    [
      'a name with a folder in it',
      commitOf([entry('100644', 'a/../../b', blobName)]),
      /is not a valid file name/,
    ],
    [
      'an absolute name',
      commitOf([entry('100644', '/etc/x', blobName)]),
      /is not a valid file name/,
    ],
    [
      'names that differ by case',
      commitOf([entry('100644', 'A', blobName), entry('100644', 'a', blobName)]),
      /differs only by case/,
    ],
    ['an odd mode', commitOf([entry('100000', 'a', blobName)]), /plain files only/],
    [
      'an object that is not there',
      commitOf([entry('100644', 'a', 'f'.repeat(40))]),
      /did not send the blob ffffffffffff/,
    ],
    [
      'a tree in place of a file',
      commitOf([entry('100644', 'a', nameOf('tree', huge))], [{ kind: 'tree', data: huge }]),
      /did not send the blob/,
    ],
    ['a cut tree', commitOf([Buffer.from('100644 a\0short')]), /cannot be read/],
    [
      'folders that double',
      commitOf([bomb.top], bomb.parts),
      /more than 2000 entries|folders deep/,
    ],
    [
      'a folder of 60,000',
      commitOf([entry('40000', 'x', nameOf('tree', huge))], [{ kind: 'tree', data: huge }]),
      /more than 20000 entries/,
    ],
    ['no pack', { pack: Buffer.alloc(100), commit: blobName }, /cannot be read/],
    [
      'a pack that claims millions',
      { pack: packOf([{ kind: 'blob', data: blob }], 0x7fffffff), commit: blobName },
      /more than 100000 objects/,
    ],
    [
      'another commit',
      { ...commitOf([entry('100644', 'a', blobName)]), commit: 'e'.repeat(40) },
      /did not send the commit/,
    ],
    [
      'a delta that stands on itself',
      {
        ...commitOf(
          [],
          [{ kind: 'delta', data: Buffer.from([5, 5, 0x90, 5]), base: 'a'.repeat(40) }],
        ),
        commit: 'e'.repeat(40),
      },
      /cannot be read/,
    ],
    [
      'a delta that claims 4 GB',
      commitOf(
        [],
        [
          {
            kind: 'delta',
            data: Buffer.from([5, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x90, 5]),
            base: blobName,
          },
        ],
      ),
      /cannot be read/,
    ],
    [
      'a delta that reads beyond its base',
      commitOf([], [{ kind: 'delta', data: Buffer.from([5, 5, 0x91, 4, 5]), base: blobName }]),
      /cannot be read/,
    ],
  ];
  const taken = cases.flatMap(([name, { pack, commit }, says]) => {
    try {
      return [`${name}: taken, ${filesOfCommit(pack, commit).size} files`];
    } catch (error) {
      return says.test(String(error)) ? [] : [`${name}: ${String(error)}`];
    }
  });
  assert.deepEqual(taken, []);
});

test('deltas that come in the worst order are read in moments', () => {
  const parts: Part[] = [];
  let [data, name] = [blob, blobName];
  for (let index = 0; index < 20_000; index += 1) {
    const next = Buffer.from(`hello${index}`);
    parts.push({
      kind: 'delta',
      data: Buffer.concat([Buffer.from([data.length, next.length, next.length]), next]),
      base: name,
    });
    [data, name] = [next, nameOf('blob', next)];
  }
  const began = process.cpuUsage();
  const { pack, commit } = commitOf(
    [entry('100644', 'last', name), entry('100644', 'zero', blobName)],
    parts.toReversed(),
  );
  assert.deepEqual([...filesOfCommit(pack, commit).keys()], ['last', 'zero']);
  assert.ok(process.cpuUsage(began).user < 15_000_000);
});

test('a repository that redirects to where anybody may alter it, or speaks to the terminal, is told of in plain words', async () => {
  const packet = (text: string): string =>
    `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
  const answering = (url: string, body: string): SmartHttp =>
    new SmartHttp(async () => ({
      url,
      status: 200,
      headers: { 'content-type': 'application/x-git-upload-pack-result' },
      body: Buffer.from(body),
    }));
  const { signal } = new AbortController();
  await assert.rejects(
    answering('http://git.example/x', packet('ERR x')).fetchCommit(
      'https://git.example/x',
      blobName,
      signal,
    ),
    /redirects to an address without TLS/,
  );
  await assert.rejects(
    answering('https://git.example/x', packet('ERR \u001b[2Jgone')).fetchCommit(
      'https://git.example/x',
      blobName,
      signal,
    ),
    /"\\u001b\[2Jgone"/,
  );
});

test('no transport but https, no option, no password and no path out is a repository', async (t) => {
  const house = await startMarket(t);
  const refused: readonly (readonly [git: object, says: RegExp])[] = [
    [{ url: 'file:///etc' }, /a repository is an https:\/\/ address/],
    [{ url: '/srv/repo.git' }, /a repository is an https/],
    [{ url: 'ext::sh -c id' }, /a repository is an https/],
    [{ url: 'git://git.example/x' }, /a repository is an https/],
    [{ url: 'ssh://git@git.example/x' }, /a repository is an https/],
    [{ url: '--upload-pack=touch /tmp/x' }, /a repository is an https/],
    [
      { url: 'https://anna:secret@git.example/x.git' },
      /Leave the user name and password out of the address/,
    ],
    [{ url: 'https://git.example/x', ref: '--upload-pack=id' }, /ref/],
    [{ url: 'https://git.example/x', ref: 'a\nwant b' }, /ref/],
    [{ url: 'https://git.example/x', commit: 'main' }, /commit/],
  ];
  for (const [git, says] of refused) {
    const { status, body } = await ask(house, 'POST', '/preview', { git });
    assert.equal(status, 400, JSON.stringify([git, body]));
    assert.match(JSON.stringify(body), says);
  }
  const other = await ask(house, 'POST', '/preview', {
    url: 'https://anna:secret@packs.example/x.tgz',
    sha256: '0'.repeat(64),
  });
  assert.match(other.body.message, /Leave the user name and password out of the address/);
  const registry = await ask(house, 'POST', '/registries', {
    name: 'x',
    url: 'https://anna:secret@packs.example/',
  });
  assert.match(registry.body.message, /Leave the user name and password out of the address/);
});
