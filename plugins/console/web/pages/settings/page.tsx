import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useList } from '../../client/data.ts';
import { useParam } from '../../browser/location.ts';
import { settings as text } from '../../text/english/administration/settings.ts';
import { say } from '../../text/words.ts';
import { attempt, Dialog } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Button, Empty, Fields, Head } from '../../kit/parts.tsx';
import { Tag } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';

interface Setting {
  readonly category: string;
  readonly key: string;
  readonly value: unknown;
  readonly sensitive: boolean;
  readonly source: string;
  readonly description: string;
  readonly env: string | null;
  readonly default: unknown;
  readonly writable: boolean;
  readonly updated_by: string | null;
  readonly problem?: string;
}

export default function Settings() {
  const isAdmin = useMay()('*');
  const [q, setQ] = useParam('q');
  const [edited, setEdited] = useState<Setting>();
  const settings = useList<Setting>('/system-settings', { kinds: ['settings'], pageSize: 1_000 });
  const wanted = q.toLowerCase();
  const rows = settings.items?.filter(({ category, key, description }) =>
    `${category}.${key} ${description}`.toLowerCase().includes(wanted),
  );
  return (
    <>
      <Head title={text.title}>
        <input
          type="search"
          value={q}
          placeholder={text.search}
          aria-label={text.search}
          onInput={(event) => setQ(event.currentTarget.value)}
        />
      </Head>
      <Table
        label={text.title}
        rows={rows}
        asked={settings}
        columns={columns}
        keyOf={({ category, key }) => `${category}.${key}`}
        onPick={isAdmin ? setEdited : undefined}
        empty={<Empty title={text.none} />}
      />
      {edited && (
        <Edited
          key={`${edited.category}.${edited.key}`}
          setting={edited}
          onClose={() => setEdited(undefined)}
          onDone={settings.reload}
        />
      )}
    </>
  );
}

const columns: readonly Column<Setting>[] = [
  {
    head: text.name,
    cell: ({ category, key, description, problem }) => (
      <span class="cut" title={problem ?? description}>
        <code>
          {category}.{key}
        </code>{' '}
        <span class={problem === undefined ? 'soft' : 'critical'}>{problem ?? description}</span>
      </span>
    ),
  },
  { head: text.value, width: '26%', cell: (setting) => <code class="cut">{shown(setting)}</code> },
  {
    head: text.source,
    width: '100px',
    rank: 1,
    cell: ({ source }) => <Tag tone={source === 'default' ? 'muted' : 'info'}>{source}</Tag>,
  },
];

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

const shown = ({ sensitive, value }: Setting): string =>
  sensitive ? (value === '' || value === null ? '' : text.hidden) : asText(value);

function Edited({
  setting,
  onClose,
  onDone,
}: {
  readonly setting: Setting;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const [value, setValue] = useState(setting.sensitive ? '' : asText(setting.value));
  const path = `/system-settings/${encodeURIComponent(setting.category)}/${encodeURIComponent(setting.key)}`;
  const save = async (): Promise<void> => {
    await api.put(path, {
      value:
        typeof setting.value === 'string' || setting.sensitive
          ? value
          : parsed(value, Array.isArray(setting.value)),
    });
    onDone();
    onClose();
  };
  const unset = async (): Promise<void> => {
    if (await attempt(() => api.delete(path), text.kept)) {
      onDone();
      onClose();
    }
  };
  return (
    <Dialog title={`${setting.category}.${setting.key}`} onClose={onClose}>
      <p>{setting.description}</p>
      <Fields
        of={[
          [text.source, setting.source],
          [
            text.otherwise,
            setting.default === undefined ? undefined : <code>{asText(setting.default)}</code>,
          ],
          [text.env, setting.env],
          [text.changedBy, setting.updated_by],
        ]}
      />
      {setting.writable ? (
        <Form onSubmit={save} onCancel={onClose}>
          <TextField
            label={text.value}
            value={value}
            onInput={setValue}
            hint={text.edit}
            mono
            autoFocus
            type={setting.sensitive ? 'password' : 'text'}
          />
        </Form>
      ) : (
        <p class="warning">{say(text.fixed, { source: setting.env ?? setting.source })}</p>
      )}
      {setting.source === 'database' && <Button onClick={() => void unset()}>{text.unset}</Button>}
    </Dialog>
  );
}

/**
 * Parses a value; a list may be typed with commas, as in the environment. What is not JSON is sent
 * as text, and svc decides whether it is valid.
 */
function parsed(value: string, isList: boolean): unknown {
  if (isList && !value.trimStart().startsWith('[')) {
    return value === '' ? [] : value.split(',').map((item) => item.trim());
  }
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
