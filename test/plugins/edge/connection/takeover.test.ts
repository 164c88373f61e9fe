import assert from 'node:assert/strict';
import { test } from 'node:test';

import { DeviceDirectory } from 'svc/contracts/device';
import { type MachineKey, machineKeyOf, makeMachineKey } from 'svc/tunnel';

import { edgeHouse, type Keys, machine, until } from '../house.ts';

const newKey = (): MachineKey => machineKeyOf(makeMachineKey());

/** Credentials of the victim that its attacker has. */
interface Loot {
  readonly own: Keys & { readonly id: number };
  readonly victim: Keys & { readonly id: number };
  readonly victimKey: MachineKey;
  readonly thiefKey: MachineKey;
}

interface Attack {
  readonly name: string;
  /**
   * Origin of a connection: the keys of which edge, from which machine, and with which machine key.
   */
  readonly with: 'own' | 'victim';
  readonly machine: 'victim' | 'own' | 'fresh' | 'in capitals';
  readonly key: 'none' | 'own' | 'fresh' | 'forged';
}

const hows: readonly Pick<Attack, 'with' | 'machine' | 'key'>[] = (
  ['own', 'victim'] as const
).flatMap((keys) =>
  (['victim', 'own', 'fresh', 'in capitals'] as const).flatMap((from) =>
    (['none', 'own', 'fresh', 'forged'] as const).map((key) => ({
      with: keys,
      machine: from,
      key,
    })),
  ),
);
const attacks: readonly Attack[] = hows.map((how) => ({
  ...how,
  name: `keys: ${how.with}, machine: ${how.machine}, key: ${how.key}`,
}));

/** Shows a key that it cannot sign with. */
const forged = ({ publicKey }: MachineKey, with_: MachineKey): MachineKey => ({
  publicKey,
  sign: (transcript) => with_.sign(transcript),
});

/** Returns a UUID with letters, which may be capitalized. */
const lettered = (n: number): string => `abcdefab-cdef-4bcd-8def-${String(n).padStart(12, '0')}`;

/** Returns the UUID of the n-th attack. */
const uuidOf = (from: Attack['machine'], n: number): string => {
  const [victim, own, fresh] = [lettered(10 * n), lettered(10 * n + 1), lettered(10 * n + 2)];
  return { victim, own, fresh, 'in capitals': victim.toUpperCase() }[from];
};
const keyOf = ({ key }: Attack, { victimKey, thiefKey }: Loot): MachineKey | undefined =>
  ({ none: undefined, own: thiefKey, fresh: newKey(), forged: forged(victimKey, thiefKey) })[key];

test(`of ${attacks.length} ways to take over the device of a machine that is away none moves it, and the owner comes back to it`, async (t) => {
  const { house, ask, create, edge, simulate } = await edgeHouse(t, {
    plugins: ['edge', 'device', 'topology'],
  });
  const arrive = async (
    keys: Keys & { readonly id: number },
    from: string,
    key: MachineKey | undefined,
    hostname: string,
  ) => {
    const { session } = await simulate(keys, { machine: from, key });
    const told = await session.call<{ device_id?: number | null; reason?: string | null }>(
      'tell',
      { event: 'host_info', payload: { hostname } },
      { timeoutMs: 10_000 },
    );
    return { session, told };
  };
  const moved: string[] = [];
  const unsaid: string[] = [];
  for (const [n, attack] of attacks.entries()) {
    const uuid = (from: Attack['machine']): string => uuidOf(from, n + 1);
    const loot: Loot = {
      own: await create('thief'),
      victim: await create('victim'),
      victimKey: newKey(),
      thiefKey: newKey(),
    };
    const first = await arrive(loot.victim, uuid('victim'), loot.victimKey, 'owner');
    const device = first.told.device_id!;
    assert.ok(device > 0, JSON.stringify(first.told));
    await first.session.close();
    const own = await arrive(loot.own, uuid('own'), loot.thiefKey, 'thief');
    await own.session.close();

    let session;
    try {
      const come = await arrive(
        attack.with === 'own' ? loot.own : loot.victim,
        uuid(attack.machine),
        keyOf(attack, loot),
        'pwned-name',
      );
      session = come.session;
      if (come.told.device_id === device) {
        moved.push(attack.name);
      } else if (come.told.device_id === null && !come.told.reason) {
        unsaid.push(`${attack.name}: nothing told to the agent`);
      }
      const shown = await edge(attack.with === 'own' ? loot.own.id : loot.victim.id);
      if (shown.device_id === null && !shown.device_reason) {
        unsaid.push(`${attack.name}: nothing shown on the edge`);
      }
    } catch (error) {
      const { closeCode } = error as { closeCode?: number };
      assert.ok(closeCode === 4401 || closeCode === 4409, `${attack.name}: ${String(error)}`);
      if (
        closeCode === 4409 &&
        !(await edge(attack.with === 'own' ? loot.own.id : loot.victim.id)).refused_machine?.reason
      ) {
        unsaid.push(`${attack.name}: a refused machine does not show on the edge`);
      }
    }
    const now = (await ask('GET', `/devices/${device}`)).body;
    const edgeOnIt = await house.service(DeviceDirectory).onlineEdge(device);
    if (now.hostname !== 'owner' || edgeOnIt !== undefined) {
      moved.push(
        `${attack.name}: device ${device} is ${now.hostname}, watched by edge ${edgeOnIt}`,
      );
    }
    await session?.close();
    const back = await arrive(loot.victim, uuid('victim'), loot.victimKey, 'owner');
    if (back.told.device_id !== device) {
      moved.push(`${attack.name}: the owner came back to ${JSON.stringify(back.told)}`);
    }
    await back.session.close();
  }
  assert.deepEqual([moved, unsaid], [[], []]);
  assert.ok(attacks.length >= 30);
});

