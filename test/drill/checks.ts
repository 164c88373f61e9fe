import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createListener } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { ask, online, RealAgent, until } from '../bench/checks-stand.ts';
import { say } from '../bench/tunnel-stand.ts';
import type { Outcome, Row } from '../exercise.ts';
import { findPeer, peers } from '../peers.ts';
import { FakedHouse } from './alert-truth-house.ts';
import { noWire, Wire } from './checks-wire.ts';

const targets = fileURLToPath(new URL('../bench/checks-targets.ts', import.meta.url));
const hour = 3_600;
/** Time beyond the interval of a check within which somebody is told of an outage. */
const toldAfterMs = 10_000;

interface Check {
  readonly state: string;
  readonly cause: string | null;
  readonly readings: readonly { readonly place: string; readonly state: string }[];
}

interface Told {
  readonly at: number;
  readonly text: string;
}

/**
 * Runs checks of the whole product in a network of namespaces, from svc and two real agents: one place is cut off, all lines lose and delay
 * packets, an agent and svc are killed, the clock is wrong by an hour. None of it makes a check down, and nobody is told of one; then the
 * target fails for real, which is told in time, with a second place named. `hold`: seconds for which each fault lasts.
 */
export async function run({
  interval = 10,
  hold = 60,
}: { readonly interval?: number; readonly hold?: number } = {}): Promise<Outcome> {
  const faketime = findPeer('libfaketimeMT.so.1');
  const why =
    noWire() ??
    (faketime === undefined
      ? `libfaketime is not installed (Debian: apt-get install ${peers['libfaketimeMT.so.1']})`
      : undefined);
  if (why !== undefined) {
    return { ok: false, why };
  }
  const ends: (() => unknown)[] = [];
  const t = { after: (end: () => unknown) => void ends.push(end) };
  try {
    return await drill(await standOf(t, faketime!), { interval, hold });
  } finally {
    for (const end of ends.toReversed()) {
      await end();
    }
  }
}

interface Stand {
  readonly wire: Wire;
  readonly faked: FakedHouse;
  readonly berlin: RealAgent;
  /** What was told of checks that are down. */
  readonly told: readonly Told[];
  readonly target: string;
  startTarget(): Promise<ChildProcess>;
}

async function standOf(t: { after(end: () => unknown): void }, faketime: string): Promise<Stand> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-checks-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const wire = await Wire.open(['manager', 'berlin', 'paris', 'shop']);
  t.after(() => wire.close());
  const told: Told[] = [];
  const hook = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      if (text.includes('check_down')) {
        told.push({ at: performance.now(), text });
      }
      response.end('ok');
    });
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  t.after(() => hook.close());

  const [port, targetPort] = [await freePort(), await freePort()];
  const address = wire.address('manager');
  const faked = new FakedHouse(t, { house: undefined }, faketime, {
    SVC_HTTP_ADDR: `${address}:${port}`,
    SVC_OUTBOUND_ALLOW_PRIVATE: `127.0.0.1,${address}/24`,
    // As shipped.
    SVC_ALERT_EVAL_INTERVAL: '30s',
  });
  await faked.start();
  await faked.post('/api/v1/notification-channels', {
    name: 'hook',
    channel_type: 'webhook',
    endpoint: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`,
    group_wait: '1s',
    group_interval: '1s',
  });
  const shop = wire.address('shop');
  const agents: RealAgent[] = [];
  for (const name of ['berlin', 'paris']) {
    const agent = await RealAgent.start(faked.house, {
      folder,
      name,
      manager: `http://${address}:${port}`,
      policy: `skills:\n  probes: ['${shop}:${targetPort}']\n`,
      before: wire.inside(name),
    });
    t.after(() => agent.end('SIGKILL'));
    agents.push(agent);
  }
  await online(faked.house, agents);
  const startTarget = async (): Promise<ChildProcess> => {
    const [ip, ...inside] = wire.inside('shop');
    const program = [process.execPath, '--import', 'tsx', targets, shop, String(targetPort)];
    const child = spawn(ip!, [...inside, ...program], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    t.after(() => child.kill('SIGKILL'));
    await once(child, 'message');
    return child;
  };
  const target = `http://${shop}:${targetPort}/`;
  return { wire, faked, berlin: agents[0]!, told, target, startTarget };
}

