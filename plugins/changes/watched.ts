import type { ChangeDraft } from 'svc/contracts/changes';
import type { EdgeFleet } from 'svc/contracts/edge';
import type { MetricsQueries } from 'svc/contracts/metricsdb';
import { type Build, type Handle, type Logger, messageOf, type PluginDirectory } from 'svc/sdk';

import type { Feed } from './feed.ts';

export interface WatchedParts {
  readonly feed: Feed;
  readonly fleet: Handle<EdgeFleet>;
  readonly metrics: Handle<MetricsQueries>;
  readonly plugins: Pick<PluginDirectory, 'list'>;
  readonly build: Pick<Build, 'version' | 'startedAt'>;
  readonly now: () => number;
  readonly log: Logger;
}

/** Things whose value is looked at again and again; another value than the one that was seen last is a change. */
interface Watch {
  readonly prefix: string;
  /** Undefined while it cannot be read. */
  read(
    parts: WatchedParts,
  ): Promise<ReadonlyMap<string, string>> | ReadonlyMap<string, string> | undefined;
  change(
    key: string,
    before: string,
    after: string,
    now: number,
  ): Omit<ChangeDraft, 'ref'> | undefined;
}

const patience = { timeoutMs: 10_000, maxSamples: 5_000_000 };
/** Seconds by which the boot time of a machine may differ without a boot: its clock is set. */
const leastBoot = 90;
const hourSeconds = 3_600;

const agents: Watch = {
  prefix: 'agent:',
  read: ({ fleet }) =>
    fleet.available
      ? new Map(
          fleet
            .get()
            .list()
            .flatMap(({ id, name, agent_version: version, device_id: device }) =>
              version === null || version === ''
                ? []
                : [[String(id), JSON.stringify([version, name, device])] as const],
            ),
        )
      : undefined,
  change(key, before, after, now) {
    const [was] = JSON.parse(before) as [string];
    const [version, name, device] = JSON.parse(after) as [string, string, number | null];
    return was === version
      ? undefined
      : {
          at: now,
          kind: 'upgrade',
          source: 'edge',
          edge_id: key,
          summary: `agent ${name} now runs ${version} (was ${was})`,
          ...(device !== null && { device_id: String(device) }),
        };
  },
};

const boots: Watch = {
  prefix: 'boot:',
  read: ({ metrics, now }) =>
    instant(
      metrics,
      'max by (device_id) (node_boot_time_seconds{device_id!=""})',
      now(),
      ({ device_id: device }) => device,
    ),
  change: (key, before, after) =>
    Number(after) - Number(before) < leastBoot
      ? undefined
      : {
          at: Number(after) * 1_000,
          kind: 'reboot',
          source: 'metrics',
          device_id: key,
          summary: `device ${key} was rebooted`,
        },
};

const certificates: Watch = {
  prefix: 'certificate:',
  read: ({ metrics, now }) =>
    instant(
      metrics,
      'max by (device_id, instance, job) (probe_ssl_earliest_cert_expiry)',
      now(),
      ({ device_id: device = '', instance = '', job = '' }) =>
        JSON.stringify([device, instance, job]),
    ),
  change(key, before, after, now) {
    const [device, instance] = JSON.parse(key) as [string, string, string];
    return Math.abs(Number(after) - Number(before)) < hourSeconds
      ? undefined
      : {
          at: now,
          kind: 'certificate',
          source: 'metrics',
          summary: `certificate of ${instance} was replaced; the new one expires on ${day(after)}, the previous one on ${day(before)}`,
          ...(device !== '' && { device_id: device }),
          labels: { instance },
        };
  },
};

const day = (seconds: string): string =>
  new Date(Number(seconds) * 1_000).toISOString().slice(0, 10);

const rooms: Watch = {
  prefix: 'plugin:',
  read: ({ plugins, build }) =>
    new Map(
      plugins
        .list()
        .filter(({ state }) => state === 'active')
        .map(({ id, version, generation }) => [
          id,
          JSON.stringify([version ?? '', build.startedAt, generation ?? 0]),
        ]),
    ),
  change(key, before, after, now) {
    const [was, startedBefore, generationBefore] = JSON.parse(before) as [string, number, number];
    const [version, started, generation] = JSON.parse(after) as [string, number, number];
    const isSame =
      was === version && (started !== startedBefore || generation === generationBefore);
    return isSame
      ? undefined
      : {
          at: now,
          kind: 'plugin',
          source: 'svc',
          summary:
            was === version
              ? `plugin ${key} ${version} was reloaded`
              : `plugin ${key} now runs ${version} (was ${was})`,
        };
  },
};

const itself: Watch = {
  prefix: 'svc:',
  read: ({ build }) => new Map([['start', JSON.stringify([build.version, build.startedAt])]]),
  change(_key, before, after) {
    const [was] = JSON.parse(before) as [string];
    const [version, startedAt] = JSON.parse(after) as [string, number];
    const kind = was === version ? 'restart' : 'upgrade';
    return {
      at: startedAt,
      kind,
      source: 'svc',
      summary:
        was === version ? `svc ${version} was started` : `svc now runs ${version} (was ${was})`,
    };
  },
};

const watches: readonly Watch[] = [agents, boots, certificates, rooms, itself];

async function instant(
  metrics: Handle<MetricsQueries>,
  query: string,
  at: number,
  keyOf: (labels: Readonly<Record<string, string>>) => string | undefined,
): Promise<ReadonlyMap<string, string>> {
  const answer = metrics.available ? await metrics.get().instant(query, at, patience) : undefined;
  return answer?.type !== 'vector'
    ? new Map()
    : new Map(
        answer.labels.flatMap((labels, index) => {
          const key = keyOf(labels);
          const value = answer.values[index]!;
          return key === undefined || !Number.isFinite(value)
            ? []
            : [[key, String(Math.round(value))] as const];
        }),
      );
}

/** Looks at everything once; what cannot be read now is looked at the next time. */
export async function lookAgain(parts: WatchedParts): Promise<void> {
  for (const watch of watches) {
    try {
      const found = await watch.read(parts);
      if (found !== undefined) {
        await compare(watch, found, parts);
      }
    } catch (error) {
      parts.log.debug(
        { watch: watch.prefix, cause: messageOf(error) },
        'failed to check watched objects for changes; retrying in a minute',
      );
    }
  }
}

async function compare(
  { prefix, change }: Watch,
  found: ReadonlyMap<string, string>,
  { feed, now }: WatchedParts,
): Promise<void> {
  const seen = await feed.seen(prefix);
  const news = new Map<string, string>();
  const drafts: ChangeDraft[] = [];
  for (const [key, value] of found) {
    const before = seen.get(`${prefix}${key}`);
    if (before !== value) {
      const draft = before === undefined ? undefined : change(key, before, value, now());
      // What is not a change is not written again either, or small steps would never add up to one.
      if (before === undefined || draft !== undefined || prefix === rooms.prefix) {
        news.set(`${prefix}${key}`, value);
      }
      drafts.push(...(draft === undefined ? [] : [{ ...draft, ref: `${prefix}${key}:${value}` }]));
    }
  }
  if (news.size > 0) {
    await feed.put(drafts, news);
  }
}
