import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

import { startTestHost, type TestHost } from 'svc/testing';

import type { Outcome, Row } from '../exercise.ts';
import { findPeer } from '../peers.ts';

/**
 * Every rule file and every file of rule tests below a folder, such as a checkout of Prometheus, by promtool and by us: both
 * must say the same of each. Where promtool is older than a file, `why` says what it knows nothing of.
 */
export async function run({ folder = '' }: { readonly folder?: string } = {}): Promise<Outcome> {
  const promtool = findPeer('promtool');
  if (promtool === undefined || folder === '') {
    return {
      ok: false,
      why:
        promtool === undefined
          ? 'promtool is not installed (Debian: apt-get install prometheus)'
          : 'say which: --folder PATH',
    };
  }
  const ends: (() => unknown)[] = [];
  try {
    const house = await startTestHost(
      { after: (end: () => unknown) => void ends.push(end) },
      { plugins: ['metricsdb', 'alert'] },
    );
    const texts = filesIn(folder).map((path) => ({ path, text: readFileSync(path, 'utf8') }));
    const tests = texts.filter(({ text }) => /^tests:/m.test(text));
    const rules = texts.filter(({ text }) => /^groups:/m.test(text) && !/^tests:/m.test(text));
    const rows: Row[] = [];
    for (const { path, text } of tests) {
      const theirs = await verdict(promtool, ['test', 'rules', basename(path)], dirname(path));
      rows.push(rowOf('test', relative(folder, path), theirs, await tested(house, path, text)));
    }
    for (const { path, text } of rules) {
      const theirs = await verdict(
        promtool,
        ['check', 'rules', '--lint=none', basename(path)],
        dirname(path),
      );
      rows.push(rowOf('rules', relative(folder, path), theirs, await imported(house, text)));
    }
    const apart = rows.filter(({ same }) => same !== true);
    return {
      ok: rows.length > 0 && apart.length === 0,
      'files of tests': tests.length,
      'rule files': rules.length,
      apart: apart.length,
      cases: rows,
    };
  } finally {
    for (const end of ends) {
      await end();
    }
  }
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ya?ml$/.test(name))
    .map((name) => join(folder, name))
    .toSorted();

/** Empty: it has nothing against it. */
const verdict = (promtool: string, args: readonly string[], cwd: string): Promise<string> =>
  promisify(execFile)(promtool, args, { cwd, maxBuffer: 64 * 1024 * 1024 }).then(
    () => '',
    ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) =>
      `${stderr}${stdout}`,
  );

const shown = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 160);

const rowOf = (kind: string, file: string, theirs: string, ours: string): Row => ({
  kind,
  file,
  same: (theirs === '') === (ours === ''),
  promtool: theirs === '' ? 'right' : 'wrong',
  us: ours === '' ? 'right' : 'wrong',
  ...((theirs === '') !== (ours === '') && { why: shown(theirs === '' ? ours : theirs) }),
});

async function tested(house: TestHost, path: string, content: string): Promise<string> {
  const list = /^rule_files:\s*\n((?:\s*- .*\n)*)/m.exec(content)?.[1] ?? '';
  const names = Array.from(list.matchAll(/^\s*- *"?([^"\n]+?)"?\s*$/gm), ([, name]) => name!);
  const files = names.map((name) => ({
    name,
    content: readFileSync(join(dirname(path), name), 'utf8'),
  }));
  const answer = await house.fetch('/api/v1/alert-rules/test', {
    method: 'POST',
    body: JSON.stringify({ content, files }),
  });
  const body = (await answer.json()) as { ok?: boolean };
  return answer.status === 200 && body.ok === true ? '' : JSON.stringify(body);
}

async function imported(house: TestHost, content: string): Promise<string> {
  const answer = await house.fetch('/api/v1/alert-rules/import', {
    method: 'POST',
    body: JSON.stringify({ content, dry_run: true }),
  });
  return answer.status === 200 ? '' : await answer.text();
}
