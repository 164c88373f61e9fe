import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { AlertEvaluator } from 'svc/contracts/alert';
import { type Approval, Approvals } from 'svc/contracts/approval';

import { FakeModel } from '../../plugins/model/cli/fake-model/fake-model.ts';
import {
  callback,
  deliver,
  draftOf,
  type ImApp,
  secretsOf,
  settled,
  startFake,
} from '../plugins/imbridge/office.ts';
import { type Customer, twoCustomers, type TwoCustomers } from './two-customers.ts';

interface Scene {
  readonly all: TwoCustomers;
  readonly app: ImApp;
  readonly incidents: Readonly<Record<Customer['name'] | 'shared', number>>;
  /** Buttons of the notice of each incident, in the group of both. */
  readonly buttons: Readonly<Record<Customer['name'], readonly string[]>>;
  readonly approvals: Readonly<Record<Customer['name'], Approval>>;
  /** Says it to the bot alone, or presses a button, and returns what is answered. */
  answerTo(from: string, text: string, pressed?: boolean): Promise<string>;
}

/**
 * Sender by the customer whose member it is; `nobody` is linked to no account, and is admitted by
 * the app.
 */
const sender = { acme: 'U1', bravo: 'U2', nobody: 'U3' } as const;

async function fired({
  house,
  ask,
  clock,
  acme,
  bravo,
}: TwoCustomers): Promise<Scene['incidents']> {
  const rule = (key: string, scope_type: string) => ({
    rule_key: key,
    name: key,
    kind: 'metric_raw',
    source_type: 'svc_builtin',
    join_mode: 'all',
    severity: 'warning',
    scope_type,
    conditions: [{ expr: 'up == 1' }],
    annotations: { summary: 'seen: {{ $labels.instance }}' },
  });
  for (const [key, scope] of [
    ['host_up', 'host'],
    ['all_up', 'global'],
  ] as const) {
    assert.equal(
      (await ask('POST', '/api/v1/alert-rules', house.token, rule(key, scope))).status,
      201,
    );
  }
  let found: { id: number; rule: string; scope_id: string }[] = [];
  for (
    let round = 0;
    round < 12 && found.filter(({ rule: key }) => key.endsWith('_up')).length < 3;
    round += 1
  ) {
    clock.ahead += 10_000;
    await house.service(AlertEvaluator).tick();
    found = (await ask('GET', '/api/v1/alerts/incidents?limit=200', house.token)).body.items;
  }
  const of = (key: string, scope: number | string): number =>
    found.find((one) => one.rule === key && one.scope_id === String(scope))!.id;
  return {
    acme: of('host_up', acme.device),
    bravo: of('host_up', bravo.device),
    shared: of('all_up', 'global'),
  };
}

/** A bot that members of both customers have linked, with notices of incidents of both in one group. */
async function scene(t: TestContext): Promise<Scene> {
  const model = await FakeModel.start({ rules: [{ reply: { text: 'All is well.' } }] });
  t.after(() => model.close());
  const all = await twoCustomers(t, {
    environment: {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
      SVC_LLM_COMPATIBLE_BASE_URL: model.url,
      SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
      SVC_IM_PER_MINUTE: '1000',
    },
  });
  const { house, ask, clock } = all;
  const fake = await startFake('slack', secretsOf('slack'));
  t.after(() => fake.close());
  const connected = await ask('POST', '/api/v1/im/apps', house.token, {
    ...draftOf('slack', fake.url),
    allow_from: ['*'],
  });
  assert.equal(connected.status, 201, connected.text);
  const app: ImApp = {
    provider: 'slack',
    id: connected.body.id,
    fake,
    secrets: secretsOf('slack'),
  };
  const answerTo = async (from: string, text: string, pressed = false): Promise<string> => {
    const isAnswer = ({
      to,
      text: said,
    }: {
      readonly to: string;
      readonly text: string;
    }): boolean => to === from && !said.startsWith('Working') && !said.startsWith('Waiting for');
    const before = fake.standing.filter(isAnswer).length;
    const signed = callback(
      'slack',
      app.secrets,
      { text, from, pressed },
      Date.now() + clock.ahead,
    );
    assert.equal((await deliver(house.url, app, signed)).status, 200);
    await settled(
      () => fake.standing.filter(isAnswer).length > before,
      () => fake.standing,
    );
    return fake.standing.findLast(isAnswer)!.text;
  };
  for (const customer of [all.acme, all.bravo]) {
    const { body } = await customer.ask('POST', '/api/v1/im/links');
    assert.match(await answerTo(sender[customer.name], `/link ${body.code}`), /linked to/);
  }
  const channel = {
    name: 'group',
    channel_type: 'im',
    endpoint: `im:${app.id}/C1`,
    group_wait: '0s',
    group_interval: '0s',
    group_by: ['...'],
  };
  assert.equal(
    (await ask('POST', '/api/v1/notification-channels', house.token, channel)).status,
    201,
  );
  const incidents = await fired(all);
  const requested = ({ name, device }: Customer): Promise<Approval> =>
    house.service(Approvals).request({
      owner: { kind: 'skill', ref: `run-${name}` },
      tool: 'service_restart',
      class: 'mutating',
      signatures: 1,
      args: { unit: name },
      persona: undefined,
      target: { kind: 'device', id: device, name: `${name}-host` },
      rendered: `restart ${name}`,
      requested_by: { kind: 'user', id: '999999', name: 'agent', role: 'admin' },
    });
  const buttonsOf = (name: string): readonly string[] => {
    const notice = fake.standing.find(
      ({ to, text }) =>
        to === 'C1' && text.includes('Rule: host_up') && text.includes(`Host: ${name}-host`),
    );
    // oxlint-disable-next-line typescript/no-explicit-any -- blocks as Slack has them
    const elements = ((notice?.raw['blocks'] as any[])?.[1]?.elements ?? []) as {
      value?: string;
    }[];
    return elements.flatMap(({ value }) => (value === undefined ? [] : [value]));
  };
  const buttons = () => ({ acme: buttonsOf('acme'), bravo: buttonsOf('bravo') });
  await settled(
    () => Object.values(buttons()).every(({ length }) => length === 5),
    () => fake.standing.map(({ to, text }) => `${to} ${text.slice(0, 80)}`),
  );
  return {
    all,
    app,
    incidents,
    buttons: buttons(),
    approvals: { acme: await requested(all.acme), bravo: await requested(all.bravo) },
    answerTo,
  };
}

