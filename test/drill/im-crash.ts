import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { textOf } from '../../plugins/model/cli/fake-model/chat-request.ts';
import { FakeModel } from '../../plugins/model/cli/fake-model/fake-model.ts';
import { counted } from '../counted.ts';
import type { Outcome } from '../exercise.ts';
import type { FakePlatform } from '../plugins/imbridge/fakes.ts';
import {
  callback,
  deliver,
  draftOf,
  providers,
  secretsOf,
  startFake,
} from '../plugins/imbridge/office.ts';
import { programOf } from '../program-of.ts';

const child = fileURLToPath(new URL('./im-crash-child.ts', import.meta.url));
const patienceMs = 90_000;

type Provider = (typeof providers)[number];

interface Asked {
  readonly tag: string;
  readonly provider: Provider;
  /** Signed callback, repeated by the platform unchanged. */
  readonly signed: ReturnType<typeof callback>;
  /** Number of deliveries; below, whether one was acknowledged. */
  sent: number;
  accepted: boolean;
}

/**
 * Kills a process that answers people on five platforms, again and again, while platforms repeat themselves: every message that was
 * accepted ends in exactly one answer, and no message in two.
 */
export async function run({ rounds = 50 }: { readonly rounds?: number } = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-im-crash-'));
  const model = await FakeModel.start({
    rules: [
      {
        reply: ({ messages }) => ({
          text: `Answer to ${/tag-\d+-\d+/.exec(textOf(messages.findLast(({ role }) => role === 'user')!))![0]}.`,
        }),
      },
    ],
  });
  const fakes = new Map<Provider, FakePlatform>();
  for (const provider of providers) {
    fakes.set(provider, await startFake(provider, secretsOf(provider)));
  }
  const asked: Asked[] = [];
  const apps = new Map<Provider, string>();
  try {
    for (const kill of counted(rounds, 'kills')) {
      const { url, running, token } = await start(folder, model.url);
      await connect(url, token, fakes, apps);
      const stop = new AbortController();
      const working = Promise.allSettled(
        Array.from({ length: atOnce }, () => ask(url, kill, apps, asked, stop.signal)),
      );
      await pause(150 + Math.random() * 900);
      running.kill('SIGKILL');
      await once(running, 'exit');
      stop.abort();
      const [broken] = (await working).flatMap((each) =>
        each.status === 'rejected' ? [each.reason as Error] : [],
      );
      assert.ifError(broken);
    }
    const { running } = await start(folder, model.url);
    await settle(asked, fakes);
    running.kill('SIGKILL');
    return { ok: true, kills: rounds, ...judge(asked, fakes) };
  } finally {
    await model.close();
    await Promise.all([...fakes.values()].map((fake) => fake.close()));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function start(
  folder: string,
  model: string,
): Promise<{ readonly url: string; readonly running: ChildProcess; readonly token: string }> {
  const running = spawn(process.execPath, [...programOf(child), folder, model], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = (await once(createInterface({ input: running.stdout }), 'line')) as [string];
  return { url, running, token: 'bob' };
}

async function connect(
  url: string,
  token: string,
  fakes: ReadonlyMap<Provider, FakePlatform>,
  apps: Map<Provider, string>,
): Promise<void> {
  for (const provider of apps.size > 0 ? [] : providers) {
    const body = JSON.stringify({
      ...draftOf(provider, fakes.get(provider)!.url),
      allow_from: provider === 'telegram' ? people : ['*'],
    });
    const answer = await fetch(`${url}/api/v1/im/apps`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
    });
    assert.equal(answer.status, 201, await answer.clone().text());
    apps.set(provider, ((await answer.json()) as { id: string }).id);
  }
}

const people = Array.from({ length: 40 }, (_, at) => `U${at}`);

/** One message in so many comes a hundred times at once; old ones of the last so many may come once more at any time. */
const [storm, stormEach, remembered] = [100, 60, 60];
/** Platforms do not wait for each other. */
const atOnce = 8;

/**
 * Messages to all platforms, each sent up to a hundred times at once as platforms do that are in doubt, and again behind later ones,
 * also behind a kill.
 */
async function ask(
  url: string,
  kill: number,
  apps: ReadonlyMap<Provider, string>,
  asked: Asked[],
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    const number = asked.length;
    const provider = providers[number % providers.length]!;
    const from = people[(kill * 7 + number) % people.length]!;
    const tag = `tag-${kill}-${number}`;
    const signed = callback(
      provider,
      secretsOf(provider),
      { text: `What of ${tag}?`, key: `${100_000 + number}`, from },
      Date.now(),
    );
    const fresh: Asked = { tag, provider, signed, sent: 0, accepted: false };
    const late = asked.slice(-remembered).filter(() => Math.random() < 0.05);
    asked.push(fresh);
    const times = number % stormEach === 1 ? storm : 1 + (number % 3);
    await Promise.all(
      [...late, ...Array.from({ length: times }, () => fresh)].map((one) => tell(url, apps, one)),
    );
    await pause(Math.random() * 40);
  }
}

/** One delivery; a 200 means that svc has taken the message. */
async function tell(url: string, apps: ReadonlyMap<Provider, string>, one: Asked): Promise<void> {
  one.sent += 1;
  const answer = await deliver(
    url,
    { provider: one.provider, id: apps.get(one.provider)! },
    one.signed,
  ).catch(() => undefined);
  if (answer !== undefined) {
    assert.equal(answer.status, 200);
    one.accepted = true;
  }
}

const answersTo = ({ tag, provider }: Asked, fakes: ReadonlyMap<Provider, FakePlatform>): number =>
  fakes.get(provider)!.standing.filter(({ text }) => text === `Answer to ${tag}.`).length;

async function settle(
  asked: readonly Asked[],
  fakes: ReadonlyMap<Provider, FakePlatform>,
): Promise<void> {
  for (let waited = 0; waited < patienceMs; waited += 100) {
    if (asked.every((one) => !one.accepted || answersTo(one, fakes) > 0)) {
      break;
    }
    await pause(100);
  }
  await pause(500);
}

function judge(
  asked: readonly Asked[],
  fakes: ReadonlyMap<Provider, FakePlatform>,
): Record<string, number> {
  const accepted = asked.filter((one) => one.accepted);
  const silent = accepted
    .filter((one) => answersTo(one, fakes) === 0)
    .map(({ tag, provider }) => `${provider} ${tag}`);
  const twice = asked
    .filter((one) => answersTo(one, fakes) > 1)
    .map(({ tag, provider }) => `${provider} ${tag}`);
  assert.deepEqual({ silent, twice }, { silent: [], twice: [] });
  const left = [...fakes.values()]
    .flatMap(({ standing }) => standing)
    .filter(({ text }) => !text.startsWith('Answer to')).length;
  return {
    messages: asked.length,
    sent: asked.reduce((sum, { sent }) => sum + sent, 0),
    accepted: accepted.length,
    answers: accepted.length,
    'left by kills, without an answer': left,
  };
}
