import type { FieldProblem } from 'svc/sdk';

import { type Drawing, drawingOf, type PanelQuery } from './drawing.ts';
import { errors } from './errors.ts';
import { columns, type Position } from './position.ts';
import type { PanelType } from './schema.ts';
import { assertAscending, type Threshold } from './thresholds.ts';
import type { Unit } from './units.ts';

/** Fields of a panel, wherever it comes from. */
export interface PanelBody extends Drawing {
  readonly title: string;
  readonly type: PanelType;
  /** The first query; empty for a text or a row. */
  readonly query: string;
  readonly legend: string;
  readonly unit: Unit;
  readonly thresholds: readonly Threshold[];
  readonly position: Position;
}

/** A panel with everything that may be left away. */
export type PanelSketch = Pick<PanelBody, 'title' | 'type'> & Partial<PanelBody>;

/** Types that draw values over time. */
export const isOverTime = (type: PanelType): boolean =>
  type === 'timeseries' ||
  type === 'heatmap' ||
  type === 'state_timeline' ||
  type === 'status_history';

/** Types that draw no answer of a store. */
export const isWordless = (type: PanelType): boolean =>
  type === 'text' || type === 'row' || type === 'topology';

export function complete(sketch: PanelSketch, place: Position): PanelBody {
  const first = sketch.queries?.[0];
  return {
    title: sketch.title,
    type: sketch.type,
    query: sketch.query ?? first?.query ?? '',
    legend: sketch.legend ?? first?.legend ?? '',
    unit: sketch.unit ?? 'none',
    thresholds: sketch.thresholds ?? [],
    position:
      sketch.position ?? (sketch.type === 'row' ? { ...place, x: 0, w: columns, h: 1 } : place),
    ...drawingOf(sketch),
  };
}

/** Returns a panel with changes; query and legend stay those of the first of its queries. */
export function changed(before: PanelBody, changes: Partial<PanelBody>): PanelBody {
  const { queries: given } = changes;
  const after = { ...before, ...changes };
  const [first, ...others] = given ?? before.queries ?? [];
  if (first === undefined) {
    return after;
  }
  return given === undefined
    ? { ...after, queries: [{ ...first, query: after.query, legend: after.legend }, ...others] }
    : { ...after, query: first.query, legend: first.legend ?? '' };
}

/** Returns every query of a panel, hidden ones included. */
export const queriesOf = ({ type, query, legend, queries }: PanelBody): readonly PanelQuery[] =>
  isWordless(type) ? [] : (queries ?? [{ ref: 'A', query, legend }]);

export type StoreName = 'metrics' | 'logs' | 'traces';

/** Panel types that show what was found, such as lines, and no figures. */
const found: Readonly<Partial<Record<PanelType, string>>> = {
  logs: 'lines',
  traces: 'traces',
  topology: 'nodes',
};

/** Store that answers a query of a panel. */
export const storeOf = (panel: Pick<PanelBody, 'type'>, query: PanelQuery): StoreName =>
  panel.type === 'traces' ? 'traces' : figureStoreOf(panel, query);

/** Store of a query that finds no traces. */
export const figureStoreOf = (
  { type }: Pick<PanelBody, 'type'>,
  { store }: PanelQuery,
): 'metrics' | 'logs' => store ?? (type === 'logs' ? 'logs' : 'metrics');

/** Refuses what would have no effect, or could not be drawn. */
export function assertPanel(panel: PanelBody): void {
  const { type, unit, thresholds, position } = panel;
  if (position.x + position.w > columns) {
    refuse({
      path: '/position/w',
      message: `the grid has ${columns} columns: x + w is ${position.x + position.w}`,
    });
  }
  const shown = found[type];
  if (shown !== undefined && unit !== 'none') {
    refuse({
      path: '/unit',
      message: `a panel of type ${type} shows ${shown}, which have no unit`,
    });
  }
  if (shown !== undefined && thresholds.length > 0) {
    refuse({
      path: '/thresholds',
      message: `a panel of type ${type} shows ${shown}, which reach no threshold`,
    });
  }
  assertAscending(thresholds);
  assertQueries(panel);
}

function assertQueries({ type, query, queries, content }: PanelBody): void {
  if (isWordless(type) === (query !== '')) {
    refuse({
      path: '/query',
      message: isWordless(type)
        ? `a panel of type ${type} has no query`
        : `a panel of type ${type} needs a query`,
    });
  }
  if ((type === 'text') !== (content !== undefined)) {
    refuse({
      path: '/content',
      message:
        type === 'text' ? 'a text needs its content' : 'only a panel of type text has content',
    });
  }
  if (type === 'traces' && queries?.some(({ store }) => store !== undefined)) {
    refuse({
      path: '/queries',
      message: 'a panel of type traces asks the store of traces, and no other',
    });
  }
  const refs = (queries ?? []).map(({ ref }) => ref);
  const twice = refs.find((ref, at) => refs.indexOf(ref) !== at);
  if (twice !== undefined) {
    refuse({ path: '/queries', message: `two queries have the ref ${twice}` });
  }
  if (queries !== undefined && queries[0]?.query !== (query || undefined)) {
    refuse({ path: '/queries', message: 'the first of the queries must equal query' });
  }
}

export function refuse(problem: FieldProblem): never {
  throw errors.panel_form({ problem: problem.message }, { details: [problem] });
}
