import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';

import { startTestHost, type TestHost } from '../kit/index.ts';

export interface UnderFire {
  readonly ok: boolean;
  readonly reloads: number;
  readonly requests: number;
  readonly failed: number;
  /** Answered by a generation that did not serve at any moment of the request. */
  readonly wrongGeneration: number;
  /** Saw two generations of one service within one request. */
  readonly torn: number;
  readonly reloadMedianMs: number;
  readonly p99CalmMs: number;
  readonly p99FireMs: number;
}

interface Shot {
  readonly ms: number;
  readonly status: number;
  readonly before: number;
  readonly after: number;
  readonly body: { route?: number; first?: number; second?: number };
}

const fixture = (id: string): string =>
  fileURLToPath(new URL(`../fixtures/plugins/${id}`, import.meta.url));

/** Reloads a plugin again and again while requests come in, to its own route and to one that uses its service. */
export async function run({
  reloads = 1_000,
  guns = 8,
}: { reloads?: number; guns?: number } = {}): Promise<UnderFire> {
  const undo: (() => unknown)[] = [];
  const house = await startTestHost(
    { after: (step) => void undo.push(step as () => unknown) },
    { plugins: [fixture('target'), fixture('aim')], environment: { SVC_LOG_LEVEL: 'error' } },
  );
  await fire(house, guns, () => settle(500));
  const calm = await fire(house, guns, () => settle(2_000));
  const times: number[] = [];
  const shots = await fire(house, guns, async () => {
    for (let reload = 0; reload < reloads; reload++) {
      const began = performance.now();
      await house.reload('target');
      times.push(performance.now() - began);
      await settle(2);
    }
  });
  for (const step of undo) {
    await step();
  }
  const failed = [...calm, ...shots].filter(({ status }) => status !== 200).length;
  const wrongGeneration = shots.filter(({ before, after, body }) =>
    Object.values(body).some((seen) => seen < before || seen > after),
  ).length;
  const torn = shots.filter(({ body }) => body.first !== body.second).length;
  const [reloadMedianMs, p99CalmMs, p99FireMs] = [
    quantile(times, 0.5),
    latency(calm),
    latency(shots),
  ];
  return {
    ok: failed + wrongGeneration + torn === 0 && reloadMedianMs < 50 && p99FireMs < 2 * p99CalmMs,
    reloads,
    requests: shots.length,
    failed,
    wrongGeneration,
    torn,
    reloadMedianMs,
    p99CalmMs,
    p99FireMs,
  };
}

/** Keeps `guns` requests on their way for as long as `battle` lasts. */
async function fire(house: TestHost, guns: number, battle: () => Promise<void>): Promise<Shot[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: guns });
  const shots: Shot[] = [];
  let over = false;
  const gun = async (number: number): Promise<void> => {
    for (let shot = number; !over; shot++) {
      shots.push(await shoot(house, agent, shot % 2 === 0 ? '/api/v1/target' : '/api/v1/aim'));
    }
  };
  const guarding = Promise.all(Array.from({ length: guns }, (_, number) => gun(number)));
  await battle();
  over = true;
  await guarding;
  agent.destroy();
  return shots;
}

function shoot(house: TestHost, agent: Agent, path: string): Promise<Shot> {
  const serving = (): number => house.registry.current.generations.get('target')?.number ?? -1;
  const [began, before] = [performance.now(), serving()];
  return new Promise((resolve, reject) => {
    const asked = request(
      house.url + path,
      { agent, headers: { authorization: `Bearer ${house.token}` } },
      (answer) => {
        let text = '';
        answer.on('data', (chunk) => (text += String(chunk)));
        answer.on('end', () =>
          resolve({
            ms: performance.now() - began,
            status: answer.statusCode ?? 0,
            before,
            after: serving(),
            body: JSON.parse(text) as Shot['body'],
          }),
        );
      },
    );
    asked.on('error', reject);
    asked.end();
  });
}

const settle = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const latency = (shots: readonly Shot[]): number =>
  quantile(
    shots.map(({ ms }) => ms),
    0.99,
  );

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return (
    Math.round(
      (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 100,
    ) / 100
  );
}
