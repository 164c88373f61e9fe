import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';

import Type from 'typebox';

import { frame } from '../../core/http/answers/events.ts';
import { currentPin } from '../../core/registry/index.ts';
import { eventRoute, type ServerEvent } from '../../core/sdk/index.ts';
import { type House, openHouse, operatorToken, until } from './house.ts';
import { openRaw } from './raw.ts';

let house: House;
let produced = 0;
let returned = 0;
let signals: AbortSignal[] = [];
const limits = { heartbeatMs: 40, unreadMs: 300, recheckMs: 60, streamsPerPrincipal: 3 };

async function* count({
  lastEventId,
  signal,
}: {
  lastEventId: string | undefined;
  signal: AbortSignal;
}): AsyncGenerator<ServerEvent> {
  signals.push(signal);
  try {
    for (let id = Number(lastEventId ?? 0) + 1; id <= 3; id += 1) {
      yield { id: String(id), event: 'tick', data: { id } };
    }
  } finally {
    returned += 1;
  }
}

async function* quiet({ signal }: { signal: AbortSignal }): AsyncGenerator<ServerEvent> {
  signals.push(signal);
  yield { data: 'hello' };
  try {
    await new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    );
  } finally {
    returned += 1;
  }
}

async function* flood({ signal }: { signal: AbortSignal }): AsyncGenerator<ServerEvent> {
  signals.push(signal);
  for (;;) {
    produced += 1;
    yield { data: 'x'.repeat(16 * 1024) };
  }
}

const routes = [
  eventRoute({
    method: 'GET',
    path: '/api/v1/count',
    access: 'any',
    summary: 'Count',
    headers: { 'x-stream': 'v1' },
    handle: (call) => count(call),
  }),
  eventRoute({
    method: 'POST',
    path: '/api/v1/ask',
    access: 'any',
    summary: 'Ask',
    body: Type.Object({ text: Type.String() }),
    async *handle({ body }) {
      yield { data: body.text };
      yield { data: '[DONE]' };
    },
  }),
  eventRoute({
    method: 'GET',
    path: '/api/v1/quiet',
    access: 'any',
    summary: 'Quiet',
    handle: (call) => quiet(call),
  }),
  eventRoute({
    method: 'GET',
    path: '/api/v1/open',
    access: 'public',
    summary: 'Public',
    handle: (call) => quiet(call),
  }),
  eventRoute({
    method: 'GET',
    path: '/api/v1/flood',
    access: 'any',
    summary: 'Flood',
    handle: (call) => flood(call),
  }),
  eventRoute({
    method: 'GET',
    path: '/api/v1/broken',
    access: 'any',
    summary: 'Broken',
    async *handle() {
      yield { data: 1 };
      throw new Error('inner detail');
    },
  }),
  eventRoute({
    method: 'GET',
    path: '/api/v1/inject',
    access: 'any',
    summary: 'Inject',
    async *handle() {
      yield { event: 'a\ndata: forged', data: 1 };
    },
  }),
  eventRoute({
    method: 'GET',
    path: '/api/v1/pins',
    access: 'any',
    summary: 'Pins',
    async *handle() {
      yield {
        data: {
          snapshot: currentPin()?.snapshot?.serial ?? null,
          owner: currentPin()?.owner?.label,
        },
      };
    },
  }),
];

before(async () => {
  house = await openHouse(routes, { limits });
});
after(() => house.close());
afterEach(async () => {
  await until(() => house.server.open === 0);
  assert.equal(house.registry.leases.size, 0);
  signals = [];
});

const listen = (
  path: string,
  headers: Record<string, string> = {},
  token = operatorToken,
): Promise<Response> =>
  fetch(house.url + path, { headers: { authorization: `Bearer ${token}`, ...headers } });

/** Reads until `done` is content or the stream ends. */
async function readUntil(
  response: Response,
  done: (text: string) => boolean,
): Promise<{ text: string; cancel: () => Promise<void> }> {
  const reader = response.body!.getReader();
  let text = '';
  while (!done(text)) {
    const { value, done: ended } = await reader.read();
    if (ended) {
      break;
    }
    text += Buffer.from(value).toString();
  }
  return { text, cancel: () => reader.cancel() };
}

