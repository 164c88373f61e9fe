import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { findPeer, peer } from '../peers.ts';
import { NodeStand, type TestNode, until } from './stand.ts';

let stand: NodeStand;
const isThere = findPeer('psql') !== undefined;

before(async () => {
  if (isThere) {
    stand = await NodeStand.open();
  }
});
after(async () => {
  if (isThere) {
    await stand.close();
  }
});

const epochOf = async (url: string): Promise<number> =>
  Number((await stand.ask<{ epoch: string }>('select epoch from svc.core_owner', url))[0]!.epoch);

/** Two nodes of one installation, the first of which owns the data. */
async function two(): Promise<{ url: string; first: TestNode; second: TestNode }> {
  const url = await stand.database();
  const first = await stand.node(url);
  first.start();
  await first.says(/Ready in/);
  const second = await stand.node(url, { like: first });
  second.start();
  await second.says(/node\.standing_by/);
  return { url, first, second };
}

test('a node that stands by takes over from an owner that was killed, and one that was stopped writes no more', async (t) => {
  if (peer(t, 'psql') === undefined) {
    return;
  }
  const { url, first, second } = await two();
  assert.equal(await first.add('by the first'), 201);
  assert.equal(await epochOf(url), 1);
  assert.equal((await fetch(`${second.url}/healthz`)).status, 200);

  // Killed: nobody ends the lease.
  await first.end('SIGKILL');
  await second.says(/Ready in/);
  assert.deepEqual((await second.notes()).texts, ['by the first']);
  assert.equal(await second.add('by the second'), 201);
  assert.equal(await epochOf(url), 2);

  // Stalled: it goes on where it stood, in the middle of what it was doing.
  first.start();
  await first.says(/node\.standing_by/);
  second.signal('SIGSTOP');
  await first.says(/Ready in/);
  assert.equal(await first.add('by the first again'), 201);
  second.signal('SIGCONT');
  await until(() => second.exitCode === 1);
  assert.match(second.said, /another node has taken over the data/);
  assert.deepEqual((await first.notes()).texts, [
    'by the first',
    'by the second',
    'by the first again',
  ]);

  // Stopped in order: the lease ends at once.
  second.start();
  await second.says(/node\.standing_by/);
  await first.end('SIGTERM');
  await second.says(/Ready in/);
  assert.equal(await epochOf(url), 4);
  assert.doesNotMatch(second.said, /not_seen|unfit/);
});
