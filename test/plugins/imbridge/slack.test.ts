import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { AlertEvaluator } from 'svc/contracts/alert';
import { MetricsIngest } from 'svc/contracts/metricsdb';

import { type ImApp, type ImOffice, imOffice, settled, sign } from './office.ts';

const url = 'https://svc.example.org';

/** An office with one incident that fires and is told in these conversations; vera is U1, and U9 has no account. */
async function burning(
  t: TestContext,
  told: readonly string[] = [],
): Promise<{
  readonly office: ImOffice;
  readonly app: ImApp;
  readonly incident: number;
  readonly send: (payload: object) => Promise<void>;
  readonly event: (event: object) => Promise<void>;
  readonly texts: () => readonly string[];
  readonly statusNow: () => Promise<string>;
}> {
  const office = await imOffice(t, [], {
    plugins: ['metricsdb', 'alert', 'notify'],
    environment: { SVC_PUBLIC_URL: url },
  });
  const app = await office.connect('slack', { allow_from: ['U1'] });
  await office.link(app, 'vera', 'U1');
  for (const conversation of told) {
    await office.ask('bob', 'POST', '/notification-channels', {
      name: conversation,
      channel_type: 'im',
      endpoint: `im:${app.id}/${conversation}`,
      group_wait: '0s',
      group_interval: '0s',
    });
  }
  await office.ask('bob', 'POST', '/alert-rules', {
    rule_key: 'test_hot',
    name: 'Too hot',
    kind: 'metric_raw',
    source_type: 'svc_builtin',
    scope_type: 'host',
    join_mode: 'all',
    severity: 'warning',
    conditions: [{ expr: 'test_heat > 1' }],
  });
  for (let step = 0; step < 8; step++) {
    office.clock.ahead += 10_000;
    await office.house
      .service(MetricsIngest)
      .write([{ labels: { __name__: 'test_heat', device_id: '7' }, value: 5, time: office.now() }]);
    await office.house.service(AlertEvaluator).tick();
  }
  const incident = (await office.ask('bob', 'GET', '/alerts/incidents')).body.items[0].id as number;
  const call = async (body: string): Promise<void> => {
    const { status, text } = await office.call(app, sign('slack', app.secrets, body, office.now()));
    assert.deepEqual([status, text.replace('{}', '')], [200, '']);
  };
  const own = { api_app_id: app.secrets.app_id };
  let count = 0;
  return {
    office,
    app,
    incident,
    send: (payload) =>
      call(`payload=${encodeURIComponent(JSON.stringify({ ...own, ...payload }))}`),
    event: (event) =>
      call(
        JSON.stringify({
          ...own,
          type: 'event_callback',
          team_id: 'T1',
          event_id: `e${++count}`,
          event,
        }),
      ),
    texts: () => app.fake.standing.map(({ text }) => text),
    statusNow: async () =>
      (await office.ask('bob', 'GET', `/alerts/incidents/${incident}`)).body.status as string,
  };
}

/** Sends a slash command, whose answer Slack takes at an address of its own. */
async function slashed(
  office: ImOffice,
  app: ImApp,
  text: string,
  { from = 'U1', to = 'C1', way = `w${Math.random()}` } = {},
): Promise<string> {
  const form = new URLSearchParams({
    command: '/svc',
    text,
    api_app_id: app.secrets.app_id,
    user_id: from,
    user_name: from,
    channel_id: to,
    trigger_id: `t${way}`,
    response_url: `${app.fake.url}/commands/${way}`,
  });
  const signed = sign('slack', app.secrets, form.toString(), office.now());
  assert.equal((await office.call(app, signed)).status, 200);
  return `ephemeral:${way}`;
}

