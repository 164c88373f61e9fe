import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';

import {
  type AuthenticatedEdge,
  clientHandshake,
  type ClientHandshakeOptions,
  closeCode,
  type EdgeHello,
  keysOf,
  makeCredentials,
  openSession,
  serverHandshake,
  type ServerHandshakeOptions,
  type StoredKeys,
  TunnelRefusal,
  verifySecret,
} from 'svc/tunnel';

import {
  proveEdge,
  transcriptBytes,
  verifyProof,
} from '../../../../plugins/lib/tunnel/identity/proof.ts';
import { handClock, ids, logBook, memoryPair, turns } from './pair.ts';

const hello: EdgeHello = {
  agent_id: 'b7a3e5f0-0000-7000-8000-000000000001',
  boot_id: 'boot-1',
  agent_version: '0.1.0',
  caps: ['logs'],
  purpose: 'serve',
};
const credentials = makeCredentials(ids);
const { secret_key: _shownOnce, ...kept } = credentials;

interface Meeting {
  readonly client?: Partial<ClientHandshakeOptions>;
  readonly server?: Partial<ServerHandshakeOptions<StoredKeys>>;
}

function meet({ client, server }: Meeting = {}) {
  const { sweeper, pass } = handClock();
  const wires = memoryPair();
  const managerSide = serverHandshake(wires.manager, {
    sweeper,
    ids,
    find: (accessKey) => (accessKey === kept.access_key ? [kept] : []),
    admit: () => ({ ping_s: 20 }),
    ...server,
  });
  const edgeSide = clientHandshake(wires.edge, {
    sweeper,
    ids,
    accessKey: credentials.access_key,
    secretKey: credentials.secret_key,
    hello,
    ...client,
  });
  return { wires, pass, sweeper, both: Promise.allSettled([managerSide, edgeSide]) };
}

const refusals = async (meeting: ReturnType<typeof meet>): Promise<TunnelRefusal[]> =>
  (await meeting.both).map((outcome) => {
    assert.equal(outcome.status, 'rejected');
    assert.ok(outcome.reason instanceof TunnelRefusal, String(outcome.reason));
    return outcome.reason;
  });

test('an edge with its secret and the manager that knows it meet, and each knows what the other said', async () => {
  const { both, wires } = meet({
    client: { state: () => ({ config_hash: 'abc', pending: null, seq: 7 }) },
  });
  const [manager, edge] = (await both).map(
    (outcome) =>
      (assert.equal(outcome.status, 'fulfilled'), outcome as PromiseFulfilledResult<unknown>).value,
  ) as [AuthenticatedEdge, Awaited<ReturnType<typeof clientHandshake>>];
  assert.deepEqual({ ...manager.state }, { config_hash: 'abc', pending: null, seq: 7 });
  assert.deepEqual(manager.hello, hello);
  assert.equal(manager.keys, kept);
  assert.deepEqual(edge.body, { ping_s: 20 });
  assert.equal(edge.sessionId, manager.sessionId);
  const said = Buffer.concat([...wires.edge.sent, ...wires.manager.sent]).toString('latin1');
  assert.ok(
    !said.includes(credentials.secret_key) && !said.includes(credentials.secret_key.slice(7)),
  );
  assert.ok(!said.includes(kept.stored_key) && !said.includes(kept.server_key));
});

