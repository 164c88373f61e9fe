import { useId } from 'preact/hooks';

import { useData } from '../../client/data.ts';
import { builder as text } from '../../text/english/watch/explore.ts';
import { say } from '../../text/words.ts';
import { SelectField, Typed } from '../../kit/form.tsx';
import { Button } from '../../kit/parts.tsx';
import { type Filter, functions, groups, operators, type SimpleQuery } from './simple-query.ts';

interface BuilderProps {
  readonly query: SimpleQuery;
  readonly onChange: (query: SimpleQuery) => void;
}

/** A query as a form: a metric, filters, a function and a grouping, with what the store knows of each. */
export function Builder({ query, onChange }: BuilderProps) {
  const { metric, filters, of, window, group, by } = query;
  const set = (changes: Partial<SimpleQuery>): void => onChange({ ...query, ...changes });
  const metrics = useData<Listed>('//prometheus/api/v1/label/__name__/values');
  const labels = useData<Listed>('//prometheus/api/v1/labels', {
    query: metric === '' ? {} : { 'match[]': [metric] },
  });
  const names = labels.value?.data.filter((label) => label !== '__name__') ?? [];
  return (
    <fieldset class="builder">
      <legend class="hidden-text">{text.title}</legend>
      <Chosen
        label={text.metric}
        value={metric}
        list={metrics.value?.data ?? []}
        onChoose={(value) => set({ metric: value })}
      />
      {filters.map((filter, at) => (
        <FilterRow
          key={at}
          metric={metric}
          filter={filter}
          labels={names}
          onChange={(next) => set({ filters: filters.with(at, next) })}
          onRemove={() => set({ filters: filters.toSpliced(at, 1) })}
        />
      ))}
      <Button
        icon="plus"
        onClick={() => set({ filters: [...filters, { label: '', operator: '=', value: '' }] })}
      >
        {text.addFilter}
      </Button>
      <SelectField
        label={text.function}
        value={of}
        options={[['', text.values], ...functions.map((one) => [one, one] as const)]}
        onChange={(value) => set({ of: value })}
      />
      {of !== '' && (
        <SelectField
          label={text.window}
          value={window}
          options={[...new Set(['1m', '5m', '15m', '1h', '1d', window])].map((one) => [one, one])}
          onChange={(value) => set({ window: value })}
        />
      )}
      <SelectField
        label={text.group}
        value={group}
        options={[['', text.each], ...groups.map((one) => [one, one] as const)]}
        onChange={(value) => set({ group: value })}
      />
      {group !== '' && (
        <Chosen
          label={text.by}
          value={by.join(', ')}
          list={names}
          onChoose={(value) =>
            set({ by: value.split(/[\s,]+/).filter((label) => /^[a-zA-Z_]\w*$/.test(label)) })
          }
        />
      )}
    </fieldset>
  );
}

interface Listed {
  readonly data: readonly string[];
}

interface FilterRowProps {
  readonly metric: string;
  readonly filter: Filter;
  readonly labels: readonly string[];
  readonly onChange: (filter: Filter) => void;
  readonly onRemove: () => void;
}

function FilterRow({ metric, filter, labels, onChange, onRemove }: FilterRowProps) {
  const { label, operator, value } = filter;
  const isName = /^[a-zA-Z_]\w*$/.test(label);
  const values = useData<Listed>(
    isName ? `//prometheus/api/v1/label/${encodeURIComponent(label)}/values` : undefined,
    { query: metric === '' ? {} : { 'match[]': [metric] } },
  );
  return (
    <div class="builder-filter">
      <Chosen
        label={text.label}
        value={label}
        list={labels}
        onChoose={(next) => onChange({ ...filter, label: /^[a-zA-Z_]\w*$/.test(next) ? next : '' })}
      />
      <SelectField
        label={text.operator}
        value={operator}
        options={operators.map((one) => [one, one])}
        onChange={(next) => onChange({ ...filter, operator: next })}
      />
      <Chosen
        label={text.value}
        value={value}
        list={values.value?.data ?? []}
        onChoose={(next) => onChange({ ...filter, value: next })}
      />
      <Button
        kind="quiet"
        icon="close"
        label={say(text.removeFilter, { label })}
        onClick={onRemove}
      />
    </div>
  );
}

interface ChosenProps {
  readonly label: string;
  readonly value: string;
  readonly list: readonly string[];
  readonly onChoose: (value: string) => void;
}

const mostListed = 1_000;

/** A field for a name, with those that the store knows. */
function Chosen({ label, value, list, onChoose }: ChosenProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <Typed
        id={id}
        class="mono"
        list={`${id}-list`}
        value={value}
        onChoose={(next) => onChoose(next.trim())}
      />
      <datalist id={`${id}-list`}>
        {list.slice(0, mostListed).map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </div>
  );
}
