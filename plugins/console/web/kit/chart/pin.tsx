import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useList } from '../../client/data.ts';
import { address, goTo } from '../../browser/location.ts';
import { onward as text } from '../../text/english/onward.ts';
import type { Unit } from '../../text/format.ts';
import { say } from '../../text/words.ts';
import { Dialog, tell } from '../dialog.tsx';
import { CheckField, Form, SelectField, TextField } from '../form.tsx';
import { freeUid } from './free-uid.ts';
import type { Shown } from './shown.ts';

interface Listed {
  readonly uid: string;
  readonly title: string;
}

const unitNames: Readonly<Record<Unit, string>> = {
  count: 'none',
  percent: 'percent',
  bytes: 'bytes',
  'bytes-per-second': 'bytes_per_second',
  'per-second': 'per_second',
  seconds: 'seconds',
};

const fresh = '';

/** Puts a chart on a dashboard: one that exists, or a new one. */
export function Pin({ shown, onClose }: { readonly shown: Shown; readonly onClose: () => void }) {
  const dashboards = useList<Listed>('/observability/dashboards', { pageSize: 200 });
  const [uid, setUid] = useState<string>(fresh);
  const [name, setName] = useState('');
  const [title, setTitle] = useState(shown.title.slice(0, 200));
  const [isOpened, setOpened] = useState(true);
  const known = dashboards.items ?? [];
  const save = async (): Promise<void> => {
    const panel = panelOf(shown, title.trim());
    const target = uid === fresh ? freeUid(name, known) : uid;
    await (uid === fresh
      ? api.put(`/monitor/dashboards/${target}`, { title: name.trim(), panels: [panel] })
      : api.post('/monitor/panels', { ...panel, dashboard_uid: target }));
    tell(say(text.pinned, { title: title.trim() }));
    onClose();
    if (isOpened) {
      goTo(address(['dashboards', target]));
    }
  };
  return (
    <Dialog title={text.pin} onClose={onClose}>
      <Form
        submit={text.pinSubmit}
        onSubmit={save}
        onCancel={onClose}
        disabled={title.trim() === '' || (uid === fresh && name.trim() === '')}
      >
        <SelectField
          label={text.dashboard}
          value={uid}
          options={[
            [fresh, text.newDashboard],
            ...known.map((one) => [one.uid, one.title] as const),
          ]}
          onChange={setUid}
        />
        {uid === fresh && (
          <TextField label={text.dashboardName} value={name} onInput={setName} autoFocus required />
        )}
        <TextField label={text.panelName} value={title} onInput={setTitle} required />
        <CheckField label={text.openAfter} value={isOpened} onChange={setOpened} />
      </Form>
    </Dialog>
  );
}

/** Returns the panel that shows what the chart shows. */
function panelOf({ queries, unit }: Shown, title: string) {
  const [first] = queries;
  return {
    title,
    type: 'timeseries',
    query: first!.expr,
    legend: first!.name ?? '',
    unit: unitNames[unit],
    thresholds: [],
    position: { x: 0, y: 0, w: 12, h: 8 },
    ...(queries.length > 1 && {
      queries: queries.map(({ expr, name }, index) => ({
        ref: String.fromCodePoint(65 + index),
        query: expr,
        ...(name !== undefined && { legend: name }),
      })),
    }),
  };
}
