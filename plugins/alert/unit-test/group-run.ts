import type {
  InstantAnswer,
  LabelRecord,
  ScratchRow,
  ScratchSeries,
} from 'svc/contracts/metricsdb';
import { parseDuration } from 'svc/query';
import { messageOf } from 'svc/sdk';

import { type Sample, samplesOf } from '../queries/sample.ts';
import { recorded, type Recording as AnyRecording } from '../recording/recording.ts';
import type { RuleGroup } from '../rule-file/prometheus-file.ts';
import { labelKey } from '../rule/label-key.ts';
import type { TemplateContext } from '../template/template.ts';
import { type ActiveAlert, AlertRun, rowOf } from './alert-run.ts';

type Recording = Pick<AnyRecording, 'record' | 'expr' | 'labels'>;

interface Member {
  readonly rule: AlertRun | Recording;
  /** Series that it wrote last, by key; one that it no longer writes has ended. */
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
        rule.alert === undefined
          ? { record: rule.record!, expr: rule.expr, labels: { ...group.labels, ...rule.labels } }
          : new AlertRun(rule, group, context),
      written: new Map(),
    }));
  }

  get size(): number {
    return this.#members.length;
  }

  firing(alertname: string): readonly ActiveAlert[] {
    return this.#members.flatMap(({ rule }) =>
      rule instanceof AlertRun && rule.alertname === alertname ? rule.firing : [],
    );
  }

  /** Evaluates one step; returns errors by rule. */
  async step(
    at: number,
    signal: AbortSignal,
  ): Promise<readonly { readonly rule: string; readonly cause: string }[]> {
    const failures: { rule: string; cause: string }[] = [];
    for (const member of this.#members) {
      try {
        await this.#evaluate(member, at, signal);
      } catch (error) {
        signal.throwIfAborted();
        failures.push({
          rule: member.rule instanceof AlertRun ? member.rule.alertname : member.rule.record,
          cause: messageOf(error),
        });
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
      await rule.step(vectorOf(samples, at), slot, async (expr) =>
        samplesOf(await this.#store.instant(expr, at, { signal })),
      );
      rows = rule.series(at);
    } else {
      rows = recorded(rule, samples).map(({ labels, value, histogram }) =>
        rowOf(labels, at, value, histogram),
      );
      this.#assertWithin(rows.length);
    }
    await this.#write(member, rows, at);
  }

  async #write(member: Member, rows: readonly ScratchRow[], at: number): Promise<void> {
    const written = new Map(rows.map(({ labels }) => [labelKey(labels), labels]));
    const ended = [...member.written]
      .filter(([key]) => !written.has(key))
      .map(([, labels]) => ({ ...rowOf(labels, at, NaN), stale: Uint8Array.of(1) }));
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

const vectorOf = (
  samples: readonly Sample[],
  at: number,
): Extract<InstantAnswer, { type: 'vector' }> => ({
  type: 'vector',
  labels: samples.map(({ labels }) => labels),
  times: new Float64Array(samples.length).fill(at),
  values: Float64Array.from(samples, ({ value }) => value),
  ...(samples.some(({ histogram }) => histogram !== undefined) && {
    histograms: samples.map(({ histogram }) => histogram),
  }),
  warnings: [],
});
