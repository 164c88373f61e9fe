import type { NativeHistogram } from 'svc/native-histogram';
import type { Budget, Labels, Matcher } from 'svc/query';

/** One series as a store hands it out: times ascend, and only the first `length` entries count. */
export interface Series {
  readonly labels: Labels;
  /** Milliseconds. */
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly length: number;
  /** 1 where the sample is a staleness marker; absent when there is none. */
  readonly stale?: Uint8Array;
  /** Of thinned samples: for how many each stands, itself and those left out before it. */
  readonly counts?: Float64Array;
  /** Samples that are histograms and no numbers; absent where there are none, as in every store but those of rule tests. */
  readonly histograms?: Histograms;
}

/** By the place of the sample; its number means nothing. */
export type Histograms = readonly (NativeHistogram | undefined)[];

/** All that is looked at, in milliseconds: what lies in (end + i·advance − width, end + i·advance]. */
export interface Windows {
  readonly end: number;
  readonly advance: number;
  readonly width: number;
  /** Whether it matters where values fell. */
  readonly falls: boolean;
}

/** What a store may use to read less; it may ignore all of it. */
export interface SelectHints {
  /** The function that the samples are for. */
  readonly func?: string;
  /** Milliseconds between two results. */
  readonly step?: number;
  /** Milliseconds that one result looks back over. */
  readonly range?: number;
  /** Only the newest sample of each series is looked at. `select` does not go by it: what it answers may be looked at more than once. */
  readonly newest?: boolean;
  /** Of each window, only the first and last sample, the least and greatest value and the number of samples are looked at. `select` does not go by it either. */
  readonly windows?: Windows;
}

/** Where the engine gets samples from. */
export interface SeriesSource {
  /** Series whose labels match, each with its samples in (mint, maxt]. May be called several times for one query. Charges the budget for what it reads. */
  select(
    matchers: readonly Matcher[],
    mint: number,
    maxt: number,
    hints: SelectHints,
    budget: Budget,
  ): Promise<readonly Series[]>;
  /** As `select`, one series after the other: what `visit` gets is good until it returns, or until what it returns resolves. For who need not hold it all. */
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
