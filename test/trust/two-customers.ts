import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';

import { DeviceDirectory } from 'svc/contracts/device';
import { LogIngest } from 'svc/contracts/logs';
import { MetricsIngest } from 'svc/contracts/metricsdb';
import { TraceIngest } from 'svc/contracts/traces';
import type { TestHostOptions } from 'svc/testing';

import { beside } from '../kit/beside.ts';
import { type Answer, type Household, household, type SignedIn } from './household.ts';

/** One of two organizations with a machine of its own, in every word of whose data its name stands. */
export interface Customer {
  readonly name: 'acme' | 'bravo';
  readonly orgId: number;
  readonly edge: number;
  readonly device: number;
  readonly trace: string;
  readonly member: SignedIn;
  ask(method: string, path: string, body?: unknown): Promise<Answer>;
}

export interface TwoCustomers extends Household {
  readonly acme: Customer;
  readonly bravo: Customer;
  /** Milliseconds, when all was measured. */
  readonly at: number;
}

/** The whole product with two customers, and members who may do whatever is no administrator's. */
export async function twoCustomers(
  t: Pick<TestContext, 'after'>,
  options: Partial<TestHostOptions> = {},
): Promise<TwoCustomers> {
  const people = await household(t, options);
  const { house, ask, person, role } = people;
  const actions = [...house.registry.current.generations.values()].flatMap(({ manifest }) =>
    Object.keys(manifest.actions),
  );
  await role('everything-but-admin', [...new Set(actions)]);
  const at = Date.now() - 5_000;
  const customer = async (name: Customer['name'], number: number): Promise<Customer> => {
    const { status, body: enrolled } = await ask('POST', '/api/v1/edges', house.token, {
      name: `${name}-edge`,
    });
    assert.equal(status, 201, JSON.stringify(enrolled));
    const edge: number = enrolled.id ?? enrolled.edge.id;
    const bound = await house.service(DeviceDirectory).bind({
      edge_id: edge,
      machine_uuid: `00000000-0000-4000-8000-00000000000${number}`,
      host_info: { hostname: `${name}-host`, ip_address: `10.0.0.${number}` },
    });
    const device = bound.device_id;
    // As its agent would be noted, once it has told which machine it is.
    await beside(people.house.dataDir, (db) =>
      db.prepare('UPDATE edge_edges SET device_id = ? WHERE id = ?').run(device, edge),
    );
    assert.equal(
      (
        await ask('PATCH', `/api/v1/devices/${device}`, house.token, {
          tags: { customer: name, [`only-${name}`]: 'x' },
        })
      ).status,
      200,
    );
    const trace = String(number).repeat(32);
    await measured({ house }, name, {
      device: String(device),
      trace,
      at,
      count: number === 1 ? 3 : 5,
    });
    const { body: org } = await ask('POST', '/api/v1/orgs', house.token, {
      name: `Org ${name}`,
      device_selector: `customer=${name}`,
    });
    const member = await person(`member-${number}`, 'everything-but-admin');
    assert.equal(
      (
        await ask('POST', `/api/v1/orgs/${org.id}/members`, house.token, {
          user_id: member.id,
          role: 'org_admin',
        })
      ).status,
      201,
    );
    return {
      name,
      orgId: org.id,
      edge,
      device,
      trace,
      member,
      ask: (method, path, body) => ask(method, path, member.access, body),
    };
  };
  const [acme, bravo] = [await customer('acme', 1), await customer('bravo', 2)];
  return { ...people, acme, bravo, at };
}

interface Measured {
  readonly device: string;
  readonly trace: string;
  readonly at: number;
  readonly count: number;
}

async function measured(
  { house }: Pick<Household, 'house'>,
  name: string,
  { device, trace, at, count }: Measured,
): Promise<void> {
  const own = Array.from({ length: count }, (_, index) => ({
    labels: { __name__: 'up', device_id: device, instance: `${name}-${index}` },
    time: at,
    value: 1,
  }));
  await house.service(MetricsIngest).write([
    ...own,
    {
      labels: {
        __name__: `${name}_metric`,
        device_id: device,
        [`label_${name}`]: `value-${name}`,
      },
      time: at,
      value: 7,
    },
  ]);
  await house.service(LogIngest).write([
    {
      at: { ms: at, ns: 0 },
      labels: { device_id: device, app: `app-${name}`, [`label_${name}`]: 'x' },
      line: `{"user":"${name}","field_${name}":1} ${name} logged in`,
    },
  ]);
  const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const span = {
    traceId: trace,
    spanId: '1234567890abcdef',
    name: `span-${name}`,
    kind: 2,
    startTimeUnixNano: `${at}000000`,
    endTimeUnixNano: `${at + 5}000000`,
  };
  const body = JSON.stringify({
    resourceSpans: [
      {
        resource: {
          attributes: [
            attribute('service.name', `service-${name}`),
            attribute(`attribute.${name}`, 'x'),
          ],
        },
        scopeSpans: [{ spans: [{ ...span, attributes: [attribute('customer', name)] }] }],
      },
    ],
  });
  const { accepted } = await house
    .service(TraceIngest)
    .push('otlp-json', new TextEncoder().encode(body), { stamp: { device_id: device } });
  assert.equal(accepted, 1);
}