const customers = ({ all: { acme, bravo } }: Scene): readonly (readonly [Customer, Customer])[] => [
  [acme, bravo],
  [bravo, acme],
];

test('on a chat platform a member sees and does what the page would let them, with their devices alone', async (t) => {
  const on = await scene(t);
  await t.test('incidents by word', () => words(on));
  await t.test('incidents by the buttons of a notice in a group of both', () => pressed(on));
  await t.test('approvals are told to who sees their device, and signed by them alone', () =>
    signed(on),
  );
  await t.test('a stranger sees nothing that burns', async () =>
    assert.equal(await on.answerTo(sender.nobody, '/incidents'), 'No open incidents.'),
  );
});

async function statusOf({ all: { ask, house } }: Scene, incident: number): Promise<string> {
  return (await ask('GET', `/api/v1/alerts/incidents/${incident}`, house.token)).body.status;
}

async function words(on: Scene): Promise<void> {
  const { incidents, answerTo } = on;
  for (const [own, other] of customers(on)) {
    const from = sender[own.name];
    const list = await answerTo(from, '/incidents');
    assert.ok(
      list.includes(`#${incidents[own.name]} `) && list.includes(`#${incidents.shared} `),
      list,
    );
    assert.ok(!list.includes(other.name) && !list.includes(`#${incidents[other.name]} `), list);
    for (const command of ['/ack #', '/silence 2h #']) {
      const said = async (id: number): Promise<string> =>
        (await answerTo(from, command.replace('#', String(id)))).replaceAll(String(id), '#');
      assert.equal(await said(incidents[other.name]), await said(999_999), command);
      assert.match(await said(incidents.shared), /does not cover individual hosts/);
    }
    assert.equal(
      await statusOf(on, incidents[other.name]),
      own.name === 'acme' ? 'open' : 'acknowledged',
    );
    assert.match(await answerTo(from, `/ack ${incidents[own.name]}`), /is acknowledged by/);
    assert.equal(await statusOf(on, incidents[own.name]), 'acknowledged');
  }
}

async function pressed(on: Scene): Promise<void> {
  const { all, buttons, answerTo } = on;
  for (const [own, other] of customers(on)) {
    for (const button of buttons[other.name]) {
      assert.match(await answerTo(sender[own.name], button, true), /[Tt]here is no incident/);
    }
    const [, silence, , , investigate] = buttons[own.name];
    assert.match(await answerTo(sender[own.name], investigate!, true), /All is well|no answer/i);
    // Acknowledged ones are not silenced; that is said of one's own alone.
    assert.match(await answerTo(sender[own.name], silence!, true), /silenced/);
  }
  const { body: trail } = await all.ask(
    'GET',
    '/api/v1/admin/audit-logs?limit=200',
    all.house.token,
  );
  const failed = trail.items.filter(
    ({ action, status }: { action: string; status: string }) =>
      action === 'incident:ack' && status === 'failure',
  );
  assert.ok(failed.length >= 4, 'what was tried with incidents of others stands in the trail');
}

async function signed(on: Scene): Promise<void> {
  const { all, app, approvals, answerTo } = on;
  const cardOf = (own: Customer) =>
    app.fake.standing.find(
      ({ to, text }) => to === sender[own.name] && text.includes(`restart ${own.name}`),
    )?.text;
  await settled(
    () => cardOf(all.acme) !== undefined && cardOf(all.bravo) !== undefined,
    () => app.fake.standing,
  );
  for (const [own, other] of customers(on)) {
    const told = app.fake.standing
      .filter(({ to }) => to === sender[own.name])
      .map(({ text }) => text);
    assert.ok(!told.some((text) => text.includes(`restart ${other.name}`)), told.join('\n'));
    const { approve: theirs } = /\/approve (?<approve>\S+)/.exec(cardOf(other)!)!.groups!;
    assert.match(await answerTo(sender[own.name], `/approve ${theirs}`), /[Tt]here is no approval/);
  }
  const book = all.house.service(Approvals);
  assert.deepEqual(
    (await book.open()).map(({ id }) => id).toSorted(),
    [approvals.acme.id, approvals.bravo.id].toSorted(),
    'none of them is decided',
  );
  const { approve } = /\/approve (?<approve>\S+)/.exec(cardOf(all.acme)!)!.groups!;
  assert.match(await answerTo(sender.acme, `/approve ${approve}`), /has approved service_restart/);
  // Before it is begun, its device leaves the devices of who has signed.
  const { status } = await all.ask('PATCH', `/api/v1/devices/${all.acme.device}`, all.house.token, {
    tags: {},
  });
  assert.equal(status, 200);
  await assert.rejects(
    book.begin(approvals.acme.id, { unit: 'acme' }),
    /1 of its 1 signatures no longer counts/,
  );
}
