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
  /** Where it is in the file. */
  readonly place: string;
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
  /** Places of the panels that were left out. */
  readonly gone: readonly string[];
  /** The dashboard itself, without what an answer of Grafana's API puts around it. */
  readonly dashboard: Readonly<Record<string, unknown>>;
}
