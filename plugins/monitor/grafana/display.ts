import type { Display, FieldSettings, Override, Transformation } from '../model/drawing.ts';
import type { PanelType } from '../model/schema.ts';
import { field, type Foreign, isObject, objects, text } from '../frames/foreign-json.ts';
import { calcOf } from '../frames/reduce.ts';
import { defaultsOf, settingOf } from './properties.ts';
import { canTransform } from '../frames/transformations.ts';

const types: Readonly<Record<string, PanelType>> = {
  timeseries: 'timeseries',
  trend: 'timeseries',
  stat: 'stat',
  gauge: 'gauge',
  bargauge: 'bar_gauge',
  barchart: 'bar_chart',
  histogram: 'bar_chart',
  piechart: 'pie_chart',
  heatmap: 'heatmap',
  'heatmap-new': 'heatmap',
  'state-timeline': 'state_timeline',
  'status-history': 'status_history',
  table: 'table',
  logs: 'logs',
  text: 'text',
  row: 'row',
};

export const panelType = (foreign: Foreign): PanelType | undefined => {
  const type = text(foreign['type']);
  return Object.hasOwn(types, type) ? types[type] : undefined;
};

/** Settings of the whole panel; those that have places of their own are apart. */
export interface Drawn {
  readonly display: Display;
  readonly defaults: Pick<FieldSettings, 'unit' | 'thresholds' | 'mappings' | 'name'>;
}

/** Returns how a panel is drawn. */
export function drawnOf(foreign: Foreign): Drawn {
  const {
    unit,
    thresholds,
    mappings,
    name,
    hidden: _hidden,
    width: _width,
    ...settings
  } = defaultsOf(field(foreign, 'fieldConfig', 'defaults'));
  const { options } = foreign;
  return {
    display: { ...settings, ...legendOf(options), ...shapeOf(options) },
    defaults: {
      ...(unit !== undefined && { unit }),
      ...(thresholds !== undefined && { thresholds }),
      ...(mappings !== undefined && { mappings }),
      ...(name !== undefined && { name }),
    },
  };
}

function legendOf(options: unknown): Pick<Display, 'legend'> {
  const given = field(options, 'legend');
  if (!isObject(given)) {
    return {};
  }
  const mode =
    given['showLegend'] === false || given['displayMode'] === 'hidden' || given['show'] === false
      ? 'hidden'
      : given['displayMode'] === 'table'
        ? 'table'
        : 'list';
  const calcs = (Array.isArray(given['calcs']) ? (given['calcs'] as unknown[]) : []).flatMap(
    (name) => calcOf(name) ?? [],
  );
  return {
    legend: {
      mode,
      placement: given['placement'] === 'right' ? 'right' : 'bottom',
      ...(calcs.length > 0 && { calcs: [...new Set(calcs)] }),
    },
  };
}

const texts = ['auto', 'value', 'name', 'value_and_name', 'none'] as const;

function shapeOf(options: unknown): Display {
  const reduce = field(options, 'reduceOptions');
  const calcs = field(reduce, 'calcs');
  const calc = Array.isArray(calcs) ? calcOf(calcs[0]) : undefined;
  const shown = texts.find((one) => one === text(field(options, 'textMode')));
  const orientation = text(field(options, 'orientation'));
  return {
    ...(calc !== undefined && { calc }),
    ...(field(reduce, 'values') === true && { all_values: true }),
    ...(field(options, 'graphMode') === 'area' && { sparkline: true }),
    ...(text(field(options, 'colorMode')).startsWith('background') && { background: true }),
    ...(field(options, 'colorMode') === 'none' && { colorless: true }),
    ...(shown !== undefined && { text: shown }),
    ...((orientation === 'horizontal' || orientation === 'vertical') && { orientation }),
    ...(field(options, 'pieType') === 'donut' && { donut: true }),
  };
}

const matchers: Readonly<Record<string, Override['by']>> = {
  byName: 'name',
  byNames: 'name',
  byRegexp: 'pattern',
  byFrameRefID: 'query',
  byType: 'type',
  byValue: 'value',
};
const mostOverrides = 200;

/** Returns what differs for single fields; what has no counterpart is noted. */
export function overridesOf(foreign: Foreign, notes: string[]): readonly Override[] {
  const found: Override[] = [];
  for (const given of objects(field(foreign, 'fieldConfig', 'overrides')).slice(0, mostOverrides)) {
    const matcher = text(field(given, 'matcher', 'id'));
    const options = field(given, 'matcher', 'options');
    const set = Object.assign(
      {},
      ...objects(given['properties']).map(({ id, value }) => settingOf(text(id), value)),
    ) as FieldSettings;
    const by = Object.hasOwn(matchers, matcher) ? matchers[matcher] : undefined;
    if (by === undefined) {
      notes.push(`an override of fields that are chosen by ${matcher || 'nothing'}`);
    } else if (Object.keys(set).length > 0) {
      found.push({ by, ...choiceOf(by, options), set });
    }
  }
  return found;
}

const operators = ['gt', 'gte', 'lt', 'lte', 'eq', 'neq'] as const;

function choiceOf(by: Override['by'], options: unknown): Partial<Override> {
  if (by === 'value') {
    const reducer = text(field(options, 'reducer'));
    const calc = calcOf(reducer) ?? (reducer.startsWith('all') ? ('max' as const) : undefined);
    const op = operators.find((one) => one === text(field(options, 'op')));
    const value = field(options, 'value');
    return {
      ...(calc !== undefined && { calc }),
      ...(op !== undefined && { op }),
      ...(typeof value === 'number' && { value }),
    };
  }
  const names = field(options, 'names');
  const of = Array.isArray(names) ? (names as unknown[]) : [options];
  return {
    of: of
      .map((name) => text(name, 500))
      .filter((name) => name !== '')
      .map((name) => (by === 'pattern' ? patternOf(name) : name))
      .slice(0, 100),
  };
}

/** Grafana writes `/…/`; a flag is written before the pattern here. */
export function patternOf(written: string): string {
  const [, body, flags = ''] = /^\/([^]*)\/([a-z]*)$/.exec(written) ?? [];
  return body === undefined ? written : flags.includes('i') ? `(?i)${body}` : body;
}

/** Returns the transformations; one that is not known here ends the panel's likeness, and is noted. */
export function transformationsOf(foreign: Foreign, notes: string[]): readonly Transformation[] {
  return objects(foreign['transformations'])
    .slice(0, 50)
    .flatMap((given): Transformation[] => {
      const id = text(given['id'], 40);
      if (!canTransform(id)) {
        notes.push(`the transformation ${id || 'without a name'}: it is not supported`);
        return [];
      }
      const { options } = given;
      return [
        {
          id,
          ...(isObject(options) && { options: { ...options } }),
          ...(given['disabled'] === true && { disabled: true }),
        },
      ];
    });
}
