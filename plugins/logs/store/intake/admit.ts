import { isUtf8 } from 'node:buffer';

import type { Stamp } from 'svc/contracts/metricsdb';
import { type Labels, labelValue, noLabels, withLabel, withoutLabels } from 'svc/query';

import { detectedLevel } from '../../logql/discovery.ts';
import type { LogLimits } from '../head/limits.ts';
import { Batch, type StreamPart } from '../lines/batch.ts';
import { maxMs } from '../lines/nanos.ts';
import { labelsText } from './label-text.ts';
import { levelNames, levelOfLine, wordsOf } from './level.ts';
import type { Origins } from './origins.ts';

export interface Admitted {
  /** Accepted part of the push: labels complete, each line with its level. */
  readonly batch: Batch;
  readonly rejected: number;
  /** Why, for the first few. */
  readonly reasons: readonly string[];
}

export interface Admission {
  readonly limits: LogLimits;
  readonly now: number;
  readonly stamp?: Stamp | undefined;
  readonly origins: Origins;
  /** Why a stream that is not active may not become so. */
  readonly refusal: (labels: Labels) => string | undefined;
}

/** Part of a stream with the level that its labels state. */
type LevelledPart = StreamPart & { readonly level: string };

const maxReasons = 5;

/**
 * Checks a push against the limits, adds what the server knows, and drops what must not be kept.
 */
export function admit(
  pushed: Batch,
  { limits, now, stamp, origins, refusal }: Admission,
): Admitted {
  if (stamp !== undefined) {
    disown(pushed);
  }
  const reasons = new Set<string>();
  const refused = new Uint8Array(pushed.count);
  const parts: LevelledPart[] = [];
  let rejected = 0;

  for (const { labels: sent, from, to } of pushed.parts) {
    if (from === to) {
      continue;
    }
    const { labels, problem, level } = origins.of(sent, stamp, limits);
    const reason = problem ?? refusal(labels);
    if (reason !== undefined) {
      reasons.add(reason);
      refused.fill(1, from, to);
      rejected += to - from;
      continue;
    }
    for (let i = from; i < to; i++) {
      const trouble = lineProblem(pushed, i, labels, limits, now);
      if (trouble !== undefined) {
        reasons.add(trouble);
        refused[i] = 1;
        rejected += 1;
      }
    }
    parts.push({ labels, level, from, to });
  }

  const whole = rejected === 0 && (pushed.isText || isText(pushed));
  const batch = whole ? pushed : new Batch(pushed.used, Math.max(16, pushed.count));
  const kept = whole ? parts : copied(pushed, parts, refused, batch);
  levelled(batch, kept);
  batch.parts.splice(0, Infinity, ...kept);
  return { batch, rejected, reasons: [...reasons].slice(0, maxReasons) };
}

const ours: ReadonlySet<string> = new Set(['device_id', 'edge_id']);

/** Removes device labels from metadata: only the server says which device a line belongs to. */
function disown({ metas }: Batch): void {
  metas.forEach((labels, at) => {
    if (labelValue(labels, 'device_id') !== '' || labelValue(labels, 'edge_id') !== '') {
      metas[at] = withoutLabels(labels, ours);
    }
  });
}

function lineProblem(
  batch: Batch,
  i: number,
  labels: Labels,
  limits: LogLimits,
  now: number,
): string | undefined {
  const ms = batch.ms[i]!;
  if (ms > now + limits.futureMs) {
    return `entry for stream '${labelsText(labels)}' has timestamp too new: ${instant(ms)}`;
  }
  if (limits.olderMs > 0 && ms < now - limits.olderMs) {
    return `entry for stream '${labelsText(labels)}' has timestamp too old: ${instant(ms)}, oldest acceptable timestamp is: ${instant(now - limits.olderMs)}`;
  }
  const size = batch.ends[i]! - batch.startOf(i);
  if (size > limits.lineBytes) {
    return `max entry size '${limits.lineBytes}' bytes exceeded for stream '${labelsText(labels)}' while adding an entry with length '${size}' bytes`;
  }
  return batch.meta[i] === 0
    ? undefined
    : metaProblem(batch.metas[batch.meta[i]!]!, labels, limits);
}

