import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import type { Notice } from 'svc/contracts/notify';

import { startReceiver } from './fakes/receiver.ts';
import { noticeOf, openOffice } from './office.ts';

/** Starts a channel that groups everything, and was notified of the incidents 1 and 2. */
async function gathered(t: TestContext) {
  const office = await openOffice(t);
  const platform = await startReceiver(t);
  await office.channel({
    channel_type: 'webhook',
    endpoint: platform.url,
    group_by: [],
    group_wait: '10s',
    group_interval: '1m',
  });
  const told = async (...notices: readonly Notice[]) => {
    await office.dispatcher.accept(...notices);
    office.clock.advance(60_000);
    await office.turn();
    const { body } = platform.taken.at(-1)!;
    const said = (
      body.notices as readonly {
        event: string;
        incident: { id: number; severity: string; event_count: number };
      }[]
    ).map(
      ({ event, incident }) =>
        `${event} ${incident.id}.${incident.event_count} ${incident.severity}`,
    );
    return {
      said,
      title: body.title as string,
      count: body.count as number,
      omitted: body.omitted as number,
    };
  };
  await told(noticeOf(1), noticeOf(2));
  return { told };
}

test('who was not told of a firing is not told that it still fires', async (t) => {
  const { told } = await gathered(t);
  const reminder = noticeOf(3, 'reminder', { incident: { summary: 'CPU is very busy' } });
  const { said, title, count, omitted } = await told(
    noticeOf(1, 'reminder'),
    noticeOf(3),
    reminder,
  );
  assert.deepEqual(said, ['reminder 1.1 warning', 'firing 3.1 warning']);
  assert.match(title, /^\[1 FIRING, 1 STILL FIRING\] /, 'each incident is counted once');
  assert.deepEqual([count, omitted], [2, 0]);
});

test('a resolve is not the last word about what fires again, however grave that was and is', async (t) => {
  const { told } = await gathered(t);
  const again = noticeOf(1, 'firing', {
    fire_seq: 2,
    incident: { severity: 'critical', event_count: 2 },
  });
  const { said, title } = await told(noticeOf(1, 'resolved'), again, noticeOf(2, 'resolved'));
  assert.deepEqual(said, ['firing 1.2 critical', 'resolved 2.1 warning']);
  assert.match(title, /^\[1 FIRING, 1 RESOLVED\] /);
});

test('what has become graver before it was told is told as grave as it is', async (t) => {
  const { told } = await gathered(t);
  const graver = noticeOf(3, 'firing', { id: '3/1/worse', incident: { severity: 'critical' } });
  const milder = noticeOf(4, 'firing', { id: '4/1/milder', incident: { severity: 'info' } });
  const { said } = await told(
    noticeOf(3),
    graver,
    noticeOf(4, 'firing', { incident: { severity: 'critical' } }),
    milder,
  );
  assert.deepEqual(said, ['firing 3.1 critical', 'firing 4.1 info']);
});
