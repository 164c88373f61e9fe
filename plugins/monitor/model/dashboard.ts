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
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly source: string;
  readonly variables: readonly Variable[];
  readonly sources: readonly MetricOrigin[];
  readonly panels: readonly DashboardPanel[];
}

/** Source of dashboards that no plugin contributes. */
export const userSource = 'user';
