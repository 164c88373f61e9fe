import type { FieldSettings, ValueMapping } from '../model/drawing.ts';
import type { Threshold } from '../model/thresholds.ts';
import { colorOf, colorOfState, stateOfColor } from './colors.ts';
import { field, type Foreign, isObject, objects, text } from '../frames/foreign-json.ts';
import { nameOfUnit, unitOfName } from './units.ts';

/** A property of a field in Grafana, and the setting that stands for it here. */
interface Property {
  readonly id: string;
  readonly key: keyof FieldSettings;
  readonly read: (value: unknown) => unknown;
  readonly write: (value: never) => unknown;
}

const property = <Key extends keyof FieldSettings>(
  id: string,
  key: Key,
  read: (value: unknown) => FieldSettings[Key] | undefined,
  write: (value: NonNullable<FieldSettings[Key]>) => unknown = (value) => value,
): Property => ({ id, key, read, write });

const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value)
    ? value
    : typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))
      ? Number(value)
      : undefined;
const between = (least: number, most: number, value: unknown): number | undefined => {
  const number = numberOf(value);
  return number === undefined ? undefined : Math.min(most, Math.max(least, number));
};
const integer = (least: number, most: number, value: unknown): number | undefined => {
  const number = between(least, most, value);
  return number === undefined ? undefined : Math.round(number);
};
const word =
  <const Word extends string>(words: Readonly<Record<string, Word>>) =>
  (value: unknown): Word | undefined => {
    const name = text(value);
    return Object.hasOwn(words, name) ? words[name] : undefined;
  };
const someText = (most: number) => (value: unknown) => text(value, most) || undefined;

const properties: readonly Property[] = [
  property('displayName', 'name', someText(200)),
  property(
    'unit',
    'unit',
    (value) => (text(value) === '' ? undefined : unitOfName(text(value))),
    nameOfUnit,
  ),
  property('decimals', 'decimals', (value) => integer(0, 15, value)),
  property('min', 'min', numberOf),
  property('max', 'max', numberOf),
  property('noValue', 'no_value', someText(100)),
  property('color', 'color', readColor, (color) =>
    color === 'thresholds' ? { mode: color } : { mode: 'fixed', fixedColor: color },
  ),
  property('thresholds', 'thresholds', (value) => nonEmpty(thresholdsOf(value)), writeThresholds),
  property('mappings', 'mappings', (value) => nonEmpty(mappingsOf(value)), writeMappings),
  property('custom.drawStyle', 'draw', word({ bars: 'bars', points: 'points', line: 'line' })),
  property(
    'custom.fillOpacity',
    'fill',
    (value) => {
      const percent = between(0, 100, value);
      return percent === undefined ? undefined : percent / 100;
    },
    (fill) => Math.round(fill * 100),
  ),
  property('custom.lineWidth', 'line_width', (value) => between(0, 20, value)),
  property(
    'custom.lineStyle',
    'line_style',
    (value) => word({ solid: 'solid', dash: 'dash', dot: 'dot' })(field(value, 'fill')),
    (fill) => ({ fill, ...(fill !== 'solid' && { dash: fill === 'dash' ? [10, 10] : [0, 10] }) }),
  ),
  property(
    'custom.lineInterpolation',
    'steps',
    (value) => (text(value).startsWith('step') ? true : undefined),
    (steps) => (steps ? 'stepAfter' : 'linear'),
  ),
  property('custom.spanNulls', 'connect', (value) =>
    value === true || (typeof value === 'number' && value > 0) ? true : undefined,
  ),
  property(
    'custom.stacking',
    'stacking',
    (value) =>
      value === false
        ? 'none'
        : word({ none: 'none', normal: 'normal', percent: 'percent' })(field(value, 'mode')),
    (mode) => ({ mode, group: 'A' }),
  ),
  property(
    'custom.transform',
    'negate',
    (value) => (text(value) === 'negative-Y' ? true : undefined),
    (negate) => (negate ? 'negative-Y' : undefined),
  ),
  property(
    'custom.axisPlacement',
    'axis',
    word({ left: 'left', right: 'right', hidden: 'hidden' }),
  ),
  property('custom.axisLabel', 'axis_label', someText(100)),
  property(
    'custom.scaleDistribution',
    'log',
    (value) =>
      text(field(value, 'type')) === 'log'
        ? (between(2, 10, field(value, 'log')) ?? 10)
        : undefined,
    (log) => ({ type: 'log', log }),
  ),
  property(
    'custom.hideFrom',
    'hidden',
    (value) => (field(value, 'viz') === true ? true : undefined),
    (viz) => ({ viz, legend: viz, tooltip: viz }),
  ),
  property('custom.hidden', 'hidden', (value) => (value === true ? true : undefined)),
  property('custom.width', 'width', (value) => integer(10, 2_000, value)),
  property(
    'custom.thresholdsStyle',
    'thresholds_drawn',
    (value) =>
      word({
        off: 'none',
        line: 'line',
        dashed: 'line',
        area: 'area',
        'line+area': 'area',
        'dashed+area': 'area',
        series: 'none',
      })(field(value, 'mode')),
    (drawn) => ({ mode: drawn === 'none' ? 'off' : drawn === 'line' ? 'dashed' : 'area' }),
  ),
  property(
    'custom.cellOptions',
    'cell',
    (value) => cellOf(field(value, 'type')),
    (cell) => ({ type: cell === 'gauge' ? cell : `color-${cell}` }),
  ),
  property('custom.displayMode', 'cell', cellOf),
];

