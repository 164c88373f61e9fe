import { definePack, type PackContext } from 'svc/sdk';

import { type Cluster, read } from './api.ts';
import { type Pod, podsOf } from './pods.ts';

interface Event {
  readonly metadata: { readonly namespace: string };
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly firstTimestamp?: string;
  readonly lastTimestamp?: string;
  readonly eventTime?: string;
  readonly involvedObject?: { readonly kind?: string; readonly name?: string };
}

type Given = PackContext & { readonly signal: AbortSignal };

const mostEvents = 100;

const clusterOf = ({ settings }: Given): Cluster => ({
  url: settings.get<string>('kubernetes-reader.url'),
  token: settings.get<string>('kubernetes-reader.token'),
  ca: settings.get<string>('kubernetes-reader.ca'),
});

const within = (namespace: string | undefined, kind: string): string =>
  namespace === undefined ? `/api/v1/${kind}` : `/api/v1/namespaces/${namespace}/${kind}`;

export default definePack({
  skills: {
    async 'kubernetes-reader-pods'(
      { params: { namespace, selector } }: { params: { namespace?: string; selector?: string } },
      given,
    ) {
      const query = { limit: '2000', ...(selector !== undefined && { labelSelector: selector }) };
      const { items } = JSON.parse(
        await read(clusterOf(given), within(namespace, 'pods'), query, given.fetch),
      ) as { items: readonly Pod[] };
      return podsOf(items);
    },

    async 'kubernetes-reader-events'(
      { params: { namespace } }: { params: { namespace?: string } },
      given,
    ) {
      const query = { limit: '2000', fieldSelector: 'type=Warning' };
      const { items } = JSON.parse(
        await read(clusterOf(given), within(namespace, 'events'), query, given.fetch),
      ) as { items: readonly Event[] };
      const lastOf = ({ lastTimestamp, eventTime, firstTimestamp }: Event): string =>
        lastTimestamp ?? eventTime ?? firstTimestamp ?? '';
      const warnings = items
        .filter(({ type }) => type === 'Warning')
        .toSorted((a, b) => (lastOf(a) < lastOf(b) ? 1 : -1));
      return {
        warnings: warnings.length,
        newest: warnings.slice(0, mostEvents).map((event) => ({
          at: lastOf(event),
          since: event.firstTimestamp ?? null,
          count: event.count ?? 1,
          object: `${event.involvedObject?.kind ?? 'unknown'} ${event.metadata.namespace}/${event.involvedObject?.name ?? 'unknown'}`,
          reason: event.reason ?? '',
          message: (event.message ?? '').slice(0, 500),
        })),
      };
    },

    async 'kubernetes-reader-logs'(
      {
        params: { namespace, pod, container, previous = false, lines = 100 },
      }: {
        params: {
          namespace: string;
          pod: string;
          container?: string;
          previous?: boolean;
          lines?: number;
        };
      },
      given,
    ) {
      const query = {
        tailLines: String(lines),
        limitBytes: '262144',
        timestamps: 'true',
        ...(previous && { previous: 'true' }),
        ...(container !== undefined && { container }),
      };
      const text = await read(
        clusterOf(given),
        `/api/v1/namespaces/${namespace}/pods/${pod}/log`,
        query,
        given.fetch,
      );
      return { lines: text.split('\n').filter((line) => line !== '') };
    },
  },
});
