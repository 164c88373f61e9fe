import { messageOf } from 'svc/sdk';
import { parseDuration } from 'svc/query';

import type { InstantAnswer, LabelRecord, ScratchRow, ScratchSeries } from '../../metricsdb/contract.ts';
import { labelKey } from '../label-key.ts';
import type { RuleGroup } from '../prometheus-file.ts';
import type { TemplateContext } from '../template.ts';
import { type ActiveAlert, AlertRun, rowOf, withoutEmpty } from './alert-run.ts';

export interface Sample {
  readonly labels: LabelRecord;
  readonly value: number;
}

interface Recording {
  readonly record: string;
  readonly expr: string;
  readonly labels: LabelRecord;
}

interface Member {
  readonly rule: AlertRun | Recording;
  /** Series that it wrote last, by key: what it writes no more has ended. */
  written: ReadonlyMap<string, LabelRecord>;
}

/** One group of a rule file over the series of a test: its rules in their order, each seeing what those before it wrote. */
export class GroupRun {
  readonly name: string;
  readonly #members: readonly Member[];
  readonly #store: ScratchSeries;
  readonly #limit: number;
  readonly #offsetMs: number;

  constructor(group: RuleGroup, store: ScratchSeries, context: TemplateContext) {
    this.name = group.name;
    this.#store = store;
    this.#limit = group.limit;
    this.#offsetMs = group.queryOffset === undefined ? 0 : parseDuration(group.queryOffset);
    this.#members = group.rules.map((rule) => ({
      rule:
        rule.alert === undefined ? { record: rule.record!, expr: rule.expr, labels: { ...group.labels, ...rule.labels } } : new AlertRun(rule, group, context),
      written: new Map(),
    }));
  }

  get size(): number {
    return this.#members.length;
  }

  firing(alertname: string): readonly ActiveAlert[] {
    return this.#members.flatMap(({ rule }) => (rule instanceof AlertRun && rule.alertname === alertname ? rule.firing : []));
  }

  /** What went wrong, by rule. */
  async step(at: number, signal: AbortSignal): Promise<readonly { readonly rule: string; readonly cause: string }[]> {
    const failures: { rule: string; cause: string }[] = [];
    for (const member of this.#members) {
      try {
        await this.#evaluate(member, at, signal);
      } catch (error) {
        signal.throwIfAborted();
        failures.push({ rule: member.rule instanceof AlertRun ? member.rule.alertname : member.rule.record, cause: messageOf(error) });
      }
    }
    return failures;
  }

  async #evaluate(member: Member, slot: number, signal: AbortSignal): Promise<void> {
    const at = slot - this.#offsetMs;
    const { rule } = member;
    const samples = samplesOf(await this.#store.instant(rule.expr, at, { signal }));
    let rows: readonly ScratchRow[];
    if (rule instanceof AlertRun) {
      rule.step(vectorOf(samples, at), slot);
      rows = rule.series(at);
    } else {
      rows = recorded(rule, samples, at);
      this.#assertWithin(rows.length);
    }
    await this.#write(member, rows, at);
  }

  async #write(member: Member, rows: readonly ScratchRow[], at: number): Promise<void> {
    const written = new Map(rows.map(({ labels }) => [labelKey(labels), labels]));
    const ended = [...member.written].filter(([key]) => !written.has(key)).map(([, labels]) => ({ ...rowOf(labels, at, NaN), stale: Uint8Array.of(1) }));
    if (rows.length + ended.length > 0) {
      await this.#store.write([...rows, ...ended]);
    }
    member.written = written;
  }

  #assertWithin(count: number): void {
    if (this.#limit > 0 && count > this.#limit) {
      throw new Error(`exceeded limit of ${this.#limit} with ${count} series`);
    }
  }
}

function recorded({ record, labels: own }: Recording, samples: readonly Sample[], at: number): ScratchRow[] {
  const rows = samples.map(({ labels, value }) => rowOf(withoutEmpty({ ...labels, ...own, __name__: record }), at, value));
  if (new Set(rows.map(({ labels }) => labelKey(labels))).size < rows.length) {
    throw new Error('vector contains metrics with the same labelset after applying rule labels');
  }
  return rows;
}

const vectorOf = (samples: readonly Sample[], at: number): Extract<InstantAnswer, { type: 'vector' }> => ({
  type: 'vector',
  labels: samples.map(({ labels }) => labels),
  times: new Float64Array(samples.length).fill(at),
  values: Float64Array.from(samples, ({ value }) => value),
  warnings: [],
});

/** A scalar is a vector of one value without labels. */
export function samplesOf(answer: InstantAnswer): readonly Sample[] {
  switch (answer.type) {
    case 'scalar':
      return [{ labels: {}, value: answer.value }];
    case 'vector':
      return answer.labels.map((labels, index) => ({ labels, value: answer.values[index]! }));
    default:
      throw new Error('rule result is not a vector or scalar');
  }
}
