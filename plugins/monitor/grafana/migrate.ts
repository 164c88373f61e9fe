import { field, type Foreign, isObject, objects, text } from '../frames/foreign-json.ts';

/** Returns a panel of an older Grafana as the one of today makes it; others stay as they are. */
export function migrated(foreign: Foreign): Foreign {
  switch (text(foreign['type'])) {
    case 'graph':
      return graph(foreign);
    case 'singlestat':
    case 'grafana-singlestat-panel':
      return singlestat(foreign);
    case 'table-old':
      return oldTable(foreign);
    case 'table':
      return Array.isArray(foreign['styles']) && !isObject(foreign['fieldConfig'])
        ? oldTable(foreign)
        : foreign;
    case 'grafana-piechart-panel':
      return pie(foreign);
    default:
      return foreign;
  }
}

const drawOf = (given: Foreign): string | undefined =>
  given['bars'] === true
    ? 'bars'
    : given['lines'] === false
      ? given['points'] === true
        ? 'points'
        : undefined
      : 'line';

const tenfold = (fill: unknown): number | undefined =>
  typeof fill === 'number' ? Math.min(100, fill * 10) : undefined;

/** The graph of versions before 8 is the time series of today. */
function graph(foreign: Foreign): Foreign {
  const [left = {}, right = {}] = objects(foreign['yaxes']);
  const axisMode = text(field(foreign, 'xaxis', 'mode'));
  const stacking =
    foreign['stack'] === true
      ? { mode: foreign['percentage'] === true ? 'percent' : 'normal', group: 'A' }
      : undefined;
  const steps = objects(foreign['thresholds']).flatMap(({ value, op, colorMode }) =>
    typeof value === 'number' && op !== 'lt'
      ? [
          {
            value,
            color: colorMode === 'warning' ? 'orange' : colorMode === 'ok' ? 'green' : 'red',
          },
        ]
      : [],
  );
  const custom = {
    drawStyle: drawOf(foreign) ?? 'line',
    fillOpacity: foreign['lines'] === false ? undefined : (tenfold(foreign['fill']) ?? 10),
    lineWidth: foreign['linewidth'],
    lineInterpolation: foreign['steppedLine'] === true ? 'stepAfter' : undefined,
    spanNulls: foreign['nullPointMode'] === 'connected' ? true : undefined,
    lineStyle: foreign['dashes'] === true ? { fill: 'dash' } : undefined,
    stacking,
    ...axisOf(left),
    thresholdsStyle: steps.length > 0 ? { mode: 'line+area' } : undefined,
  };
  return {
    ...foreign,
    type:
      axisMode === 'series' ? 'barchart' : axisMode === 'histogram' ? 'histogram' : 'timeseries',
    fieldConfig: {
      defaults: {
        ...scaleOf(left, foreign),
        custom,
        ...(steps.length > 0 && {
          thresholds: { steps: [{ value: null, color: 'transparent' }, ...steps] },
        }),
      },
      overrides: [
        ...objects(foreign['seriesOverrides']).flatMap((one) => seriesOverride(one, right)),
        ...colorsOf(foreign['aliasColors']),
      ],
    },
    options: { legend: legendOf(foreign['legend']) },
  };
}

const axisOf = (axis: Foreign): Foreign => ({
  axisLabel: axis['label'],
  axisPlacement: axis['show'] === false ? 'hidden' : undefined,
  scaleDistribution:
    typeof axis['logBase'] === 'number' && axis['logBase'] > 1
      ? { type: 'log', log: axis['logBase'] }
      : undefined,
});

const scaleOf = (axis: Foreign, { decimals }: Foreign): Foreign => ({
  unit: axis['format'],
  min: axis['min'],
  max: axis['max'],
  decimals: axis['decimals'] ?? decimals,
});

const matcherOf = (alias: unknown): Foreign => {
  const name = text(alias);
  return { id: /^\/[^]*\/[a-z]*$/.test(name) ? 'byRegexp' : 'byName', options: name };
};

function seriesOverride(given: Foreign, right: Foreign): readonly Foreign[] {
  const properties = (
    [
      ['custom.transform', given['transform'] === 'negative-Y' ? 'negative-Y' : undefined],
      ['color', typeof given['color'] === 'string' ? fixed(given['color']) : undefined],
      ['custom.axisPlacement', given['yaxis'] === 2 ? 'right' : undefined],
      ['unit', given['yaxis'] === 2 ? right['format'] : undefined],
      ['max', given['yaxis'] === 2 ? right['max'] : undefined],
      ['min', given['yaxis'] === 2 ? right['min'] : undefined],
      ['custom.fillOpacity', tenfold(given['fill'])],
      ['custom.lineWidth', given['linewidth']],
      ['custom.stacking', stackOf(given['stack'])],
      ['custom.lineStyle', given['dashes'] === true ? { fill: 'dash' } : undefined],
      [
        'custom.drawStyle',
        'bars' in given || 'lines' in given || 'points' in given ? drawOf(given) : undefined,
      ],
      [
        'custom.hideFrom',
        given['lines'] === false && given['bars'] !== true && given['points'] !== true
          ? { viz: true }
          : undefined,
      ],
    ] as const
  ).flatMap(([id, value]) => (value === undefined || value === null ? [] : [{ id, value }]));
  return properties.length === 0 ? [] : [{ matcher: matcherOf(given['alias']), properties }];
}

const fixed = (fixedColor: string): Foreign => ({ mode: 'fixed', fixedColor });

const stackOf = (stack: unknown): Foreign | undefined =>
  stack === false
    ? { mode: 'none' }
    : stack === true || typeof stack === 'string'
      ? { mode: 'normal', group: stack }
      : undefined;

