import { type Labels, labelsKey } from 'svc/query';

import type { LogLimits } from '../head/limits.ts';
import type { StreamTable } from '../head/stream-table.ts';
import { labelsText } from './label-text.ts';

/** Counts the streams that one push would begin. */
export class StreamAdmission {
  readonly #streams: StreamTable;
  readonly #limits: LogLimits;
  readonly #idle = new Set<string>();
  readonly #unknown = new Set<string>();
  refused = false;

  constructor(streams: StreamTable, limits: LogLimits) {
    this.#streams = streams;
    this.#limits = limits;
  }

  /** Why lines of this stream are not taken. */
  refusal(labels: Labels): string | undefined {
    const stream = this.#streams.find(labels);
    if (stream?.head !== undefined) {
      return undefined;
    }
    const key = labelsKey(labels);
    const reason =
      this.#streams.active.size + this.#idle.size >= this.#limits.activeStreams &&
      !this.#idle.has(key)
        ? `of ${this.#limits.activeStreams} active streams`
        : stream === undefined &&
            this.#streams.size + this.#unknown.size >= this.#limits.knownStreams &&
            !this.#unknown.has(key)
          ? `of ${this.#limits.knownStreams} streams`
          : undefined;
    if (reason !== undefined) {
      this.refused = true;
      return `maximum active stream limit exceeded when trying to create stream ${labelsText(labels).slice(0, 500)}: the limit ${reason} is reached, use fewer labels or fewer values`;
    }
    this.#idle.add(key);
    if (stream === undefined) {
      this.#unknown.add(key);
    }
    return undefined;
  }
}