function cellOf(value: unknown): FieldSettings['cell'] {
  return /gauge/.test(text(value))
    ? 'gauge'
    : word({
        'color-text': 'text',
        'color-background': 'background',
        'color-background-solid': 'background',
      })(value);
}

function readColor(value: unknown): string | undefined {
  const mode = text(field(value, 'mode'));
  return mode === 'thresholds'
    ? mode
    : mode === 'fixed' || mode === 'shades'
      ? colorOf(field(value, 'fixedColor'))
      : undefined;
}

const nonEmpty = <T>(items: readonly T[]): T[] | undefined =>
  items.length === 0 ? undefined : [...items];

/** Names by which an older Grafana knew a property. */
const oldNames: Readonly<Record<string, string>> = { 'custom.align': '', title: 'displayName' };

/** Returns the setting that a property stands for; nothing if it has no counterpart. */
export function settingOf(id: string, value: unknown): Partial<FieldSettings> {
  const name = oldNames[id] ?? id;
  const found = properties.find((one) => one.id === name);
  const read = found?.read(value);
  return found === undefined || read === undefined ? {} : { [found.key]: read };
}

/** Returns the settings of `fieldConfig.defaults`. */
export function defaultsOf(defaults: unknown): Partial<FieldSettings> {
  const own = isObject(defaults) ? Object.entries(defaults) : [];
  const custom = field(defaults, 'custom');
  return Object.assign(
    {},
    ...own.map(([id, value]) => settingOf(id, value)),
    ...(isObject(custom) ? Object.entries(custom) : []).map(([id, value]) =>
      settingOf(`custom.${id}`, value),
    ),
  ) as Partial<FieldSettings>;
}

/** Returns settings as the properties of an override. */
export const propertiesOf = (
  settings: FieldSettings,
): { readonly id: string; readonly value: unknown }[] =>
  Object.entries(settings).flatMap(([key, value]) => {
    const found = properties.find((one) => one.key === key);
    return found === undefined ? [] : [{ id: found.id, value: found.write(value as never) }];
  });

