import type { PluginHost } from '../host/index.ts';
import type { Readiness } from '../http/index.ts';
import type { HealthSummary } from '../observe/index.ts';
import type { Storage } from '../storage/index.ts';

export interface ReadinessParts {
  readonly host: PluginHost;
  readonly storage: Storage;
  readonly health: { ask(): Promise<HealthSummary> };
}

/** Whether the house is fit to serve. A plugin that is down is told; only one that calls itself critical makes it unfit. */
export async function readiness({ host, storage, health }: ReadinessParts): Promise<readonly Readiness[]> {
  const down = host.list().filter(({ state }) => !['active', 'disabled', 'discovered', 'loading'].includes(state));
  const { ok, checks } = await health.ask();
  const unwell = checks.filter((check) => !check.ok).map(({ label, detail }) => `${label}${detail === undefined ? '' : `: ${detail}`}`);
  return [
    { part: 'storage', ...storage.health() },
    { part: 'disk', ...storage.disk() },
    {
      part: 'plugins',
      ok: !down.some(({ critical }) => critical),
      ...(down.length > 0 && { detail: `out of service: ${down.map(({ id, state }) => `${id} (${state})`).join(', ')}` }),
    },
    { part: 'process', ok, ...(unwell.length > 0 && { detail: unwell.join('; ') }) },
  ];
}
