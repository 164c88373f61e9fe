import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { subjectProblem } from '../../bin/dev/commit-subject.mjs';
import { installHooks } from '../../bin/dev/install-hooks.mjs';
import { peer } from '../peers.ts';
import { projectRoot } from './source.ts';

const git = (root: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim();

/** Returns a folder with the hooks of the project. */
function checkout(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'svc-hooks-'));
  t.after(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'bin'));
  cpSync(join(projectRoot, 'bin/dev'), join(root, 'bin/dev'), { recursive: true });
  return root;
}

test('a subject names an area, has at most 72 characters and no full stop', () => {
  for (const subject of [
    'alert: keep stale instances open',
    'console, alert: name the timeline',
    'plugins/lib: split the parser',
    'Merge branch main',
    'fixup! alert: keep stale instances open',
  ]) {
    assert.equal(subjectProblem(subject), undefined, subject);
  }
  assert.match(subjectProblem('Keep stale instances open')!, /does not begin with an area/);
  assert.match(subjectProblem('alert:')!, /does not begin with an area/);
  assert.match(subjectProblem(`alert: ${'x'.repeat(66)}`)!, /has 73 characters/);
  assert.match(subjectProblem('alert: keep it open.')!, /full stop/);
});

test('the hook is installed in a git clone, refuses a subject, and replaces no path of hooks', (t) => {
  if (peer(t, 'git') === undefined) {
    return;
  }
  const root = checkout(t);
  installHooks(root);
  git(root, 'init', '-q');
  git(root, 'config', 'user.email', 'ada@example.org');
  git(root, 'config', 'user.name', 'Ada');
  installHooks(root);
  assert.equal(git(root, 'config', 'core.hooksPath'), 'bin/dev/hooks');
  const refused = spawnSync('git', ['-C', root, 'commit', '--allow-empty', '-m', 'Fix it'], {
    encoding: 'utf8',
  });
  assert.notEqual(refused.status, 0);
  assert.match(refused.stderr, /^"Fix it" does not begin with an area/);
  git(root, 'commit', '-q', '--allow-empty', '-m', 'alert: keep stale instances open');

  git(root, 'config', 'core.hooksPath', 'mine');
  installHooks(root);
  assert.equal(git(root, 'config', 'core.hooksPath'), 'mine');
});
