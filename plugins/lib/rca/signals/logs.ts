import { within } from './grid.ts';
import type { LogTemplate, Period, Severity } from './snapshot.ts';
import { mean } from './statistics.ts';

/** Relevance of a kind of line to the incident. */
export interface RankedTemplate {
  readonly log: LogTemplate;
  /** Score from 0 to 1. */
  readonly score: number;
  readonly novel: boolean;
  /** True if it always came before, and no longer does. */
  readonly gone: boolean;
  /** Lines in the incident, and how many there would have been. */
  readonly count: number;
  readonly expected: number;
  readonly first_at: number;
}

const weights: Readonly<Record<Severity, number>> = {
  fatal: 1,
  error: 0.9,
  warn: 0.6,
  unknown: 0.35,
  info: 0.15,
  debug: 0.05,
};

/**
 * Words that may raise a line of unknown severity to a warning and no further: whoever writes lines
 * chooses their words.
 */
const complaints =
  /\b(?:error|fail(?:ed|ure)?|exception|panic|refused|timed? ?out|denied|unavailable|expired|corrupt|killed|fatal)\b/i;

const weightOf = ({ severity, template }: LogTemplate): number =>
  severity === 'unknown' && complaints.test(template) ? weights.warn : weights[severity];

const fewest = 3;

/** Lines that are new or far more than usual, by novelty, then by rate, then by how bad they call themselves. */
export function rankedTemplates(
  logs: readonly LogTemplate[],
  baseline: Period,
  incident: Period,
): RankedTemplate[] {
  const found = logs.flatMap((log) => ranked(log, baseline, incident) ?? []);
  const spread = new Map<string, number>();
  const isSpread = ({ novel, gone }: RankedTemplate): boolean => novel || gone;
  found
    .filter(isSpread)
    .forEach(({ log }) => spread.set(log.template, (spread.get(log.template) ?? 0) + 1));
  // What begins or ends everywhere at once says less about each place.
  return found
    .map((entry) => ({
      ...entry,
      score: entry.score / Math.sqrt(isSpread(entry) ? spread.get(entry.log.template)! : 1),
    }))
    .sort((a, b) => b.score - a.score || b.count - a.count);
}

/** Lines of the incident, bucket by bucket; one that began before the onset may hold its first lines. */
export const linesDuring = (log: LogTemplate, incident: Period): readonly number[] =>
  within(log.counts, log.from, log.bucket_ms, {
    from: incident.from - log.bucket_ms,
    to: incident.to,
  }) as readonly number[];

const leastSteady = 0.9;
const leastBuckets = 4;
const leastExpected = 6;
/** Score of lines that stop coming, which say less than those that begin: work may have ended. */
const goneScore = 0.3;

/** Returns a template that came all the time, and not once in the whole buckets of the incident. */
function vanished(
  log: LogTemplate,
  before: readonly number[],
  incident: Period,
): RankedTemplate | undefined {
  const whole = { from: incident.from, to: incident.to - log.bucket_ms };
  const during = within(log.counts, log.from, log.bucket_ms, whole) as readonly number[];
  const steady = before.filter((count) => count > 0).length / Math.max(1, before.length);
  const expected = before.length === 0 ? 0 : mean(before) * during.length;
  return before.length >= leastBuckets &&
    steady >= leastSteady &&
    expected >= leastExpected &&
    during.every((count) => count === 0)
    ? {
        log,
        score: goneScore,
        novel: false,
        gone: true,
        count: 0,
        expected,
        first_at: incident.from,
      }
    : undefined;
}

function ranked(log: LogTemplate, baseline: Period, incident: Period): RankedTemplate | undefined {
  const before = within(log.counts, log.from, log.bucket_ms, baseline) as readonly number[];
  const during = linesDuring(log, incident);
  const count = during.reduce((sum, value) => sum + value, 0);
  if (count < fewest || during.length === 0) {
    return vanished(log, before, incident);
  }
  const usual = before.length === 0 ? 0 : mean(before);
  const expected = usual * during.length;
  const seen = before.reduce((sum, value) => sum + value, 0);
  const novel = seen === 0 && before.length > 0;
  // Deviation of a Poisson count, with one line to spare so that rare ones do not explode.
  const surprise = (count - expected) / Math.sqrt(expected + 1);
  const ratio = count / (expected + 1);
  const rate = novel
    ? 1
    : ratio < 2 || surprise < 4
      ? 0
      : 0.25 + 0.25 * Math.min(1, Math.log2(ratio) / 6);
  const score = rate * weightOf(log);
  return score === 0
    ? undefined
    : {
        log,
        score,
        novel,
        gone: false,
        count,
        expected,
        first_at: firstAt(log, during, 2 * usual, incident),
      };
}

/**
 * Returns the start of a template. For lines that began in the same bucket as the symptom it is
 * unknown whether they came first.
 */
function firstAt(
  { from, bucket_ms: bucket }: LogTemplate,
  during: readonly number[],
  usual: number,
  incident: Period,
): number {
  const began = from + Math.max(0, Math.ceil((incident.from - bucket - from) / bucket)) * bucket;
  const first = during.findIndex((value) => value > Math.max(0, usual));
  return Math.max(incident.from, began + Math.max(0, first) * bucket);
}
