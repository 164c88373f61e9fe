import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';

import { Passwords } from 'svc/contracts/iam';

import { OperatorAuthenticator } from '../../core/auth/index.ts';
import { identify } from '../../core/http/access/authenticate.ts';
import { authorize } from '../../core/http/access/authorize.ts';
import type { CompiledRoute } from '../../core/http/routes/route-table.ts';
import type { Front } from '../../core/http/exchange/front.ts';
import { startTestHost, type TestHost, type TestHostOptions } from '../kit/index.ts';
import type { Outcome, Row } from '../exercise.ts';
import { lampFolder } from '../plugins/session/house.ts';
import { people } from '../plugins/session/people.ts';

const mostMicros = 10;
/** Known and unknown e-mails may differ by so much. */
const mostDifference = 0.05;

/**
 * Measures what it costs to authenticate and authorize a request, and whether the time of a login
 * reveals which e-mails exist.
 */
export async function run({
  requests = 200_000,
  rounds = 8,
  logins = 20,
}: Row = {}): Promise<Outcome> {
  const accounts = people();
  accounts.add({ email: 'bob@example.org', role: 'user' });
  const services = { 'iam.directory': accounts.directory, 'iam.passwords': accounts.passwords };
  const cases = await inHouse({ plugins: ['session', lampFolder], services }, async (house) => {
    const { access_token: jwt } = await ask(house, '/api/v1/auth/login', {
      email: 'bob@example.org',
      password: 'correct horse',
    });
    const wish = {
      name: 'bench',
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      actions: ['lamp:switch'],
    };
    const { token: pat } = await ask(house, '/api/v1/tokens', wish, jwt);
    return [
      {
        case: 'access token',
        ...(await stages(house, jwt!, Number(requests))),
        ...(await wholeRequests(house, jwt!, Number(rounds))),
      },
      {
        case: 'API token',
        ...(await stages(house, pat!, Number(requests))),
        ...(await wholeRequests(house, pat!, Number(rounds))),
      },
    ];
  });
  const difference = await timingOfEmails(Number(logins));
  return {
    ok:
      cases.every((row) => row['authenticate + authorize, µs'] <= mostMicros) &&
      (difference === undefined || difference <= mostDifference),
    'at most, µs': mostMicros,
    'known against unknown e-mails, relative': difference ?? 'no plugins/iam to ask',
    cases,
  };
}

const lamp = {
  declaration: { access: 'lamp:switch', method: 'POST', brief: [] },
  reads: ['lamp'],
  owner: { pluginId: 'lamp' },
} as unknown as CompiledRoute;

/** The two stages of the pipeline by themselves, as it runs them. */
async function stages(
  house: TestHost,
  token: string,
  requests: number,
): Promise<{ 'authenticate + authorize, µs': number }> {
  const front = {
    operator: new OperatorAuthenticator(house.token),
    strike: () => undefined,
  } as unknown as Front;
  const snapshot = house.registry.current;
  const credential = () => ({
    scheme: 'bearer' as const,
    value: `Bearer ${token}`.slice(7),
    ip: '127.0.0.1',
  });
  await identify(front, snapshot, credential());
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round++) {
    const began = performance.now();
    for (let i = 0; i < requests / 5; i++) {
      const principal = identify(front, snapshot, credential());
      if (principal instanceof Promise) {
        throw new Error('a token that was seen before is recognised without a wait');
      }
      authorize(principal, lamp, {}, true);
    }
    best = Math.min(best, ((performance.now() - began) * 1_000) / (requests / 5));
  }
  return { 'authenticate + authorize, µs': best };
}

/** CPU of whole requests, client included, with and without a credential to look at: noisy, but nothing can hide from it. */
async function wholeRequests(
  house: TestHost,
  token: string,
  rounds: number,
): Promise<{ 'public request, µs': number; 'guarded request, µs': number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const batch = async (path: string): Promise<number> => {
    const before = process.cpuUsage();
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let i = 0; i < 250; i++) {
          const [answer] = (await once(
            get(house.url + path, { agent, headers: { authorization: `Bearer ${token}` } }),
            'response',
          )) as [IncomingMessage];
          if (answer.statusCode !== 200) {
            throw new Error(`${path} answered ${answer.statusCode}`);
          }
          await once(answer.resume(), 'end');
        }
      }),
    );
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 2_000;
  };
  const open: number[] = [];
  const guarded: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const pair = [await batch('/api/v1/lamp/open'), await batch('/api/v1/lamp/switch')] as const;
    // The first turn only warms up.
    if (round > 0) {
      open.push(pair[0]);
      guarded.push(pair[1]);
    }
  }
  agent.destroy();
  return { 'public request, µs': median(open), 'guarded request, µs': median(guarded) };
}

/**
 * Returns the difference of the mean time of a wrong password between an e-mail that exists and one
 * that does not.
 */
async function timingOfEmails(logins: number): Promise<number | undefined> {
  if (!existsSync(fileURLToPath(new URL('../../plugins/iam/index.ts', import.meta.url)))) {
    return undefined;
  }
  return await inHouse({ plugins: ['iam', 'session'] }, async (house) => {
    const passwords = house.service(Passwords);
    await ask(
      house,
      '/api/v1/users',
      {
        email: 'known@example.org',
        display_name: 'Known',
        role: 'viewer',
        password: 'a password to know',
      },
      house.token,
    );
    const times: Record<string, number[]> = { known: [], unknown: [] };
    for (let i = 0; i < logins; i++) {
      for (const who of ['known', 'unknown']) {
        const began = performance.now();
        await passwords.verify(`${who}@example.org`, 'not the password');
        times[who]!.push(performance.now() - began);
      }
    }
    const [known, unknown] = [mean(times['known']!), mean(times['unknown']!)];
    return Math.abs(known - unknown) / unknown;
  });
}

async function inHouse<R>(
  options: TestHostOptions,
  work: (house: TestHost) => Promise<R>,
): Promise<R> {
  const undo: (() => unknown)[] = [];
  const house = await startTestHost(
    { after: (step) => void undo.push(step as () => unknown) },
    options,
  );
  try {
    return await work(house);
  } finally {
    for (const step of undo) {
      await step();
    }
  }
}

const ask = (
  house: TestHost,
  path: string,
  body: object,
  token?: string,
): Promise<Record<string, string>> =>
  house.json(path, {
    method: 'POST',
    body: JSON.stringify(body),
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
  });

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