async function drill(
  { wire, faked, berlin, told, target, startTarget }: Stand,
  { interval, hold }: { readonly interval: number; readonly hold: number },
): Promise<Outcome> {
  const cases: Row[] = [];
  const names: string[] = [];
  const get = (name: string): Promise<Check> => ask(faked.house, 'GET', `/checks/${name}`);
  const create = async (name: string, places: readonly string[]): Promise<void> => {
    await ask(faked.house, 'POST', '/checks', {
      ...{ name, target, interval_s: interval, retries: 2, timeout_s: 10, places },
    });
    names.push(name);
    await is(name, 'up');
  };
  const is = (name: string, state: string): Promise<true> =>
    until(`${name} is ${state}`, async () => {
      const check = await get(name);
      return check.state === state && (check.cause === null) === (state === 'up')
        ? true
        : undefined;
    });
  const downs = async (): Promise<number> => {
    let count = 0;
    for (const name of names) {
      const { changes } = await ask<{ changes: readonly { readonly state: string }[] }>(
        faked.house,
        'GET',
        `/checks/${name}/uptime?days=2`,
      );
      count += changes.filter(({ state }) => state === 'down').length;
    }
    return count;
  };
  const seen = async (fault: string, found: string): Promise<void> => {
    const row = { fault, found, 'false downs': await downs(), told: told.length };
    cases.push(row);
    say(JSON.stringify(row));
  };

  const first = await startTarget();
  await create('shop', ['svc', 'agent:berlin', 'agent:paris']);
  await wire.set('berlin', 'shop', 100);
  const alone = await until('berlin alone fails', async () => {
    const { state, cause } = await get('shop');
    return state === 'up' && cause?.startsWith('fails from berlin:') ? cause : undefined;
  });
  await pause(hold * 1_000);
  await seen('one place does not reach the target', alone);
  await wire.set('berlin', 'shop', 0);
  await is('shop', 'up');

  await create('far', ['agent:berlin']);
  await wire.setAll('berlin', 100);
  await is('far', 'stale');
  await pause(hold * 1_000);
  await seen('one place is cut off', `far is ${(await get('far')).state}`);
  await wire.setAll('berlin', 0);
  await is('far', 'up');

  for (const host of ['manager', 'berlin', 'paris', 'shop']) {
    await wire.setAll(host, 20, 300);
  }
  await pause(2 * hold * 1_000);
  await seen('20 % loss, 300 ms delay', `shop is ${(await get('shop')).state}`);
  for (const host of ['manager', 'berlin', 'paris', 'shop']) {
    await wire.setAll(host, 0);
  }
  await is('far', 'up');

  await berlin.end('SIGKILL');
  await is('far', 'stale');
  await pause(hold * 1_000);
  await seen('an agent is killed', `shop is ${(await get('shop')).state}`);
  berlin.run();
  await is('far', 'up');

  await faked.stop('SIGKILL');
  await faked.start();
  await is('far', 'up');
  await is('shop', 'up');
  await seen('svc is killed', 'both are up again');

  for (const step of [hour, -2 * hour, hour]) {
    faked.stepClock(step);
    await pause(hold * 1_000);
    await is('far', 'up');
    await seen(`clock by ${faked.offsetSeconds / hour} h`, `shop is ${(await get('shop')).state}`);
  }

  const [before, toldBefore] = [await downs(), told.length];
  const gone = once(first, 'exit');
  first.kill('SIGKILL');
  await gone;
  const failedAt = performance.now();
  const message = await until('somebody is told', () =>
    told.slice(toldBefore).find(({ text }) => text.includes('"shop"')),
  );
  const toldMs = message.at - failedAt;
  const places = ['svc', 'berlin', 'paris'].filter((place) =>
    new RegExp(`fails from [^.]*\\b${place}\\b`).test(message.text),
  );
  say(`told after ${(toldMs / 1_000).toFixed(1)} s, with ${places.join(', ')}`);
  await startTarget();
  await is('shop', 'up');
  return {
    ok:
      before === 0 &&
      toldBefore === 0 &&
      places.length >= 2 &&
      toldMs <= interval * 1_000 + toldAfterMs,
    'false downs': before,
    'told of them': toldBefore,
    'a real outage told after s': toldMs / 1_000,
    'places named': places.join(', '),
    cases,
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createListener().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