test('the proof is the one of the published formula', () => {
  const secretKey = `svc_sk_${Buffer.alloc(32, 7).toString('base64url')}`;
  const hmac = (key: Uint8Array, text: Uint8Array | string): Buffer =>
    createHmac('sha256', key).update(text).digest();
  const sha = (text: Uint8Array | string): Buffer => createHash('sha256').update(text).digest();
  const clientKey = hmac(Buffer.alloc(32, 7), 'edge client key v1');
  assert.deepEqual(keysOf(secretKey), {
    stored_key: sha(clientKey).toString('base64url'),
    server_key: hmac(Buffer.alloc(32, 7), 'edge server key v1').toString('base64url'),
  });
  const said = {
    accessKey: 'svc_ak_x',
    clientNonce: 'c',
    serverNonce: 's',
    hello: Buffer.from('h'),
    challenge: Buffer.from('g'),
    state: '{}',
    channelBinding: 'none',
  };
  const transcript = transcriptBytes(said);
  const prefixed = (part: Uint8Array): Buffer =>
    Buffer.concat([Buffer.from([0, 0, 0, part.length]), part]);
  const parts = ['svc_ak_x', 'c', 's', sha('h'), sha('g'), sha('{}'), 'none'].map((part) =>
    prefixed(Buffer.from(part)),
  );
  assert.deepEqual(transcript, Buffer.concat([Buffer.from('svc-edge-v1'), ...parts]));
  assert.equal(transcript.toString('hex').length, 2 * (11 + 7 * 4 + 8 + 1 + 1 + 3 * 32 + 4));
  const { proof } = proveEdge(Buffer.alloc(32, 7), transcript);
  assert.equal(
    proof.toString('hex'),
    Buffer.from(clientKey.map((byte, at) => byte ^ hmac(sha(clientKey), transcript)[at]!)).toString(
      'hex',
    ),
  );
  assert.ok(verifyProof([keysOf(secretKey)], proof, transcript));
  assert.equal(
    verifyProof([keysOf(secretKey)], proof, transcriptBytes({ ...said, clientNonce: 'd' })),
    undefined,
  );
});

test('an unknown access key and a wrong secret get the same answer, to the byte', async () => {
  const other = makeCredentials(ids);
  const wrongSecret = meet({ client: { secretKey: other.secret_key } });
  const unknownKey = meet({ client: { accessKey: other.access_key } });
  for (const meeting of [wrongSecret, unknownKey]) {
    const [, edge] = await refusals(meeting);
    assert.equal(edge!.closeCode, closeCode.unauthorized);
    assert.ok(edge!.lasting);
  }
  const said = (meeting: typeof wrongSecret): string[] =>
    meeting.wires.manager.sent.slice(1).map((bytes) => Buffer.from(bytes).toString('hex'));
  assert.deepEqual(said(wrongSecret), said(unknownKey));
  assert.deepEqual(wrongSecret.wires.manager.closed, unknownKey.wires.manager.closed);
  assert.equal(wrongSecret.wires.manager.sent.length, unknownKey.wires.manager.sent.length);
});

test('what a thief finds in the database does not let him pose as the edge', async () => {
  for (const stolen of [kept.stored_key, kept.server_key]) {
    const [manager] = await refusals(meet({ client: { secretKey: `svc_sk_${stolen}` } }));
    assert.equal(manager!.closeCode, closeCode.unauthorized);
  }
  // Nor a proof of his own making from the stored key, which is all that the manager computes with.
  const transcript = Buffer.from('anything');
  const forged = createHmac('sha256', Buffer.from(kept.stored_key, 'base64url'))
    .update(transcript)
    .digest();
  assert.equal(verifyProof([kept], forged, transcript), undefined);
});

test('a manager that does not know the edge is refused by it, whatever it answers', async () => {
  const impostor = { ...kept, server_key: makeCredentials(ids).server_key };
  const { both } = meet({ server: { find: () => [impostor] } });
  const [, edge] = await both;
  assert.ok(edge.status === 'rejected');
  assert.match(String(edge.reason), /cannot prove that it knows this edge/);
});

test('a connection that is relayed through other TLS is noticed where both ends know theirs', async () => {
  assert.deepEqual(
    (await meet({ client: { channelBinding: 'a' }, server: { channelBinding: 'a' } }).both).map(
      ({ status }) => status,
    ),
    ['fulfilled', 'fulfilled'],
  );
  await refusals(meet({ client: { channelBinding: 'a' }, server: { channelBinding: 'b' } }));
});

