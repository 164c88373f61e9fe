import type { FieldProblem } from 'svc/sdk';

import { errors } from './errors.ts';
import { columns, type Position } from './position.ts';
import type { PanelType } from './schema.ts';
import { assertAscending, type Threshold } from './thresholds.ts';
import type { Unit } from './units.ts';

/** Fields of a panel, wherever it comes from. */
export interface PanelBody {
  readonly title: string;
  readonly type: PanelType;
  readonly query: string;
  readonly legend: string;
  readonly unit: Unit;
  readonly thresholds: readonly Threshold[];
  readonly position: Position;
}

/** A panel with everything that may be left away. */
export type PanelSketch = Pick<PanelBody, 'title' | 'type' | 'query'> & Partial<PanelBody>;

export const complete = (sketch: PanelSketch, place: Position): PanelBody => ({
  title: sketch.title,
  type: sketch.type,
  query: sketch.query,
  legend: sketch.legend ?? '',
  unit: sketch.unit ?? 'none',
  thresholds: sketch.thresholds ?? [],
  position: sketch.position ?? place,
});

/** Refuses what would have no effect, or could not be drawn. */
export function assertPanel({ type, unit, thresholds, position }: PanelBody): void {
  if (position.x + position.w > columns) {
    refuse({
      path: '/position/w',
      message: `the grid has ${columns} columns: x + w is ${position.x + position.w}`,
    });
  }
  if (type === 'logs' && unit !== 'none') {
    refuse({ path: '/unit', message: 'a panel of type logs shows lines, which have no unit' });
  }
  if (type === 'logs' && thresholds.length > 0) {
    refuse({
      path: '/thresholds',
      message: 'a panel of type logs shows lines, which reach no threshold',
    });
  }
  assertAscending(thresholds);
}

export function refuse(problem: FieldProblem): never {
  throw errors.panel_form({ problem: problem.message }, { details: [problem] });
}
