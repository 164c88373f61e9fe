import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { AlertEvaluator } from 'svc/contracts/alert';
import { MetricsIngest } from 'svc/contracts/metricsdb';

import { type ImApp, type ImOffice, imOffice, providers, settled } from './office.ts';

/** Starts the real alert and notification plugins, with one firing incident. */
async function burning(
  t: TestContext,
): Promise<{ readonly office: ImOffice; readonly pass: (heat: number) => Promise<void> }> {
  const office = await imOffice(t, [], { plugins: ['metricsdb', 'alert', 'notify'] });
  // A past to be drawn.
  await office.house.service(MetricsIngest).write(
    Array.from({ length: 10 }, (_, at) => ({
      labels: { __name__: 'test_heat', device_id: '7' },
      value: 0,
      time: office.now() - (10 - at) * 60_000,
    })),
  );
  const pass = async (heat: number): Promise<void> => {
    for (let step = 0; step < 12; step++) {
      office.clock.ahead += 10_000;
      await office.house
        .service(MetricsIngest)
        .write([
          { labels: { __name__: 'test_heat', device_id: '7' }, value: heat, time: office.now() },
        ]);
      await office.house.service(AlertEvaluator).tick();
    }
  };
  await office.house.json('/api/v1/alert-rules', {
    method: 'POST',
    body: JSON.stringify({
      rule_key: 'test_hot',
      name: 'Too hot',
      kind: 'metric_raw',
      source_type: 'svc_builtin',
      scope_type: 'host',
      join_mode: 'all',
      severity: 'warning',
      conditions: [{ expr: 'test_heat > 1' }],
    }),
  });
  return { office, pass };
}

async function channel(office: ImOffice, app: ImApp, conversation: string): Promise<void> {
  const draft = {
    name: `${app.provider} ${conversation}`,
    channel_type: 'im',
    endpoint: `im:${app.id}/${conversation}`,
    group_wait: '0s',
    group_interval: '0s',
    group_by: ['...'],
  };
  const { status, body } = await office.ask('bob', 'POST', '/notification-channels', draft);
  assert.equal(status, 201, JSON.stringify(body));
}

/** Sends a notice to a Slack channel, where vera is U1, with its buttons. */
async function told(t: TestContext) {
  const { office, pass } = await burning(t);
  const app = await office.connect('slack', { allow_from: ['*'] });
  await channel(office, app, 'C1');
  await office.link(app, 'vera', 'U1');
  const before = app.fake.standing.length;
  const since = () => app.fake.standing.slice(before).map(({ text }) => text);
  await pass(5);
  await settled(() => since().some((text) => text.includes('FIRING')), since);
  const notice = app.fake.standing.slice(before).find(({ text }) => text.includes('FIRING'))!;
  // oxlint-disable-next-line typescript/no-explicit-any -- blocks as Slack has them
  const elements = (notice.raw['blocks'] as any[])[1].elements as {
    text: { text: string };
    value?: string;
    url?: string;
  }[];
  const incident = (await office.ask('bob', 'GET', '/alerts/incidents')).body.items[0];
  const press = (at: number, from: string) =>
    office.say(app, {
      text: elements[at]!.value!,
      from,
      to: 'C1',
      direct: false,
      above: notice.id,
      pressed: true,
    });
  const now = async () => (await office.ask('bob', 'GET', `/alerts/incidents/${incident.id}`)).body;
  return { office, app, since, notice, elements, incident, press, now };
}

test('an incident is told with buttons, acknowledged by who is linked, and its thread follows it to its end', async (t) => {
  const { office, app, since, notice, elements, incident, press, now } = await told(t);
  assert.deepEqual(
    elements.map(({ text }) => text.text),
    ['Acknowledge', 'Silence 2 h', 'Silence…', 'Add note…', 'Investigate', 'Open'],
  );
  const picture = () => app.fake.standing.find(({ text }) => text === 'PNG');
  await settled(() => picture() !== undefined, since);
  assert.equal(picture()!.raw['thread_ts'], notice.id);
  assert.match(String(picture()!.raw['caption']), /Too hot.*: the last hour$/);

  await press(0, 'U2');
  await settled(() => since().some((text) => text.includes('Link your account')), since);
  assert.equal((await now()).status, 'open');
  await press(0, 'U1');
  await settled(() => since().some((text) => text.includes('acknowledged by vera')), since);
  assert.equal((await now()).status, 'acknowledged');
  assert.ok(
    office.rows.some(
      ({ action, principal, ip }) =>
        action === 'incident:ack' && principal.id === '6' && ip === 'im:slack',
    ),
  );

  await office.say(app, {
    text: '/silence 2h',
    from: 'U1',
    to: 'C1',
    direct: false,
    above: notice.id,
  });
  await settled(() => since().some((text) => text.includes('cannot be silenced')), since);
  await office.say(app, { text: '/incidents', from: 'U1' });
  await settled(() => since().some((text) => text.includes('Too hot')), since);

  await office.ask('anna', 'POST', `/alerts/incidents/${incident.id}/notes`, {
    text: 'The fan is dead.',
  });
  await settled(() => since().some((text) => text.includes('The fan is dead.')), since);
  assert.equal(
    app.fake.standing.find(({ text }) => text.includes('fan is dead'))!.raw['thread_ts'],
    notice.id,
  );

  await press(4, 'U1');
  await settled(() => since().includes('All is well.'), since);
  assert.equal(
    (await office.ask('vera', 'GET', '/chat/sessions')).body.items[0].related_incident_id,
    incident.id,
  );
  await office.ask('anna', 'POST', `/alerts/incidents/${incident.id}/resolve`, {});
  await settled(() => since().some((text) => /resolved/i.test(text)), since);
  assert.equal(
    since().filter((text) => text.startsWith('acknowledged')).length,
    0,
    'what was done in the thread is not told there again',
  );
});

