import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { AlertEvaluator } from 'svc/contracts/alert';

import { type Customer, twoCustomers } from './two-customers.ts';

const path = '/api/v1/investigations';
const ofIncident = (id: number): string => `/api/v1/alerts/incidents/${id}/investigation`;

test('an investigation of a member looks at their devices alone, and they are shown no other', async (t) => {
  const { acme, bravo, house, ask, clock } = await twoCustomers(t);
  const must = async (method: string, at: string, body?: unknown) => {
    const answer = await ask(method, at, house.token, body);
    assert.ok(answer.status < 300, `${method} ${at}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  for (const scope_type of ['host', 'global']) {
    await must('POST', '/api/v1/alert-rules', {
      rule_key: `up_${scope_type}`,
      name: 'up',
      kind: 'metric_raw',
      source_type: 'svc_builtin',
      scope_type,
      join_mode: 'all',
      severity: 'critical',
      conditions: [{ expr: 'up == 1' }],
    });
  }
  // Each hangs on the other, and something of both was changed: there is much to tell that is not theirs.
  let nodes: { id: number; device_id: number }[] = [];
  // The topology mirrors devices shortly after they are made.
  for (
    let tries = 0;
    ![acme, bravo].every(({ device }) => nodes.some(({ device_id: id }) => id === device));
    tries++
  ) {
    assert.ok(tries < 500, 'the devices did not become nodes of the topology');
    await pause(20);
    nodes = (await must('GET', '/api/v1/topology/nodes?limit=100')).items;
  }
  const nodeOf = ({ device }: Customer): number =>
    nodes.find(({ device_id: id }) => id === device)!.id;
  await must('POST', '/api/v1/topology/relations', {
    type: 'depends_on',
    src_id: nodeOf(acme),
    dst_id: nodeOf(bravo),
  });
  await must('POST', '/api/v1/topology/relations', {
    type: 'depends_on',
    src_id: nodeOf(bravo),
    dst_id: nodeOf(acme),
  });
  await must('POST', '/api/v1/changes', { summary: 'new firmware for acme and bravo' });
  let found: { id: number; rule: string; scope_id: string }[] = [];
  for (
    let round = 0;
    round < 12 && found.filter(({ rule }) => rule.startsWith('up_')).length < 3;
    round += 1
  ) {
    clock.ahead += 10_000;
    await house.service(AlertEvaluator).tick();
    found = (await must('GET', '/api/v1/alerts/incidents?limit=200')).items;
  }
  const incidentOf = ({ device }: Customer): number =>
    found.find(({ rule, scope_id: id }) => rule === 'up_host' && id === String(device))!.id;
  type Asks = (method: string, at: string, body?: unknown) => ReturnType<Customer['ask']>;
  const asHouse: Asks = (method, at, body) => ask(method, at, house.token, body);
  const investigated = async (by: Asks, incident: number): Promise<number> => {
    const { status, body, text } = await by('POST', ofIncident(incident), {});
    assert.equal(status, 202, text);
    for (;;) {
      const { body: report } = await by('GET', `${path}/${body.id}`);
      if (report.status !== 'pending' && report.status !== 'running') {
        assert.equal(report.status, 'ready', JSON.stringify(report));
        return body.id;
      }
      await pause(50);
    }
  };

  const whole = await investigated(asHouse, incidentOf(acme));
  assert.match(
    (await asHouse('GET', `${path}/${whole}`)).text,
    /bravo/,
    'who sees all devices is told of the neighbour',
  );
  const before = await acme.ask('GET', ofIncident(incidentOf(acme)));
  assert.equal(before.body.status, 'not_started', 'what has looked at everything is not theirs');
  assert.equal((await acme.ask('GET', path)).body.total, 0);

  const own = {
    acme: await investigated(acme.ask, incidentOf(acme)),
    bravo: await investigated(bravo.ask, incidentOf(bravo)),
  };
  const wrong: string[] = [];
  for (const [mine, other] of [
    [acme, bravo],
    [bravo, acme],
  ] as const) {
    const id = own[mine.name];
    const evidence: { id: string }[] = (await mine.ask('GET', `${path}/${id}`)).body.evidence;
    assert.ok(evidence.length > 5);
    for (const [method, at, body] of [
      ['GET', path],
      ['GET', `${path}?incident_id=${incidentOf(other)}`],
      ['GET', ofIncident(incidentOf(mine))],
      ['GET', `${path}/${id}`],
      ['GET', `${path}/${id}/markdown`],
      ['GET', `${path}/${id}/replay`],
      ['POST', `${path}/${id}/feedback`, { verdict: 'right', true_cause: 'mine' }],
      ...evidence.map((one) => ['GET', `${path}/${id}/evidence/${one.id}/again`] as const),
      ['GET', `/api/v1/alerts/incidents/${incidentOf(mine)}/events`],
    ] as readonly (readonly [string, string, object?])[]) {
      const { status, text } = await mine.ask(method, at, body);
      if (status >= 300 || text.includes(other.name) || text.includes(`device:${other.device}`)) {
        wrong.push(`${mine.name}: ${method} ${at} ${status} ${text.slice(0, 800)}`);
      }
    }
    assert.equal((await mine.ask('GET', path)).body.total, 1);
    assert.equal((await mine.ask('GET', `${path}?incident_id=${incidentOf(other)}`)).body.total, 0);
  }
  assert.deepEqual(wrong, []);
  assert.match((await acme.ask('GET', `${path}/${own.acme}`)).text, /acme/);
  assert.equal(
    (await asHouse('GET', ofIncident(incidentOf(acme)))).body.id,
    whole,
    'nor does theirs stand in the place of that which has looked at everything',
  );

  const told = async (method: string, at: string, id: number, body?: object): Promise<string> => {
    const { status, body: answer } = await acme.ask(method, at.replace('#', String(id)), body);
    return `${status} ${answer?.message}`.replaceAll(String(id), '#');
  };
  for (const [method, at, id, body] of [
    ...[own.bravo, whole].flatMap((of) => [
      ...['', '/markdown', '/replay', '/evidence/E1/again'].map(
        (more) => ['GET', `${path}/#${more}`, of] as const,
      ),
      ['POST', `${path}/#/feedback`, of, { verdict: 'wrong' }] as const,
    ]),
    ['GET', ofIncident(0).replace('/0/', '/#/'), incidentOf(bravo)],
    ['POST', ofIncident(0).replace('/0/', '/#/'), incidentOf(bravo), {}],
  ] as readonly (readonly [string, string, number, object?])[]) {
    const said = await told(method, at, id, body);
    assert.equal(said, await told(method, at, 999_999, body), `${method} ${at}`);
    assert.match(said, /^404 /);
  }
  const shared = found.find(({ rule }) => rule === 'up_global')!.id;
  assert.equal(
    (await acme.ask('POST', ofIncident(shared), {})).status,
    403,
    'one of several devices is not investigated for one of them',
  );
});