test('an agent from before there were keys goes on, and belongs to its machine from its first key on', async (t) => {
  const { ask, create, edge, simulate } = await edgeHouse(t, {
    plugins: ['edge', 'device', 'topology', 'audit'],
  });
  const keys = await create('old');
  const come = async (options: object, who: Keys = keys) => {
    const { session } = await simulate(who, { machine: machine(1), ...options });
    const told = await session.call<{ device_id: number | null; reason: string | null }>(
      'tell',
      { event: 'host_info', payload: { hostname: 'h' } },
      { timeoutMs: 10_000 },
    );
    await session.close();
    return told;
  };
  assert.deepEqual(await come({}), { device_id: 1, reason: null });
  assert.equal((await edge(keys.id)).machine_bound, false);
  const key = newKey();
  assert.deepEqual(await come({ key }), { device_id: 1, reason: null }, 'it was upgraded');
  assert.equal((await edge(keys.id)).machine_bound, true);
  await assert.rejects(come({}), { closeCode: 4409 });
  const other = newKey();
  await assert.rejects(
    come({ key: other }),
    /belongs to a machine with a key of its own.*"svc edge resolve 1"/,
  );
  assert.match((await edge(keys.id)).refused_machine.reason, /has another$/);
  await assert.rejects(
    come({ key: other, keyDamaged: true }),
    /its agent reports that its file machine\.key was damaged.*"svc edge resolve 1"/,
  );
  assert.deepEqual(await come({ key }), { device_id: 1, reason: null });

  await assert.rejects(come({ key: other }), { closeCode: 4409 });
  const resolved = await ask('POST', `/edges/${keys.id}/resolve`, {});
  assert.deepEqual([resolved.status, resolved.body.refused_machine], [200, null], resolved.text);
  assert.deepEqual(
    await come({ key: other }),
    { device_id: 1, reason: null },
    'a machine that lost its key, by the word of a person',
  );
  await assert.rejects(come({ key }), { closeCode: 4409 });
  assert.equal((await ask('GET', '/admin/audit-logs?action=edge:resolve')).body.total, 1);
});

test('an enrolment that names a device gives it to the machine that enrols, and to nobody else', async (t) => {
  const { ask, create, edge, simulate } = await edgeHouse(t, {
    plugins: ['edge', 'device', 'topology'],
  });
  const old = await create('old');
  const { session } = await simulate(old, { machine: machine(1), key: newKey() });
  await session.call(
    'tell',
    { event: 'host_info', payload: { hostname: 'old' } },
    { timeoutMs: 10_000 },
  );
  await session.close();
  assert.equal((await ask('POST', '/edges/enrolments', { device_id: 1, max_uses: 2 })).status, 400);
  assert.equal((await ask('POST', '/edges/enrolments', { device_id: 9 })).status, 404);
  const made = await ask('POST', '/edges/enrolments', { device_id: 1 });
  assert.deepEqual([made.status, made.body.device_id], [201, 1], made.text);
  const key = newKey();
  const asked = {
    token: made.body.token,
    machine_uuid: machine(7),
    machine_key: key.publicKey,
    hostname: 'new',
    agent_version: 'v0.1.0',
    arch: 'x64',
    os: 'linux',
  };
  assert.equal(
    (await ask('POST', '/internal/edge/enrol', { ...asked, machine_key: '_'.repeat(43) })).status,
    400,
  );
  const enrolled = await ask('POST', '/internal/edge/enrol', asked);
  assert.equal(enrolled.status, 201, enrolled.text);
  const keys = { ...enrolled.body, id: enrolled.body.edge_id };
  await assert.rejects(
    simulate(keys, { machine: machine(7), key: newKey() }),
    { closeCode: 4409 },
    'only the machine that enrolled is let in',
  );
  const now = await simulate(keys, { machine: machine(7), key });
  const told = await now.session.call(
    'tell',
    { event: 'host_info', payload: { hostname: 'new' } },
    { timeoutMs: 10_000 },
  );
  assert.deepEqual(told, { device_id: 1, reason: null });
  assert.deepEqual(
    [
      (await ask('GET', '/devices/1')).body.hostname,
      (await ask('GET', '/devices/1/edges')).body.total,
    ],
    ['new', 1],
  );
  await until('the old edge says why it has none', async () =>
    /detached from device 1/.test((await edge(old.id)).device_reason ?? ''),
  );
});
