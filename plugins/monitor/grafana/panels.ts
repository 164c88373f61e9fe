import { type Drawing, drawingOf } from '../model/drawing.ts';
import { isOverTime, type PanelBody } from '../model/panel.ts';
import type { PanelType } from '../model/schema.ts';
import type { Datasource } from './datasource.ts';
import { drawnOf, overridesOf, panelType, transformationsOf } from './display.ts';
import { field, type Foreign, isObject, objects, text } from '../frames/foreign-json.ts';
import { everyPanel, type Placed } from './layout.ts';
import { migrated } from './migrate.ts';
import type { LeftOut, TakenPanel } from './report.ts';
import { targetsOf } from './targets.ts';

export interface Panels {
  readonly taken: readonly TakenPanel[];
  readonly leftOut: readonly LeftOut[];
  /** Places of the panels that were left out. */
  readonly gone: readonly string[];
}

/** The panels and rows of a Grafana dashboard as ours. */
export function panelsOf(dashboard: Foreign, datasource: (value: unknown) => Datasource): Panels {
  const taken: TakenPanel[] = [];
  const leftOut: LeftOut[] = [];
  const gone: string[] = [];
  for (const placed of everyPanel(dashboard)) {
    const { place } = placed;
    const given = whole(placed.foreign, dashboard);
    const { id } = given;
    const title =
      text(given['title']) ||
      (given['type'] === 'row'
        ? 'Row'
        : `panel ${typeof id === 'number' || typeof id === 'string' ? text(String(id)) : 'without a title'}`);
    // A copy that Grafana made for a value of a variable is made again for the values of today.
    const found = isCopy(given) ? undefined : panelOf(given, placed, title, datasource, leftOut);
    if (typeof found === 'object') {
      taken.push({ ...found, place });
    } else {
      gone.push(place);
      if (found !== undefined) {
        leftOut.push({ kind: 'panel', title, reason: found });
      }
    }
  }
  return { taken, leftOut, gone };
}

const isCopy = (foreign: Foreign): boolean =>
  typeof foreign['repeatPanelId'] === 'number' || typeof foreign['repeatByRow'] === 'object';

/** Returns a panel with the content of its library, where the file brings it along. */
function whole(foreign: Foreign, dashboard: Foreign): Foreign {
  const uid = text(field(foreign, 'libraryPanel', 'uid'));
  const model = field(dashboard, '__elements', uid, 'model');
  return uid !== '' && isObject(model)
    ? { ...model, ...foreign, type: model['type'], libraryPanel: undefined }
    : foreign;
}

type Found = Omit<TakenPanel, 'place'>;

function panelOf(
  given: Foreign,
  { position }: Placed,
  title: string,
  datasource: (value: unknown) => Datasource,
  leftOut: LeftOut[],
): Found | string {
  if (isObject(given['libraryPanel']) && !Array.isArray(given['targets'])) {
    return 'it is a library panel, whose content is not in this file';
  }
  const foreign = migrated(given);
  const type = panelType(foreign);
  if (type === undefined) {
    return `panels of type ${text(foreign['type']) || 'unknown'} are not supported`;
  }
  const head = {
    title,
    type,
    position,
    query: '',
    legend: '',
    unit: 'none',
    thresholds: [],
  } as const;
  const common = commonOf(foreign);
  if (type === 'row') {
    const isCollapsed = foreign['collapsed'] === true;
    return { panel: { ...head, ...common, ...(isCollapsed && { collapsed: true }) }, notes: [] };
  }
  if (type === 'text') {
    return { panel: { ...head, ...common, content: contentOf(foreign) }, notes: [] };
  }
  const targets = targetsOf(foreign, title, type, datasource);
  const [first, ...others] = targets.queries;
  if (first === undefined) {
    return targets.leftOut.length === 1
      ? targets.leftOut[0]!.reason
      : objects(foreign['targets']).length === 0
        ? 'it has no query'
        : 'none of its queries is supported';
  }
  leftOut.push(...targets.leftOut);
  const notes = notesOf(foreign);
  const isSimple = others.length === 0 && isPlain(first, type);
  const panel: PanelBody = {
    ...head,
    query: first.query,
    legend: first.legend ?? '',
    ...common,
    ...(!isSimple && { queries: [...targets.queries] }),
    ...(type === 'logs' ? {} : lookOf(foreign, notes)),
  };
  return { panel, notes };
}

/** Whether a panel with this query alone would ask the same without the list of queries. */
const isPlain = ({ store, at, format, hidden, min_step: step }: PanelBodyQuery, type: PanelType) =>
  format === undefined &&
  hidden === undefined &&
  step === undefined &&
  (store === undefined || type === 'logs') &&
  (at === undefined || (at === 'instant' && !isOverTime(type) && type !== 'logs'));

type PanelBodyQuery = NonNullable<Drawing['queries']>[number];

/** Returns how the answers are drawn; what is said nowhere is left away. */
function lookOf(foreign: Foreign, notes: string[]): Partial<PanelBody> {
  const { display, defaults } = drawnOf(foreign);
  const overrides = [
    ...(defaults.name === undefined
      ? []
      : [{ by: 'pattern' as const, of: ['.*'], set: { name: defaults.name } }]),
    ...overridesOf(foreign, notes),
  ];
  const transformations = transformationsOf(foreign, notes);
  return {
    unit: defaults.unit ?? 'none',
    thresholds: defaults.thresholds ?? [],
    ...(Object.keys(display).length > 0 && { display }),
    ...(defaults.mappings && { mappings: defaults.mappings }),
    ...(overrides.length > 0 && { overrides }),
    ...(transformations.length > 0 && { transformations: [...transformations] }),
  };
}

/** Returns what any panel may have, rows and texts included. */
function commonOf(foreign: Foreign): Drawing {
  const description = text(foreign['description'], 4_000);
  const variable = text(foreign['repeat']);
  const most = foreign['maxPerRow'];
  return drawingOf({
    ...(description !== '' && { description }),
    ...(/^[A-Za-z][A-Za-z0-9_]{0,39}$/.test(variable) && {
      repeat: {
        variable,
        ...(foreign['repeatDirection'] === 'v' && { direction: 'vertical' as const }),
        ...(typeof most === 'number' &&
          most >= 1 &&
          most <= 24 && { max_per_row: Math.round(most) }),
      },
    }),
  });
}

const longestContent = 65_536;

function contentOf(foreign: Foreign): NonNullable<Drawing['content']> {
  const from = isObject(foreign['options']) ? foreign['options'] : foreign;
  const mode = text(from['mode']);
  return {
    mode: mode === 'html' || mode === 'code' ? mode : 'markdown',
    text: text(from['content'], longestContent),
  };
}

function notesOf(foreign: Foreign): string[] {
  const found: readonly (readonly [boolean, string])[] = [
    [text(foreign['timeFrom']) !== '' || text(foreign['timeShift']) !== '', 'its own time range'],
    [
      isObject(foreign['alert']),
      'its alert; rules are imported with POST /api/v1/alert-rules/import',
    ],
    [objects(foreign['links']).length > 0, 'its links'],
  ];
  return found.filter(([applies]) => applies).map(([, note]) => note);
}