/** Returns settings as `fieldConfig.defaults`. */
export function writeDefaults(settings: FieldSettings): Foreign {
  const defaults: Record<string, unknown> = {};
  const custom: Record<string, unknown> = {};
  for (const { id, value } of propertiesOf(settings)) {
    (id.startsWith('custom.') ? custom : defaults)[id.replace('custom.', '')] = value;
  }
  return { ...defaults, ...(Object.keys(custom).length > 0 && { custom }) };
}

const mostThresholds = 20;

/** Steps with values; percentages of a range of 0 to 100 are values. */
export function thresholdsOf(given: unknown): Threshold[] {
  const steps = objects(field(given, 'steps')).map((step) => ({
    value: numberOf(step['value']) ?? null,
    ...stateOfColor(step['color']),
  }));
  const found = steps
    .filter(({ value }, at) => steps.findLastIndex((other) => other.value === value) === at)
    .toSorted(
      (a, b) => (a.value ?? Number.NEGATIVE_INFINITY) - (b.value ?? Number.NEGATIVE_INFINITY),
    )
    .slice(0, mostThresholds);
  const [first] = found;
  // All is well below the first step anyway.
  return first?.value === null && first.state === 'ok' && first.color === undefined
    ? found.slice(1)
    : found;
}

function writeThresholds(thresholds: readonly Threshold[]): Foreign {
  const steps: readonly Threshold[] =
    thresholds[0]?.value === null
      ? thresholds
      : [{ value: null, state: 'ok' as const }, ...thresholds];
  return {
    mode: 'absolute',
    steps: steps.map(({ value, state, color }) => ({ value, color: color ?? colorOfState(state) })),
  };
}

const specials = word({
  null: 'null',
  nan: 'nan',
  'null+nan': 'null+nan',
  true: 'true',
  false: 'false',
  empty: 'empty',
});
const mostMappings = 200;

export function mappingsOf(given: unknown): ValueMapping[] {
  return objects(given)
    .flatMap((mapping): ValueMapping[] => {
      const { options } = mapping;
      const result = resultOf(field(options, 'result'));
      switch (mapping['type']) {
        case 'value':
          return (isObject(options) ? Object.entries(options) : []).map(([value, shown]) => ({
            value: value.slice(0, 200),
            ...resultOf(shown),
          }));
        case 'range':
          return [{ ...limits(options), ...result }];
        case 'regex': {
          const pattern = text(field(options, 'pattern')).replace(/^\/([^]*)\/[a-z]*$/, '$1');
          return pattern === '' ? [] : [{ pattern, ...result }];
        }
        case 'special': {
          const special = specials(field(options, 'match'));
          return special === undefined ? [] : [{ special, ...result }];
        }
        // Until version 8 a kind was a number, or missing.
        case 1:
        case undefined:
          return text(mapping['value']) === 'null'
            ? [{ special: 'null', text: text(mapping['text']) }]
            : [{ value: text(String(mapping['value'])), text: text(mapping['text']) }];
        case 2:
          return [{ ...limits(mapping), text: text(mapping['text']) }];
        default:
          return [];
      }
    })
    .slice(0, mostMappings);
}

function limits(given: unknown): Pick<ValueMapping, 'from' | 'to'> {
  const [from, to] = [numberOf(field(given, 'from')), numberOf(field(given, 'to'))];
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

function resultOf(given: unknown): Pick<ValueMapping, 'text' | 'color'> {
  const [shown, color] = [field(given, 'text'), colorOf(field(given, 'color'))];
  return {
    ...(typeof shown === 'string' && { text: text(shown) }),
    ...(color !== undefined && { color }),
  };
}

function writeMappings(mappings: readonly ValueMapping[]): readonly Foreign[] {
  return mappings.map(({ value, from, to, pattern, special, ...result }) =>
    value !== undefined
      ? { type: 'value', options: { [value]: result } }
      : pattern !== undefined
        ? { type: 'regex', options: { pattern, result } }
        : special !== undefined
          ? { type: 'special', options: { match: special, result } }
          : { type: 'range', options: { from: from ?? null, to: to ?? null, result } },
  );
}
