import { type Branch, milliseconds, type PluginSummary } from 'svc/cli';

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

export function durationOf({ timings_ms }: Attempt): string {
  return milliseconds(Object.values(timings_ms).reduce((sum, ms) => sum + ms, 0));
}
