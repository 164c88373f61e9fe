import { isUtf8 } from 'node:buffer';

import {
  type ExpositionSink,
  type Label,
  readExposition,
  type SaidOfMetric,
  labelsOf,
} from 'svc/query';

import { errors } from './errors.ts';
import type { Intake } from './intake.ts';
import type { MetadataSink } from './metadata.ts';

/** Salt of series that are known by the text in which an exposition names them. */
const textFormat = 1;

export interface TextReading {
  /** Time of samples that carry none. */
  readonly now: number;
  readonly openMetrics: boolean;
}

/** Reads a push in one of the text formats. A series that came before is found by its text alone; a line that is none refuses the body. */
export function readTextPush(
  body: Uint8Array,
  { now, openMetrics }: TextReading,
  intake: Intake,
  metadata: MetadataSink,
): void {
  const text = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (!isUtf8(text)) {
    throw errors.exposition_utf8();
  }
  readExposition(
    text,
    { openMetrics, refusal: (line, what) => errors.exposition_line({ line, what }) },
    new IntakeSink(intake, metadata, now),
  );
}

class IntakeSink implements ExpositionSink {
  readonly #intake: Intake;
  readonly #metadata: MetadataSink;
  readonly #now: number;

  constructor(intake: Intake, metadata: MetadataSink, now: number) {
    this.#intake = intake;
    this.#metadata = metadata;
    this.#now = now;
  }

  known(text: Buffer, from: number, to: number): number {
    return this.#intake.seriesOfText(text, from, to, textFormat);
  }

  series(labels: Label[], text: Buffer, from: number, to: number): number {
    const slot = this.#intake.seriesOf(labels);
    if (slot !== -1) {
      this.#intake.remember(text, from, to, textFormat, slot);
    }
    return slot;
  }

  sample(slot: number, value: number, time = this.#now): void {
    this.#intake.sample(slot, time, value, false);
  }

  exemplar(slot: number, labels: Label[], value: number, time = this.#now): void {
    this.#intake.exemplar(slot, { labels: labelsOf(labels), time, value });
  }

  described(metric: string, said: SaidOfMetric): void {
    this.#metadata.note(metric, said);
  }
}
