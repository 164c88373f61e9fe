import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { peer, peers } from '../peers.ts';
import { projectRoot } from './source.ts';

/** Looks for a peer where none is installed; returns the reason of the skip. */
function lookWithout(environment: Record<string, string>): string | undefined {
  const before = process.env;
  process.env = { PATH: '/nowhere', ...environment };
  try {
    let reason: string | undefined;
    assert.equal(peer({ skip: (text) => void (reason = text) }, 'wrk'), undefined);
    return reason;
  } finally {
    process.env = before;
  }
}

test('a missing peer is a skip that names its Debian package', () => {
  assert.equal(lookWithout({}), 'wrk is not installed (Debian: apt-get install wrk)');
});

test('a missing peer is a failure where all of them are required', () => {
  assert.throws(
    () => lookWithout({ SVC_TEST_PEERS: 'required' }),
    /apt-get install wrk\), and SVC_TEST_PEERS=required forbids to skip/,
  );
});

test('.ci/run installs exactly the packages that the peers come from', () => {
  const list =
    /packages=\(\n([^]*?)\n\)/.exec(readFileSync(join(projectRoot, '.ci/run'), 'utf8'))?.[1] ?? '';
  const packages = list.split('\n').map((line) => line.trim().split(/\s/)[0]);
  assert.deepEqual(packages, [...new Set(Object.values(peers))].sort());
});
