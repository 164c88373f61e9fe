import type { Paint } from './paint.ts';

/** A plugin as `GET /api/v1/plugins` lists it. */
export interface PluginSummary {
  readonly id: string;
  readonly version: string | null;
  readonly state: string;
  readonly cause: string | null;
  readonly since: string;
  readonly generation: number | null;
}

/** Paints a state by what it asks of a reader: nothing, a look, or a hand. */
export function paintedState(state: string, paint: Paint): string {
  if (state === 'active') {
    return paint.good(state);
  }
  return ['disabled', 'discovered', 'loading', 'blocked'].includes(state)
    ? paint.warn(state)
    : paint.bad(state);
}

/** `4.2 ms`, without a fraction from 10 on. */
export const milliseconds = (ms: number): string =>
  `${ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`;
