import type { Tables } from 'svc/sdk';

import { ChangeLog } from '../documents/doc-store.ts';
import type { KnowledgeTables } from '../documents/tables.ts';
import { analysisNumber } from '../search/analyze.ts';

/** Base of a measure: what was measured, and of which documents. */
export interface MeasureBase {
  readonly model: string;
  readonly analysis: number;
  readonly documents: number;
  readonly measured_at: number;
}

/** A base that grew or shrank by this share is another one. */
const another = 0.2;

/** The last measure of a model, kept over restarts. */
export class KeptMeasure<M extends MeasureBase> {
  readonly #tables: Tables<KnowledgeTables>;
  readonly #key: string;
  #last: M | undefined;

  /** `key`: of the state under which it is kept. */
  constructor(tables: Tables<KnowledgeTables>, key: string) {
    this.#tables = tables;
    this.#key = key;
  }

  async load(): Promise<void> {
    const kept = await new ChangeLog(this.#tables.read).state(this.#key);
    this.#last = kept === undefined ? undefined : (JSON.parse(kept) as M);
  }

  /** Returns the last measure of this model; undefined if there is none. */
  of(model: string | null): M | undefined {
    return this.#last?.model === model && this.#last.analysis === analysisNumber
      ? this.#last
      : undefined;
  }

  /** Returns whether a model with so many documents has yet to be measured. */
  isDue(model: string, documents: number): boolean {
    const before = this.of(model);
    return (
      before === undefined ||
      Math.abs(documents - before.documents) > another * Math.max(1, before.documents)
    );
  }

  async keep(measured: Omit<M, 'analysis'>): Promise<M> {
    const last = { ...measured, analysis: analysisNumber } as unknown as M;
    const text = JSON.stringify(last);
    await this.#tables.write((tx) => new ChangeLog(tx).setState(this.#key, text));
    this.#last = last;
    return last;
  }
}
