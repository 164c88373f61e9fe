import assert from 'node:assert/strict';
import { test } from 'node:test';

import { AlertEvaluator } from 'svc/contracts/alert';
import { MetricsIngest } from 'svc/contracts/metricsdb';

import { type Command, commands } from '../../../plugins/imbridge/talk/command-list.ts';
import { type ImApp, type ImOffice, imOffice, settled } from './office.ts';

interface Waiting {
  readonly id: string;
  readonly args_sha256: string;
  /** Tokens of its buttons. */
  readonly approve: string;
  readonly deny: string;
}

const refusal =
  /does not have permission to do this|Link your account|approval:sign|only to linked accounts/;
/** Roles that people have here, and one that was deleted meanwhile. */
const roles = [
  { who: 'anna', role: 'user' },
  { who: 'bob', role: 'admin' },
  { who: 'carl', role: 'lead' },
  { who: 'vera', role: 'viewer' },
] as const;

let asked = 0;

/** Returns the reply to one message, which Feishu names. */
async function answer(
  office: ImOffice,
  app: ImApp,
  act: Parameters<ImOffice['say']>[1],
): Promise<string> {
  const before = app.fake.standing.length;
  const key = `asked-${++asked}`;
  const found = () => app.fake.standing.slice(before).find(({ to }) => to === `om_${key}`);
  await office.say(app, { ...act, key });
  await settled(
    () => found() !== undefined,
    () => [act, app.fake.standing.slice(before)],
  );
  return found()!.text;
}

test('every command in a chat, by every role: what the API refuses is refused there, and a stranger has no more than the app gives', async (t) => {
  const call = {
    when: { turn: 1, last: 'Restart' },
    reply: { tool_calls: [{ name: 'sample_mutating', arguments: { host: 'db-3' } }] },
  };
  const office = await imOffice(t, [call], { plugins: ['metricsdb', 'alert', 'notify'] });
  await office.allowWrites();
  const app = await office.connect('feishu', { allow_from: ['*'], default_role: 'user' });
  const incident = await burning(office);
  for (const [at, { who }] of roles.entries()) {
    await office.link(app, who, `U${at}`);
  }
  // An approval for each role, so that none finds it decided; its tokens are those that were shown.
  const waiting = async (): Promise<Waiting> => {
    await answer(office, app, { text: '/new', from: 'U0' });
    const known = app.fake.standing.length;
    await office.say(app, { text: 'Restart db-3.', from: 'U0', key: `restart-${known}` });
    const card = () =>
      app.fake.standing.slice(known).find(({ text }) => /\/approve [\w-]+ or \/deny/.test(text));
    await settled(
      () => card() !== undefined,
      () => app.fake.standing.slice(known),
    );
    const [, approve, deny] = /approve ([\w-]+) or \/deny ([\w-]+)/.exec(card()!.text)!;
    const { id, args_sha256 } = (await office.ask('bob', 'GET', '/approvals?status=pending')).body
      .items[0] as Waiting;
    return { id, args_sha256, approve: approve!, deny: deny! };
  };
  /**
   * Declared commands as typed, with the body of the equivalent request. One that is declared and
   * missing here fails.
   */
  const typed: Readonly<
    Record<string, (approval: Waiting) => { readonly text: string; readonly body?: object }>
  > = {
    help: () => ({ text: '/help' }),
    link: () => ({ text: '/link wrong' }),
    unlink: () => ({ text: '/unlink' }),
    new: () => ({ text: '/new' }),
    incidents: () => ({ text: '/incidents' }),
    ack: () => ({ text: `/ack ${incident}`, body: {} }),
    silence: () => ({ text: `/silence 2h ${incident}`, body: { duration: '2h' } }),
    note: () => ({ text: `/note ${incident} seen`, body: { text: 'seen' } }),
    approve: ({ approve, args_sha256 }) => ({ text: `/approve ${approve}`, body: { args_sha256 } }),
    deny: ({ deny, args_sha256 }) => ({
      text: `/deny ${deny} no`,
      body: { args_sha256, reason: 'no' },
    }),
    do: () => ({ text: '/do nothing' }),
  };
  assert.deepEqual(
    Object.keys(typed),
    commands.map(({ name }) => name),
  );

  const cell = async (
    { name, request }: Command,
    sender: string,
    who?: (typeof roles)[number]['who'],
  ): Promise<void> => {
    const approval = /approve|deny/.test(name)
      ? await waiting()
      : { id: '', args_sha256: '', approve: '', deny: '' };
    const { text, body } = typed[name]!(approval);
    const isRefused = async (): Promise<boolean> =>
      refusal.test(await answer(office, app, { text, from: sender }));
    if (who === undefined || request === undefined) {
      const { of } = commands.find((each) => each.name === name)!;
      assert.equal(await isRefused(), who === undefined && of === 'linked', `${sender} ${text}`);
      return;
    }
    const path = request.path
      .replace('/api/v1', '')
      .replace('{id}', request.path.includes('approvals') ? approval.id : String(incident));
    // The API first: what it has done already is no refusal of the chat.
    const { status } = await office.ask(who, request.method, path, body);
    assert.equal(
      await isRefused(),
      status === 403,
      `${who} ${text}: the API answered ${status}; ${app.fake.standing.at(-1)!.text}`,
    );
  };
  const cells: string[] = [];
  for (const command of commands) {
    for (const [at, { who, role }] of roles.entries()) {
      if (command.name !== 'unlink') {
        cells.push(`${command.name} ${role}`);
        await cell(command, `U${at}`, who);
      }
    }
    cells.push(`${command.name} stranger`);
    await cell(command, 'U9');
  }
  assert.equal(cells.length, commands.length * (roles.length + 1) - roles.length);

  // A person who is disabled is a stranger at once; a role that is lowered counts at once.
  office.people.bob.status = 'disabled';
  assert.match(
    await answer(office, app, { text: `/ack ${incident}`, from: 'U1' }),
    /Link your account/,
  );
  assert.match(await answer(office, app, { text: '/unlink', from: 'U0' }), /no longer linked/);
  assert.match(
    await answer(office, app, { text: `/ack ${incident}`, from: 'U0' }),
    /Link your account/,
  );
});

/** Raises one incident that fires. */
async function burning(office: ImOffice): Promise<number> {
  const rule = {
    rule_key: 'test_hot',
    name: 'Too hot',
    kind: 'metric_raw',
    source_type: 'svc_builtin',
    scope_type: 'host',
    join_mode: 'all',
  };
  await office.ask('bob', 'POST', '/alert-rules', {
    ...rule,
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
  return (await office.ask('bob', 'GET', '/alerts/incidents')).body.items[0].id as number;
}
