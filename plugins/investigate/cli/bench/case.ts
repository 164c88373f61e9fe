import { createHash } from 'node:crypto';

import type { Evidence, EvidenceKind, Series, Snapshot } from 'svc/rca';

/** Incident with a known cause. */
export interface Case {
  readonly id: string;
  readonly snapshot: Snapshot;
  readonly truth: Truth;
}

export interface Truth {
  /** `fault`: a component fails; `calm`: none does, though an alert fired; `withheld`: the evidence of the cause was not fetched. */
  readonly kind: 'fault' | 'calm' | 'withheld';
  /** Nodes that are right answers; none if nothing is broken. */
  readonly nodes: readonly string[];
  /** Fault that was injected, such as `cpu hog` or the data set's name for it. */
  readonly fault: string;
  readonly categories?: readonly string[];
  readonly verdicts?: readonly string[];
}

/** Numbers what a case consists of as evidence, as a fetch would have. */
export class EvidenceList {
  readonly items: Evidence[] = [];
  readonly #window: Evidence['window'];

  constructor(window: Evidence['window']) {
    this.#window = window;
  }

  add(
    kind: EvidenceKind,
    source: string,
    query: string,
    trust: Evidence['trust'] = 'trusted',
  ): string {
    const id = `E${this.items.length + 1}`;
    const sha256 = createHash('sha256').update(query).digest('hex');
    this.items.push({
      id,
      kind,
      source,
      query,
      window: this.#window,
      fetched_at: this.#window.to,
      digest: {},
      sha256,
      trust,
    });
    return id;
  }
}

/** Returns a snapshot, filling in what is the same for every data set. */
export function snapshotOf(
  parts: Pick<Snapshot, 'symptom' | 'window' | 'nodes' | 'edges' | 'series' | 'evidence'> &
    Partial<Snapshot>,
): Snapshot {
  return {
    version: 1,
    taken_at: parts.window.to,
    logs: [],
    spans: [],
    changes: [],
    checks: [],
    missing: [],
    ...parts,
  };
}

/** Returns the kind of a metric, by the words that data sets use in its name. */
export function kindOf(name: string): {
  readonly kind: Series['kind'];
  readonly unit: Series['unit'];
} {
  const known = kinds.find(([words]) => words.test(name));
  return known ? { kind: known[1], unit: known[2] } : { kind: 'other', unit: 'other' };
}

const kinds: readonly (readonly [words: RegExp, kind: Series['kind'], unit: Series['unit']])[] = [
  [/error|fail|5xx|success|availab/i, 'error_ratio', 'ratio'],
  [/lat|duration|mrt|response|delay/i, 'latency', 'seconds'],
  [/cpu/i, 'cpu', 'other'],
  [/mem|heap|rss/i, 'memory', 'bytes'],
  [/disk|fs_|_fs|iops|diskio|blkio/i, 'disk', 'other'],
  [/net|socket|packet|tcp|recv|transmit/i, 'network', 'other'],
  [/load\d*$|load_/i, 'load', 'other'],
  [/workload|request|rate|qps|tps|count/i, 'rate', 'per_second'],
];