function metaProblem(meta: Labels, labels: Labels, limits: LogLimits): string | undefined {
  if (meta.length / 2 > limits.metadataEntries) {
    return `stream '${labelsText(labels)}' has too many structured metadata labels: '${meta.length / 2}', limit: '${limits.metadataEntries}'`;
  }
  let size = 0;
  for (const text of meta) {
    size += Buffer.byteLength(text);
  }
  return size > limits.metadataBytes
    ? `stream '${labelsText(labels)}' has structured metadata too large: '${size}' bytes, limit: '${limits.metadataBytes}' bytes`
    : undefined;
}

/**
 * Returns whether each line is UTF-8: together they may be even if one ends within a character that
 * the next one completes.
 */
function isText(batch: Batch): boolean {
  if (!isUtf8(batch.bytes.subarray(0, batch.used))) {
    return false;
  }
  for (let i = 1; i < batch.count; i++) {
    const start = batch.startOf(i);
    if (start < batch.used && (batch.bytes[start]! & 0xc0) === 0x80) {
      return false;
    }
  }
  return true;
}

const instant = (ms: number): string =>
  Math.abs(ms) <= 8.64e15 && ms <= maxMs
    ? new Date(ms).toISOString().replace('.000Z', 'Z')
    : `${ms} ms`;

/** Copies lines, replacing invalid UTF-8: the bytes of a line are text from here on. */
function copied(
  pushed: Batch,
  parts: readonly LevelledPart[],
  refused: Uint8Array,
  into: Batch,
): LevelledPart[] {
  const kept: LevelledPart[] = [];
  for (const { labels, level, from, to } of parts) {
    const first = into.count;
    for (let i = from; i < to; i++) {
      if (refused[i] === 0) {
        const meta = pushed.meta[i] === 0 ? 0 : into.metaOf(pushed.metas[pushed.meta[i]!]!);
        into.text(pushed.ms[i]!, pushed.ns[i]!, pushed.lineAt(i), meta);
      }
    }
    if (into.count > first) {
      kept.push({ labels, level, from: first, to: into.count });
    }
  }
  return kept;
}

/** Adds the level to each line's metadata, unless it has one. */
function levelled(batch: Batch, parts: readonly LevelledPart[]): void {
  const known = new Map<number, Map<string, number>>();
  /** Metadata of lines without any, by the number of their level: the common case. */
  const plain = new Uint32Array(levelNames.length);
  const { bytes, ends, meta: metaOf } = batch;
  const words = wordsOf(bytes);
  for (const { labels, level: ofStream, from, to } of parts) {
    let start = batch.startOf(from);
    for (let i = from; i < to; i++) {
      const end = ends[i]!;
      const meta = metaOf[i]!;
      if (meta === 0 && ofStream === 'unknown') {
        const number = levelOfLine(bytes, words, start, end);
        metaOf[i] = plain[number] ||= batch.metaOf(levelLabels[number]!);
      } else if (meta === 0 || labelValue(batch.metas[meta]!, 'detected_level') === '') {
        const said = meta === 0 ? ofStream : detectedLevel('', labels, batch.metas[meta]);
        const level =
          said !== 'unknown' ? said : levelNames[levelOfLine(bytes, words, start, end)]!;
        const byLevel = known.get(meta) ?? known.set(meta, new Map()).get(meta)!;
        let index = byLevel.get(level);
        if (index === undefined) {
          index = batch.metaOf(withLevel(batch.metas[meta]!, level));
          byLevel.set(level, index);
        }
        metaOf[i] = index;
      }
      start = end;
    }
  }
}

/** The very same for every batch: a head and a chunk hold each set once, and tell sets by their identity. */
const levelLabels = levelNames.map((level) => withLabel(noLabels, 'detected_level', level));

const levelledSets = new WeakMap<Labels, Map<string, Labels>>();

function withLevel(labels: Labels, level: string): Labels {
  const byLevel = levelledSets.get(labels) ?? levelledSets.set(labels, new Map()).get(labels)!;
  return (
    byLevel.get(level) ?? byLevel.set(level, withLabel(labels, 'detected_level', level)).get(level)!
  );
}
