import type { ChangeKind as FedKind } from 'svc/contracts/changes';
import type { Change, ChangeKind, LogTemplate, Period, Severity } from 'svc/rca';

import type { Found, Gatherer } from './gatherer.ts';
import { type Fed, placesText } from './graph-sources.ts';
import type { Templates } from './log-sources.ts';
import { loggedChanges, loggedForms } from './logged-changes.ts';
import { deviceNode, serviceNode } from './symptom.ts';

const hourMs = 3_600_000;

/** Kinds that change something: the topology is drawn as it is, and a note is only written. */
type Changing = Exclude<FedKind, 'topology' | 'note'>;

const kinds: Readonly<Record<Changing, ChangeKind>> = {
  deploy: 'deploy',
  config: 'config',
  rule: 'rule',
  setting: 'config',
  upgrade: 'edge_upgrade',
  restart: 'restart',
  reboot: 'reboot',
  plugin: 'restart',
  package: 'package',
  cron: 'cron',
  certificate: 'certificate',
};

const isChanging = (kind: FedKind): kind is Changing => kind in kinds;

/** Changes of the feed, and those that machines write into their logs: packages, cron jobs, units that were started and stopped. */
export async function changesNear(
  gatherer: Gatherer,
  {
    devices,
    services,
    firedAt,
    until,
  }: {
    readonly devices: readonly string[];
    readonly services: readonly string[];
    readonly firedAt: number;
    readonly until: number;
  },
): Promise<readonly Change[]> {
  const query = placesText({ device_ids: devices, services });
  const window = { from: firedAt - hourMs, to: until };
  const logged = (devices.length === 0 ? [] : loggedForms).map(async (form) => {
    const found = await gatherer.ask({
      kind: 'change',
      source: 'logs',
      query: `{device_id=~"${devices.join('|')}"} |~ ${JSON.stringify(form)}`,
      window,
    });
    return found === undefined ? [] : loggedChanges(found, firedAt);
  });
  const [fed, ...lines] = await Promise.all([
    gatherer.ask({
      kind: 'change',
      source: 'changes',
      query,
      window: { from: firedAt - 24 * hourMs, to: until },
    }),
    ...logged,
  ]);
  return [...(fed === undefined ? [] : fromFeed(fed)), ...lines.flat()];
}

const fromFeed = ({ id, value }: Found): readonly Change[] =>
  (value as Fed).changes.flatMap((change) =>
    isChanging(change.kind)
      ? [
          {
            id: `${id}:${change.id}`,
            evidence: id,
            at: change.at,
            kind: kinds[change.kind],
            title: change.summary,
            ...(change.service !== undefined
              ? { node: serviceNode(change.service) }
              : change.device_id !== undefined && { node: deviceNode(change.device_id) }),
            ...(change.actor !== undefined && { actor: change.actor }),
          },
        ]
      : [],
  );

const words: readonly (readonly [RegExp, Severity])[] = [
  [/\b(?:fatal|panic|emerg|critical|crit|segfault|oom-kill|out of memory)\b/i, 'fatal'],
  [/\b(?:error|err|fail(?:ed|ure)?|exception|refused|denied|timed? ?out|unreachable)\b/i, 'error'],
  [/\b(?:warn(?:ing)?|retry(?:ing)?|slow|deprecated)\b/i, 'warn'],
  [/\b(?:info|notice)\b/i, 'info'],
  [/\b(?:debug|trace)\b/i, 'debug'],
];

/** Returns the templates of one node's lines, in buckets; none for times that were not read. */
export function templatesOf(
  { id, value }: Found,
  node: string,
  window: Period,
): readonly LogTemplate[] {
  const { step_ms: step, first, templates } = value as Templates;
  const from = Math.ceil(first / step) * step;
  const length = Math.max(0, Math.floor((window.to - from) / step) + 1);
  return templates.map(({ pattern, example, steps }, index) => {
    const counts = Array.from({ length }, () => 0);
    steps.forEach(([at, count]) => {
      const bucket = Math.floor((at - from) / step);
      if (bucket >= 0 && bucket < length) {
        counts[bucket] = count;
      }
    });
    return {
      id: `${id}:${index}`,
      evidence: id,
      node,
      template: pattern,
      from,
      bucket_ms: step,
      counts,
      samples: [example],
      severity: words.find(([form]) => form.test(pattern))?.[1] ?? 'unknown',
    };
  });
}
