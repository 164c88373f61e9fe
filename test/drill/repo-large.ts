import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

import type { Outcome } from '../exercise.ts';
import { Origin } from '../plugins/knowledge/git-servers.ts';
import type { Json } from '../plugins/knowledge/house.ts';
import { startSshd } from '../plugins/webshell/sshd.ts';
import { begin, type GitHouse, grow, settled, sizeOf } from './repo-crash.ts';

const mebibyte = 1024 * 1024;
const goals = { houseMb: 450, growthMb: 128, gitMb: 256 };

/**
 * Reads a repository with a long history, and one with thousands of files, over a real SSH server:
 * measures the data transferred, and the peak memory of svc and its git processes.
 */
export async function run({ historyMb = 200, files = 5_000 } = {}): Promise<Outcome> {
  const ends: (() => unknown)[] = [];
  const scope = {
    after: (end: () => unknown) => void ends.unshift(end),
    skip: (why: string) => console.log(why),
  } as unknown as TestContext;
  const folder = mkdtempSync(join(tmpdir(), 'svc-repo-large-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  try {
    const sshd = await startSshd(scope);
    if (sshd === undefined) {
      return { ok: false, why: 'sshd and git are needed' };
    }
    const origins = longOnes(folder, historyMb, files);
    const house = await begin(join(folder, 'data'), '', scope);
    const { id: identity } = await house.ask('POST', '/ssh-identities', {
      name: 'deploy',
      private_key: sshd.privateKey,
    });
    const read = async (name: string): Promise<Json> => {
      const url = `ssh://${sshd.user}@127.0.0.1:${sshd.port}${join(folder, name)}`;
      const { id } = await house.ask('POST', '/repos', {
        url,
        mount: name.replace('.git', ''),
        ssh_identity_id: identity,
        sync_interval: 0,
      });
      const found = await watched(house, () => settled(house, id));
      assert.equal(found.result.status, 'ready', found.result.last_error);
      return { ...found.result, ...found };
    };
    const long = await read('long.git');
    const clones = join(folder, 'data', 'plugins', 'knowledge', 'repos');
    const cloneMb = sizeOf(clones) / mebibyte;
    const few = await read('few.git');
    const many = await read('many.git');
    origins.many.commit({ 'p/7.md': '# changed', 'p/8.md': undefined });
    const again = await watched(house, async () => {
      await house.ask('POST', `/repos/${many.id}/sync`, {});
      return await settled(house, many.id);
    });
    const { added, changed, removed, unchanged } = again.result.last_result;
    assert.deepEqual(
      [added, changed, removed, unchanged],
      [0, 1, 1, files - 2],
      'only what changed is read again',
    );
    const gitMb = Math.max(long.gitMb, few.gitMb, many.gitMb, again.gitMb);
    const growth = many.houseMb - few.houseMb;
    return {
      ok:
        many.doc_count === files &&
        cloneMb < Math.max(10, historyMb / 4) &&
        many.houseMb < goals.houseMb &&
        growth < goals.growthMb &&
        gitMb < goals.gitMb,
      'history, MiB': historyMb,
      'of it here, MiB': Number(cloneMb.toFixed(1)),
      files,
      'house at most': [
        { after: 'the long history', MiB: long.houseMb },
        { after: `${files / 10} files`, MiB: few.houseMb },
        { after: `${files} files`, MiB: many.houseMb },
      ],
      'git at most, MiB': gitMb,
      'seconds for all files': many.seconds,
      'seconds for one change': again.seconds,
    };
  } finally {
    for (const end of ends) {
      await end();
    }
  }
}

function longOnes(folder: string, historyMb: number, files: number): { readonly many: Origin } {
  const long = new Origin(join(folder, 'long.git'));
  grow(long, historyMb);
  long.commit({ 'a.md': '# A' });
  for (let at = 0; at < 20; at++) {
    long.commit({ 'count.txt': String(at) });
  }
  const pages = (count: number): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [
        `p/${at}.md`,
        `# Page ${at}\n\n${`words of page ${at} `.repeat(120)}`,
      ]),
    );
  new Origin(join(folder, 'few.git')).commit(pages(files / 10));
  const many = new Origin(join(folder, 'many.git'));
  many.commit(pages(files));
  return { many };
}

/**
 * Returns the cost of the work: seconds, the peak memory of svc so far, and of its child processes
 * at one moment.
 */
async function watched(
  house: GitHouse,
  work: () => Promise<Json>,
): Promise<{ result: Json; houseMb: number; gitMb: number; seconds: number }> {
  const { pid } = house.process;
  let gitKb = 0;
  const timer = setInterval(() => (gitKb = Math.max(gitKb, memoryBelow(pid!))), 40);
  const began = performance.now();
  try {
    const result = await work();
    const houseMb = Math.round(statusOf(pid!, 'VmHWM') / 1024);
    return {
      result,
      houseMb,
      gitMb: Math.round(gitKb / 1024),
      seconds: Math.round((performance.now() - began) / 100) / 10,
    };
  } finally {
    clearInterval(timer);
  }
}

function statusOf(pid: number | string, field: string): number {
  try {
    return Number(
      new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(
        readFileSync(`/proc/${pid}/status`, 'utf8'),
      )?.[1] ?? 0,
    );
  } catch {
    // It has ended meanwhile.
    return 0;
  }
}

function memoryBelow(root: number): number {
  const parents = new Map(
    readdirSync('/proc').flatMap((name) =>
      /^\d+$/.test(name) ? [[Number(name), statusOf(name, 'PPid')] as const] : [],
    ),
  );
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid) ?? 0;
    return parent === root || (parent > 1 && isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow).reduce((sum, pid) => sum + statusOf(pid, 'VmRSS'), 0);
}
