import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { freePort } from '../../bin/dev/test/postgres.mjs';
import { houseWire } from '../../bin/serve/nodes/house-wire.ts';
import { JoinTokens } from '../../bin/serve/nodes/join-tokens.ts';
import { WireKeys } from '../../bin/serve/nodes/wire-keys.ts';
import { systemIds } from '../../core/boot/time.ts';
import { findPeer, peer } from '../peers.ts';
import { silent } from '../storage/folder.ts';
import { NodeStand, svc, type TestNode, until } from './stand.ts';

let stand: NodeStand;
let database: string;
let owner: TestNode;
const isThere = findPeer('psql') !== undefined;

before(async () => {
  if (isThere) {
    stand = await NodeStand.open();
    database = await stand.database();
    owner = await stand.node(database);
    owner.start();
    await owner.says(/Ready in/);
  }
});
after(async () => {
  if (isThere) {
    await stand.close();
  }
});

const emptyFolder = (): string => mkdtempSync(join(stand.folder, 'new-'));

async function tokenOf(node: TestNode): Promise<string> {
  const answer = await node.fetch('/api/v1/nodes/tokens', { method: 'POST', body: '{}' });
  assert.equal(answer.status, 201);
  return ((await answer.json()) as { token: string }).token;
}

interface Seen {
  readonly id: string;
  readonly url: string;
  readonly role: string;
  readonly state: string;
}

async function nodesOf(node: TestNode): Promise<readonly Seen[]> {
  const answer = await node.fetch('/api/v1/nodes');
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { items: Seen[] }).items;
}

test('a machine joins by a token, which is good for one use and one hour, and for whoever has all of it', async (t) => {
  if (peer(t, 'psql') === undefined) {
    return;
  }
  const token = await tokenOf(owner);
  const folder = emptyFolder();
  const joined = await svc('node', 'join', token, '--data', folder);
  assert.equal(joined.code, 0, joined.said);
  assert.match(joined.said, /SVC_NODE_ADDR=.* svc serve --data/);
  const file = join(folder, 'keys/secret.key');
  assert.equal(
    readFileSync(file, 'utf8'),
    readFileSync(join(owner.dataDir, 'keys/secret.key'), 'utf8'),
  );
  assert.equal(statSync(file).mode & 0o777, 0o600);

  for (const [text, into, sentence] of [
    [token, folder, /belongs to an installation already/],
    [token, emptyFolder(), /This token has been used/],
    [
      `${token.slice(0, -6)}AAAAAA`,
      emptyFolder(),
      /does not know this token|not a token for joining/,
    ],
    ['svc_node_nonsense', emptyFolder(), /not a token for joining/],
  ] as const) {
    const refused = await svc('node', 'join', text, '--data', into);
    assert.notEqual(refused.code, 0);
    assert.match(refused.said, sentence);
    assert.ok(into === folder || !existsSync(join(into, 'keys/secret.key')));
  }
});

test('an expired token, one of another secret, and one of a node that is away are refused by a sentence', async (t) => {
  if (peer(t, 'psql') === undefined) {
    return;
  }
  let now = 0;
  const clock = { now: () => now, monotonic: () => now };
  const joins = new JoinTokens(clock, systemIds(clock));
  const wire = `127.0.0.1:${await freePort()}`;
  const server = houseWire({
    card: { id: '', url: '', wire, pin: '', version: '' },
    keys: new WireKeys(owner.dataDir, undefined),
    log: silent,
    joins,
    secrets: () => ['never'],
    house: () => undefined,
    answer: () => false,
  })!;
  await server.listen();
  const { token } = joins.issue(wire);
  const [place, id] = JSON.parse(
    Buffer.from(token.slice('svc_node_'.length), 'base64url').toString(),
  ) as string[];
  const forged = `svc_node_${Buffer.from(JSON.stringify([place, id, 'a guess'])).toString('base64url')}`;
  const said = async (text: string): Promise<string> => {
    const { said: sentence, code } = await svc('node', 'join', text, '--data', emptyFolder());
    assert.notEqual(code, 0);
    return sentence;
  };
  assert.match(await said(forged), /does not know this token/);
  now = 61 * 60_000;
  assert.match(await said(token), /has expired/);
  server.close();
  assert.match(await said(token), /cannot be reached/);
});

test('a node is listed, drained, resumed and removed; an owner that is drained hands the data over', async (t) => {
  if (peer(t, 'psql') === undefined) {
    return;
  }
  const alone = await nodesOf(owner);
  assert.deepEqual(
    alone.map(({ role, state }) => [role, state]),
    [['owner', 'ready']],
  );
  const [{ id: first }] = alone as [Seen];
  const kept = await owner.fetch(`/api/v1/nodes/${first}/drain`, { method: 'POST', body: '{}' });
  assert.equal(kept.status, 409, 'nobody could take over');

  const second = await stand.node(database, { like: owner });
  second.start();
  await second.isReady();
  assert.equal(await second.add('before'), 201);
  const { id: other } = (await nodesOf(second)).find(({ role }) => role === 'standby')!;
  const drained = await second.fetch(`/api/v1/nodes/${first}/drain`, {
    method: 'POST',
    body: '{}',
  });
  assert.equal(drained.status, 200);
  await second.says(/Ready in/);
  await until(async () => (await fetch(`${owner.url}/readyz`)).status === 503);
  assert.match(await (await fetch(`${owner.url}/readyz`)).text(), /This node is drained/);
  assert.deepEqual((await second.notes()).texts, ['before']);
  assert.deepEqual(
    (await nodesOf(second))
      .map(({ id, role, state }) => [id === first, role, state] as const)
      .toSorted(([one], [other]) => Number(one) - Number(other)),
    [
      [false, 'owner', 'ready'],
      [true, 'standby', 'drained'],
    ],
  );

  const resumed = await second.fetch(`/api/v1/nodes/${first}/resume`, {
    method: 'POST',
    body: '{}',
  });
  assert.equal(resumed.status, 200);
  await owner.isReady();
  const running = await second.fetch(`/api/v1/nodes/${first}`, { method: 'DELETE' });
  assert.equal(running.status, 409);

  // The first takes over again in the process in which it was drained.
  await second.end('SIGTERM');
  await until(
    async () => (await owner.fetch('/api/v1/notes').catch(() => undefined))?.status === 200,
  );
  await until(async () => (await nodesOf(owner)).some(({ state }) => state === 'away'));
  const removed = await owner.fetch(`/api/v1/nodes/${other}`, { method: 'DELETE' });
  assert.equal(removed.status, 200);
  assert.deepEqual(
    (await nodesOf(owner)).map(({ id }) => id),
    [first],
  );
});

test('a machine without the key of the installation, or with another one, is told to join', async (t) => {
  if (peer(t, 'psql') === undefined) {
    return;
  }
  const stranger = await stand.node(database);
  stranger.start();
  await until(() => stranger.exitCode === 1);
  assert.match(stranger.said, /svc node join TOKEN/);
});
