import { useState } from 'preact/hooks';

import { panelForm as text } from '../../../text/english/watch/dashboards.ts';
import { Dialog } from '../../../kit/dialog.tsx';
import { Field, Form, SelectField, TextField } from '../../../kit/form.tsx';
import { QueryInput } from '../../../kit/query-field.tsx';
import { useList } from '../../../client/data.ts';
import { Button } from '../../../kit/parts.tsx';
import type { PanelLink } from '../drawn/shape.ts';
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
  'status',
  'logs',
  'traces',
  'topology',
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
  const hasQuery = !isWordless(type);
  const hasFigures = hasQuery && type !== 'logs' && type !== 'traces';
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
            {hasFigures && (
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
        {hasFigures && <LimitFields limits={limits} onChange={setLimits} />}
        <TextField
          label={text.description}
          value={panel.description ?? ''}
          onInput={(description) => set({ description })}
        />
        {type !== 'row' && (
          <LinkFields links={panel.links ?? []} onChange={(links) => set({ links })} />
        )}
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
          language={type === 'logs' ? 'logql' : type === 'traces' ? 'traceql' : 'promql'}
          value={query}
          onInput={(next) => onChange({ query: next })}
        />
      )}
    </Field>
    {type !== 'traces' && (
      <TextField
        label={text.legend}
        hint={text.legendHint}
        value={legend}
        onInput={(next) => onChange({ legend: next })}
        mono
      />
    )}
  </>
);

/** Dashboards that the panel leads to, each with the words of its link. */
function LinkFields({
  links,
  onChange,
}: {
  readonly links: readonly PanelLink[];
  readonly onChange: (links: readonly PanelLink[]) => void;
}) {
  const { items } = useList<{ readonly uid: string; readonly title: string }>(
    '/observability/dashboards',
    { pageSize: 200 },
  );
  const options = (items ?? []).map(({ uid, title }) => [uid, title] as const);
  return (
    <fieldset class="board-variable">
      <legend>{text.links}</legend>
      {links.map((link, at) => (
        <div key={at} class="field-row">
          <SelectField
            label={text.linkTo}
            value={link.dashboard}
            options={
              options.some(([uid]) => uid === link.dashboard)
                ? options
                : [...options, [link.dashboard, link.dashboard] as const]
            }
            onChange={(dashboard) => onChange(links.with(at, { ...link, dashboard }))}
          />
          <TextField
            label={text.linkTitle}
            value={link.title}
            onInput={(title) => onChange(links.with(at, { ...link, title }))}
          />
          <Button
            kind="quiet"
            icon="trash"
            label={text.removeLink}
            onClick={() => onChange(links.toSpliced(at, 1))}
          />
        </div>
      ))}
      <Button
        icon="plus"
        disabled={options.length === 0 || links.length >= 10}
        onClick={() =>
          onChange([...links, { dashboard: options[0]![0], title: options[0]![1].slice(0, 100) }])
        }
      >
        {text.addLink}
      </Button>
    </fieldset>
  );
}

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
  const { content, queries, description = '', links = [], ...rest } = panel;
  const title = panel.title.trim();
  const named = links
    .map((link) => ({ ...link, title: link.title.trim() }))
    .filter((link) => link.title !== '');
  const about = {
    ...(description.trim() !== '' && { description: description.trim() }),
    ...(named.length > 0 && panel.type !== 'row' && { links: named }),
  };
  if (isWordless(panel.type)) {
    const words = panel.type === 'text' && {
      content: content ?? { mode: 'markdown' as const, text: '' },
    };
    return {
      ...rest,
      ...about,
      title,
      ...words,
      query: '',
      legend: '',
      unit: 'none',
      thresholds: [],
    };
  }
  const [first, ...others] = queries ?? [];
  const { query, legend } = panel;
  const isFound = panel.type === 'logs' || panel.type === 'traces';
  return {
    ...rest,
    ...about,
    title,
    ...(first && { queries: [{ ...first, query, legend }, ...others] }),
    ...(isFound
      ? { unit: 'none', thresholds: [] }
      : { thresholds: isChanged(panel, limits) ? thresholdsOf(limits) : panel.thresholds }),
  };
}

/** Returns whether panels of a type ask nothing. */
const isWordless = (type: string): boolean => ['text', 'row', 'topology'].includes(type);

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
