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
  /** Null for a panel that a plugin brings. */
  readonly id: number | null;
  /** The plugin that brings it, or `user`. */
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

/** The source of what no plugin brings. */
export const userSource = 'user';
