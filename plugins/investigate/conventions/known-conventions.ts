import { RE2JS, RE2JSException } from 're2js';
import { type Convention, Conventions } from 'svc/contracts/investigate';
import type { Logger, PluginContext } from 'svc/sdk';

import { containers } from './containers.ts';
import { hosts } from './hosts.ts';
import { probes } from './probes.ts';
import { runtimes } from './runtimes.ts';
import { services } from './services.ts';
import { stores } from './stores.ts';

/** Convention that is ready to be matched with names of metrics. */
export interface ReadyConvention {
  readonly id: string;
  readonly convention: Convention;
  /** The groups of a name that it is about, the whole name first; undefined for any other. */
  readonly match: (metric: string) => readonly string[] | undefined;
}

const shipped: readonly ReadyConvention[] = Object.entries({
  service: services,
  probe: probes,
  host: hosts,
  runtime: runtimes,
  container: containers,
  store: stores,
}).flatMap(([of, some]) =>
  Object.entries(some).map(([name, { metrics, except, ...convention }]) => ({
    id: `${of}_${name}`,
    convention: { ...convention, metrics: metrics.source },
    match: (metric) =>
      except?.test(metric) === true
        ? undefined
        : metrics.exec(metric)?.map((group: string | undefined) => group ?? ''),
  })),
);

/** Tells the conventions of measuring, those of other plugins first: they know their own metrics best. */
export function knownConventions(
  extend: Pick<PluginContext['extend'], 'open'>,
  log: Pick<Logger, 'warn'>,
): () => readonly ReadyConvention[] {
  const others = extend.open(Conventions);
  return () => [
    ...others.list().flatMap(({ id, value }) => {
      try {
        return [contributed(id, value)];
      } catch (error) {
        if (!(error instanceof RE2JSException)) {
          throw error;
        }
        log.warn(
          { event: 'investigate.convention_unread', convention: id, cause: error.message },
          'a contributed convention has an invalid pattern; investigating without it',
        );
        return [];
      }
    }),
    ...shipped,
  ];
}

/** Shipped conventions alone, for where no plugin contributes any. */
export const shippedConventions = (): readonly ReadyConvention[] => shipped;

/** Patterns of others run in linear time, whatever they are. */
function contributed(id: string, convention: Convention): ReadyConvention {
  const whole = RE2JS.compile(convention.metrics);
  const except = convention.except === undefined ? undefined : RE2JS.compile(convention.except);
  return {
    id,
    convention,
    match(metric) {
      const matcher = whole.matcher(metric);
      return except?.matcher(metric).find() || !matcher.matches()
        ? undefined
        : Array.from({ length: matcher.groupCount() + 1 }, (_, at) => matcher.group(at) ?? '');
    },
  };
}
