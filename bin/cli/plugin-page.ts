import type { Branch, Paint } from 'svc/cli';

/** A plugin as `GET /api/v1/plugins` lists it. */
export interface PluginSummary {
  readonly id: string;
  readonly version: string | null;
  readonly state: string;
  readonly cause: string | null;
  readonly since: string;
  readonly generation: number | null;
}

/** A plugin as `GET /api/v1/plugins/{id}` explains it. */
export interface PluginDetail extends PluginSummary {
  readonly title: string;
  readonly description: string;
  readonly requires: readonly string[];
  readonly provides: readonly string[];
  readonly dependents: readonly string[];
  readonly last_attempt: Attempt | null;
  readonly effects: Branch | null;
  readonly draining: readonly number[];
  readonly residue: string | null;
  readonly strikes: readonly {
    readonly at: string;
    readonly where: string;
    readonly cause: string;
  }[];
}

export interface Attempt {
  readonly at: string;
  readonly generation: number;
  readonly ok: boolean;
  readonly stage: string | null;
  readonly cause: string | null;
  readonly timings_ms: Readonly<Record<string, number>>;
}

export const pluginPath = (id: string, verb = ''): string =>
  `/api/v1/plugins/${encodeURIComponent(id)}${verb === '' ? '' : `/${verb}`}`;

export function painted(state: string, paint: Paint): string {
  if (state === 'active') {
    return paint.good(state);
  }
  return ['disabled', 'discovered', 'loading', 'blocked'].includes(state)
    ? paint.warn(state)
    : paint.bad(state);
}

export function durationOf({ timings_ms }: Attempt): string {
  return milliseconds(Object.values(timings_ms).reduce((sum, ms) => sum + ms, 0));
}

export const milliseconds = (ms: number): string =>
  `${ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`;
