import type { LabelRecord } from 'svc/contracts/metricsdb';
import { compileRegex, type Pattern } from 'svc/query';

import type { FieldSettings, Override, ValueMapping } from '../model/drawing.ts';
import type { PanelBody } from '../model/panel.ts';
import { type State, stateOf, stepOf } from '../model/thresholds.ts';
import { formatted } from '../model/units.ts';
import { reduced } from '../frames/reduce.ts';

/** A series or column, as overrides choose it. */
export interface Chosen {
  readonly name: string;
  readonly type: 'time' | 'number' | 'string';
  readonly ref?: string;
  readonly labels?: LabelRecord;
  readonly values: () => Iterable<number | null>;
}

/** A value as it is shown. */
export interface Reading {
  readonly formatted: string;
  readonly state?: State;
  readonly color?: string;
}

/** Returns what overrides say of a series; undefined without any. */
export function settingsFor(
  { overrides = [] }: PanelBody,
  chosen: Chosen,
): FieldSettings | undefined {
  const fitting = overrides.filter((override) => fits(override, chosen));
  return fitting.length === 0
    ? undefined
    : (Object.assign({}, ...fitting.map(({ set }) => set)) as FieldSettings);
}

const patterns = new WeakMap<Override, Pattern | undefined>();

function patternOf(override: Override): Pattern | undefined {
  if (!patterns.has(override)) {
    let pattern: Pattern | undefined;
    try {
      pattern = compileRegex(override.of?.[0] ?? '');
    } catch {
      // A pattern that is none fits nothing; its dashboard is drawn all the same.
    }
    patterns.set(override, pattern);
  }
  return patterns.get(override);
}

function fits(override: Override, { name, type, ref, values }: Chosen): boolean {
  const { by, of = [] } = override;
  switch (by) {
    case 'name':
      return of.includes(name);
    case 'pattern':
      return patternOf(override)?.test(name) === true;
    case 'query':
      return ref !== undefined && of.includes(ref);
    case 'type':
      return of.includes(type);
    case 'value':
      return type === 'number' && compares(override, values());
  }
}

function compares(
  { calc = 'last', op = 'gte', value: wanted = 0 }: Override,
  values: Iterable<number | null>,
): boolean {
  const value = reduced(values, calc);
  if (value === undefined) {
    return false;
  }
  switch (op) {
    case 'gt':
      return value > wanted;
    case 'gte':
      return value >= wanted;
    case 'lt':
      return value < wanted;
    case 'lte':
      return value <= wanted;
    case 'eq':
      return value === wanted;
    case 'neq':
      return value !== wanted;
  }
}

/** Returns the name that an override gives to a series, with its labels put in. */
export const renamed = (
  { name, labels = {} }: Pick<Chosen, 'name' | 'labels'>,
  settings: FieldSettings | undefined,
): string =>
  settings?.name?.replaceAll(
    /\$\{__(?:field\.name|series\.name|field\.displayName|field\.labels(?:\.(\w+)|\["(\w+)"\]))\}/g,
    (_whole, plain?: string, quoted?: string) =>
      plain === undefined && quoted === undefined ? name : (labels[plain ?? quoted!] ?? ''),
  ) ?? name;

/** Returns how a value is shown: its mapping, else its unit, with the state that it reaches. */
export function readingOf(value: number, panel: PanelBody, settings: FieldSettings = {}): Reading {
  const thresholds = settings.thresholds ?? panel.thresholds;
  const mapping = mappingOf(value, settings.mappings ?? panel.mappings ?? []);
  const state = stateOf(value, thresholds);
  const color = mapping?.color ?? (state && stepOf(value, thresholds)?.color);
  return {
    formatted:
      mapping?.text ??
      formatted(value, settings.unit ?? panel.unit, settings.decimals ?? panel.display?.decimals),
    ...(state !== undefined && { state }),
    ...(color !== undefined && { color }),
  };
}

/** Returns the mapping of a value or text. */
export const mappingOf = (
  cell: number | string | null,
  mappings: readonly ValueMapping[],
): ValueMapping | undefined => mappings.find((mapping) => maps(mapping, cell));

function maps(
  { value, from, to, pattern, special }: ValueMapping,
  cell: number | string | null,
): boolean {
  if (value !== undefined) {
    return cell !== null && (String(cell) === value || (value !== '' && Number(value) === cell));
  }
  if (pattern !== undefined) {
    return typeof cell === 'string' && compileRegex(pattern).test(cell);
  }
  switch (special) {
    case 'null':
      return cell === null;
    case 'nan':
      return Number.isNaN(cell);
    case 'null+nan':
      return cell === null || Number.isNaN(cell);
    case 'empty':
      return cell === '';
    case 'true':
    case 'false':
      return cell === special;
    default:
      return (
        typeof cell === 'number' &&
        (from !== undefined || to !== undefined) &&
        cell >= (from ?? Number.NEGATIVE_INFINITY) &&
        cell <= (to ?? Number.POSITIVE_INFINITY)
      );
  }
}
