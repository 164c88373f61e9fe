import { DueWork } from 'svc/flow';
import type { Logger, Tables, ThreadHandle } from 'svc/sdk';

import type { KnowledgeTables } from '../documents/tables.ts';
import type { Trial, TrialAnswer } from '../search/held-out.ts';
import type { TryRequest } from '../search/searcher.ts';
import { KeptMeasure, type MeasureBase } from './kept-measure.ts';
import { foundFirst, leastTrials, weightFrom, weights } from './weight.ts';

export interface MeasureParts {
  readonly tables: Tables<KnowledgeTables>;
  readonly search: ThreadHandle;
  /** Embeds with the named model; undefined if another one is in use by now. */
  readonly embed: (
    texts: readonly string[],
    model: string,
    signal: AbortSignal,
  ) => Promise<readonly Float32Array[] | undefined>;
  readonly documents: () => Promise<number>;
  readonly log: Logger;
  readonly now: () => number;
  /** Calls once, after so many milliseconds. */
  readonly later: (ms: number, work: () => void) => void;
}

/** Search of this base measured against questions of its own, with words alone and with a model. */
export interface Measured extends MeasureBase {
  /** Number of questions: titles and sentences that were withheld. */
  readonly questions: number;
  /** Share of them whose document is among the first three, by words alone. */
  readonly words: number;
  /** Share with the weight that is used. */
  readonly used: number;
  /** Share with similarity at full weight, for comparison. */
  readonly equal: number;
  readonly weight: number;
}

const maxDocs = 60;
const atOnce = 20;
const tryMs = 10_000;
const retryMs = 5 * 60_000;

/**
 * Measure of what a model adds to the words. A hybrid search uses its weight; before there is one,
 * and where the model does not help, searches go by words.
 */
export class Measure {
  readonly #parts: MeasureParts;
  readonly #loop: DueWork;
  readonly #kept: KeptMeasure<Measured>;
  #model: string | undefined;

  constructor(parts: MeasureParts) {
    this.#parts = parts;
    this.#kept = new KeptMeasure(parts.tables, 'measure');
    this.#loop = new DueWork({
      work: (signal) => this.#bring(signal),
      failed: (error, cause) =>
        parts.log.warn(
          { event: 'knowledge.measure_delayed', error },
          `failed to measure the embedding model; using keyword search until it succeeds: ${cause}`,
        ),
      retryMs,
      later: parts.later,
    });
  }

  /** The last measure of this model; undefined if there is none. */
  of(model: string | null): Measured | undefined {
    return this.#kept.of(model);
  }

  weight(model: string): number {
    return this.of(model)?.weight ?? 0;
  }

  /** Every document has a vector of this model now. */
  due(model: string): void {
    this.#model = model;
    this.#loop.due();
  }

  /** Runs until the plugin stops. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#kept.load();
    await this.#loop.run(signal);
  }

  async #bring(signal: AbortSignal): Promise<void> {
    const { search, documents, log, now } = this.#parts;
    const model = this.#model;
    const count = await documents();
    if (model === undefined || !this.#kept.isDue(model, count)) {
      return;
    }
    const trials = await search.call<readonly Trial[]>('trials', { limit: maxDocs });
    const places = trials.length < leastTrials ? [] : await this.#placesOf(trials, model, signal);
    if (places === undefined) {
      return;
    }
    const weight = weightFrom(places);
    const at = (wanted: number): number => foundFirst(places, weights.indexOf(wanted));
    const measured = await this.#kept.keep({
      model,
      documents: count,
      measured_at: Math.floor(now()),
      questions: places.length,
      words: at(0),
      used: at(weight),
      equal: at(1),
      weight,
    });
    log.info({ event: 'knowledge.measured', ...measured }, 'embedding model measured');
  }

  /** A few trials at a time; undefined when the model has changed meanwhile. */
  async #placesOf(
    trials: readonly Trial[],
    model: string,
    signal: AbortSignal,
  ): Promise<readonly TrialAnswer[] | undefined> {
    const { search, embed } = this.#parts;
    const places: TrialAnswer[] = [];
    for (let at = 0; at < trials.length; at += atOnce) {
      const part = trials.slice(at, at + atOnce);
      const texts = part.flatMap(({ question, chunks }) => [
        question,
        ...chunks.map(({ text }) => text),
      ]);
      const vectors = await embed(texts, model, signal);
      if (vectors === undefined) {
        return undefined;
      }
      let next = 0;
      for (const trial of part) {
        const values = vectors[next++]!;
        const chunks = trial.chunks.map(({ chunk }) => ({ chunk, values: vectors[next++]! }));
        const request: TryRequest = {
          trial,
          withheld: { kind: trial.kind, text: trial.question, chunks },
          vector: { model, values },
          weights,
        };
        places.push(await search.call<TrialAnswer>('try', request, { timeoutMs: tryMs, signal }));
      }
    }
    return places;
  }
}
