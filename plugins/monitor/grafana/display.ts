import type { PanelType } from '../model/schema.ts';
import type { State, Threshold } from '../model/thresholds.ts';
import type { Unit } from '../model/units.ts';
import { field, type Foreign, objects, text } from './json.ts';

const types: Readonly<Record<string, PanelType>> = {
  timeseries: 'timeseries',
  graph: 'timeseries',
  stat: 'stat',
  singlestat: 'stat',
  gauge: 'gauge',
  bargauge: 'gauge',
  table: 'table',
  'table-old': 'table',
  logs: 'logs',
};

export const panelType = (foreign: Foreign): PanelType | undefined => {
  const type = text(foreign['type']);
  return Object.hasOwn(types, type) ? types[type] : undefined;
};

const unitNames: Readonly<Record<string, Unit>> = {
  '': 'none',
  none: 'none',
  short: 'none',
  percent: 'percent',
  percentunit: 'ratio',
  bytes: 'bytes',
  decbytes: 'bytes',
  Bps: 'bytes_per_second',
  binBps: 'bytes_per_second',
  bps: 'bits_per_second',
  binbps: 'bits_per_second',
  ops: 'per_second',
  reqps: 'per_second',
  rps: 'per_second',
  wps: 'per_second',
  iops: 'per_second',
  cps: 'per_second',
  pps: 'per_second',
  s: 'seconds',
  ms: 'milliseconds',
  hertz: 'hertz',
  rothz: 'hertz',
  celsius: 'celsius',
  bool: 'boolean',
  bool_yes_no: 'boolean',
};

/** Older panels have their unit in other places. */
export function unitOf(foreign: Foreign, notes: string[]): Unit {
  const axis = objects(foreign['yaxes'])[0];
  const name =
    text(field(foreign, 'fieldConfig', 'defaults', 'unit')) ||
    text(foreign['format']) ||
    text(axis?.['format']);
  if (Object.hasOwn(unitNames, name)) {
    return unitNames[name]!;
  }
  notes.push(`the unit ${name}: it has no counterpart here`);
  return 'none';
}

const colors: readonly (readonly [form: RegExp, state: State])[] = [
  [/green|blue|transparent|text|#(?:299c46|37872d|73bf69)/i, 'ok'],
  [/yellow|orange|#(?:eab839|ed8128|ff9830|ff780a|f2cc0c)/i, 'warning'],
  [/red|#(?:d44a3a|bf1b00|f2495c|e02f44|c4162a)/i, 'critical'],
];

export function thresholdsOf(foreign: Foreign, notes: string[]): readonly Threshold[] {
  const given = field(foreign, 'fieldConfig', 'defaults', 'thresholds');
  const steps = objects(field(given, 'steps'));
  if (steps.length === 0) {
    return [];
  }
  if (text(field(given, 'mode')) === 'percentage') {
    notes.push('its thresholds: they are percentages of a range, and only values are supported');
    return [];
  }
  const found: Threshold[] = [];
  for (const [index, step] of steps.entries()) {
    const value =
      typeof step['value'] === 'number' && Number.isFinite(step['value']) ? step['value'] : null;
    const color = text(step['color']);
    const state = colors.find(([form]) => form.test(color))?.[1];
    const rises =
      index === 0 || (value !== null && value > (found.at(-1)?.value ?? Number.NEGATIVE_INFINITY));
    if (state === undefined || !rises || found.length === 20) {
      notes.push(
        `its thresholds: ${state === undefined ? `the color ${color || 'that is missing'} stands for no state` : 'they do not rise'}`,
      );
      return [];
    }
    found.push({ value, state });
  }
  // All is well below the first step anyway.
  return found[0]?.value === null && found[0].state === 'ok' ? found.slice(1) : found;
}
