import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import {
  connect,
  type MachineKey,
  machineKeyOf,
  makeMachineKey,
  openSweeper,
  sweepMs,
} from 'svc/tunnel';

import { bareClock, bareIds, bareLog } from '../../../bench/tunnel-edges.ts';
import { account, type ConsoleHouse } from '../console-house.ts';
import { storedIn } from '../../../kit/stored.ts';

interface Seeding {
  readonly house: ConsoleHouse;
  readonly ask: <T = { id: number }>(method: string, path: string, body?: object) => Promise<T>;
  readonly folder: string;
  /** Refuses every message. */
  readonly hook: string;
}

/** Creates the state that some buttons require to appear. */
export async function seed(seeding: Seeding): Promise<void> {
  await claims(seeding);
  await stranger(seeding);
  await pack(seeding);
  await changes(seeding);
  const { ask, hook } = seeding;
  await ask('POST', '/notification-channels', {
    name: 'refusing',
    channel_type: 'webhook',
    endpoint: hook,
    match_severity_min: 'info',
  });
}

/** Two machines that say they are a device and do not prove it, written into its table. */
async function claims({ house, ask }: Seeding): Promise<void> {
  const database = storedIn(house.dataDir, { timeout: 10_000 });
  const now = Date.now();
  const { lastInsertRowid: device } = database
    .prepare(
      "INSERT INTO device_devices (machine_uuid, hostname, last_seen_at, created_at, updated_at) VALUES ('lost', 'lost', ?, ?, ?)",
    )
    .run(now, now, now);
  for (const name of ['first', 'second']) {
    const { id } = await ask('POST', '/edges', { name });
    database
      .prepare(
        'INSERT INTO device_edges (edge_id, device_id, machine_uuid, rival_device_id, rival_since, reason) VALUES (?, NULL, ?, ?, ?, ?)',
      )
      .run(id, name, device, now, 'its machine is another one');
  }
  database.close();
}

/** An agent whose secret came from its own machine, and then from one that does not have the key of that. */
async function stranger({ house, ask }: Seeding): Promise<void> {
  const keys = await ask<{ access_key: string; secret_key: string }>('POST', '/edges', {
    name: 'cloned',
  });
  const sweeper = openSweeper(bareClock, bareLog.fail);
  const timer = setInterval(() => sweeper.tick(), sweepMs);
  const come = (machine: string, machineKey?: MachineKey) =>
    connect({
      dial: { url: `${house.url.replace('http', 'ws')}/internal/tunnel`, timeoutMs: 10_000 },
      handshake: {
        sweeper,
        ids: bareIds,
        accessKey: keys.access_key,
        secretKey: keys.secret_key,
        hello: {
          agent_id: machine,
          boot_id: machine,
          agent_version: 'v0.1.0',
          caps: [],
          purpose: 'serve',
        },
        machineKey,
      },
      session: { log: bareLog, random: Math.random, handlers: { methods: new Map() } },
    });
  try {
    const { session } = await come(bareIds.uuid(), machineKeyOf(makeMachineKey()));
    // Only then svc knows the key of its machine.
    await session.call(
      'tell',
      { event: 'host_info', payload: { hostname: 'cloned' } },
      { timeoutMs: 10_000 },
    );
    await session.close();
    await assert.rejects(come(bareIds.uuid()), /belongs to a machine with a key of its own/);
  } finally {
    clearInterval(timer);
  }
}

/** Installs a pack in a first version and then in a second. */
async function pack({ ask, folder }: Seeding): Promise<void> {
  const root = join(folder, 'two-versions');
  mkdirSync(join(root, 'skills/look'), { recursive: true });
  writeFileSync(
    join(root, 'skills/look/SKILL.md'),
    '---\nname: look\ndescription: Looks.\n---\n\nLook.\n',
  );
  for (const version of ['1.0.0', '1.1.0']) {
    const manifest = {
      id: 'two-versions',
      version,
      title: 'Two versions',
      description: 'Came twice.',
      kind: 'pack',
      engines: { host: '^1.0.0' },
    };
    writeFileSync(join(root, 'plugin.json'), JSON.stringify(manifest));
    await ask('POST', '/marketplace/install', { folder: root });
  }
}

/** Two changes that wait for a signature, and one in a conversation of the person whose page it is. */
async function changes({ house, ask }: Seeding): Promise<void> {
  await ask('PUT', '/system-settings/agent/write_enabled', { value: true });
  await ask('POST', '/agents/custom', {
    name: 'changer',
    description: 'Makes changes.',
    when_to_use: 'When a change is to be made.',
    permission_mode: 'mutating-with-confirm',
  });
  const { access_token: own } = await ask<{ access_token: string }>('POST', '/auth/login', account);
  const json = { 'content-type': 'application/json' };
  for (const headers of [json, json, { ...json, authorization: `Bearer ${own}` }]) {
    const send = async <T>(path: string, body: object): Promise<T> => {
      const answer = await house.fetch(`/api/v1${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return (await answer.json()) as T;
    };
    const { id } = await send<{ id: string }>('/chat/sessions', {});
    const silence = JSON.stringify({
      matchers: [{ name: 'rule', value: 'nothing' }],
      duration: '1h',
      reason: 'asked by a test',
    });
    await send(`/chat/sessions/${id}/messages`, {
      agent: 'changer',
      content: `call silence_create ${silence}`,
    });
  }
}
