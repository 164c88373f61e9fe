import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { enrol } from '../../bin/agent/enrol.ts';
import { findPeer, peers } from '../peers.ts';
import { freePort } from '../plugins/ingest/nginx.ts';
import type { Stage } from './alert-truth.ts';
import { FakedHouse } from './alert-truth-house.ts';
import { World } from './alert-truth-world.ts';

const program = fileURLToPath(new URL('../../bin/svc', import.meta.url));
const deadlineMs = 180_000;

interface Incident {
  readonly status: string;
  readonly stale_since: string | null;
}

/**
 * Disconnects a real agent whose host fires for longer than a rule looks back, and reconnects it.
 */
export async function edgeAway(
  { t, world, faked, faketime }: Stage,
  seconds: number,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-alert-truth-edge-'));
  const { token } = await faked.post<{ token: string }>('/api/v1/edges/enrolments', {
    name: 'drill',
  });
  await enrol(folder, { manager: faked.house.url, token, name: 'drill' });
  const rule = {
    rule_key: 'truth_edge',
    name: 'Truth of an edge',
    kind: 'metric_raw',
    source_type: 'svc_builtin',
    scope_type: 'host',
    join_mode: 'all',
  };
  await faked.post('/api/v1/alert-rules', {
    ...rule,
    severity: 'warning',
    conditions: [{ expr: 'node_memory_used_percent > 0' }],
  });
  let agent: ChildProcess | undefined;
  const start = (): void => {
    // The time of all has moved on in the scenarios before: an agent with another one is a different story.
    const clock = {
      LD_PRELOAD: faketime,
      FAKETIME: `+${Math.round(world.offsetMs / 1_000)}s`,
      DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    };
    agent = spawn(process.execPath, [program, 'edge', '--data', folder], {
      stdio: 'ignore',
      env: { ...process.env, ...clock },
    });
  };
  const kill = async (): Promise<void> => {
    const ended = once(agent!, 'exit');
    agent!.kill('SIGKILL');
    await ended;
  };
  t.after(async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  });
  const found = async (): Promise<Incident | undefined> =>
    (await faked.get<{ items: Incident[] }>('/api/v1/alerts/incidents?rule=truth_edge')).items[0];
  const until = async (
    what: string,
    is: (incident: Incident | undefined) => boolean,
  ): Promise<void> => {
    const deadline = performance.now() + deadlineMs;
    while (!is(await found())) {
      if (performance.now() > deadline) {
        world.faults.push(
          `an edge that goes away: ${what} is not so: ${JSON.stringify(await found())}`,
        );
        return;
      }
      await pause(500);
    }
  };
  start();
  await until('it fires', (incident) => incident?.status === 'open');
  await kill();
  await pause(seconds * 1_000);
  await until(
    'it is stale',
    (incident) => incident?.status === 'open' && incident.stale_since !== null,
  );
  start();
  await until(
    'it is heard again',
    (incident) => incident?.status === 'open' && incident.stale_since === null,
  );
  if (world.others.includes('truth_edge resolved')) {
    world.faults.push('false resolved: what fires on an edge that goes away');
  }
}

/** Takes down the external metrics server of a host for longer than a rule looks back. */
export async function storeAway({ t, world, faketime }: Stage, seconds: number): Promise<void> {
  const prometheus = findPeer('prometheus');
  if (prometheus === undefined) {
    world.faults.push(`prometheus is not installed (Debian: apt-get install ${peers.prometheus})`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-alert-truth-store-'));
  const address = `127.0.0.1:${await freePort()}`;
  const options = [
    '--config.file=/dev/null',
    '--web.enable-remote-write-receiver',
    `--storage.tsdb.path=${folder}`,
    `--web.listen-address=${address}`,
  ];
  let store = spawn(prometheus, options, { stdio: 'ignore' });
  const kill = async (): Promise<void> => {
    const ended = once(store, 'exit');
    store.kill('SIGKILL');
    await ended;
  };
  t.after(async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  });
  const other = await new World().listen(t);
  const house = new FakedHouse(t, other, faketime, { SVC_METRICSDB_URL: `http://${address}` });
  await house.furnish(other.hook);
  [0, 0, 0].forEach(() => other.flip(0));
  await other.isTold('with a store elsewhere', deadlineMs);
  await kill();
  await pause(seconds * 1_000);
  store = spawn(prometheus, options, { stdio: 'ignore' });
  await pause(60_000);
  await other.isTold('after the store was away', deadlineMs);
  other.flip(0);
  other.flip(5);
  await other.isTold('once the store is back', deadlineMs);
  world.faults.push(...other.faults.map((fault) => `store away: ${fault}`));
}
