import {
  keepLabels,
  type Labels,
  labelsKey,
  labelsRecord,
  type Matcher,
  queryError,
} from 'svc/query';

import { plainAnswer, told } from './answer.ts';
import type { Parameters } from './parameters.ts';

interface Volume {
  readonly labels: Labels;
  /** Bytes by time in milliseconds. */
  readonly at: Map<number, number>;
  total: number;
}

/** Bytes per set of labels, or per label name, over time. */
export class Volumes {
  readonly #groups: (labels: Labels) => readonly Labels[];
  readonly #limit: number;
  readonly #volumes = new Map<string, Volume>();

  constructor(matchers: readonly Matcher[], parameters: Parameters) {
    this.#groups = groupsOf(matchers, parameters);
    this.#limit = parameters.limit;
  }

  add(labels: Labels, bytes: Iterable<readonly [number, number]>): void {
    for (const group of this.#groups(labels)) {
      const key = labelsKey(group);
      const volume = this.#volumes.get(key) ?? {
        labels: group,
        at: new Map<number, number>(),
        total: 0,
      };
      this.#volumes.set(key, volume);
      for (const [at, count] of bytes) {
        volume.at.set(at, (volume.at.get(at) ?? 0) + count);
        volume.total += count;
      }
    }
  }

  vector(warnings: readonly string[]): Uint8Array {
    return answered(
      'vector',
      this.#largest().map(({ labels, at }) => ({
        metric: labelsRecord(labels),
        value: [...at].map(shown)[0],
      })),
      warnings,
    );
  }

  matrix(warnings: readonly string[]): Uint8Array {
    return answered(
      'matrix',
      this.#largest().map(({ labels, at }) => ({
        metric: labelsRecord(labels),
        values: [...at].sort(([a], [b]) => a - b).map(shown),
      })),
      warnings,
    );
  }

  #largest(): readonly Volume[] {
    return [...this.#volumes.values()].sort((a, b) => b.total - a.total).slice(0, this.#limit);
  }
}

const shown = ([at, bytes]: readonly [number, number]): [number, string] => [
  Math.round(at) / 1_000,
  String(Math.round(bytes)),
];

const answered = (
  resultType: string,
  result: readonly object[],
  warnings: readonly string[],
): Uint8Array =>
  plainAnswer({ status: 'success', data: { resultType, result }, ...told(warnings) });

/** Returns the grouping: by the labels that the selector names, unless others are requested. */
function groupsOf(
  matchers: readonly Matcher[],
  parameters: Parameters,
): (labels: Labels) => readonly Labels[] {
  const targets = (parameters.text('targetLabels') ?? '').split(',').filter((name) => name !== '');
  const wanted = new Set(targets.length > 0 ? targets : matchers.map(({ name }) => name));
  switch (parameters.text('aggregateBy') ?? 'series') {
    case 'series':
      return (labels) => [keepLabels(labels, wanted)];
    case 'labels':
      return (labels) =>
        labels
          .filter((name, i) => i % 2 === 0 && (targets.length === 0 || wanted.has(name)))
          .map((name) => [name, '']);
    default:
      throw queryError('bad_data', 'invalid aggregateBy: it is series or labels');
  }
}
