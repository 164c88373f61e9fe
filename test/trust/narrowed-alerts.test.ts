import assert from 'node:assert/strict';
import { test } from 'node:test';

import { AlertEvaluator } from 'svc/contracts/alert';
import { Approvals } from 'svc/contracts/approval';

import { type Customer, twoCustomers, type TwoCustomers } from './two-customers.ts';

const rule = (key: string, more: object) => ({
  rule_key: key,
  name: key,
  kind: 'metric_raw',
  source_type: 'svc_builtin',
  join_mode: 'all',
  severity: 'warning',
  conditions: [{ expr: 'up == 1' }],
  ...more,
});

/** Data of each customer, by name; `shared` belongs to both. */
interface Known {
  readonly incident: number;
  readonly asked: number;
  readonly silence: number;
  readonly node: number;
  readonly relation: number;
  readonly approval: string;
}

interface Scene {
  readonly all: TwoCustomers;
  readonly of: Readonly<Record<Customer['name'], Known>>;
  /** One incident of all series of both, and one silence of both. */
  readonly shared: number;
  readonly sharedSilence: number;
  readonly between: number;
}

/**
 * Creates two customers with incidents, silences, a topology, changes, approvals: the same for
 * each, and some for both.
 */
async function scene(t: Parameters<typeof twoCustomers>[0]): Promise<Scene> {
  const all = await twoCustomers(t);
  const { house, ask, clock } = all;
  const must = async (method: string, path: string, body?: unknown, token = house.token) => {
    const answer = await ask(method, path, token, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const named = { annotations: { summary: 'seen: {{ $labels.instance }}' } };
  const asking = {
    annotations: { summary: 'all: {{ range query "up" }}{{ .Labels.instance }} {{ end }}' },
  };
  await must('POST', '/api/v1/alert-rules', rule('host_up', { scope_type: 'host', ...named }));
  await must('POST', '/api/v1/alert-rules', rule('host_asks', { scope_type: 'host', ...asking }));
  await must('POST', '/api/v1/alert-rules', rule('all_up', { scope_type: 'global', ...named }));
  const incidents = async (): Promise<{ id: number; rule: string; scope_id: string }[]> =>
    (await must('GET', '/api/v1/alerts/incidents?limit=200')).items;
  let found = await incidents();
  for (
    let round = 0;
    round < 12 && found.filter(({ rule: key }) => /_(up|asks)$/.test(key)).length < 5;
    round += 1
  ) {
    clock.ahead += 10_000;
    await house.service(AlertEvaluator).tick();
    found = await incidents();
  }
  const incidentOf = (key: string, scope: string): number => {
    const one = found.find(({ rule: of, scope_id: id }) => of === key && id === scope);
    assert.ok(one, `${key} of ${scope} among ${JSON.stringify(found)}`);
    return one.id;
  };
  const nodes: { id: number; device_id: number }[] = (
    await must('GET', '/api/v1/topology/nodes?limit=100')
  ).items;
  const nodeOf = ({ device }: Customer): number =>
    nodes.find(({ device_id: id }) => id === device)!.id;
  const joined = async (src: number, dst: number): Promise<number> =>
    (
      await must('POST', '/api/v1/topology/relations', {
        type: 'depends_on',
        src_id: src,
        dst_id: dst,
      })
    ).id;
  const known = async (own: Customer): Promise<Known> => {
    const { name, device } = own;
    await must('POST', '/api/v1/changes', {
      summary: `deploy of ${name}`,
      device_id: device,
      labels: { who: name },
    });
    await must('POST', '/api/v1/topology/nodes', {
      type: 'service',
      name: `${name}-service`,
      tags: { customer: name },
    });
    const silence = await must('POST', '/api/v1/alerts/silences', {
      matchers: [{ name: 'device_id', value: String(device) }],
      starts_at: new Date(Date.now() + 86_400_000).toISOString(),
      duration: '1h',
      reason: `for ${name}`,
    });
    const approval = await house.service(Approvals).request({
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
    const peer = await must('POST', '/api/v1/topology/nodes', {
      type: 'service',
      name: `${name}-peer`,
    });
    const relation = await joined(nodeOf(own), peer.id);
    return {
      incident: incidentOf('host_up', String(device)),
      asked: incidentOf('host_asks', String(device)),
      silence: silence.id,
      node: nodeOf(own),
      relation,
      approval: approval.id,
    };
  };
  const of = { acme: await known(all.acme), bravo: await known(all.bravo) };
  const between = await joined(nodeOf(all.acme), nodeOf(all.bravo));
  await joined(nodeOf(all.bravo), nodeOf(all.acme));
  await must('POST', '/api/v1/monitor/panels', {
    dashboard_uid: 'ups',
    title: 'up',
    type: 'timeseries',
    query: 'up',
  });
  await must('POST', '/api/v1/changes', { summary: 'a change of acme and bravo' });
  const sharedSilence = (
    await must('POST', '/api/v1/alerts/silences', {
      matchers: [{ name: 'instance', op: '=~', value: 'acme-9|bravo-9' }],
      duration: '1h',
    })
  ).id;
  return { all, of, between, sharedSilence, shared: incidentOf('all_up', 'global') };
}

/** Returns questions; those with `~` must return what is the asker's own, and not nothing. */
function questions(
  { all, of, shared }: Scene,
  own: Customer,
  other: Customer,
): readonly (readonly [method: string, path: string, body?: object])[] {
  const [mine, theirs] = [of[own.name], of[other.name]];
  const incidents = '/api/v1/alerts/incidents';
  const seconds = `from=${new Date(all.at - 60_000).toISOString()}`;
  const preview = {
    kind: 'metric_raw',
    scope_type: 'global',
    conditions: [{ expr: 'up == 1' }],
    lookback: '5m',
  };
  const muting = { matchers: [{ name: 'instance', op: '=~', value: '.+' }], duration: '1h' };
  return [
    ...[
      `~${incidents}`,
      `${incidents}?q=${other.name}`,
      `${incidents}?scope=host:${other.device}`,
      `~${incidents}?scope=host:${own.device}`,
    ],
    ...[
      `${incidents}?scope=global`,
      `~${incidents}?status=active&rule=host_up`,
      `${incidents}?rule=host_asks`,
      `${incidents}?q=all`,
    ],
    ...[
      `~${incidents}/${mine.incident}`,
      `~${incidents}/${mine.incident}/events`,
      `~${incidents}/${mine.incident}/instances`,
      `${incidents}/${mine.incident}/why`,
    ],
    ...[
      `${incidents}/${mine.asked}`,
      `${incidents}/${mine.asked}/events`,
      `~${incidents}/${mine.asked}/instances`,
      `${incidents}/${mine.asked}/why`,
    ],
    ...[
      `~${incidents}/${shared}`,
      `${incidents}/${shared}/events`,
      `~${incidents}/${shared}/instances`,
      `${incidents}/${shared}/instances?state=firing`,
    ],
    ...[
      '~/prometheus/api/v1/rules',
      '~/prometheus/api/v1/alerts',
      '/prometheus/api/v1/rules?rule_name=all_up',
      '/api/v1/alert-rules?limit=200',
    ],
    ...[
      '~/api/v1/alerts/silences',
      `~/api/v1/alerts/silences/${mine.silence}`,
      `/api/v1/alerts/silences/${mine.silence}/muted`,
    ],
    ...[
      '~/api/v1/topology/nodes',
      `/api/v1/topology/nodes?q=${other.name}`,
      `/api/v1/topology/nodes?tag=only-${other.name}`,
    ],
    ...[
      `~/api/v1/topology/nodes/${mine.node}`,
      `~/api/v1/topology/nodes/${mine.node}/blast-radius?depth=5`,
      '/api/v1/topology/relations',
    ],
    ...[
      `/api/v1/topology/relations?node_id=${theirs.node}`,
      `/api/v1/topology/relations?node_id=${mine.node}`,
    ],
    ...[
      '~/api/v1/changes',
      `/api/v1/changes?q=${other.name}`,
      `/api/v1/changes?device_id=${other.device}`,
      `/api/v1/changes?${seconds}`,
    ],
    ...[
      '~/api/v1/approvals',
      '/api/v1/approvals?status=pending',
      `~/api/v1/approvals/${mine.approval}`,
    ],
    ...[
      '/api/v1/monitor/panels',
      '/api/v1/observability/dashboards',
      '~/api/v1/observability/dashboards/ups',
    ],
  ]
    .map((path): readonly [string, string, object?] => ['GET', path])
    .concat([
      ['POST', '~/api/v1/alert-rules/preview', preview],
      ['POST', '~/api/v1/alerts/silences/preview', muting],
      ['POST', `~${incidents}/${mine.incident}/notes`, { text: `a note of ${own.name}` }],
      ['POST', `~${incidents}/${mine.incident}/ack`, {}],
      ['PATCH', `~/api/v1/topology/nodes/${mine.node}`, { props: {} }],
    ]);
}

test('a member is told of the incidents, silences, hosts, changes and approvals of their own devices, and of no others', async (t) => {
  const found = await scene(t);
  const { acme, bravo } = found.all;
  const wrong: string[] = [];
  for (const [own, other] of [
    [acme, bravo],
    [bravo, acme],
  ] as const) {
    for (const [method, marked, body] of questions(found, own, other)) {
      const path = marked.replace(/^~/, '');
      const { status, text } = await own.ask(method, path, body);
      if (text.replaceAll(path, '').includes(other.name)) {
        wrong.push(
          `${own.name} is told of ${other.name} by ${method} ${path}: ${text.slice(0, 600)}`,
        );
      }
      if (status >= 300 || (marked.startsWith('~') && !text.includes(own.name))) {
        wrong.push(
          `${own.name} is not told of themselves by ${method} ${path}: ${status} ${text.slice(0, 600)}`,
        );
      }
    }
  }
  assert.deepEqual(wrong, []);

  await t.test('counts are made of what one sees', async () => {
    const total = async (own: Customer, path: string): Promise<number> =>
      (await own.ask('GET', path)).body.total;
    for (const [own, series] of [
      [acme, 3],
      [bravo, 5],
    ] as const) {
      const { body: shared } = await own.ask('GET', `/api/v1/alerts/incidents/${found.shared}`);
      assert.deepEqual(
        [shared.firing_instances, shared.device_id, shared.summary],
        [series, String(own.device), `all_up on ${own.name}-host`],
      );
      assert.equal(await total(own, `/api/v1/alerts/incidents/${found.shared}/instances`), series);
      assert.equal(await total(own, '/api/v1/alerts/incidents?status=active&limit=1'), 3);
      assert.equal(await total(own, '/api/v1/topology/nodes'), 1);
      assert.equal(
        await total(own, '/api/v1/topology/relations'),
        0,
        'what leads to others leads nowhere',
      );
      const { body: blast } = await own.ask(
        'GET',
        `/api/v1/topology/nodes/${found.of[own.name].node}/blast-radius?depth=5`,
      );
      assert.deepEqual([blast.reached, blast.complete], [[], true]);
      assert.equal(await total(own, '/api/v1/approvals'), 1);
      assert.equal(await total(own, '/api/v1/alerts/silences'), 1);
      const { body: reach } = await own.ask('POST', '/api/v1/alerts/silences/preview', {
        matchers: [{ name: 'rule', value: 'all_up' }],
        duration: '1h',
      });
      assert.deepEqual([reach.muted_now, reach.firing_now], [series, 3 * series]);
    }
  });

  await t.test('texts that ask the stores are left out', async () => {
    const { asked } = found.of.acme;
    const { body: seen } = await acme.ask('GET', `/api/v1/alerts/incidents/${asked}`);
    assert.deepEqual([seen.summary, seen.annotations], [`host_asks on ${acme.name}-host`, {}]);
    const { body: whole } = await found.all.ask(
      'GET',
      `/api/v1/alerts/incidents/${asked}`,
      found.all.house.token,
    );
    assert.match(whole.summary, /^all: .*bravo/, 'which those who see all devices are shown');
  });

  await t.test('what is of another is what never was', async () => {
    const told = async (
      method: string,
      path: string,
      id: number | string,
      body?: object,
    ): Promise<string> => {
      const { status, body: answer } = await acme.ask(method, path.replace('#', String(id)), body);
      return `${status} ${answer?.message}`.replaceAll(String(id), '#');
    };
    const { incident, silence, node, relation, approval } = found.of.bravo;
    const one = '/api/v1/alerts/incidents/#';
    const signed = { args_sha256: 'a'.repeat(64) };
    const muting = { matchers: [{ name: 'instance', value: 'x' }], duration: '1h' };
    for (const [method, path, id, absent, body] of [
      ...['', '/events', '/instances', '/why'].map(
        (more) => ['GET', one + more, incident, 999_999] as const,
      ),
      ...['/ack', '/resolve'].map((more) => ['POST', one + more, incident, 999_999, {}] as const),
      ['POST', `${one}/silence`, incident, 999_999, { hours: 1 }],
      ['DELETE', `${one}/silence`, incident, 999_999],
      ['POST', `${one}/notes`, incident, 999_999, { text: 'mine' }],
      ...[silence, found.sharedSilence].flatMap((of) => [
        ['GET', '/api/v1/alerts/silences/#', of, 999_999] as const,
        ['GET', '/api/v1/alerts/silences/#/muted', of, 999_999] as const,
        ['PUT', '/api/v1/alerts/silences/#', of, 999_999, muting] as const,
        ['DELETE', '/api/v1/alerts/silences/#', of, 999_999] as const,
      ]),
      ['GET', '/api/v1/topology/nodes/#', node, 999_999],
      ['GET', '/api/v1/topology/nodes/#/blast-radius', node, 999_999],
      ['PATCH', '/api/v1/topology/nodes/#', node, 999_999, { props: {} }],
      ['DELETE', '/api/v1/topology/nodes/#?cascade=true', node, 999_999],
      ...[relation, found.between].flatMap((of) => [
        ['GET', '/api/v1/topology/relations/#', of, 999_999] as const,
        ['PATCH', '/api/v1/topology/relations/#', of, 999_999, { props: {} }] as const,
        ['DELETE', '/api/v1/topology/relations/#', of, 999_999] as const,
      ]),
      ['GET', '/api/v1/approvals/#', approval, 'none'],
      ['POST', '/api/v1/approvals/#/approve', approval, 'none', signed],
      ['POST', '/api/v1/approvals/#/deny', approval, 'none', { ...signed, reason: 'no' }],
      ['POST', '/api/v1/approvals/#/cancel', approval, 'none'],
    ] as readonly (readonly [string, string, number | string, number | string, object?])[]) {
      const said = await told(method, path, id, body);
      assert.equal(said, await told(method, path, absent, body), `${method} ${path}`);
      assert.match(said, /^404 /, `${method} ${path}`);
    }
    const { node: own } = found.of.acme;
    const related = (dst: number) =>
      told('POST', '/api/v1/topology/relations', dst, {
        type: 'runs_on',
        src_id: own,
        dst_id: dst,
      });
    assert.equal(await related(node), await related(999_999));
    const changed = (id: number) =>
      told('POST', '/api/v1/changes', id, { summary: 'mine', device_id: id });
    assert.equal(await changed(bravo.device), await changed(999_999));
    assert.equal(
      (await acme.ask('POST', '/api/v1/changes', { summary: 'of no device' })).status,
      400,
    );
    assert.equal(
      (await acme.ask('POST', '/api/v1/changes', { summary: 'mine', device_id: acme.device }))
        .status,
      201,
    );
  });

  await t.test(
    'what is done with an incident of several devices is done with all of them, and not by those who see some',
    async () => {
      const { status, body } = await acme.ask(
        'POST',
        `/api/v1/alerts/incidents/${found.shared}/resolve`,
        {},
      );
      assert.equal(status, 403);
      assert.match(body.message, /belongs to a rule that does not cover individual hosts/);
      assert.equal(
        (await acme.ask('GET', `/api/v1/alerts/incidents/${found.shared}/why`)).status,
        403,
      );
    },
  );

  await t.test('a silence of theirs mutes their devices alone, whatever it says', async () => {
    const { status, body: made } = await acme.ask('POST', '/api/v1/alerts/silences', {
      matchers: [{ name: 'rule', value: 'all_up' }],
      duration: '1h',
    });
    assert.equal(status, 201);
    assert.deepEqual(made.device_ids, [acme.device]);
    const { ask, house } = found.all;
    const { body: instances } = await ask(
      'GET',
      `/api/v1/alerts/incidents/${found.shared}/instances?limit=50`,
      house.token,
    );
    const muted = instances.items.map(
      ({ labels, silenced_by: by }: { labels: { instance: string }; silenced_by: string | null }) =>
        `${labels.instance} ${by}`,
    );
    assert.deepEqual(muted, [
      ...[0, 1, 2].map((at) => `acme-${at} silence ${made.id}`),
      ...[0, 1, 2, 3, 4].map((at) => `bravo-${at} null`),
    ]);
    assert.equal((await bravo.ask('GET', `/api/v1/alerts/silences/${made.id}`)).status, 404);
    const changed = { matchers: [{ name: 'severity', value: 'warning' }], duration: '2h' };
    assert.deepEqual(
      (await ask('PUT', `/api/v1/alerts/silences/${made.id}`, house.token, changed)).body
        .device_ids,
      [acme.device],
      'also when the operator changes it',
    );
    assert.equal((await acme.ask('GET', `/api/v1/alerts/silences/${made.id}/muted`)).body.total, 9);
    assert.equal((await acme.ask('DELETE', `/api/v1/alerts/silences/${made.id}`)).status, 204);
  });
});

test('what happens to devices of others does not arrive in the stream of events', async (t) => {
  const { acme, bravo, house, ask } = await twoCustomers(t);
  const stream = async (token: string) => {
    const leave = new AbortController();
    t.after(() => leave.abort());
    const { body } = await fetch(`${house.url}/api/v1/console/live`, {
      headers: { authorization: `Bearer ${token}` },
      signal: leave.signal,
    });
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    let read = '';
    return {
      /** Resolves with the output so far, once it contains this. */
      async until(text: string): Promise<string> {
        while (!read.includes(text)) {
          const { value, done } = await reader.read();
          assert.equal(done, false);
          read += value;
        }
        return read;
      },
    };
  };
  const [own, every] = [await stream(acme.member.access), await stream(house.token)];
  await Promise.all([own.until('hello'), every.until('hello')]);
  const named = async (id: number, name: string): Promise<void> => {
    assert.equal(
      (await ask('PATCH', `/api/v1/devices/${id}`, house.token, { display_name: name })).status,
      200,
    );
  };
  await named(bravo.device, 'bravo-renamed');
  await every.until('devices');
  const made = await ask(
    'POST',
    '/api/v1/alert-rules',
    house.token,
    rule('later', { scope_type: 'global' }),
  );
  assert.equal(made.status, 201);
  assert.doesNotMatch(await own.until('rules'), /devices/);
  await named(acme.device, 'acme-renamed');
  await own.until('devices');
});
