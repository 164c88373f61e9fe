import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { rule as text } from '../../text/english/alerting/rules.ts';
import { Field, SelectField, TextField } from '../../kit/form.tsx';
import { QueryInput } from '../../kit/query-field.tsx';
import { compared, comparisonOf, type Operator, operators } from './comparison.ts';
import {
  type Condition,
  type ConditionField,
  fieldsOf,
  isCompared,
  withField,
  written,
} from './condition.ts';

interface ConditionFieldsProps {
  readonly kind: string;
  readonly condition: Condition;
  readonly onChange: (condition: Condition) => void;
}

/** Every field of one condition, its queries in full width above the others. */
export function ConditionFields({ kind, condition, onChange }: ConditionFieldsProps) {
  const fields = fieldsOf(kind);
  const rest = fields.filter(({ asks }) => asks !== 'query');
  const set = (field: ConditionField) => (typed: string) =>
    onChange(withField(condition, field, typed));
  const others = rest.map((field) => (
    <TextField
      key={field.name}
      label={labelOf(field.name)}
      value={written(condition[field.name])}
      onInput={set(field)}
      type={field.asks === 'number' ? 'number' : 'text'}
      hint={field.name === 'for' ? text.forHint : undefined}
      required={!field.isOptional}
    />
  ));
  if (isCompared(kind)) {
    return (
      <Compared
        expression={written(condition['expr'])}
        language={kind === 'log_volume' ? 'logql' : 'promql'}
        onChange={(expr) => onChange({ ...condition, expr })}
      >
        {others}
      </Compared>
    );
  }
  return (
    <>
      {fields
        .filter(({ asks }) => asks === 'query')
        .map((field) => (
          <Query
            key={field.name}
            label={labelOf(field.name)}
            language={field.language ?? 'promql'}
            value={written(condition[field.name])}
            onInput={set(field)}
          />
        ))}
      <div class="condition-row">{others}</div>
    </>
  );
}

const labelOf = (name: string): string => (text as Readonly<Record<string, string>>)[name] ?? name;

const Query = ({
  label,
  language,
  value,
  hint,
  onInput,
}: {
  readonly label: string;
  readonly language: 'promql' | 'logql';
  readonly value: string;
  readonly hint?: string;
  readonly onInput: (query: string) => void;
}) => (
  <Field label={label} hint={hint}>
    {({ id, 'aria-describedby': note }) => (
      <QueryInput
        id={id}
        aria-describedby={note}
        language={language}
        value={value}
        onInput={onInput}
      />
    )}
  </Field>
);

/** An expression in the making: its threshold may be empty for a moment. */
interface Parts {
  readonly measure: string;
  /** `any`: each series that the query answers breaches. */
  readonly operator: Operator | 'any';
  readonly threshold: string;
}

function partsOf(expression: string): Parts {
  const found = comparisonOf(expression);
  return found === undefined
    ? { measure: expression, operator: 'any', threshold: '' }
    : { ...found, threshold: String(found.threshold) };
}

/** Returns the whole expression; undefined as long as a number is missing. */
function wholeOf({ measure, operator, threshold }: Parts): string | undefined {
  if (operator === 'any') {
    return measure;
  }
  return threshold === ''
    ? undefined
    : compared({ measure, operator, threshold: Number(threshold) });
}

function Compared({
  expression,
  language,
  onChange,
  children,
}: {
  readonly expression: string;
  readonly language: 'promql' | 'logql';
  readonly onChange: (expression: string) => void;
  readonly children: ComponentChildren;
}) {
  const [typed, setTyped] = useState<{ readonly parts: Parts; readonly over: string }>();
  // What is typed counts until the line is dragged, or the JSON edited.
  const isTyped = typed !== undefined && (wholeOf(typed.parts) ?? typed.over) === expression;
  const parts = isTyped ? typed.parts : partsOf(expression);
  const change = (changes: Partial<Parts>): void => {
    const next = { ...parts, ...changes };
    setTyped({ parts: next, over: expression });
    const whole = wholeOf(next);
    if (whole !== undefined) {
      onChange(whole);
    }
  };
  return (
    <>
      <Query
        label={text.query}
        language={language}
        value={parts.measure}
        hint={parts.operator === 'any' ? text.insideNote : undefined}
        onInput={(measure) => change({ measure })}
      />
      <div class="condition-row">
        <SelectField
          label={text.compare}
          value={parts.operator}
          options={[
            ...operators.map((one) => [one, one] as const),
            ['any', text.anyValue] as const,
          ]}
          onChange={(operator) =>
            change({
              operator,
              threshold: operator === 'any' || parts.threshold !== '' ? parts.threshold : '0',
            })
          }
        />
        {parts.operator !== 'any' && (
          <TextField
            label={text.threshold}
            type="number"
            value={parts.threshold}
            onInput={(threshold) => change({ threshold })}
            required
          />
        )}
        {children}
      </div>
    </>
  );
}
