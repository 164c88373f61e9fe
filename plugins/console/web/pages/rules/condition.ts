import { compared, comparisonOf, sideOf } from './comparison.ts';

export type Condition = Readonly<Record<string, unknown>>;

/** Returns a field as it stands in its box: empty for what no box can show. */
export const written = (field: unknown): string =>
  typeof field === 'string' || typeof field === 'number' ? String(field) : '';

/** One field of a condition, as the form asks for it. */
export interface ConditionField {
  readonly name: string;
  readonly asks: 'query' | 'duration' | 'number' | 'text';
  /** The language of a query. */
  readonly language?: 'promql' | 'logql';
  readonly isOptional?: boolean;
}

const query = (name: string): ConditionField => ({ name, asks: 'query', language: 'promql' });
const span = (name: string): ConditionField => ({ name, asks: 'duration' });
const figureOf = (name: string): ConditionField => ({ name, asks: 'number' });
const perhaps = (field: ConditionField): ConditionField => ({ ...field, isOptional: true });
const lasting = perhaps(span('for'));

/** Fields of each kind of condition, in the order of the form. */
const fields: Readonly<Record<string, readonly ConditionField[]>> = {
  metric_raw: [query('expr'), lasting],
  metric_anomaly: [query('metric'), span('window'), figureOf('z_threshold'), lasting],
  metric_forecast: [
    query('metric'),
    span('window'),
    span('forecast_for'),
    perhaps(figureOf('above')),
    perhaps(figureOf('below')),
    perhaps(span('min_span')),
    perhaps(figureOf('from_value')),
    lasting,
  ],
  metric_burn_rate: [
    query('good'),
    query('total'),
    figureOf('slo'),
    span('long'),
    span('short'),
    perhaps(figureOf('factor')),
    perhaps(figureOf('min_events')),
    lasting,
  ],
  log_match: [{ name: 'expr', asks: 'query', language: 'logql' }, lasting],
  log_volume: [{ name: 'expr', asks: 'query', language: 'logql' }, lasting],
  trace_latency: [
    { name: 'service', asks: 'text' },
    figureOf('percentile'),
    figureOf('above_ms'),
    span('window'),
    lasting,
  ],
  trace_error_rate: [
    { name: 'service', asks: 'text' },
    figureOf('above_percent'),
    span('window'),
    lasting,
  ],
};

export const kinds = Object.keys(fields);
/** Kinds whose expression is split into a query, a comparison and a threshold. */
export const isCompared = (kind: string): boolean => kind === 'metric_raw' || kind === 'log_volume';

export const fieldsOf = (kind: string): readonly ConditionField[] => fields[kind] ?? [];

/** Returns why the builder cannot show a rule; undefined if it can. */
export function beyondBuilder(
  kind: string,
  conditions: readonly Condition[],
): { readonly kind: string } | { readonly field: string } | undefined {
  if (fields[kind] === undefined) {
    return { kind };
  }
  const known = new Set(fields[kind].map(({ name }) => name));
  for (const condition of conditions) {
    for (const [name, value] of Object.entries(condition)) {
      if (!known.has(name) || (typeof value !== 'string' && typeof value !== 'number')) {
        return { field: name };
      }
    }
  }
  return undefined;
}

/** The field of a condition that is a line on its curve. */
const thresholdFields: Readonly<Record<string, readonly string[]>> = {
  metric_anomaly: ['z_threshold'],
  metric_forecast: ['above', 'below'],
  metric_burn_rate: ['factor'],
  trace_latency: ['above_ms'],
  trace_error_rate: ['above_percent'],
};

/** A line on the curve of a condition, and how to move it. */
export interface Line {
  readonly value: number;
  readonly side: 'above' | 'below' | undefined;
  readonly moved: (value: number) => Condition;
}

export function lineOf(kind: string, condition: Condition): Line | undefined {
  if (isCompared(kind)) {
    const found = comparisonOf(written(condition['expr']));
    return (
      found && {
        value: found.threshold,
        side: sideOf(found.operator),
        moved: (threshold) => ({ ...condition, expr: compared({ ...found, threshold }) }),
      }
    );
  }
  const name = thresholdFields[kind]?.find((one) => typeof condition[one] === 'number');
  return name === undefined
    ? undefined
    : {
        value: Number(condition[name]),
        side: name === 'below' ? 'below' : 'above',
        moved: (value) => ({ ...condition, [name]: value }),
      };
}

/** Returns a condition with one field changed; an empty optional one is left out. */
export function withField(
  condition: Condition,
  { name, asks, isOptional }: ConditionField,
  typed: string,
): Condition {
  const { [name]: _before, ...others } = condition;
  if (typed === '' && isOptional) {
    return others;
  }
  return { ...condition, [name]: asks === 'number' && typed !== '' ? Number(typed) : typed };
}
