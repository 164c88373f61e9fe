import { useState } from 'preact/hooks';

import { panelForm as text } from '../../../text/english/watch/dashboards.ts';
import { Dialog } from '../../../kit/dialog.tsx';
import { Field, Form, SelectField, TextField } from '../../../kit/form.tsx';
import { QueryInput } from '../../../kit/query-field.tsx';
import type { DraftPanel } from './draft.ts';

const types = [
  'timeseries',
  'stat',
  'gauge',
  'bar_gauge',
  'bar_chart',
  'pie_chart',
  'table',
  'heatmap',
  'state_timeline',
  'status_history',
  'logs',
  'text',
] as const;
const units = [
  'none',
  'percent',
  'ratio',
  'bytes',
  'bytes_per_second',
  'bits_per_second',
  'per_second',
  'seconds',
  'milliseconds',
  'celsius',
  'timestamp',
];

interface PanelFormProps {
  readonly title: string;
  readonly panel: DraftPanel;
  readonly onClose: () => void;
  readonly onDone: (panel: DraftPanel) => void;
}

/** Fields of a panel; what they make of it is drawn before it is saved. */
export function PanelForm({ title, panel: before, onClose, onDone }: PanelFormProps) {
  const [panel, setPanel] = useState(before);
  const [limits, setLimits] = useState({
    warning: limitOf(before, 'warning'),
    critical: limitOf(before, 'critical'),
  });
  const set = (changes: Partial<DraftPanel>): void => setPanel({ ...panel, ...changes });
  const { type } = panel;
  const hasQuery = type !== 'text' && type !== 'row';
  return (
    <Dialog title={title} onClose={onClose} wide>
      <Form
        submit={text.apply}
        onCancel={onClose}
        disabled={panel.title.trim() === '' || (hasQuery && panel.query.trim() === '')}
        onSubmit={() => {
          onDone(finished(panel, limits));
          return Promise.resolve();
        }}
      >
        <TextField
          label={text.name}
          value={panel.title}
          onInput={(name) => set({ title: name })}
          autoFocus
          required
        />
        {type !== 'row' && (
          <div class="field-row">
            <Choice
              label={text.type}
              value={type}
              options={types}
              onChange={(next) => set({ type: next })}
            />
            {hasQuery && type !== 'logs' && (
              <Choice
                label={text.unit}
                value={panel.unit}
                options={units}
                onChange={(unit) => set({ unit })}
              />
            )}
          </div>
        )}
        {type === 'text' && (
          <TextField
            label={text.content}
            hint={text.contentHint}
            value={panel.content?.text ?? ''}
            onInput={(words) =>
              set({ content: { mode: panel.content?.mode ?? 'markdown', text: words } })
            }
            rows={6}
          />
        )}
        {hasQuery && <QueryFields panel={panel} onChange={set} />}
        {hasQuery && type !== 'logs' && <LimitFields limits={limits} onChange={setLimits} />}
        <TextField
          label={text.description}
          value={panel.description ?? ''}
          onInput={(description) => set({ description })}
        />
      </Form>
    </Dialog>
  );
}

const QueryFields = ({
  panel: { type, query, legend },
  onChange,
}: {
  readonly panel: DraftPanel;
  readonly onChange: (changes: Partial<DraftPanel>) => void;
}) => (
  <>
    <Field label={text.query} hint={text.queryHint}>
      {(ids) => (
        <QueryInput
          {...ids}
          language={type === 'logs' ? 'logql' : 'promql'}
          value={query}
          onInput={(next) => onChange({ query: next })}
        />
      )}
    </Field>
    <TextField
      label={text.legend}
      hint={text.legendHint}
      value={legend}
      onInput={(next) => onChange({ legend: next })}
      mono
    />
  </>
);

const LimitFields = ({
  limits,
  onChange,
}: {
  readonly limits: Limits;
  readonly onChange: (limits: Limits) => void;
}) => (
  <div class="field-row">
    <TextField
      label={text.warning}
      type="number"
      value={limits.warning}
      onInput={(warning) => onChange({ ...limits, warning })}
    />
    <TextField
      label={text.critical}
      type="number"
      value={limits.critical}
      onInput={(critical) => onChange({ ...limits, critical })}
    />
  </div>
);

interface Limits {
  readonly warning: string;
  readonly critical: string;
}

const limitOf = ({ thresholds }: DraftPanel, state: 'warning' | 'critical'): string => {
  const value = thresholds.find((one) => one.state === state)?.value ?? null;
  return value === null ? '' : String(value);
};

/** Returns the panel without what its type does not have. */
function finished(panel: DraftPanel, limits: Limits): DraftPanel {
  const { content, queries, description = '', ...rest } = panel;
  const title = panel.title.trim();
  const about = description.trim() === '' ? {} : { description: description.trim() };
  if (panel.type === 'text' || panel.type === 'row') {
    const words = panel.type === 'text' && {
      content: content ?? { mode: 'markdown' as const, text: '' },
    };
    return { ...rest, ...about, title, ...words, query: '', unit: 'none', thresholds: [] };
  }
  const [first, ...others] = queries ?? [];
  const { query, legend } = panel;
  const isLogs = panel.type === 'logs';
  return {
    ...rest,
    ...about,
    title,
    ...(first && { queries: [{ ...first, query, legend }, ...others] }),
    ...(isLogs
      ? { unit: 'none', thresholds: [] }
      : { thresholds: isChanged(panel, limits) ? thresholdsOf(limits) : panel.thresholds }),
  };
}

const isChanged = (panel: DraftPanel, { warning, critical }: Limits): boolean =>
  warning !== limitOf(panel, 'warning') || critical !== limitOf(panel, 'critical');

const thresholdsOf = (limits: Limits): DraftPanel['thresholds'] =>
  (['warning', 'critical'] as const)
    .flatMap((state) =>
      limits[state].trim() === '' ? [] : [{ state, value: Number(limits[state]) }],
    )
    .toSorted((a, b) => a.value - b.value);

/** A choice of words of the API, which a value that is not among them joins. */
const Choice = ({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly onChange: (value: string) => void;
}) => (
  <SelectField
    label={label}
    value={value}
    options={[...new Set([...options, value])].map(
      (one) => [one, one.replaceAll('_', ' ')] as const,
    )}
    onChange={onChange}
  />
);
