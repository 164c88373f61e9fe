import type { Variable } from '../model/dashboard.ts';
import type { PanelBody } from '../model/panel.ts';

export interface LeftOut {
  readonly kind: string;
  readonly title: string;
  readonly reason: string;
}

export interface TakenPanel {
  readonly panel: PanelBody;
  /** Parts that were not imported. */
  readonly notes: readonly string[];
}

export interface TakenVariable {
  readonly variable: Variable;
  readonly notes: readonly string[];
}

/** Result of translating a foreign dashboard. */
export interface Translation {
  readonly uid: string;
  readonly title: string;
  readonly variables: readonly TakenVariable[];
  readonly panels: readonly TakenPanel[];
  readonly leftOut: readonly LeftOut[];
}