test('while a secret is being changed both prove, and the manager knows which one did', async () => {
  const next = makeCredentials(ids);
  for (const [secretKey, generation] of [
    [next.secret_key, 2],
    [credentials.secret_key, 1],
  ] as const) {
    const both = [
      { ...keysOf(next.secret_key), generation: 2 },
      { ...kept, generation: 1 },
    ];
    const find = (): StoredKeys[] => both;
    const [manager] = await meet({ client: { secretKey }, server: { find } }).both;
    assert.ok(manager.status === 'fulfilled');
    assert.equal(manager.value.keys['generation' as keyof StoredKeys], generation);
  }
});

test('the manager may send a proven edge away and say when to come back', async () => {
  const admit = (): never => {
    throw new TunnelRefusal(closeCode.duplicate, 'another machine has this identity', {
      minMs: 10,
      maxMs: 20,
    });
  };
  const [, edge] = await refusals(meet({ server: { admit } }));
  assert.deepEqual(
    [edge!.closeCode, edge!.message, edge!.retry],
    [closeCode.duplicate, 'another machine has this identity', { minMs: 10, maxMs: 20 }],
  );
});

test('a stranger may say 1,280 bytes and has ten seconds', async () => {
  const silent = meet({ client: { sweeper: handClock().sweeper } });
  silent.wires.edge.stalled = true;
  await turns();
  silent.pass(10_100);
  assert.match(String(((await silent.both)[0] as PromiseRejectedResult).reason), /too long/);

  const { sweeper } = handClock();
  const wires = memoryPair();
  const talk = serverHandshake(wires.manager, { sweeper, ids, find: () => [], admit: () => ({}) });
  wires.manager.arrive(Buffer.alloc(1_281));
  await assert.rejects(talk, /1280 bytes/);

  await assert.rejects(
    clientHandshake(memoryPair().edge, {
      sweeper,
      ids,
      accessKey: 'a',
      secretKey: credentials.secret_key,
      hello,
      state: () => ({ much: 'x'.repeat(1_150) }),
    }),
    /do not fit/,
  );
});

test('a time in the state is that of the proof, however long the way to it took, and the manager knows how long the proof was on its way', async () => {
  let now = (): number => 0;
  const { both, wires, sweeper, pass } = meet({ client: { state: () => ({ now: now() }) } });
  now = sweeper.clock.now;
  wires.edge.stalled = true;
  wires.manager.stalled = true;
  await turns(1);
  // The manager stood still before it answered the hello, and the proof was not at once there either.
  pass(4_000);
  wires.edge.stalled = false;
  wires.edge.flow();
  await turns(1);
  pass(1_000);
  wires.manager.stalled = false;
  wires.manager.flow();
  const { state, statedAt, turnMs } = ((await both)[0] as PromiseFulfilledResult<AuthenticatedEdge>)
    .value;
  assert.deepEqual([turnMs, (state['now'] as number) - statedAt], [1_000, 500]);
});

test('what follows the handshake at once is not lost on the way to the session', async () => {
  const { both, wires, sweeper } = meet();
  const log = logBook();
  const heard: unknown[] = [];
  const [, edge] = await both;
  assert.equal(edge.status, 'fulfilled');
  openSession(wires.edge, { side: 'edge', sweeper, log, random: () => 0 }).emit('hi', 1);
  await turns();
  openSession(wires.manager, {
    side: 'manager',
    sweeper,
    log,
    random: () => 0,
    handlers: { events: new Map([['hi', (payload) => heard.push(payload)]]) },
  });
  assert.deepEqual(heard, [1]);
});

test('a secret shown to the data plane is checked against what is kept', () => {
  assert.ok(verifySecret(credentials.secret_key, kept.stored_key));
  assert.ok(!verifySecret(makeCredentials(ids).secret_key, kept.stored_key));
  assert.ok(!verifySecret('', kept.stored_key));
  assert.ok(!verifySecret(credentials.secret_key, ''));
  assert.ok(!verifySecret(`${credentials.secret_key}x`, kept.stored_key));
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const spellings = alphabet
    .split('')
    .filter((last) => verifySecret(credentials.secret_key.slice(0, -1) + last, kept.stored_key));
  assert.deepEqual(spellings, [credentials.secret_key.at(-1)], 'a secret has one spelling');
});
