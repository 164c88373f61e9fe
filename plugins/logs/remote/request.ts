import { SvcError } from 'svc/sdk';

import type { EndpointName } from '../loki/endpoints.ts';
import type { ParameterList } from '../loki/parameters.ts';

const window = ['start', 'end', 'since'];

/** What each endpoint passes on; nothing else of a caller's request ever leaves this process. */
const allowed: Readonly<Record<EndpointName, readonly string[]>> = {
  query: ['query', 'time', 'limit', 'direction'],
  query_range: ['query', ...window, 'limit', 'direction', 'step', 'interval'],
  labels: ['query', ...window],
  values: ['query', ...window],
  series: ['match[]', ...window],
  index_stats: ['query', ...window],
  index_volume: ['query', ...window, 'limit', 'targetLabels', 'aggregateBy'],
  detected_labels: ['query', ...window],
  format_query: ['query'],
};

const longestValue = 8 * 1024;

/** Path below the base address, and the parameters as a form or a search. */
export function remoteRequest(name: string, label: string | undefined, parameters: ParameterList): { readonly path: string; readonly search: URLSearchParams } {
  if (!Object.hasOwn(allowed, name)) {
    throw new SvcError('not_found', `there is no endpoint ${name}`);
  }
  const names = allowed[name as EndpointName];
  const kept = parameters.map(([key, value]) => [key === 'match' ? 'match[]' : key, value] as const).filter(([key]) => names.includes(key));
  for (const [key, value] of kept) {
    if (value.length > longestValue) {
      throw new SvcError('invalid_argument', `${key} is longer than ${longestValue} characters`);
    }
  }
  const path = name === 'values' ? `label/${encodeURIComponent(label ?? '')}/values` : name.replace(/^index_/, 'index/');
  return { path: `/loki/api/v1/${path}`, search: new URLSearchParams(kept.map(([key, value]): [string, string] => [key, value])) };
}
