import type { Variable } from '../model/dashboard.ts';
import type { PanelBody } from '../model/panel.ts';

export interface LeftOut {
  readonly kind: string;
  readonly title: string;
  readonly reason: string;
}

export interface TakenPanel {
  readonly panel: PanelBody;
  /** What of it was not taken. */
  readonly notes: readonly string[];
}

export interface TakenVariable {
  readonly variable: Variable;
  readonly notes: readonly string[];
}

/** What a foreign dashboard came to. */
export interface Translation {
  readonly uid: string;
  readonly title: string;
  readonly variables: readonly TakenVariable[];
  readonly panels: readonly TakenPanel[];
  readonly leftOut: readonly LeftOut[];
}
