import { deviationOf } from './deviation.ts';
import type { Assertion, Claim, ClaimStatus } from './findings.ts';
import { within } from './grid.ts';
import { linesDuring } from './logs.ts';
import type { Snapshot } from './snapshot.ts';
import { mean, present, quantileOf } from './statistics.ts';
import { symptomSeries, type Windows, windowsOf } from './windows.ts';

/** Result of a check; without a value there was nothing to compute it from. */
export interface Checked {
  readonly status: ClaimStatus;
  readonly checked_value?: number;
}

/** Recomputes an assertion from the samples of a snapshot, whoever made it. */
export function checkAssertion(snapshot: Snapshot, assertion: Assertion): Checked {
  const value = valueOf(snapshot, assertion, windowsOf(snapshot, symptomSeries(snapshot)));
  if (value === undefined || !Number.isFinite(value)) {
    return { status: 'unverified' };
  }
  return { status: holds(value, assertion) ? 'verified' : 'contradicted', checked_value: value };
}

function holds(value: number, { op, value: said, tolerance }: Assertion): boolean {
  const slack = Math.abs(tolerance);
  switch (op) {
    case '<':
      return value < said + slack;
    case '<=':
      return value <= said + slack;
    case '==':
      return Math.abs(value - said) <= slack;
    case '>=':
      return value >= said - slack;
    case '>':
      return value > said - slack;
  }
}

function valueOf(
  snapshot: Snapshot,
  { evidence_id: id, part, stat, over }: Assertion,
  windows: Windows,
): number | undefined {
  // Causes come before their effects: the incident of a claim has the guard before the onset in it.
  const period = over === 'baseline' ? windows.baseline : windows.look;
  if (stat === 'template_count') {
    const logs = snapshot.logs.filter(
      (log) => log.evidence === id && (part === undefined || log.id === part),
    );
    const lines = logs.map((log) =>
      over === 'baseline'
        ? within(log.counts, log.from, log.bucket_ms, period)
        : linesDuring(log, windows.incident),
    );
    return logs.length === 0
      ? undefined
      : lines.reduce(
          (sum, counts) => sum + present(counts).reduce((all, count) => all + count, 0),
          0,
        );
  }
  const series = snapshot.series.filter(
    (one) => one.evidence === id && (part === undefined || one.id === part),
  );
  // More than one series and no indication which: the claim can be neither true nor false.
  if (series.length !== 1) {
    return undefined;
  }
  const [only] = series;
  const known = present(within(only!.values, only!.from, only!.step_ms, period));
  switch (stat) {
    case 'onset':
      return deviationOf(only!, windows.baseline, windows.look)?.onset_at;
    case 'count':
      return known.length;
    case 'max':
      return known.length === 0 ? undefined : Math.max(...known);
    case 'min':
      return known.length === 0 ? undefined : Math.min(...known);
    case 'p95':
      return quantileOf(known, 0.95);
    case 'avg':
      return known.length === 0 ? undefined : mean(known);
  }
}

/** A claim of the engine itself, held to the same check as those of others. */
export function claimOf(snapshot: Snapshot, at: number, text: string, assertion: Assertion): Claim {
  return {
    id: `C${at + 1}`,
    text,
    evidence_ids: [assertion.evidence_id],
    assertion,
    origin: 'engine',
    ...checkAssertion(snapshot, assertion),
  };
}
