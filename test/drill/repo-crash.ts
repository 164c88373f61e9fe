import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { counted } from '../counted.ts';
import type { Outcome } from '../exercise.ts';
import { type Origin, startGitHttps } from '../plugins/knowledge/git-servers.ts';
import type { Json } from '../plugins/knowledge/house.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./repo-crash-child.ts', import.meta.url));
const mebibyte = 1024 * 1024;

export interface GitHouse {
  readonly process: ChildProcess;
  ask(method: string, path: string, body?: object, orStatus?: number): Promise<Json>;
}

/**
 * Kills svc while it reads a repository with a long history, whose branch keeps advancing, again
 * and again: no document is lost, each has the content of some commit, and in the end of the newest
 * one.
 */
export async function run({ rounds = 50, historyMb = 200, pages = 400 } = {}): Promise<Outcome> {
  const ends: (() => unknown)[] = [];
  const scope = {
    after: (end: () => unknown) => void ends.unshift(end),
    skip: (why: string) => console.log(why),
  } as unknown as TestContext;
  const folder = mkdtempSync(join(tmpdir(), 'svc-repo-crash-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  try {
    const server = await startGitHttps(scope);
    if (server === undefined) {
      return { ok: false, why: 'nginx, fcgiwrap and git are needed' };
    }
    const origin = server.origin('wiki.git');
    grow(origin, historyMb);
    const written = new Map<string, number>(
      Array.from({ length: pages }, (_, i) => [`p/${i}.md`, 0]),
    );
    origin.commit(filesOf(written));
    for (let i = 0; i < 20; i++) {
      origin.commit({ 'count.txt': String(i) });
    }
    let house = await begin(folder, server.authority, scope);
    const { id } = await house.ask('POST', '/repos', {
      url: server.url('wiki.git'),
      mount: 'wiki',
      sync_interval: 0,
    });
    const first = await settled(house);
    assert.equal(first.status, 'ready', first.last_error);
    let interrupted = 0;
    for (const round of counted(rounds, 'kills')) {
      change(origin, written, round + 1);
      await house.ask('POST', `/repos/${id}/sync`, {});
      await pause(Math.random() * 700);
      interrupted += (await repoOf(house)).status === 'syncing' ? 1 : 0;
      house.process.kill('SIGKILL');
      await once(house.process, 'exit');
      house = await begin(folder, server.authority, scope);
      await judge(house, written, round + 1);
    }
    const last = await settled(house);
    assert.deepEqual(
      [last.status, last.last_commit],
      ['ready', origin.git('rev-parse', 'main').trim()],
    );
    const docs = await documents(house);
    assert.deepEqual(
      [...docs.keys()].filter((path) => path.startsWith('p/')).toSorted(),
      [...written.keys()].toSorted(),
    );
    for (const [path, round] of written) {
      assert.equal(docs.get(path), textOf(path, round));
    }
    const own = join(folder, 'plugins', 'knowledge');
    assert.ok(
      !existsSync(join(own, 'run')) || readdirSync(join(own, 'run')).length === 0,
      'nothing of a sync is left',
    );
    const onDisk = sizeOf(join(own, 'repos'));
    return {
      ok: true,
      kills: rounds,
      in_the_middle: interrupted,
      documents: docs.size,
      history_mb: historyMb,
      clone_mb: Number((onDisk / mebibyte).toFixed(1)),
    };
  } finally {
    for (const end of ends) {
      await end();
    }
  }
}

const textOf = (path: string, round: number): string => `# ${path}\nAs of round ${round}.\n`;
const filesOf = (pages: ReadonlyMap<string, number>): Record<string, string> =>
  Object.fromEntries([...pages].map(([path, round]) => [path, textOf(path, round)]));

/** Files that no packer makes smaller, each in the place of the one before. */
export function grow(origin: Origin, megabytes: number): void {
  for (let at = 0; at < megabytes; at += 5) {
    origin.commit({ 'film.bin': noise(5 * mebibyte) });
  }
  if (megabytes > 0) {
    origin.commit({ 'film.bin': undefined });
  }
}

function noise(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 65_536) {
    crypto.getRandomValues(bytes.subarray(at, Math.min(length, at + 65_536)));
  }
  return bytes;
}

function change(origin: Origin, pages: Map<string, number>, round: number): void {
  const files: Record<string, string | undefined> = {};
  for (const path of [...pages.keys()].filter(() => Math.random() < 0.3)) {
    pages.set(path, round);
    files[path] = textOf(path, round);
  }
  const [oldest] = pages.keys();
  pages.delete(oldest!);
  files[oldest!] = undefined;
  pages.set(`p/new-${round}.md`, round);
  files[`p/new-${round}.md`] = textOf(`p/new-${round}.md`, round);
  origin.commit(files);
}

/** Between two commits: what both have is there, and every document is what one of them says. */
async function judge(
  house: GitHouse,
  pages: ReadonlyMap<string, number>,
  round: number,
): Promise<void> {
  const docs = await documents(house);
  for (const path of pages.keys()) {
    const text = docs.get(path);
    assert.ok(text !== undefined || path.startsWith('p/new-'), `${path} is lost in round ${round}`);
    const [, of] = /As of round (\d+)\.\n$/.exec(text ?? 'As of round 0.\n') ?? [];
    assert.ok(Number(of) <= round, `${path} says ${text}`);
  }
}

async function documents(house: GitHouse): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (let cursor = ''; ;) {
    const page = await house.ask('GET', `/docs?path_prefix=wiki&limit=200${cursor}`);
    for (const { id, path } of page.items) {
      // A sync that goes on meanwhile may remove what was listed.
      const doc = await house.ask('GET', `/docs/${id}`, undefined, 404);
      if (doc.content !== undefined) {
        found.set(path.slice('wiki/'.length), doc.content);
      }
    }
    if (page.next_cursor === '') {
      return found;
    }
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
}

async function repoOf(house: GitHouse, id?: number): Promise<Json> {
  const { items } = await house.ask('GET', '/repos');
  return id === undefined ? items[0] : items.find((one: Json) => one.id === id);
}

export async function settled(house: GitHouse, id?: number): Promise<Json> {
  for (const deadline = Date.now() + 300_000; ; await pause(50)) {
    const repo = await repoOf(house, id);
    if (
      repo.status === 'ready' ||
      (repo.status === 'failed' && repo.last_error_code !== 'interrupted')
    ) {
      return repo;
    }
    assert.ok(Date.now() < deadline, JSON.stringify(repo));
  }
}

/** Starts a host in a separate process. */
export async function begin(
  folder: string,
  authorities: string,
  scope: Pick<TestContext, 'after'>,
): Promise<GitHouse> {
  const started = spawn(process.execPath, [...programOf(child), folder, authorities], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  scope.after(() => void started.kill('SIGKILL'));
  for await (const line of createInterface({ input: started.stdout })) {
    if (line.startsWith('{"url"')) {
      const { url, token } = JSON.parse(line) as { url: string; token: string };
      return {
        process: started,
        async ask(method, path, body, orStatus) {
          const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
          const answer = await fetch(`${url}/api/v1/knowledge${path}`, {
            method,
            headers,
            ...(body !== undefined && { body: JSON.stringify(body) }),
          });
          assert.ok(
            answer.ok || answer.status === orStatus,
            `${method} ${path} was answered ${answer.status}`,
          );
          return await answer.json();
        },
      };
    }
  }
  throw new Error('the house has not come up');
}

export const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce(
    (sum, name) => sum + statSync(join(folder, name)).size,
    0,
  );
