import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useList } from '../../client/data.ts';
import { address } from '../../browser/location.ts';
import { channels as text } from '../../text/english/alerting/channels.ts';
import { say } from '../../text/words.ts';
import { attempt, Dialog, tell } from '../../kit/dialog.tsx';
import { CheckField, Form, SelectField, TextField } from '../../kit/form.tsx';
import { Button, Empty, Head, Section } from '../../kit/parts.tsx';
import { Status, type Tone } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';

interface Channel {
  readonly id: number;
  readonly name: string;
  readonly channel_type: string;
  readonly endpoint: string;
  readonly match_severity_min: '' | 'info' | 'warning' | 'critical';
  readonly enabled: boolean;
  readonly send_resolved: boolean;
  readonly source: 'api' | 'settings';
  readonly queued: number;
  readonly last_sent_at: string | null;
  readonly last_error: string | null;
  readonly degraded: boolean;
  readonly degraded_reason: string | null;
}

interface Delivery {
  readonly id: string;
  readonly state: 'queued' | 'delayed' | 'sent' | 'folded' | 'overtaken' | 'failed';
  readonly kind: string;
  readonly incident_id: number;
  readonly channel_name: string;
  readonly attempts: number;
  readonly error: string | null;
  readonly accepted_at: string;
}

const types = [
  'webhook',
  'slack',
  'telegram',
  'feishu',
  'dingtalk',
  'wecom',
  'email',
  'pagerduty',
  'opsgenie',
] as const;

export default function Channels() {
  const may = useMay();
  const channels = useList<Channel>('/notification-channels', {
    kinds: ['deliveries'],
    every: 30_000,
  });
  const [edited, setEdited] = useState<Channel | 'new'>();
  return (
    <>
      <Head title={text.title}>
        {may('channel:create') && (
          <Button kind="primary" icon="plus" onClick={() => setEdited('new')}>
            {text.add}
          </Button>
        )}
      </Head>
      <Table
        label={text.title}
        rows={channels.items}
        asked={channels}
        columns={columnsOf(
          may('channel:test') ? (id) => void test(id).then(channels.reload) : undefined,
        )}
        keyOf={({ id }) => id}
        onPick={may('channel:update') ? setEdited : undefined}
        empty={<Empty title={text.none}>{text.noneNote}</Empty>}
      />
      <Deliveries mayResend={may('channel:resend')} />
      {edited !== undefined && (
        <Edited channel={edited} onClose={() => setEdited(undefined)} onDone={channels.reload} />
      )}
    </>
  );
}

const columnsOf = (onTest: ((id: number) => void) | undefined): readonly Column<Channel>[] => [
  { head: text.name, cell: ({ name }) => <span class="cut">{name}</span> },
  { head: text.type, width: '110px', cell: ({ channel_type: type }) => type },
  {
    head: text.endpoint,
    rank: 1,
    cell: ({ endpoint }) => <code class="cut soft">{endpoint}</code>,
  },
  {
    head: text.state,
    rank: 2,
    cell: ({ enabled, degraded, degraded_reason: reason, last_error: error }) => (
      <Status tone={!enabled ? 'muted' : degraded ? 'critical' : 'ok'}>
        <span class="cut" title={reason ?? error ?? undefined}>
          {!enabled ? text.off : degraded ? `${text.failing}: ${reason ?? error ?? ''}` : text.ok}
        </span>
      </Status>
    ),
  },
  { head: text.last, width: '110px', rank: 1, cell: ({ last_sent_at: at }) => <Time at={at} /> },
  {
    head: text.test,
    width: '100px',
    cell: ({ id }) => (onTest ? <Button onClick={() => onTest(id)}>{text.test}</Button> : null),
  },
];

const test = (id: number): Promise<boolean> =>
  attempt(async () => {
    const { result, error } = await api.post<{
      result: 'sent' | 'failed' | 'queued';
      error: string | null;
    }>(`/notification-channels/${id}/test`);
    tell(
      result === 'sent'
        ? text.tested
        : result === 'queued'
          ? text.waiting
          : say(text.notTested, { error: error ?? '' }),
      result === 'failed' ? 'critical' : 'ok',
    );
  });

type Draft = Pick<
  Channel,
  'name' | 'channel_type' | 'endpoint' | 'match_severity_min' | 'send_resolved' | 'enabled'
>;

const firstDraft: Draft = {
  name: '',
  channel_type: 'webhook',
  endpoint: '',
  match_severity_min: '',
  send_resolved: true,
  enabled: true,
};

/** A channel as it is read has more than may be written. */
const bodyOf = ({
  name,
  channel_type,
  endpoint,
  match_severity_min,
  send_resolved,
  enabled,
}: Draft): Draft => ({
  name,
  channel_type,
  endpoint,
  match_severity_min,
  send_resolved,
  enabled,
});

