import { setTimeout as pause } from 'node:timers/promises';

import type { Outcome, Row } from '../exercise.ts';
import { findPeer, peers } from '../peers.ts';
import { password } from '../trust/household.ts';
import { FakedHouse } from './alert-truth-house.ts';
import { World } from './alert-truth-world.ts';

const hour = 3_600;
const day = 24 * hour;
const tenYears = 3_650 * day;
const email = 'vera@example.org';
const samples = 60;

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/**
 * Tests the whole product under the drill's own clock, ± `jump` seconds at a start and ± an hour
 * and a day while it runs: stored data remains, sessions stay valid, and rules are evaluated all
 * the time. `hold`: seconds until the check after a start, longer than the first maintenance takes
 * to run; a quarter of them after a step.
 */
export async function run({
  hold = 40,
  jump = tenYears,
}: { readonly hold?: number; readonly jump?: number } = {}): Promise<Outcome> {
  const faketime = findPeer('libfaketimeMT.so.1');
  if (faketime === undefined) {
    return {
      ok: false,
      why: `libfaketime is not installed (Debian: apt-get install ${peers['libfaketimeMT.so.1']})`,
    };
  }
  const ends: (() => unknown)[] = [];
  const t = { after: (end: () => unknown) => void ends.push(end) };
  try {
    const faked = new FakedHouse(t, new World(), faketime);
    await faked.start();
    const [stored, signedIn] = [await fill(faked), await signIn(faked)];
    await faked.isEvaluating('before');
    const cases: Row[] = [];
    const look = async (clock: string, step: number, seconds: number): Promise<void> => {
      await faked.isClock(step * 1_000);
      await pause(seconds * 1_000);
      const [found, stays, evaluates] = [
        await count(faked, stored.at),
        await staysIn(faked, signedIn),
        await faked.isEvaluating(clock),
      ];
      const row = {
        clock,
        ...found,
        'access token': stays.access,
        'API token': stays.token,
        'rules evaluated': evaluates,
      };
      cases.push({
        ...row,
        ok:
          found.samples === samples &&
          found.lines === samples &&
          stays.access === 200 &&
          stays.token === 200 &&
          evaluates,
      });
    };
    for (const step of [jump, -jump]) {
      await faked.stop('SIGTERM');
      faked.stepClock(step);
      await faked.start();
      await look(`${years(step)} at the start`, step, hold);
      await faked.stop('SIGTERM');
      faked.stepClock(-step);
      await faked.start();
      await look(`right again, after ${years(step)}`, 0, hold);
    }
    for (const step of [hour, -hour, day, -day]) {
      faked.stepClock(step);
      await look(`${step / hour} h while it serves`, step, hold / 4);
      faked.stepClock(-step);
      await look(`right again, after ${step / hour} h`, 0, hold / 4);
    }
    return { ok: cases.every(({ ok }) => ok === true), cases };
  } finally {
    for (const end of ends.toReversed()) {
      await end();
    }
  }
}

const years = (seconds: number): string => `${Math.round(seconds / 365 / day)} years`;

/** An hour of samples and lines up to now. */
async function fill(faked: FakedHouse): Promise<{ readonly at: number }> {
  const at = Math.floor(Date.now() / 1_000) * 1_000;
  const times = Array.from({ length: samples }, (_, back) => at - (samples - 1 - back) * 60_000);
  const push = async (path: string, type: string, body: string): Promise<void> => {
    const answer = await faked.house.fetch(path, {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    });
    if (!answer.ok) {
      throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    }
  };
  await push(
    '/api/v1/import/prometheus',
    'text/plain',
    times.map((time) => `clock_kept{job="drill"} 1 ${time}\n`).join(''),
  );
  const values = times.map((time) => [`${time}000000`, 'kept']);
  await push(
    '/loki/api/v1/push',
    'application/json',
    JSON.stringify({ streams: [{ stream: { app: 'clock' }, values }] }),
  );
  return { at };
}

/** Counts by the time of the data, whatever the clock of svc says. */
async function count(
  faked: FakedHouse,
  at: number,
): Promise<{ readonly samples: number; readonly lines: number }> {
  const time = String(at / 1_000);
  const ask = async (path: string, query: string): Promise<number> => {
    const answer = await faked.get<{ data: { result: { value: [number, string] }[] } }>(
      `${path}?${new URLSearchParams({ query, time }).toString()}`,
    );
    return Number(answer.data.result[0]?.value[1] ?? 0);
  };
  return {
    samples: await ask('/prometheus/api/v1/query', 'count_over_time(clock_kept[61m])'),
    lines: await ask('/loki/api/v1/query', 'sum(count_over_time({app="clock"}[61m]))'),
  };
}

/** Somebody with a session and a program with a token. */
async function signIn(faked: FakedHouse): Promise<{ tokens: Tokens; readonly program: string }> {
  await faked.post('/api/v1/users', { email, display_name: 'vera', role: 'viewer', password });
  const { user, ...tokens } = await faked.post<Tokens & { readonly user: { readonly id: number } }>(
    '/api/v1/auth/login',
    { email, password },
  );
  const expires_at = new Date(Date.now() + 300 * day * 1_000).toISOString();
  const { token } = await faked.post<{ token: string }>('/api/v1/tokens', {
    name: 'drill',
    actions: ['read:*'],
    expires_at,
    user_id: user.id,
  });
  return { tokens, program: token };
}

/**
 * Checks the session as a page does: an expired access token is exchanged, and the next one has to
 * work.
 */
async function staysIn(
  faked: FakedHouse,
  session: { tokens: Tokens; readonly program: string },
): Promise<{ readonly access: number; readonly token: number }> {
  const ask = async (token: string): Promise<number> => {
    const answer = await faked.house.fetch('/api/v1/devices', {
      headers: { authorization: `Bearer ${token}` },
    });
    await answer.text();
    return answer.status;
  };
  let access = await ask(session.tokens.access_token);
  if (access === 401) {
    const answer = await faked.house.fetch('/api/v1/auth/refresh', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: '' },
      body: JSON.stringify({ refresh_token: session.tokens.refresh_token }),
    });
    if (answer.ok) {
      session.tokens = (await answer.json()) as Tokens;
      access = await ask(session.tokens.access_token);
    }
  }
  return { access, token: await ask(session.program) };
}