describe('an event stream', () => {
  test('sends named, numbered events with the headers of its declaration, and ends', async () => {
    const response = await listen('/api/v1/count');
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.deepEqual(
      [
        response.headers.get('x-stream'),
        response.headers.get('cache-control'),
        response.headers.get('x-accel-buffering'),
      ],
      ['v1', 'no-store, no-transform', 'no'],
    );
    assert.equal(
      await response.text(),
      [1, 2, 3].map((id) => `event: tick\nid: ${id}\ndata: {"id":${id}}\n\n`).join(''),
    );
  });

  test('goes on after the event that a returning client has seen', async () => {
    assert.equal(
      await (await listen('/api/v1/count', { 'last-event-id': '2' })).text(),
      'event: tick\nid: 3\ndata: {"id":3}\n\n',
    );
  });

  test('can answer a question that was posted, and leaves an audit row', async () => {
    const { text } = await house.call('POST', '/api/v1/ask', { body: { text: 'two\nlines' } });
    assert.equal(text, 'data: two\ndata: lines\n\ndata: [DONE]\n\n');
    assert.equal(house.changes.audit.at(-1)!.status, 'success');
  });

  test('says ping while nothing happens', async () => {
    const { text, cancel } = await readUntil(
      await listen('/api/v1/quiet'),
      (received) => received.split(': ping\n\n').length > 3,
    );
    assert.ok(text.startsWith('data: hello\n\n'));
    await cancel();
  });

  test('ends its source when the client goes away', async () => {
    returned = 0;
    const { cancel } = await readUntil(await listen('/api/v1/quiet'), (text) =>
      text.includes('hello'),
    );
    await cancel();
    await until(() => returned === 1 && signals[0]!.aborted);
  });

  test('holds its generation and no snapshot', async () => {
    assert.equal(
      await (await listen('/api/v1/pins')).text(),
      'data: {"snapshot":null,"owner":"area#1"}\n\n',
    );
    const { cancel } = await readUntil(await listen('/api/v1/quiet'), (text) =>
      text.includes('hello'),
    );
    const generation = house.registry.current.generations.get('area')!;
    assert.deepEqual(
      [generation.holds, house.registry.leases.users(generation), house.registry.leases.size],
      [1, 1, 0],
    );
    await cancel();
    await until(() => generation.holds === 0);
  });

  test('that breaks off says so without inner detail, and strikes its plugin', async () => {
    const text = await (await listen('/api/v1/broken')).text();
    assert.match(text, /^data: 1\n\nevent: error\ndata: \{"error":"internal"/);
    assert.doesNotMatch(text, /inner detail/);
    assert.equal(house.strikes.at(-1)!.label, 'GET /api/v1/broken');
  });

  test('cannot be made to forge a field through a name', async () => {
    assert.doesNotMatch(await (await listen('/api/v1/inject')).text(), /forged/);
    assert.throws(() => frame({ id: 'a\rb', data: 1 }), /line break/);
    assert.equal(frame({ data: 'a\r\nb\rc' }), 'data: a\ndata: b\ndata: c\n\n');
  });

  test('HEAD shows the headers only', async () => {
    const response = await fetch(`${house.url}/api/v1/quiet`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${operatorToken}` },
    });
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(signals.length, 0);
  });
});

describe('a stream costs others nothing', () => {
  test('a client that does not read stops its source, and is cut', async () => {
    produced = 0;
    const raw = await openRaw(house.port);
    raw.socket.pause();
    raw.send(
      `GET /api/v1/flood HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${operatorToken}\r\n\r\n`,
    );
    await until(() => produced > 0);
    let before = -1;
    await until(() => {
      const stopped = produced === before;
      before = produced;
      return stopped;
    });
    assert.ok(produced < 2_000, `${produced} events were made for nobody`);
    await until(() => house.server.open === 0);
    assert.ok(signals[0]!.aborted);
    raw.socket.destroy();
  });

  test('one caller has a few at once; another still gets theirs', async () => {
    const open = await Promise.all([1, 2, 3].map(() => listen('/api/v1/quiet', {}, 'user-1')));
    const fourth = await listen('/api/v1/quiet', {}, 'user-1');
    assert.deepEqual(
      [fourth.status, ((await fourth.json()) as { error: string }).error],
      [429, 'rate_limited'],
    );
    const other = await listen('/api/v1/quiet', {}, 'user-2');
    assert.equal(other.status, 200);
    await Promise.all([...open, other].map((response) => response.body!.cancel()));
    await until(() => house.server.open === 0);
    const again = await listen('/api/v1/quiet', {}, 'user-1');
    assert.equal(again.status, 200);
    await again.body!.cancel();
  });

  test('it ends soon after the caller has lost the right to listen', async () => {
    const response = await listen('/api/v1/quiet', {}, 'user-9');
    setTimeout(() => house.authenticator.revoked.add('user-9'), 20);
    assert.match(await response.text(), /hello/);
    assert.ok(signals[0]!.aborted);
  });

  test('it survives an authenticator that is away for a moment, but not one that stays away', async () => {
    const original = house.authenticator.authenticate;
    const response = await listen('/api/v1/quiet', {}, 'user-5');
    house.authenticator.authenticate = () => {
      throw new Error('reloading');
    };
    await new Promise((resolve) => setTimeout(resolve, 90));
    assert.equal(signals[0]!.aborted, false);
    await response.text();
    house.authenticator.authenticate = original;
  });

  test('many listeners of one plugin draw no warning from the runtime', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    const open = await Promise.all(
      Array.from({ length: 30 }, (_, index) => listen('/api/v1/quiet', {}, `user-${index + 100}`)),
    );
    await Promise.all(open.map((response) => response.body!.cancel()));
    process.off('warning', note);
    assert.deepEqual(warnings, []);
  });
});

test('when its plugin retires, a stream tells its client to come back and ends', async () => {
  const generation = house.publish('guest', [
    eventRoute({
      method: 'GET',
      path: '/api/v1/guest',
      access: 'public',
      summary: 'Guest',
      handle: (call) => quiet(call),
    }),
  ]);
  const response = await fetch(`${house.url}/api/v1/guest`);
  setTimeout(() => generation.scope.announceEnd('reload'), 20);
  assert.match(await response.text(), /retry: 1000\n\n$/);
  await until(() => generation.holds === 0);
  house.registry.publish({ remove: ['guest'] });
});
