import { DueWork } from 'svc/flow';
import type { Logger, Tables, ThreadHandle } from 'svc/sdk';

import type { KnowledgeTables } from '../documents/tables.ts';
import type { Trial } from '../search/held-out.ts';
import type { Found } from '../search/searcher.ts';
import { KeptMeasure, type MeasureBase } from './kept-measure.ts';
import { leastTrials } from './weight.ts';

export interface RerankMeasureParts {
  readonly tables: Tables<KnowledgeTables>;
  readonly search: ThreadHandle;
  /** Has the named chat model order results; throws if it does not answer. */
  readonly reorder: (
    model: string,
    question: string,
    items: readonly Found[],
    signal: AbortSignal,
  ) => Promise<readonly Found[]>;
  /** Name of the chat model that is set; empty: none. */
  readonly model: () => string;
  /** State of the index; undefined while changes are on their way into it. */
  readonly documents: () => Promise<number | undefined>;
  readonly log: Logger;
  readonly now: () => number;
  /** Calls once, after so many milliseconds. */
  readonly later: (ms: number, work: () => void) => void;
}

/** Gain from the order of a chat model, measured with questions that this base asks itself. */
export interface RerankMeasured extends MeasureBase {
  /** Number of questions; fewer than can tell anything: too few documents. */
  readonly questions: number;
  /** Share of them whose document is among the first three, without the model and with it. */
  readonly before: number;
  readonly after: number;
  readonly helps: boolean;
}

const maxDocs = 40;
/** Questions that are paid for. */
const maxAsked = 60;
const tryMs = 10_000;
const retryMs = 30 * 60_000;
/** Standard errors that a gain must exceed. */
const certain = 2;

/** Places of a document, counted from 1; 0 if it is not found. */
export interface RerankPlaces {
  readonly before: number;
  readonly after: number;
}

/** Measure of a chat model that orders results: it orders none before it has shown that it helps. */
export class RerankMeasure {
  readonly #parts: RerankMeasureParts;
  readonly #loop: DueWork;
  readonly #kept: KeptMeasure<RerankMeasured>;

  constructor(parts: RerankMeasureParts) {
    this.#parts = parts;
    this.#kept = new KeptMeasure(parts.tables, 'rerank_measure');
    this.#loop = new DueWork({
      work: (signal) => this.#bring(signal),
      failed: (error, cause) =>
        parts.log.warn(
          { event: 'knowledge.rerank_measure_delayed', error },
          `failed to measure the model that reorders search results; results keep their order until it succeeds: ${cause}`,
        ),
      retryMs,
      later: parts.later,
    });
  }

  /** The last measure of this model; undefined if there is none. */
  of(model: string): RerankMeasured | undefined {
    return this.#kept.of(model);
  }

  helps(model: string): boolean {
    return this.of(model)?.helps === true;
  }

  /** The model is another one, or the documents are. */
  due(): void {
    this.#loop.due();
  }

  /** Runs until the plugin stops. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#kept.load();
    await this.#loop.run(signal);
  }

  async #bring(signal: AbortSignal): Promise<void> {
    const { documents, log, now } = this.#parts;
    const model = this.#parts.model();
    const count = await documents();
    if (model === '' || count === undefined || !this.#kept.isDue(model, count)) {
      return;
    }
    const places = await this.#places(model, signal);
    const measured = await this.#kept.keep({
      model,
      documents: count,
      measured_at: Math.floor(now()),
      questions: places.length,
      ...verdict(places),
    });
    log.info(
      { event: 'knowledge.rerank_measured', ...measured },
      'model that reorders search results measured',
    );
  }

  async #places(model: string, signal: AbortSignal): Promise<readonly RerankPlaces[]> {
    const { search, reorder } = this.#parts;
    const trials = await search.call<readonly Trial[]>('trials', { limit: maxDocs });
    if (trials.length < leastTrials) {
      return [];
    }
    const places: RerankPlaces[] = [];
    let asked = 0;
    for (const trial of trials) {
      const found = await search.call<readonly Found[]>('tryFirst', trial, {
        timeoutMs: tryMs,
        signal,
      });
      const before = placeIn(found, trial.doc);
      // What is not among them, the model cannot move up.
      if (before === 0) {
        places.push({ before, after: before });
        continue;
      }
      if (asked === maxAsked) {
        break;
      }
      asked += 1;
      const after = placeIn(await reorder(model, trial.question, found, signal), trial.doc);
      places.push({ before, after });
    }
    return places;
  }
}

function placeIn(found: readonly Found[], doc: number): number {
  return [...new Set(found.map(({ doc_id: id }) => id))].indexOf(doc) + 1;
}

/** Returns whether documents are found earlier with the model, by more than chance. */
export function verdict(
  places: readonly RerankPlaces[],
): Pick<RerankMeasured, 'before' | 'after' | 'helps'> {
  const first3 = (of: keyof RerankPlaces): number =>
    places.length === 0
      ? 0
      : places.filter((one) => one[of] > 0 && one[of] <= 3).length / places.length;
  const worth = (place: number): number => (place === 0 ? 0 : 1 / place);
  const gains = places.map(({ before, after }) => worth(after) - worth(before));
  const mean = gains.reduce((sum, gain) => sum + gain, 0) / Math.max(1, gains.length);
  const spread = gains.reduce((sum, gain) => sum + (gain - mean) ** 2, 0);
  const error = Math.sqrt(spread) / Math.max(1, gains.length);
  const [before, after] = [first3('before'), first3('after')];
  return {
    before,
    after,
    helps: places.length >= leastTrials && mean > 0 && mean >= certain * error && after >= before,
  };
}