test('a slash command is answered for its sender alone, where the bot is no member and for as long as Slack takes it', async (t) => {
  const long = Array.from({ length: 200 }, (_, at) => `Line ${at} of what was found on web-${at}.`);
  const office = await imOffice(t, [
    { when: { last: 'everything' }, reply: { text: long.join('\n\n') } },
  ]);
  const app = await office.connect('slack', { allow_from: ['*'] });
  const said = (to: string) =>
    app.fake.standing.flatMap((one) => (one.to === to ? [one.text] : []));
  app.fake.closed.add('C1');
  const help = await slashed(office, app, 'help');
  await settled(
    () => said(help).some((text) => text.startsWith('Ask in')),
    () => app.fake,
  );
  const question = await slashed(office, app, 'How are things?');
  await settled(
    () => said(question).includes('All is well.'),
    () => app.fake,
  );
  assert.deepEqual(said(question), ['Working on it…', 'All is well.']);

  // Announced, and four parts: what Slack takes no more goes to the person directly.
  const all = await slashed(office, app, 'Tell me everything', { way: 'all' });
  await settled(
    () => /web-199/.test([...said(all), ...said('U1')].join()),
    () => app.fake.standing.map(({ to }) => to),
  );
  const found = [...said(all), ...said('U1')].flatMap((text) => [...text.matchAll(/web-(\d+)/g)]);
  assert.deepEqual(
    found.map(([, number]) => Number(number)),
    [...long.keys()],
  );
  const late = await slashed(office, app, 'How are things?', { way: 'expired' });
  await settled(() => said('U1').includes('All is well.'));
  assert.deepEqual(said(late), []);
  assert.equal(app.fake.standing.filter(({ to }) => to === 'C1').length, 0);
});

test('a form silences and another adds a note, for whoever may, through the gate of the command', async (t) => {
  const { office, app, incident, send, texts, statusNow } = await burning(t, ['C1']);
  await settled(() => texts().some((text) => text.includes('FIRING')), texts);
  const notice = app.fake.standing.find(({ text }) => text.includes('FIRING'))!;
  const { elements } = (
    notice.raw['blocks'] as { elements: { text: { text: string }; value: string }[] }[]
  ).at(-1)!;
  const press = (label: string, user: string, trigger_id: string) =>
    send({
      type: 'block_actions',
      trigger_id,
      user: { id: user, username: user },
      channel: { id: 'C1' },
      message: { ts: notice.id },
      actions: [
        { value: elements.find(({ text }) => text.text === label)!.value, action_ts: trigger_id },
      ],
    });
  const forms = () => app.fake.shown.filter(({ kind }) => kind === 'form');
  const submit = (user: string, view: { private_metadata: string }, values: object, id: string) =>
    send({
      type: 'view_submission',
      trigger_id: id,
      user: { id: user, username: user },
      view: {
        id,
        hash: '1',
        private_metadata: view.private_metadata,
        state: {
          values: Object.fromEntries(
            Object.entries(values).map(([name, value]) => [name, { [name]: value }]),
          ),
        },
      },
    });

  await press('Add note…', 'U9', 't0');
  await settled(() => texts().some((text) => text.includes('Link your account')), texts);
  assert.equal(forms().length, 0, 'a form opens for people with an account');
  await press('Add note…', 'U1', 'old1');
  await settled(() => texts().some((text) => text.includes('press the button again')), texts);
  await press('Add note…', 'U1', 't1');
  await settled(() => forms().length === 1);
  const { view } = forms()[0]!.body;
  // Another person sends it: what counts is who does.
  await submit('U9', view, { note: { value: 'Mine.' } }, 'V0');
  await submit('U1', view, { note: { value: 'The fan is dead.' } }, 'V1');
  await settled(
    () => texts().some((text) => /vera has added a note .*fan is dead/.test(text)),
    texts,
  );
  const events = (await office.ask('bob', 'GET', `/alerts/incidents/${incident}/events`)).body
    .items;
  assert.deepEqual(
    events.flatMap(({ type, message }: { type: string; message: string }) =>
      type === 'note' ? [message] : [],
    ),
    ['The fan is dead.'],
  );
  await press('Silence…', 'U1', 't2');
  await settled(() => forms().length === 2);
  const silence = forms()[1]!.body.view;
  await submit(
    'U1',
    silence,
    { duration: { selected_option: { value: '8h' } }, reason: { value: 'fan ordered' } },
    'V2',
  );
  await settled(() => texts().some((text) => /silenced for 8h by vera/.test(text)), texts);
  assert.equal(await statusNow(), 'silenced');
  await settled(() => /In hand: silenced by vera\S* until/.test(notice.text), texts);
  assert.ok(
    office.rows.some(
      ({ action, principal, ip }) =>
        action === 'incident:silence' && principal.id === '6' && ip === 'im:slack',
    ),
  );
});

