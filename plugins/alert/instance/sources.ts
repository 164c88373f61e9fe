import type { LabelRecord } from 'svc/contracts/metricsdb';

import type { Asked } from '../queries/back-end.ts';
import type { Leg } from '../rule/rule.ts';
import type { AnswerFrame, AnswerRows } from './answer-rows.ts';
import type { Instance } from './instance.ts';

/**
 * State of the source of an instance's series. `heard`: sending. `unheard`: silent. `awaited`: an
 * edge that is offline and expected back. `untold`: its origin is unknown.
 */
export type Heard = 'heard' | 'unheard' | 'awaited' | 'untold';

export interface SourceParts {
  readonly frame: AnswerFrame;
  /** Answers of the rule's measures, where it has any. */
  readonly measures: readonly (AnswerRows['rows'] | undefined)[];
  readonly ask: (leg: Leg, query: string) => Promise<Asked>;
}

/** Templates and sources are asked of the metrics store, whatever the rule itself asks. */
export const metricsLeg: Leg = { store: 'metrics', query: '', forMs: 0 };

/** Labels that name the origin of an instance. */
const naming = ['device_id', 'job', 'instance'] as const;
/** Sources of one evaluation that are asked for; the others are when it is their turn, and unheard until then. */
const maxSources = 50;
/** Samples about a source that the manager has written itself: they go on when it is gone. */
const byUs = '__name__!~"svc_.*|ALERTS.*|.*:.*"';

/**
 * Returns the current state of the source of each instance that is neither in an answer nor in the
 * measures of its rule.
 */
export async function heardOf(
  missing: readonly Pick<Instance, 'key' | 'labels'>[],
  parts: SourceParts,
): Promise<ReadonlyMap<string, Heard>> {
  const { frame, measures } = parts;
  const { legs } = frame.plan;
  const isMetric = legs.some(({ store }) => store === 'metrics');
  const isOurs = legs.some(({ measure }) => measure !== undefined && ofUs.test(measure));
  const hasMeasure = legs.some(({ measure }) => measure !== undefined);
  const fallback: Heard = !hasMeasure
    ? 'untold'
    : isOurs || measures.some((rows) => (rows?.size ?? 0) > 0)
      ? 'heard'
      : 'unheard';
  if (isOurs || missing.length === 0) {
    return new Map(missing.map(({ key }) => [key, 'heard']));
  }
  const sources = new Map(missing.map((instance) => [instance.key, sourceOf(instance, frame)]));
  const away = await awayAmong(
    [...sources.values()].flatMap(({ device_id: device }) => device ?? []),
    parts.ask,
  );
  const distinct = new Map(
    [...sources.values()]
      .filter((source) => isMetric && !isAway(source) && nameOf(source) !== '')
      .map((one) => [nameOf(one), one]),
  );
  const heard = await heardSources([...distinct.values()].slice(0, maxSources), parts);
  return new Map([...sources].map(([key, source]) => [key, verdict(source)]));

  function verdict(source: LabelRecord): Heard {
    if (isAway(source)) {
      return 'awaited';
    }
    if (!isMetric) {
      return 'untold';
    }
    return nameOf(source) === '' ? fallback : heard.has(nameOf(source)) ? 'heard' : 'unheard';
  }

  function isAway({ device_id: device }: LabelRecord): boolean {
    return device !== undefined && away.has(device);
  }
}

/** A measure that the manager itself tells. */
const ofUs = /\bsvc_\w+/;

/** Labels that the rule gives say nothing of it. */
function sourceOf({ labels }: Pick<Instance, 'labels'>, { rule }: AnswerFrame): LabelRecord {
  const own = naming.filter(
    (name) => (labels[name] ?? '') !== '' && !Object.hasOwn(rule.labels, name),
  );
  return Object.fromEntries(own.map((name) => [name, labels[name]!]));
}

const nameOf = (source: LabelRecord): string =>
  naming
    .flatMap((name) => (source[name] === undefined ? [] : [`${name}=${source[name]}`]))
    .join('\n');

/** Returns the devices that are known to be offline; none if none of these has to be looked up. */
export async function awayAmong(
  devices: readonly string[],
  ask: SourceParts['ask'],
): Promise<ReadonlySet<string>> {
  return devices.length === 0
    ? new Set()
    : new Set(
        (
          await labelsOf(
            ask(metricsLeg, 'max by (device_id) (svc_edge_online or svc_host_online) == 0'),
          )
        ).map((row) => row['device_id']!),
      );
}

/**
 * Returns the sources with a sample in the last minutes, with one query for all that use the same
 * label names.
 */
async function heardSources(
  sources: readonly LabelRecord[],
  { ask }: SourceParts,
): Promise<ReadonlySet<string>> {
  const shapes = new Map<string, LabelRecord[]>();
  for (const source of sources) {
    const by = naming.filter((name) => source[name] !== undefined).join(', ');
    shapes.set(by, [...(shapes.get(by) ?? []), source]);
  }
  const found = await Promise.all(
    [...shapes].map(async ([by, alike]) => {
      const matchers = by
        .split(', ')
        .map(
          (name) =>
            `${name}=~${JSON.stringify([...new Set(alike.map((source) => literal(source[name]!)))].join('|'))}`,
        );
      return labelsOf(
        ask(
          metricsLeg,
          `count by (${by}) (last_over_time({${[...matchers, byUs].join(',')}}[2m]))`,
        ),
      );
    }),
  );
  return new Set(found.flat().map(nameOf));
}

/** Returns the labels of an answer; none if the store does not answer. */
async function labelsOf(asked: Promise<Asked>): Promise<readonly LabelRecord[]> {
  const { answer } = await asked;
  return answer instanceof Error || answer.type !== 'vector' ? [] : answer.labels;
}

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
