import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import type { PushAnswer, Stamp } from 'svc/contracts/metricsdb';
import type { VerifiedEdge } from 'svc/contracts/session';
import { startTestHost, type TestHost, type TestHostOptions, useNoLeaks } from 'svc/testing';

/** Request received by a store. */
export interface Received {
  readonly store: 'metrics' | 'logs' | 'traces';
  readonly format: string;
  readonly body: Buffer;
  readonly encoding: string | undefined;
  readonly stamp: Stamp;
}

/** Stores that keep nothing, and answer as configured. */
export interface Stores {
  readonly received: Received[];
  answer: () => PushAnswer | Promise<PushAnswer>;
  readonly services: Readonly<Record<string, object>>;
}

export function pretendStores(): Stores {
  const stores: Stores = {
    received: [],
    answer: () => ({ accepted: 1, rejected: 0, reasons: [] }),
    services: Object.fromEntries(
      (['metrics', 'logs', 'traces'] as const).map((store) => [
        `${store}.ingest`,
        {
          async push(
            format: string,
            body: Uint8Array,
            { encoding, stamp }: { encoding?: string; stamp: Stamp },
          ) {
            stores.received.push({ store, format, body: Buffer.from(body), encoding, stamp });
            return await stores.answer();
          },
        },
      ]),
    ),
  };
  return stores;
}

/** The plugin that vouches for the edges of the stand-in `test.fleet`. */
export const edgeFleet = fileURLToPath(new URL('../../fixtures/edge-fleet', import.meta.url));

/** Edges as the fleet would vouch for them: by access key. */
export class PretendFleet {
  readonly edges = new Map<string, VerifiedEdge & { readonly secret: string }>([
    ['svc_ak_seven', { secret: 'svc_sk_seven', edge_id: 7, device_id: 70 }],
    ['svc_ak_new', { secret: 'svc_sk_new', edge_id: 8 }],
    ['svc_ak_off', { secret: 'svc_sk_off', edge_id: 9, disabled: true }],
  ]);
  asked = 0;

  async recognise(accessKey: string, secretKey: string): Promise<VerifiedEdge | undefined> {
    this.asked += 1;
    const edge = this.edges.get(accessKey);
    return edge?.secret === secretKey ? edge : undefined;
  }
}

export const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** An edge with a device, one without, and one that is disabled. */
export const seven = basic('svc_ak_seven', 'svc_sk_seven');
export const unbound = basic('svc_ak_new', 'svc_sk_new');
export const disabled = basic('svc_ak_off', 'svc_sk_off');

export interface IngestHouse extends TestHost {
  readonly fleet: PretendFleet;
  push(
    path: string,
    authorization: string | undefined,
    type: string,
    body: string | Uint8Array,
    headers?: Record<string, string>,
  ): Promise<Response>;
  /** An API token of a fresh person with this role, for these actions. */
  apiToken(role: string, actions: readonly string[]): Promise<string>;
}

export async function ingestHouse(
  t: Pick<TestContext, 'after'>,
  options: Partial<TestHostOptions> & { readonly stores?: readonly string[] } = {},
): Promise<IngestHouse> {
  const fleet = new PretendFleet();
  const {
    stores = [],
    services,
    plugins = ['iam', 'session', 'ingest', edgeFleet, ...stores],
    ...rest
  } = options;
  const house = await startTestHost(t, {
    plugins,
    ...rest,
    services: { 'test.fleet': fleet, ...services },
  });
  useNoLeaks(t, house);
  let people = 0;
  return Object.assign(house, {
    fleet,
    push: (
      path: string,
      authorization: string | undefined,
      type: string,
      body: string | Uint8Array,
      headers: Record<string, string> = {},
    ) =>
      fetch(house.url + path, {
        method: 'POST',
        headers: {
          ...(authorization !== undefined && { authorization }),
          ...(type !== '' && { 'content-type': type }),
          ...headers,
        },
        body: typeof body === 'string' ? Buffer.from(body) : body,
      }),
    async apiToken(role: string, actions: readonly string[]) {
      const password = 'a long enough passphrase';
      const user = await house.json('/api/v1/users', {
        method: 'POST',
        body: JSON.stringify({
          email: `p${++people}@example.org`,
          display_name: 'P',
          role,
          password,
        }),
      });
      const expires_at = new Date(Date.now() + 3_600_000).toISOString();
      const made = await house.json('/api/v1/tokens', {
        method: 'POST',
        body: JSON.stringify({ name: 'sender', actions, expires_at, user_id: user.id }),
      });
      return made.token as string;
    },
  });
}
