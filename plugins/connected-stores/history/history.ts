/** Samples that a store had before it was connected, and how far they are copied. Times are in milliseconds. */
export interface History {
  readonly state: 'copying' | 'done' | 'incomplete';
  readonly from: number;
  readonly to: number;
  /** End of what is copied. */
  readonly through: number;
  readonly samples: number;
  readonly detail: string;
}

/** Begins a history that ends now. */
export const historyOf = (span: number, now: number): History | undefined =>
  span === 0
    ? undefined
    : { state: 'copying', from: now - span, to: now, through: now - span, samples: 0, detail: '' };

/** Number of samples that the metrics store took, and of those it refused. */
export interface Written {
  readonly accepted: number;
  readonly refused: number;
}
