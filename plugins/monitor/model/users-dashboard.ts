import type { Variable } from './dashboard.ts';
import { drawingOf } from './drawing.ts';
import type { PanelBody } from './panel.ts';

/** A panel that a user made, with the id by which it is known; without one it is new. */
export interface UsersPanel extends PanelBody {
  readonly id?: number;
}

/** User content of a dashboard: all of a user's, and the panels added to a plugin's. */
export interface UsersContent {
  /** Null for a dashboard of a plugin, which has its own. */
  readonly title: string | null;
  readonly variables: readonly Variable[];
  readonly panels: readonly UsersPanel[];
}

/** Returns the body of a panel, without its row. */
export const bodyOf = (panel: PanelBody): PanelBody => ({
  title: panel.title,
  type: panel.type,
  query: panel.query,
  legend: panel.legend,
  unit: panel.unit,
  thresholds: panel.thresholds,
  position: panel.position,
  ...drawingOf(panel),
});
