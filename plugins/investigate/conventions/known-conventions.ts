import { RE2JS, RE2JSException } from 're2js';
import { type Convention, Conventions } from 'svc/contracts/investigate';
import type { Logger, PluginContext } from 'svc/sdk';

import containers from './containers.json' with { type: 'json' };
import hosts from './hosts.json' with { type: 'json' };
import probes from './probes.json' with { type: 'json' };
import runtimes from './runtimes.json' with { type: 'json' };
import services from './services.json' with { type: 'json' };
import stores from './stores.json' with { type: 'json' };

/** Convention that is ready to be matched with names of metrics. */
export interface ReadyConvention {
  readonly id: string;
  readonly convention: Convention;
  /** The groups of a name that it is about, the whole name first; undefined for any other. */
  readonly match: (metric: string) => readonly string[] | undefined;
}

const shipped: readonly ReadyConvention[] = Object.entries({
  ...prefixed('service', services),
  ...prefixed('probe', probes),
  ...prefixed('host', hosts),
  ...prefixed('runtime', runtimes),
  ...prefixed('container', containers),
  ...prefixed('store', stores),
} as Readonly<Record<string, Convention>>).map(([id, convention]) => {
  const whole = new RegExp(`^(?:${convention.metrics})$`);
  const except = convention.except === undefined ? undefined : new RegExp(convention.except);
  return {
    id,
    convention,
    match: (metric) =>
      except?.test(metric)
        ? undefined
        : (whole.exec(metric)?.map((group) => group ?? '') ?? undefined),
  };
});

function prefixed(of: string, some: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(some).map(([name, one]) => [`${of}_${name}`, one]));
}

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
