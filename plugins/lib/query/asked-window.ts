import { SvcError } from 'svc/sdk';

import { parseDuration } from './durations.ts';

/** A stretch of time as people and models ask for it. */
export interface AskedWindow {
  readonly last?: string | undefined;
  readonly until?: string | undefined;
}

/** JSON Schema of its fields, for the params of skills. */
export const askedWindow = {
  last: { type: 'string', pattern: '^(\\d+(ms|[smhdw]))+$', maxLength: 40, description: 'How far back, such as 30m or 2h; default 1h.' },
  until: { type: 'string', format: 'date-time', description: 'Where it ends, RFC 3339; default now.' },
} as const;

const longestMs = 31 * 86_400_000;

/** In milliseconds. */
export function windowAsked({ last = '1h', until }: AskedWindow, now: number): { readonly start: number; readonly end: number } {
  const end = until === undefined ? now : Date.parse(until);
  const span = parseDuration(last);
  if (Number.isNaN(end) || span <= 0 || span > longestMs) {
    throw new SvcError('invalid_argument', 'last must be between 1ms and 31d, and until a time such as 2026-01-31T14:00:00Z');
  }
  return { start: end - span, end };
}
