import type { PanelBody } from '../model/panel.ts';
import { columns, lastRow, type Position } from '../model/position.ts';
import type { PanelType } from '../model/schema.ts';
import type { Datasource } from './datasource.ts';
import { type Foreign, isObject, objects, text, whole } from './json.ts';
import { panelType, thresholdsOf, unitOf } from './display.ts';
import type { LeftOut, TakenPanel } from './report.ts';

export interface Panels {
  readonly taken: readonly TakenPanel[];
  readonly leftOut: readonly LeftOut[];
}

const mostForeign = 500;

/** The panels of a Grafana dashboard as ours; those of rows, too. */
export function panelsOf(dashboard: Foreign, datasource: (value: unknown) => Datasource): Panels {
  const taken: TakenPanel[] = [];
  const leftOut: LeftOut[] = [];
  for (const foreign of everyPanel(dashboard, leftOut).slice(0, mostForeign)) {
    const { id } = foreign;
    const title =
      text(foreign['title']) ||
      `panel ${typeof id === 'number' || typeof id === 'string' ? text(String(id)) : 'without a title'}`;
    const found = panelOf(foreign, title, datasource, leftOut);
    if (typeof found === 'string') {
      leftOut.push({ kind: 'panel', title, reason: found });
    } else {
      taken.push(...found);
    }
  }
  return { taken, leftOut };
}

/** Rows of today hold panels when they are folded; those of long ago always did. */
function everyPanel(dashboard: Foreign, leftOut: LeftOut[]): readonly Foreign[] {
  const old = objects(dashboard['rows']).flatMap((row) => objects(row['panels']));
  return [...objects(dashboard['panels']), ...old].flatMap((panel) => {
    if (panel['type'] !== 'row') {
      return [panel];
    }
    leftOut.push({
      kind: 'row',
      title: text(panel['title']) || 'without a title',
      reason: 'rows are not supported; their panels are imported',
    });
    return objects(panel['panels']);
  });
}

function panelOf(
  foreign: Foreign,
  title: string,
  datasource: (value: unknown) => Datasource,
  leftOut: LeftOut[],
): readonly TakenPanel[] | string {
  if (isObject(foreign['libraryPanel'])) {
    return 'it is a library panel, whose content is not in this file';
  }
  const type = panelType(foreign);
  if (type === undefined) {
    return `panels of type ${text(foreign['type']) || 'unknown'} are not supported`;
  }
  const targets = objects(foreign['targets']);
  const good = targets.flatMap((target) => {
    const reason = refusalOf(target, foreign, type, datasource);
    if (reason !== undefined && targets.length > 1) {
      leftOut.push({ kind: 'query', title: `${title} ${text(target['refId'])}`.trim(), reason });
    }
    return reason === undefined ? [target] : [];
  });
  if (good.length === 0) {
    return targets.length === 1
      ? refusalOf(targets[0]!, foreign, type, datasource)!
      : 'none of its queries is supported';
  }
  const notes = notesOf(foreign, good.length);
  const unit = type === 'logs' ? 'none' : unitOf(foreign, notes);
  const thresholds = type === 'logs' ? [] : thresholdsOf(foreign, notes);
  const places = divided(positionOf(foreign), good.length);
  return good.map((target, index) => {
    const legend = text(target['legendFormat']);
    const panel: PanelBody = {
      title:
        good.length === 1 ? title : `${title} ${text(target['refId']) || index + 1}`.slice(0, 200),
      type,
      query: text(target['expr'], 8_192),
      legend: legend === '__auto' ? '' : legend,
      unit,
      thresholds,
      position: places[index]!,
    };
    return { panel, notes };
  });
}

/** Why a query of a panel cannot be asked. */
function refusalOf(
  target: Foreign,
  panel: Foreign,
  type: PanelType,
  datasource: (value: unknown) => Datasource,
): string | undefined {
  const own = datasource(target['datasource'] ?? panel['datasource']);
  const wanted = type === 'logs' ? 'logs' : 'metrics';
  if (target['hide'] === true) {
    return 'the query is switched off';
  }
  if (own.kind === 'other') {
    return own.name === '__expr__'
      ? 'it is an expression over other queries'
      : `its datasource is ${own.name || 'unknown'}; only metrics and logs are supported`;
  }
  if (own.kind !== 'any' && own.kind !== wanted) {
    return own.kind === 'logs'
      ? 'it computes numbers from logs; only panels of type logs can query the log store'
      : 'it shows metrics as log lines';
  }
  const { expr } = target;
  if (typeof expr !== 'string' || expr.trim() === '') {
    return 'it has no query in PromQL or LogQL';
  }
  return expr.length > 8_192 ? 'its query is longer than 8 KiB' : undefined;
}

function notesOf(foreign: Foreign, queries: number): string[] {
  const overrides = objects(
    isObject(foreign['fieldConfig']) ? foreign['fieldConfig']['overrides'] : undefined,
  );
  const found: readonly (readonly [boolean, string])[] = [
    [queries > 1, `it had ${queries} queries and became as many panels`],
    [
      objects(foreign['transformations']).length > 0,
      'its transformations: series are shown as the query returns them',
    ],
    [overrides.length > 0, 'its overrides of single fields'],
    [
      text(foreign['repeat']) !== '',
      `that it is repeated for each value of ${text(foreign['repeat'])}`,
    ],
    [text(foreign['timeFrom']) !== '' || text(foreign['timeShift']) !== '', 'its own time range'],
    [
      isObject(foreign['alert']),
      'its alert; rules are imported with POST /api/v1/alert-rules/import',
    ],
    [objects(foreign['links']).length > 0, 'its links'],
  ];
  return found.filter(([applies]) => applies).map(([, note]) => note);
}

function positionOf(foreign: Foreign): Position {
  const grid = isObject(foreign['gridPos']) ? foreign['gridPos'] : {};
  // Panels of long ago have a span of twelve.
  const w = whole(
    grid['w'] ?? (typeof foreign['span'] === 'number' ? foreign['span'] * 2 : undefined),
    1,
    columns,
    12,
  );
  return {
    x: Math.min(whole(grid['x'], 0, columns - 1, 0), columns - w),
    y: whole(grid['y'], 0, lastRow, 0),
    w,
    h: whole(grid['h'], 1, 100, 8),
  };
}

/** Splits a position: side by side while each part is wide enough, else stacked. */
function divided({ x, y, w, h }: Position, parts: number): readonly Position[] {
  const width = Math.floor(w / parts);
  return Array.from({ length: parts }, (_, index) =>
    width >= 4
      ? { x: x + index * width, y, w: width, h }
      : { x, y: Math.min(lastRow, y + index * h), w, h },
  );
}
