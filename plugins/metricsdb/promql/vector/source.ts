import type { NativeHistogram } from 'svc/native-histogram';
import type { Budget, Labels, Matcher } from 'svc/query';

/** One series as a store hands it out: times ascend, and only the first `length` entries count. */
export interface Series {
  readonly labels: Labels;
  /** Milliseconds. */
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly length: number;
  /** 1 at samples that are staleness markers; absent if there are none. */
  readonly stale?: Uint8Array;
  /** Number of samples that each thinned sample represents: itself and those dropped before it. */
  readonly counts?: Float64Array;
  /**
   * Samples that are histograms; absent if there are none, as in every store except those of rule
   * tests.
   */
  readonly histograms?: Histograms;
}

/** Histograms by sample position; the number at that position is meaningless. */
export type Histograms = readonly (NativeHistogram | undefined)[];

/** Windows in milliseconds: (end + i·advance − width, end + i·advance]. */
export interface Windows {
  readonly end: number;
  readonly advance: number;
  readonly width: number;
  /** True if drops of the value matter. */
  readonly falls: boolean;
}

/** Hints by which a store may read less; it may ignore all of them. */
export interface SelectHints {
  /** The function that the samples are for. */
  readonly func?: string;
  /** Milliseconds between two results. */
  readonly step?: number;
  /** Milliseconds that one result looks back over. */
  readonly range?: number;
  /**
   * True if only the newest sample of each series is needed. `select` ignores it: its answer may be
   * read more than once.
   */
  readonly newest?: boolean;
  /**
   * Windows of which only the first and last sample, the min, the max and the count are needed.
   * `select` ignores it too.
   */
  readonly windows?: Windows;
  /**
   * True if only the times of samples and their staleness matter, no value: then `values` means
   * nothing. `select` ignores it too.
   */
  readonly timesOnly?: boolean;
}

/** Source of the engine's samples. */
export interface SeriesSource {
  /** True if no series has histograms. */
  readonly numbersOnly?: boolean;
  /**
   * Returns series whose labels match, each with its samples in (mint, maxt]. May be called several
   * times for one query. Charges the budget for what it reads.
   */
  select(
    matchers: readonly Matcher[],
    mint: number,
    maxt: number,
    hints: SelectHints,
    budget: Budget,
  ): Promise<readonly Series[]>;
  /**
   * Selects like `select`, one series after the other: what `visit` gets is valid until it returns,
   * or until its promise resolves. For callers that need not hold everything.
   */
  scan?(
    matchers: readonly Matcher[],
    mint: number,
    maxt: number,
    hints: SelectHints,
    budget: Budget,
    visit: Visit,
  ): Promise<void>;
}

export type Visit = (series: Series) => Promise<void> | void;
