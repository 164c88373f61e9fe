import { scrypt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';

import type { PasswordsContract } from 'svc/contracts/iam';

import { startTestHost, type TestHost } from '../kit/index.ts';
import type { Outcome, Row } from '../exercise.ts';
import { people, queued } from '../plugins/session/people.ts';

const mostGrowthMb = 150;
const mostDelayMs = 100;

/**
 * Sends many logins at once: a bounded number of passwords is hashed, the rest is told to come
 * back, and svc stays responsive.
 */
export async function run({ logins = 200 }: Row = {}): Promise<Outcome> {
  const undo: (() => unknown)[] = [];
  const house = await startTestHost(
    { after: (step) => void undo.push(step as () => unknown) },
    await hashing(),
  );
  try {
    await ready(house);
    const rssBefore = process.memoryUsage.rss();
    let rssMost = rssBefore;
    const delays = monitorEventLoopDelay({ resolution: 5 });
    const watch = setInterval(() => (rssMost = Math.max(rssMost, process.memoryUsage.rss())), 20);
    delays.enable();
    const answers = await Promise.all(
      Array.from({ length: Number(logins) }, (_, i) => login(house, `p${i % 40}@example.org`)),
    );
    delays.disable();
    clearInterval(watch);
    const growthMb = (rssMost - rssBefore) / 1024 / 1024;
    const delayMs = delays.percentile(99) / 1e6;
    const of = (status: number): number => answers.filter((answer) => answer === status).length;
    return {
      ok:
        of(200) > 0 &&
        of(429) > 0 &&
        of(200) + of(429) === answers.length &&
        growthMb < mostGrowthMb &&
        delayMs < mostDelayMs,
      logins: answers.length,
      'signed in': of(200),
      'told to come back': of(429),
      'RSS growth, MB': growthMb,
      'RSS growth at most, MB': mostGrowthMb,
      'event loop p99, ms': delayMs,
      'event loop p99 at most, ms': mostDelayMs,
    };
  } finally {
    for (const step of undo) {
      await step();
    }
  }
}

const iam = existsSync(fileURLToPath(new URL('../../plugins/iam/index.ts', import.meta.url)));

/** The real accounts where they are built; otherwise passwords in memory behind the same cost and the same queue. */
async function hashing(): Promise<Parameters<typeof startTestHost>[1]> {
  if (iam) {
    return { plugins: ['iam', 'session'] };
  }
  const accounts = people();
  for (let i = 0; i < 40; i++) {
    accounts.add({ email: `p${i}@example.org`, role: 'viewer' });
  }
  return {
    plugins: ['session'],
    services: {
      'iam.directory': accounts.directory,
      'iam.passwords': queued(hashed(accounts.passwords)),
    },
  };
}

/** Hashes at the real cost. */
const hashed = (passwords: PasswordsContract): PasswordsContract => ({
  async verify(email, password) {
    await new Promise((done) =>
      scrypt(password, email, 32, { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 }, done),
    );
    return await passwords.verify(email, password);
  },
});

async function ready(house: TestHost): Promise<void> {
  for (let i = 0; iam && i < 40; i++) {
    const body = {
      email: `p${i}@example.org`,
      display_name: `P ${i}`,
      role: 'viewer',
      password: 'correct horse',
    };
    await house.json('/api/v1/users', { method: 'POST', body: JSON.stringify(body) });
  }
  await login(house, 'p0@example.org');
}

async function login(house: TestHost, email: string): Promise<number> {
  const answer = await house.fetch('/api/v1/auth/login', {
    method: 'POST',
    body: JSON.stringify({ email, password: 'correct horse' }),
  });
  await answer.arrayBuffer();
  return answer.status;
}
