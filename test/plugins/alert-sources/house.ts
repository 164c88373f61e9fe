import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

import { startTestHost, type TestHost } from 'svc/testing';

export interface Sent {
  readonly event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the assertion says
  readonly incident: any;
}

export interface SourceHouse {
  readonly house: TestHost;
  /** Webhook messages of ours, as a channel was sent them. */
  readonly sent: Sent[];
  /** Time passes by `ahead`; by `jump` the wall alone is set. */
  readonly clock: { ahead: number; jump: number; now(): number };
  make(
    draft: object,
  ): Promise<{ readonly id: number; readonly url: string; readonly path: string }>;
  push(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<{ readonly status: number; readonly text: string }>;
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the assertion says
  incidents(): Promise<any[]>;
  /** Types of the timeline of an incident, oldest first. */
  timeline(id: number): Promise<string[]>;
}

/**
 * Starts a host with the plugins that accept external alerts, raise incidents and notify, with one
 * channel that a test reads.
 */
export async function sourceHouse(
  t: Pick<TestContext, 'after'>,
  { ahead = 0, ...options }: { readonly dataDir?: string; readonly ahead?: number } = {},
): Promise<SourceHouse> {
  const sent: Sent[] = [];
  const hook = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const told = JSON.parse(Buffer.concat(parts).toString()) as Sent;
      // Digests, and those of alerting itself, which has no store to ask here, are not these.
      if (String(told.incident?.rule_key ?? told.incident?.rule).includes('/')) {
        sent.push(told);
      }
      response.end('{}');
    });
  });
  const port = await listening(hook);
  t.after(() => hook.close());
  const clock = { ahead, jump: 0, now: (): number => Date.now() + clock.ahead + clock.jump };
  const house = await startTestHost(t, {
    ...options,
    plugins: ['alert', 'alert-sources', 'notify', 'setting'],
    clock: { now: () => clock.now(), monotonic: () => performance.now() + clock.ahead },
    services: { 'audit.trail': { append: async () => undefined } },
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' },
  });
  const channel = { group_wait: '0s', group_interval: '0s', group_by: ['...'] };
  await house.fetch('/api/v1/notification-channels', {
    method: 'POST',
    body: JSON.stringify({
      name: 'hook',
      channel_type: 'webhook',
      endpoint: `http://127.0.0.1:${port}/`,
      ...channel,
    }),
  });
  return {
    house,
    sent,
    clock,
    async make(draft) {
      const { id, url } = await house.json('/api/v1/alert-sources', {
        method: 'POST',
        body: JSON.stringify(draft),
      });
      return { id, url, path: new URL(url).pathname };
    },
    async push(path, body, headers = {}) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const answer = await fetch(house.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: text,
      });
      return { status: answer.status, text: await answer.text() };
    },
    incidents: async () =>
      (await house.json('/api/v1/alerts/incidents')).items.filter(({ rule }: { rule: string }) =>
        rule.includes('/'),
      ),
    timeline: async (id) =>
      (await house.json(`/api/v1/alerts/incidents/${id}/events?order=asc`)).items.map(
        ({ type }: { type: string }) => type,
      ),
  };
}

export async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

export const alert = (
  status: 'firing' | 'resolved',
  labels: Record<string, string>,
  annotations: Record<string, string> = {},
) => ({
  status,
  labels,
  annotations,
  startsAt: '2026-11-20T10:00:00Z',
  endsAt: '0001-01-01T00:00:00Z',
  fingerprint: 'a',
  generatorURL: 'http://prometheus.example/graph?g0.expr=up',
});

export const pushOf = (...alerts: object[]) => ({
  version: '4',
  groupKey: '{}',
  status: 'firing',
  receiver: 'svc',
  alerts,
});

/** Signs a body as Grafana does. */
export const signature = (secret: string, body: string, atMs: number): Record<string, string> => {
  const time = String(Math.floor(atMs / 1_000));
  return {
    'x-grafana-alerting-timestamp': time,
    'x-grafana-alerting-signature': createHmac('sha256', secret)
      .update(`${time}:${body}`)
      .digest('hex'),
  };
};
