/**
 * Histogram of times in about forty steps per decade, so that an hour takes no more memory than a
 * second.
 */
export class Times {
  readonly #counts = new Uint32Array(320);
  #count = 0;

  add(ms: number): void {
    this.#counts[
      Math.min(
        this.#counts.length - 1,
        Math.max(0, Math.ceil(Math.log10(Math.max(ms, 0.01) * 100) * 40)),
      )
    ]! += 1;
    this.#count += 1;
  }

  /** The time that this part of them kept; undefined of none. */
  quantile(part: number): number | undefined {
    let left = Math.ceil(this.#count * part);
    if (left === 0) {
      return undefined;
    }
    const at = this.#counts.findIndex((count) => (left -= count) <= 0);
    return Math.round(10 ** (at / 40)) / 100;
  }
}

/** Figures of a whole simulated fleet. */
export class Tally {
  enrolled = 0;
  connected = 0;
  connects = 0;
  lost = 0;
  refused = 0;
  calls = 0;
  pushesOk = 0;
  pushesLimited = 0;
  pushesFailed = 0;
  /** Number of pushes skipped because the previous one was not answered yet. */
  pushesSkipped = 0;
  samples = 0;
  lines = 0;
  spans = 0;
  /** Faults that were made on purpose. */
  faults = 0;
  readonly pushTimes = new Times();
  readonly connectTimes = new Times();
  /** The words of the last thing that went wrong without being asked to. */
  problem: string | undefined;

  figures(edges: number) {
    return {
      edges,
      enrolled: this.enrolled,
      connected: this.connected,
      connects: this.connects,
      lost: this.lost,
      refused: this.refused,
      calls: this.calls,
      pushes: {
        ok: this.pushesOk,
        limited: this.pushesLimited,
        failed: this.pushesFailed,
        skipped: this.pushesSkipped,
      },
      push_p50_ms: this.pushTimes.quantile(0.5) ?? null,
      push_p99_ms: this.pushTimes.quantile(0.99) ?? null,
      connect_p99_ms: this.connectTimes.quantile(0.99) ?? null,
      samples: this.samples,
      lines: this.lines,
      spans: this.spans,
      faults: this.faults,
      problem: this.problem ?? null,
    };
  }
}

export type Figures = ReturnType<Tally['figures']>;
