import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { panelForm as text } from '../../text/english/watch/dashboards.ts';
import { attempt, Dialog } from '../../kit/dialog.tsx';
import { Form, SelectField, TextField } from '../../kit/form.tsx';
import { Button } from '../../kit/parts.tsx';
import { firstGap } from './gap.ts';
import type { Panel } from './shape.ts';

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
  /** Dashboard of the panel; undefined for the first panel of a new dashboard. */
  readonly uid?: string;
  readonly panel?: Panel | undefined;
  /** Panels among which a new one finds a gap. */
  readonly others?: readonly Panel[];
  readonly onClose: () => void;
  readonly onDone: (uid: string) => void;
}

/** Makes or changes a panel; svc tries its query before it takes it. */
export function PanelForm({ title, uid, panel, others = [], onClose, onDone }: PanelFormProps) {
  const [address, setAddress] = useState(uid ?? '');
  const [name, setName] = useState(panel?.title ?? '');
  const [type, setType] = useState<string>(panel?.type ?? 'timeseries');
  const [query, setQuery] = useState(panel?.query ?? '');
  const [legend, setLegend] = useState(panel?.legend ?? '');
  const [unit, setUnit] = useState(panel?.unit ?? 'none');
  const [width, setWidth] = useState(String(panel?.position.w ?? 12));
  const [height, setHeight] = useState(String(panel?.position.h ?? 8));
  const save = async (): Promise<void> => {
    const body = bodyOf(panel, { title: name, type, query, legend, unit });
    const [w, h] = [Number(width), Number(height)];
    if (panel === undefined) {
      await api.post('/monitor/panels', {
        ...body,
        dashboard_uid: address,
        position: firstGap(others.map(({ position }) => position)),
      });
    } else {
      const position = { ...panel.position, x: Math.min(panel.position.x, 24 - w), w, h };
      await api.patch(`/monitor/panels/${panel.id}`, { ...body, position });
    }
    onDone(address);
  };
  const remove = (): void =>
    void attempt(() => api.delete(`/monitor/panels/${panel!.id}`), text.deleted).then(
      (done) => done && onDone(address),
    );
  return (
    <Dialog title={title} onClose={onClose} wide>
      <Form onSubmit={save} onCancel={onClose}>
        {uid === undefined && (
          <TextField
            label={text.uid}
            hint={text.uidHint}
            value={address}
            onInput={setAddress}
            autoFocus
            required
          />
        )}
        <TextField
          label={uid === undefined ? text.firstName : text.name}
          value={name}
          onInput={setName}
          autoFocus={uid !== undefined}
          required
        />
        <TextField
          label={text.query}
          hint={text.queryHint}
          value={query}
          onInput={setQuery}
          rows={3}
          mono
          required
        />
        <Drawing type={type} unit={unit} onType={setType} onUnit={setUnit} />
        <TextField
          label={text.legend}
          hint={text.legendHint}
          value={legend}
          onInput={setLegend}
          mono
        />
        {panel !== undefined && (
          <div class="field-row">
            <TextField label={text.width} type="number" value={width} onInput={setWidth} />
            <TextField label={text.height} type="number" value={height} onInput={setHeight} />
          </div>
        )}
      </Form>
      {panel !== undefined && (
        <Button kind="danger" icon="trash" onClick={remove}>
          {text.delete}
        </Button>
      )}
    </Dialog>
  );
}

/** Returns the body of a panel; of a text only its title is written here. */
const bodyOf = (panel: Panel | undefined, { title, ...drawn }: Record<string, string>) =>
  panel?.content === undefined ? { title, ...drawn } : { title };

interface DrawingProps {
  readonly type: string;
  readonly unit: string;
  readonly onType: (type: string) => void;
  readonly onUnit: (unit: string) => void;
}

/** Fields for the visualization of the answer, and its unit. */
const Drawing = ({ type, unit, onType, onUnit }: DrawingProps) => (
  <div class="field-row">
    <SelectField
      label={text.type}
      value={type}
      options={[...new Set([...types, type])].map(
        (one) => [one, one.replaceAll('_', ' ')] as const,
      )}
      onChange={onType}
    />
    <SelectField
      label={text.unit}
      value={unit}
      options={[...new Set([...units, unit])].map(
        (one) => [one, one.replaceAll('_', ' ')] as const,
      )}
      onChange={onUnit}
    />
  </div>
);
