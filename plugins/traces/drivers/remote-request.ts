import type { TempoQuestion } from '../tempo/question.ts';
import type { SearchInput } from '../thread/contract.ts';

export interface RemoteRequest {
  /** Below the base address. */
  readonly path: string;
  readonly search: URLSearchParams;
}

type Pairs = readonly (readonly [string, string | number | undefined])[];

/**
 * Builds a request from what was parsed of the caller's; nothing else of that leaves this process.
 */
export function remoteRequest({ kind, input }: TempoQuestion): RemoteRequest {
  switch (kind) {
    case 'search':
      return request('/api/search', searchPairs(input));
    case 'tags':
      return request(`${prefix(input.version)}/search/tags`, [
        ['scope', input.scope],
        ['q', input.query],
        ...window(input),
      ]);
    case 'values': {
      const { tag, version = 1, query, limit } = input;
      return request(`${prefix(version)}/search/tag/${encodeURIComponent(tag)}/values`, [
        ['q', query],
        ...window(input),
        ['limit', limit],
      ]);
    }
    case 'range':
      return request('/api/metrics/query_range', [
        ['q', input.query],
        ...window(input),
        ['step', `${input.step / 1_000}s`],
      ]);
    case 'instant':
      return request('/api/metrics/query', [['q', input.query], ...window(input)]);
  }
}

function searchPairs(input: SearchInput): Pairs {
  const { query, tags, minDuration, maxDuration, limit, spansPerSpanSet } = input;
  const asked: Pairs = [
    ['q', query],
    ['tags', tags],
    ['minDuration', minDuration],
    ['maxDuration', maxDuration],
  ];
  return [...asked, ...window(input), ['limit', limit], ['spss', spansPerSpanSet]];
}

const prefix = (version: 1 | 2): string => (version === 1 ? '/api' : '/api/v2');

/** Whole seconds that hold the window; its end is never its start. */
function window({ start, end }: { readonly start: number; readonly end: number }): Pairs {
  const from = Math.floor(start / 1_000);
  return [
    ['start', from],
    ['end', Math.max(from + 1, Math.ceil(end / 1_000))],
  ];
}

const request = (path: string, pairs: Pairs): RemoteRequest => ({
  path,
  search: new URLSearchParams(
    pairs.flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  ),
});
