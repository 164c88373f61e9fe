import type { Display, FieldSettings, Override, PanelQuery } from '../model/drawing.ts';
import { isOverTime, type PanelBody, queriesOf, figureStoreOf } from '../model/panel.ts';
import type { PanelType } from '../model/schema.ts';
import { modeOf } from '../render/ask.ts';
import type { Foreign } from '../frames/foreign-json.ts';
import { nameOfCalc } from '../frames/reduce.ts';
import { propertiesOf, writeDefaults } from './properties.ts';
import type { Sources } from './sources.ts';

const types: Readonly<Record<PanelType, string>> = {
  timeseries: 'timeseries',
  stat: 'stat',
  gauge: 'gauge',
  table: 'table',
  logs: 'logs',
  bar_gauge: 'bargauge',
  bar_chart: 'barchart',
  pie_chart: 'piechart',
  heatmap: 'heatmap',
  state_timeline: 'state-timeline',
  status_history: 'status-history',
  status: 'stat',
  traces: 'text',
  topology: 'text',
  text: 'text',
  row: 'row',
};

/** Grafana's clock for dates counts milliseconds. */
const factors: Readonly<Record<string, string>> = { timestamp: ' * 1000' };

/** Returns a panel as Grafana takes it. */
export function panelJson(panel: PanelBody, sources: Sources): Foreign {
  const { type, title, description, repeat, content, position, transformations } = panel;
  const head = {
    type: types[type],
    title,
    ...(description !== undefined && { description }),
    gridPos: { ...position },
    ...(repeat && {
      repeat: repeat.variable,
      ...(repeat.direction === 'vertical' && { repeatDirection: 'v' }),
      ...(repeat.max_per_row !== undefined && { maxPerRow: repeat.max_per_row }),
    }),
  };
  if (type === 'row') {
    return { ...head, collapsed: panel.collapsed === true };
  }
  if (type === 'text') {
    return { ...head, options: { mode: content?.mode, content: content?.text } };
  }
  if (type === 'traces' || type === 'topology') {
    return { ...head, options: { mode: 'code', content: elsewhere(panel) } };
  }
  const queries = queriesOf(panel);
  const stores = [...new Set(queries.map((query) => figureStoreOf(panel, query)))];
  return {
    ...head,
    datasource: stores.length > 1 ? { uid: '-- Mixed --' } : sourceOf(stores[0]!, sources),
    targets: queries.map((query) => targetJson(panel, query, sources)),
    ...(type !== 'logs' && {
      fieldConfig: {
        defaults: defaultsOf(panel),
        overrides: (panel.overrides ?? []).map(override),
      },
    }),
    ...optionsOf(panel),
    ...(transformations && { transformations: transformations.map((one) => ({ ...one })) }),
  };
}

/** Says in Grafana what only the console draws. */
const elsewhere = ({ type, query }: PanelBody): string =>
  `This panel shows ${type} in svc${query === '' ? '.' : `: ${query}`}`;

const sourceOf = (store: keyof Sources, sources: Sources): Foreign => ({
  type: store === 'logs' ? 'loki' : 'prometheus',
  uid: sources[store],
});

function targetJson(panel: PanelBody, query: PanelQuery, sources: Sources): Foreign {
  const { type, unit } = panel;
  const factor = factors[unit];
  const mode = modeOf(panel, query);
  return {
    refId: query.ref,
    datasource: sourceOf(figureStoreOf(panel, query), sources),
    expr: factor === undefined ? query.query : `(${query.query})${factor}`,
    legendFormat: query.legend || '__auto',
    ...(mode === 'lines'
      ? { queryType: 'range' }
      : mode === 'instant'
        ? { instant: true }
        : (query.at === 'range' || isOverTime(type)) && { range: true }),
    ...(query.format !== undefined
      ? { format: query.format }
      : type === 'table' &&
        panel.queries === undefined &&
        panel.transformations === undefined && { format: 'table' }),
    ...(query.hidden === true && { hide: true }),
    ...(query.min_step !== undefined && { interval: query.min_step }),
  };
}

function defaultsOf(panel: PanelBody): Foreign {
  const { unit, thresholds, mappings, type, display = {} } = panel;
  const {
    legend: _legend,
    calc: _calc,
    all_values: _all,
    sparkline: _sparkline,
    background: _background,
    text: _text,
    orientation: _orientation,
    donut: _donut,
    ...settings
  } = display;
  const isDashed =
    type === 'timeseries' && thresholds.length > 0 && settings.thresholds_drawn === undefined;
  return writeDefaults({
    ...settings,
    unit,
    ...(thresholds.length > 0 && { thresholds: [...thresholds] }),
    ...(mappings && { mappings }),
    ...(isDashed && { thresholds_drawn: 'line' as const }),
  } satisfies FieldSettings);
}

const matchers: Readonly<Record<Override['by'], string>> = {
  name: 'byName',
  pattern: 'byRegexp',
  query: 'byFrameRefID',
  type: 'byType',
  value: 'byValue',
};

function override({ by, of = [], calc, op, value, set }: Override): Foreign {
  const options =
    by === 'value'
      ? { reducer: nameOfCalc(calc ?? 'last'), op: op ?? 'gte', value: value ?? 0 }
      : by === 'name' && of.length > 1
        ? { mode: 'include', names: of }
        : (of[0] ?? '');
  return {
    matcher: { id: by === 'name' && of.length > 1 ? 'byNames' : matchers[by], options },
    properties: propertiesOf(set),
  };
}

function optionsOf({ type, display = {} }: PanelBody): Foreign {
  const {
    legend,
    calc,
    all_values: all,
    sparkline,
    background,
    colorless,
    text,
    orientation,
    donut,
  } = display;
  const isFigure =
    type === 'stat' || type === 'gauge' || type === 'bar_gauge' || type === 'pie_chart';
  const options = {
    ...(legend && { legend: legendJson(legend) }),
    ...((calc !== undefined || all !== undefined) &&
      isFigure && {
        reduceOptions: { calcs: [nameOfCalc(calc ?? 'last')], values: all === true },
      }),
    ...(sparkline === true && { graphMode: 'area' }),
    ...(background === true && { colorMode: 'background' }),
    ...(colorless === true && { colorMode: 'none' }),
    ...(text !== undefined && { textMode: text }),
    ...(orientation !== undefined && { orientation }),
    ...(donut === true && { pieType: 'donut' }),
  };
  return Object.keys(options).length === 0 ? {} : { options };
}

const legendJson = ({
  mode = 'list',
  placement = 'bottom',
  calcs = [],
}: NonNullable<Display['legend']>): Foreign => ({
  showLegend: mode !== 'hidden',
  displayMode: mode === 'hidden' ? 'list' : mode,
  placement,
  calcs: calcs.map(nameOfCalc),
});
