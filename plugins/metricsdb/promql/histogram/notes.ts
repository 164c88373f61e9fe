import type { Statistic } from 'svc/native-histogram';

import { quoted } from '../parse/go-text.ts';
import type { Notes } from '../vector/notes.ts';

/** Annotations for places of a query where histograms meet each other, or numbers. */
export class NativeNotes {
  readonly #notes: Notes;
  readonly #position: number;

  constructor(notes: Notes, position: number) {
    this.#notes = notes;
    this.#position = position;
  }

  mixed(name: string): void {
    this.#warn(`encountered a mix of histograms and floats for metric name ${quoted(name)}`);
  }

  mixedAggregation(): void {
    this.#warn('encountered a mix of histograms and floats for aggregation');
  }

  mixedSchemas(name: string): void {
    this.#warn(
      `vector contains a mix of histograms with exponential and custom buckets schemas for metric name ${quoted(name)}`,
    );
  }

  mixedClassic(name: string): void {
    this.#warn(`vector contains a mix of classic and native histograms${named(name)}`);
  }

  noCounter(name: string): void {
    this.#warn(`this native histogram metric is not a counter: ${quoted(name)}`);
  }

  noGauge(name: string): void {
    this.#warn(`this native histogram metric is not a gauge: ${quoted(name)}`);
  }

  collided(during: During): void {
    this.#warn(`conflicting counter resets during histogram ${during}`);
  }

  reconciled(during: During): void {
    this.#inform(`mismatched custom buckets were reconciled during ${during}`);
  }

  incompatibleLayouts(op: string): void {
    this.#warn(`incompatible bucket layout encountered for binary operator ${op}`);
  }

  incompatibleTypes(op: string, left: string, right: string): void {
    this.#inform(
      `incompatible sample types encountered for binary operator ${quoted(op)}: ${left} ${op} ${right}`,
    );
  }

  ignoredInAggregation(op: string): void {
    this.#inform(`ignored histogram in ${op} aggregation`);
  }

  ignoredInRange(name: string): void {
    this.#inform(
      `ignored histograms in a range containing both floats and histograms for metric name ${quoted(name)}`,
    );
  }

  quantile({ unknown }: Statistic, name: string): void {
    if (unknown !== undefined) {
      this.#inform(
        `input to histogram_quantile has NaN observations, result is ${unknown === 'decide' ? 'NaN' : 'skewed higher'}${named(name)}`,
      );
    }
  }

  fraction({ unknown }: Statistic, name: string): void {
    if (unknown !== undefined) {
      this.#inform(
        `input to histogram_fraction has NaN observations, which are excluded from all fractions${named(name)}`,
      );
    }
  }

  #warn(text: string): void {
    this.#notes.warn(this.#position, text);
  }

  #inform(text: string): void {
    this.#notes.inform(this.#position, text);
  }
}

type During = 'addition' | 'subtraction' | 'aggregation';

const named = (name: string): string => (name === '' ? '' : ` for metric name ${quoted(name)}`);
