import { type Labels, keepLabels, labelsKey, labelsRecord, type Matcher, queryError } from 'svc/query';

import type { StreamSize } from '../store/directory.ts';
import { plainAnswer } from './answer.ts';
import type { Parameters } from './parameters.ts';

/** Bytes per set of labels, or per label name, the largest first. */
export async function volumeAnswer(sizes: AsyncIterable<StreamSize>, matchers: readonly Matcher[], parameters: Parameters, atMs: number): Promise<Uint8Array> {
  const { limit } = parameters;
  const groups = groupsOf(matchers, parameters);
  const volumes = new Map<string, { readonly labels: Labels; bytes: number }>();
  for await (const { labels, bytes } of sizes) {
    for (const group of groups(labels)) {
      const key = labelsKey(group);
      const volume = volumes.get(key) ?? { labels: group, bytes: 0 };
      volumes.set(key, volume);
      volume.bytes += bytes;
    }
  }
  const largest = [...volumes.values()].sort((a, b) => b.bytes - a.bytes).slice(0, limit);
  const result = largest.map(({ labels, bytes }) => ({ metric: labelsRecord(labels), value: [Math.round(atMs) / 1_000, String(bytes)] }));
  return plainAnswer({ status: 'success', data: { resultType: 'vector', result } });
}

/** By the labels that the selector names, unless others are asked for. */
function groupsOf(matchers: readonly Matcher[], parameters: Parameters): (labels: Labels) => readonly Labels[] {
  const targets = (parameters.text('targetLabels') ?? '').split(',').filter((name) => name !== '');
  const wanted = new Set(targets.length > 0 ? targets : matchers.map(({ name }) => name));
  switch (parameters.text('aggregateBy') ?? 'series') {
    case 'series':
      return (labels) => [keepLabels(labels, wanted)];
    case 'labels':
      return (labels) => labels.filter((name, i) => i % 2 === 0 && (targets.length === 0 || wanted.has(name))).map((name) => [name, '']);
    default:
      throw queryError('bad_data', 'invalid aggregateBy: it is series or labels');
  }
}