function Edited({
  channel,
  onClose,
  onDone,
}: {
  readonly channel: Channel | 'new';
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const old = channel === 'new' ? undefined : channel;
  const [draft, setDraft] = useState<Draft>(old ?? firstDraft);
  const save = async (): Promise<void> => {
    await (old === undefined
      ? api.post('/notification-channels', bodyOf(draft))
      : api.put(`/notification-channels/${old.id}`, bodyOf(draft)));
    onDone();
    onClose();
  };
  const remove = async (): Promise<void> => {
    if (await attempt(() => api.delete(`/notification-channels/${old!.id}`), text.deleted)) {
      onDone();
      onClose();
    }
  };
  return (
    <Dialog
      title={old === undefined ? text.add : say(text.edit, { name: old.name })}
      onClose={onClose}
    >
      <Form onSubmit={save} onCancel={onClose}>
        <Inputs draft={draft} onChange={(changes) => setDraft({ ...draft, ...changes })} />
      </Form>
      {old?.source === 'api' && (
        <Button kind="danger" icon="trash" onClick={() => void remove()}>
          {text.delete}
        </Button>
      )}
    </Dialog>
  );
}

interface InputsProps {
  readonly draft: Draft;
  readonly onChange: (changes: Partial<Draft>) => void;
}

const Inputs = ({ draft, onChange }: InputsProps) => (
  <>
    <TextField
      label={text.name}
      value={draft.name}
      onInput={(name) => onChange({ name })}
      required
      autoFocus
    />
    <SelectField
      label={text.type}
      value={draft.channel_type}
      options={[...new Set([...types, draft.channel_type])].map((one) => [one, one] as const)}
      onChange={(type) => onChange({ channel_type: type })}
    />
    <TextField
      label={text.endpoint}
      value={draft.endpoint}
      onInput={(endpoint) => onChange({ endpoint })}
      hint={text.endpointHint}
      mono
      required
    />
    <SelectField
      label={text.severity}
      value={draft.match_severity_min}
      options={[
        ['', text.all],
        ['info', 'info'],
        ['warning', 'warning'],
        ['critical', 'critical'],
      ]}
      onChange={(severity) => onChange({ match_severity_min: severity })}
    />
    <CheckField
      label={text.resolved}
      value={draft.send_resolved}
      onChange={(resolved) => onChange({ send_resolved: resolved })}
    />
    <CheckField
      label={text.enabled}
      value={draft.enabled}
      onChange={(enabled) => onChange({ enabled })}
    />
  </>
);

const deliveryTones: Readonly<Record<Delivery['state'], Tone>> = {
  queued: 'info',
  delayed: 'warning',
  sent: 'ok',
  folded: 'muted',
  overtaken: 'muted',
  failed: 'critical',
};

function Deliveries({ mayResend }: { readonly mayResend: boolean }) {
  const deliveries = useList<Delivery>('/notification-deliveries', {
    kinds: ['deliveries'],
    pageSize: 30,
  });
  const again = (id: string): void =>
    void attempt(() => api.post(`/notification-deliveries/${encodeURIComponent(id)}/resend`)).then(
      deliveries.reload,
    );
  const columns: readonly Column<Delivery>[] = [
    {
      head: text.what,
      cell: ({ state, kind, error }) => (
        <Status tone={deliveryTones[state]}>
          <span class="cut" title={error ?? undefined}>
            {kind}, {state}
            {error === null ? '' : `: ${error}`}
          </span>
        </Status>
      ),
    },
    {
      head: text.channel,
      width: '20%',
      cell: ({ channel_name: name }) => <span class="cut">{name}</span>,
    },
    {
      head: text.incident,
      width: '90px',
      rank: 2,
      numeric: true,
      cell: ({ incident_id: id }) => <a href={address(['incidents', id])}>{id}</a>,
    },
    { head: text.tries, width: '80px', rank: 1, numeric: true, cell: ({ attempts }) => attempts },
    { head: text.at, width: '110px', cell: ({ accepted_at: at }) => <Time at={at} /> },
    {
      head: text.again,
      width: '110px',
      rank: 1,
      cell: ({ id, state }) =>
        mayResend && (state === 'failed' || state === 'delayed') ? (
          <Button onClick={() => again(id)}>{text.again}</Button>
        ) : null,
    },
  ];
  return (
    <Section title={text.deliveries}>
      <Table
        label={text.deliveries}
        rows={deliveries.items}
        asked={deliveries}
        columns={columns}
        keyOf={({ id }) => id}
        more={deliveries.more}
        total={deliveries.total}
        empty={<Empty title={text.noDeliveries}>{text.noDeliveriesNote}</Empty>}
      />
    </Section>
  );
}