test('the button that silences does so for two hours from when it was pressed, once, and for a linked account alone', async (t) => {
  const { office, app, since, incident, press, now } = await told(t);
  await press(1, 'U2');
  await settled(() => since().some((text) => text.includes('Link your account')), since);
  assert.equal((await now()).status, 'open');
  const pressed = office.now();
  await press(1, 'U1');
  await settled(
    () =>
      since().some((text) => text.includes(`Incident ${incident.id} is silenced for 2h by vera.`)),
    since,
  );
  const { status, silenced_until: until } = await now();
  assert.equal(status, 'silenced');
  assert.ok(
    Math.abs(Date.parse(until) - pressed - 7_200_000) < 60_000,
    `${until} is two hours from ${new Date(pressed).toISOString()}`,
  );
  assert.equal(
    office.rows.filter(
      ({ action, principal, ip }) =>
        action === 'incident:silence' && principal.id === '6' && ip === 'im:slack',
    ).length,
    1,
  );
  // The answer has a button by which it lasts longer, however often it is pressed: by two hours.
  const answer = app.fake.standing.find(({ text }) =>
    text.includes('is silenced for 2h by vera.'),
  )!;
  // oxlint-disable-next-line typescript/no-explicit-any -- blocks as Slack has them
  const [extend] = (answer.raw['blocks'] as any[])[1].elements as {
    text: { text: string };
    value: string;
  }[];
  assert.equal(extend!.text.text, 'Extend by 2 h');
  for (const times of [1, 2]) {
    await office.say(app, {
      text: extend!.value,
      from: 'U1',
      to: 'C1',
      direct: false,
      above: answer.id,
      pressed: true,
    });
    await settled(
      () =>
        since().filter((text) =>
          text.includes(`The silence of incident ${incident.id} now lasts until`),
        ).length === times,
      since,
    );
  }
  assert.equal(Date.parse((await now()).silenced_until), Date.parse(until) + 7_200_000);
});

test('a notice shows the present state on each platform that can change it, and where none can the thread says it', async (t) => {
  const { office, pass } = await burning(t);
  const apps: ImApp[] = [];
  for (const provider of providers) {
    const app = await office.connect(provider, { allow_from: ['U1'] });
    await channel(office, app, 'C1');
    apps.push(app);
  }
  await pass(5);
  const wordsOf = ({ fake }: ImApp) =>
    fake.standing.map(({ text }) => text).filter((text) => text !== 'PNG');
  const noticeOf = ({ fake }: ImApp) => fake.standing.find(({ to }) => to === 'C1');
  await settled(
    () => apps.every((app) => noticeOf(app) !== undefined),
    () => apps.map(({ fake }) => fake.standing),
  );
  const incident = (await office.ask('bob', 'GET', '/alerts/incidents')).body.items[0];
  const shows = async (state: RegExp): Promise<void> => {
    for (const app of apps) {
      await settled(
        () =>
          app.provider === 'wecom'
            ? wordsOf(app).length > 1
            : state.test(noticeOf(app)!.text.replaceAll('\u200b', '')),
        () => app.fake.standing.map(({ text }) => text),
      );
    }
  };
  await office.ask('anna', 'POST', `/alerts/incidents/${incident.id}/ack`, {});
  await shows(/In hand: acknowledged by anna at \d{4}-/);
  const slack = noticeOf(apps[0]!)!;
  assert.doesNotMatch(slack.text, /not acknowledged/);
  assert.doesNotMatch(JSON.stringify(slack.raw['blocks']), /"Acknowledge"|"Silence 2 h"/);
  assert.match(wordsOf(apps.at(-1)!)[1]!, /acknowledged \(anna\)/);
  await office.ask('anna', 'POST', `/alerts/incidents/${incident.id}/resolve`, {});
  await shows(/\[OVER\]|Resolved: \d{4}-/);
  assert.doesNotMatch(JSON.stringify(slack.raw['blocks']), /"Investigate"/);
});
