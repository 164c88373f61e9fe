import type { Bus } from '../../core/events/index.ts';
import { folderWatches } from '../../bin/serve/watcher/watch.ts';
import type { HttpServer } from '../../core/http/index.ts';
import type { Threads } from '../../core/isolate/index.ts';
import type { Observers, SelfMetrics } from '../../core/observe/index.ts';
import {
  type Generation,
  type Registry,
  scopeOccupants,
  scopeTimers,
  tableNames,
} from '../../core/registry/index.ts';
import type { Settings } from '../../core/boot/settings/settings.ts';

export type Census = Readonly<Record<string, number>>;

export interface Counted {
  readonly registry: Registry;
  readonly settings: Settings;
  readonly metrics: SelfMetrics;
  readonly bus: Bus<Generation>;
  readonly http: HttpServer;
  readonly threads: Threads;
  readonly observers: Observers;
}

/** Counts everything a plugin can have added, so that what one leaves behind has a name. */
export function census({
  registry,
  settings,
  metrics,
  bus,
  http,
  threads,
  observers,
}: Counted): Census {
  const { current, leases } = registry;
  return {
    ...Object.fromEntries(tableNames.map((name) => [name, current[name].size])),
    generations: current.generations.size,
    leases: leases.size,
    'registry listeners': registry.listeners,
    'setting keys': settings.size.keys,
    'setting watchers': settings.size.watchers,
    metrics: metrics.declarations,
    'busy subscriptions': bus.busy,
    'scope timers': scopeTimers(),
    'folder watches': folderWatches(),
    'scope occupants': scopeOccupants(),
    'open requests': http.open,
    threads: threads.size,
    observers: observers.size,
    'process listeners': process
      .eventNames()
      .reduce((sum, name) => sum + process.listenerCount(name), 0),
  };
}

/** Returns what has grown, as sentences; empty if nothing leaked. */
export const censusGrowth = (before: Census, after: Census): readonly string[] =>
  Object.entries(after).flatMap(([what, count]) => {
    const grown = count - (before[what] ?? 0);
    return grown > 0 ? [`${grown} ${what}`] : [];
  });