test('the page of the app shows what is open to who may see it, and its buttons act', async (t) => {
  const { app, incident, send, event, statusNow } = await burning(t);
  const pages = () =>
    app.fake.shown.flatMap(({ kind, body }) => (kind === 'page' ? [JSON.stringify(body)] : []));
  await event({ type: 'app_home_opened', user: 'U1', tab: 'messages', channel: 'D1' });
  await event({ type: 'app_home_opened', user: 'U9', tab: 'home', channel: 'D9' });
  await settled(() => pages().length === 1);
  assert.match(pages()[0]!, /"user_id":"U9".*only to linked accounts/);
  assert.doesNotMatch(pages()[0]!, /Too hot|Acknowledge/);
  await event({ type: 'app_home_opened', user: 'U1', tab: 'home', channel: 'D1' });
  await settled(() => pages().length === 2);
  assert.match(pages()[1]!, /Too hot.*Acknowledge.*Your account is vera/);
  const value = /"value":"([\w-]+)"/.exec(pages()[1]!)![1]!;
  await send({
    type: 'block_actions',
    trigger_id: 't1',
    user: { id: 'U1', username: 'U1' },
    container: { type: 'view', view_id: 'V1' },
    view: { type: 'home' },
    actions: [{ value, action_ts: '1' }],
  });
  await settled(() => pages().length === 3);
  assert.equal(await statusNow(), 'acknowledged');
  assert.match(pages()[2]!, /\(acknowledged\)/);
  assert.ok(
    app.fake.standing.some(
      ({ to, text }) => to === 'U1' && text.includes(`Incident ${incident} is`),
    ),
  );
});

test('addresses of incidents are shown as what they lead to, as far as who posts them may see it', async (t) => {
  const { app, incident, event } = await burning(t);
  const previews = () => app.fake.shown.filter(({ kind }) => kind === 'preview');
  const share = (user: string, links: readonly string[], more: object = {}) =>
    event({
      type: 'link_shared',
      user,
      channel: 'C1',
      message_ts: '5.5',
      links: links.map((link) => ({ domain: 'svc.example.org', url: link })),
      ...more,
    });
  await share('U9', [`${url}/ui/incidents/${incident}`]);
  await share('U1', [`${url}/ui/incidents/404`, `https://svc.example.org.evil/ui/incidents/1`]);
  await share('U1', [`${url}/ui/devices`, `${url}/ui/incidents/${incident}?tab=events`]);
  await settled(() => previews().length === 1);
  const { channel, ts, unfurls } = previews()[0]!.body;
  assert.deepEqual(
    [channel, ts, Object.keys(unfurls)],
    ['C1', '5.5', [`${url}/ui/incidents/${incident}?tab=events`]],
  );
  assert.match(JSON.stringify(unfurls), /Too hot.*In hand: not acknowledged/);
  await share('U1', [`${url}/ui/incidents/${incident}`], {
    channel: 'COMPOSER',
    unfurl_id: 'u1',
    source: 'composer',
  });
  await settled(() => previews().length === 2);
  assert.equal(previews()[1]!.body.unfurl_id, 'u1');
  assert.equal(app.fake.standing.length, 1, 'nothing is said but that vera is linked');
});
