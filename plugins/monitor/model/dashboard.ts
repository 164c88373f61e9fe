import type { Static } from 'typebox';

import type { PanelBody } from './panel.ts';
import type { Variable as VariableShape } from './schema.ts';

export type Variable = Static<typeof VariableShape>;

/** Origin of the metrics with this name prefix. */
export interface MetricOrigin {
  readonly prefix: string;
  readonly text: string;
}

export interface DashboardPanel extends PanelBody {
  /** Id; null for a panel of a plugin. */
  readonly id: number | null;
  /** Plugin of the dashboard, or `user`. */
  readonly source: string;
  /** Place in the dashboard that it was imported from. */
  readonly origin?: string;
}

/** A dashboard of Grafana as it was imported. */
export interface Origin {
  readonly dashboard: Readonly<Record<string, unknown>>;
  /** Places of its panels that were left out, which an export gives back. */
  readonly leftOut: readonly string[];
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly source: string;
  readonly variables: readonly Variable[];
  readonly sources: readonly MetricOrigin[];
  readonly panels: readonly DashboardPanel[];
  readonly origin?: Origin;
}

/** Source of dashboards that no plugin contributes. */
export const userSource = 'user';
