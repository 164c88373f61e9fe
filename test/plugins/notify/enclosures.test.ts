import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { json, type Quirk } from './fakes/platform.ts';
import { startWecom, wecomPath } from './fakes/robots.ts';
import { noticeOf, openOffice, testClock } from './office.ts';

/** Starts a WeCom robot with incidents whose last hour is known. */
async function meet(t: TestContext, ...known: readonly number[]) {
  const clock = testClock();
  const office = await openOffice(t, { clock, timeoutMs: 300 });
  const robot = await startWecom(t, clock);
  const { id } = await office.channel({ channel_type: 'wecom', endpoint: robot.url + wecomPath });
  for (const incident of known) {
    const hour = Array.from(
      { length: 60 },
      (_, at) => [clock.now() - (59 - at) * 60_000, 60 + at] as const,
    );
    office.backgrounds.set(incident, {
      incident: noticeOf(incident).incident,
      hour,
      steps: [],
      beside: [],
    });
  }
  const kinds = (): readonly string[] => robot.requests.map(({ body }) => body.msgtype);
  return {
    clock,
    office,
    robot,
    id,
    kinds,
    words: async () => (await office.deliveries()).map(({ state, error }) => [state, error]),
  };
}

test('a WeCom robot gets the last hour as a picture after the text, and no picture where nothing is known', async (t) => {
  const { office, robot, kinds, words } = await meet(t, 1);
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  assert.deepEqual(kinds(), ['markdown', 'image']);
  assert.equal(robot.taken.length, 2, 'its sum and its size are right');
  assert.ok(robot.requests[1]!.text.length < 20_000);
  await office.dispatcher.accept(noticeOf(2));
  await office.turn();
  assert.deepEqual(kinds(), ['markdown', 'image', 'markdown']);
  assert.deepEqual(await words(), [
    ['sent', null],
    ['sent', null],
  ]);
});

test('no picture goes where the text was not taken', async (t) => {
  const { office, robot, clock, kinds } = await meet(t, 1);
  robot.next(
    { status: 500, body: 'oops' },
    json({ errcode: 45009, errmsg: 'api freq out of limit' }),
  );
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  assert.deepEqual(kinds(), ['markdown']);
  clock.advance(5_000);
  await office.turn();
  assert.deepEqual(kinds(), ['markdown', 'markdown']);
  clock.advance(60_000);
  await office.turn();
  assert.deepEqual(kinds(), ['markdown', 'markdown', 'markdown', 'image']);
});

const losses: readonly (readonly [string, Quirk, RegExp])[] = [
  [
    'refuses it',
    json({ errcode: 301019, errmsg: 'media file md5 not match' }),
    /^sent without its picture: the platform answered with code 301019: media file/,
  ],
  [
    'is out of order',
    { status: 500, body: 'oops' },
    /^sent without its picture: the platform answered 500/,
  ],
  ['never ends its answer', 'slow', /^sent without its picture: .*within/],
  ['hangs up', 'hang up', /^sent without its picture: /],
];
for (const [what, quirk, said] of losses) {
  test(`a robot that ${what} has the text all the same: it is sent once, with a word about the picture`, async (t) => {
    const { office, robot, clock, id, kinds, words } = await meet(t, 1);
    robot.next(json({ errcode: 0, errmsg: 'ok' }), quirk);
    await office.dispatcher.accept(noticeOf(1));
    await office.turn();
    const [[state, error] = []] = await words();
    assert.equal(state, 'sent');
    assert.match(String(error), said);
    assert.ok(!String(error).includes('s3cr3t'), 'no part of a key');
    assert.deepEqual(
      office.recorded.map(({ result, error: told }) => [result, told]),
      [['sent', undefined]],
    );
    const { degraded, last_error: lastError } = await office.shown(id);
    assert.deepEqual([degraded, lastError], [false, null], 'nothing ails the channel');
    clock.advance(600_000);
    await office.turn();
    assert.deepEqual(kinds(), ['markdown', 'image'], 'nothing is sent again');
  });
}

test('a robot that has had enough by the picture is left alone for as long as after a text', async (t) => {
  const { office, robot, clock, kinds } = await meet(t, 1);
  robot.next(
    json({ errcode: 0, errmsg: 'ok' }),
    json({ errcode: 45009, errmsg: 'api freq out of limit' }),
  );
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  await office.dispatcher.accept(noticeOf(2));
  clock.advance(59_999);
  await office.turn();
  assert.equal(kinds().length, 2);
  clock.advance(1);
  await office.turn();
  assert.deepEqual(kinds(), ['markdown', 'image', 'markdown']);
});

test('pictures count against what a robot takes in a minute, and never hold up a text', async (t) => {
  const all = Array.from({ length: 60 }, (_, index) => index + 1);
  const { office, robot, clock, kinds, words } = await meet(t, ...all);
  const at: number[] = [];
  for (const incident of all) {
    await office.dispatcher.accept(noticeOf(incident));
    await office.turn();
    at.push(...robot.requests.slice(at.length).map(() => clock.now()));
    if (incident <= 13) {
      assert.equal(
        kinds().filter((kind) => kind === 'markdown').length,
        incident,
        'each text goes at once',
      );
    }
    clock.advance(1_000);
  }
  assert.equal(robot.taken.length, robot.requests.length, 'the robot has refused none');
  at.forEach((from, index) =>
    assert.ok(at.slice(index).filter((one) => one < from + 60_000).length <= 18),
  );
  const pictures = kinds().filter((kind) => kind === 'image').length;
  assert.ok(pictures >= 4, String(pictures));
  assert.match(
    String((await words()).find(([, error]) => error !== null)?.[1]),
    /^sent without its picture: the platform.s rate limit is nearly reached/,
  );
});

test('what pictures have taken of the minute is known after a restart', async (t) => {
  const { office, clock } = await meet(t, 1);
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  const { recent } = await office.tables.read
    .selectFrom('notify_states')
    .select('recent')
    .executeTakeFirstOrThrow();
  assert.deepEqual(JSON.parse(recent), [clock.now(), clock.now()]);
});