const colorsOf = (colors: unknown): readonly Foreign[] =>
  isObject(colors)
    ? Object.entries(colors).flatMap(([name, color]) =>
        typeof color === 'string'
          ? [
              {
                matcher: { id: 'byName', options: name },
                properties: [{ id: 'color', value: fixed(color) }],
              },
            ]
          : [],
      )
    : [];

function legendOf(given: unknown): Foreign {
  const calcs = (['min', 'max', 'avg', 'current', 'total'] as const).filter(
    (name) => field(given, name) === true,
  );
  const values = field(given, 'values') === true;
  return {
    showLegend: field(given, 'show') !== false,
    displayMode: field(given, 'alignAsTable') === true ? 'table' : 'list',
    placement: field(given, 'rightSide') === true ? 'right' : 'bottom',
    calcs: values ? calcs : [],
  };
}

/** Singlestat is the stat of today, or the gauge, where it had one. */
function singlestat(foreign: Foreign): Foreign {
  const isGauge = field(foreign, 'gauge', 'show') === true;
  const colors = Array.isArray(foreign['colors']) ? (foreign['colors'] as unknown[]) : [];
  const limits = text(foreign['thresholds'])
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '' && Number.isFinite(Number(part)));
  const steps = colors
    .slice(0, limits.length + 1)
    .map((color, at) => ({ value: at === 0 ? null : Number(limits[at - 1]), color }));
  const isColored = foreign['colorValue'] === true || foreign['colorBackground'] === true;
  const mappings = [
    ...objects(foreign['valueMaps']).map((map) => ({ ...map, type: 1 })),
    ...objects(foreign['rangeMaps']).map((map) => ({ ...map, type: 2 })),
  ];
  return {
    ...foreign,
    type: isGauge ? 'gauge' : 'stat',
    fieldConfig: {
      defaults: {
        unit: foreign['format'],
        decimals: foreign['decimals'],
        min: isGauge ? field(foreign, 'gauge', 'minValue') : undefined,
        max: isGauge ? field(foreign, 'gauge', 'maxValue') : undefined,
        noValue: foreign['nullText'],
        mappings,
        thresholds: isColored || isGauge ? { steps } : undefined,
      },
      overrides: [],
    },
    options: {
      reduceOptions: { calcs: [foreign['valueName'] ?? 'avg'], values: false },
      graphMode: field(foreign, 'sparkline', 'show') === true ? 'area' : 'none',
      colorMode: foreign['colorBackground'] === true ? 'background' : 'value',
      textMode: foreign['valueName'] === 'name' ? 'name' : 'auto',
    },
  };
}

/** The table of versions before 7: its styles are overrides today, its transforms transformations. */
function oldTable(foreign: Foreign): Foreign {
  const transformations: Readonly<Record<string, readonly Foreign[]>> = {
    timeseries_to_rows: [{ id: 'seriesToRows', options: {} }],
    timeseries_to_columns: [{ id: 'seriesToColumns', options: { byField: 'Time' } }],
    timeseries_aggregations: [
      {
        id: 'reduce',
        options: { reducers: objects(foreign['columns']).map(({ value }) => value) },
      },
    ],
    table: [{ id: 'merge', options: {} }],
  };
  return {
    ...foreign,
    type: 'table',
    fieldConfig: {
      defaults: {},
      overrides: objects(foreign['styles']).flatMap(columnStyle),
    },
    transformations: transformations[text(foreign['transform'])] ?? [],
  };
}

function columnStyle(style: Foreign): readonly Foreign[] {
  const type = text(style['type']);
  const colors = Array.isArray(style['colors']) ? (style['colors'] as unknown[]) : [];
  const limits = (Array.isArray(style['thresholds']) ? (style['thresholds'] as unknown[]) : [])
    .map(Number)
    .filter(Number.isFinite);
  const properties = (
    [
      ['displayName', text(style['alias']) || undefined],
      ['unit', type === 'number' ? style['unit'] : type === 'date' ? 'dateTimeAsIso' : undefined],
      ['decimals', type === 'number' ? style['decimals'] : undefined],
      ['custom.hidden', type === 'hidden' ? true : undefined],
      [
        'custom.displayMode',
        { cell: 'color-background', row: 'color-background', value: 'color-text' }[
          text(style['colorMode'])
        ],
      ],
      ['mappings', objects(style['valueMaps']).map((map) => ({ ...map, type: 1 }))],
      [
        'thresholds',
        limits.length === 0
          ? undefined
          : {
              steps: colors
                .slice(0, limits.length + 1)
                .map((color, at) => ({ value: at === 0 ? null : limits[at - 1], color })),
            },
      ],
    ] as const
  ).flatMap(([id, value]) => (value === undefined || value === null ? [] : [{ id, value }]));
  const pattern = text(style['pattern']);
  const matcher =
    pattern === '/.*/' && type === 'number'
      ? { id: 'byType', options: 'number' }
      : matcherOf(pattern);
  return properties.length === 0 ? [] : [{ matcher, properties }];
}

/** The pie chart that once was a plugin. */
const pie = (foreign: Foreign): Foreign => ({
  ...foreign,
  type: 'piechart',
  fieldConfig: {
    defaults: { unit: foreign['format'], decimals: foreign['decimals'] },
    overrides: colorsOf(foreign['aliasColors']),
  },
  options: {
    pieType: foreign['pieType'] === 'donut' ? 'donut' : 'pie',
    reduceOptions: { calcs: [foreign['valueName'] ?? 'current'], values: false },
    legend: legendOf(foreign['legend']),
  },
});
