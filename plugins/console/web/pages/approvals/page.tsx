import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useData, useList } from '../../client/data.ts';
import { address, usePlace, useParam } from '../../browser/location.ts';
import { approvals as text } from '../../text/english/act/approvals.ts';
import { say } from '../../text/words.ts';
import { attempt } from '../../kit/dialog.tsx';
import { Segments, TextField } from '../../kit/form.tsx';
import { Button, Empty, Fields, Head, Refused, Section, Skeleton } from '../../kit/parts.tsx';
import { Status, Tag, type Tone } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';

interface Approval {
  readonly id: string;
  readonly status: string;
  readonly tool: string;
  readonly class: 'safe' | 'mutating' | 'dangerous';
  readonly required_signatures: number;
  readonly args: unknown;
  readonly args_sha256: string;
  readonly rendered: string;
  readonly target: { readonly kind: string; readonly id: number | null; readonly name: string };
  readonly session_id: string | null;
  readonly persona: string | null;
  readonly requested_by: { readonly name: string };
  readonly reason: string | null;
  readonly created_at: string;
  readonly expires_at: string;
  readonly signatures?: readonly {
    readonly name: string;
    readonly decision: string;
    readonly comment: string;
    readonly at: string;
  }[];
}

const isWaiting = (status: string): boolean =>
  status === 'pending' || status === 'partially_signed';

const toneOf = (status: string): Tone =>
  isWaiting(status)
    ? 'warning'
    : status === 'executed'
      ? 'ok'
      : status === 'failed' || status === 'unknown'
        ? 'critical'
        : status === 'executing'
          ? 'info'
          : 'muted';

export default function Approvals() {
  const { parts } = usePlace();
  return parts[1] === undefined ? <List /> : <One key={parts[1]} id={parts[1]} />;
}

function List() {
  const [which, setWhich] = useParam('which', 'waiting');
  const approvals = useList<Approval>('/approvals', {
    query: which === 'waiting' ? { status: 'pending' } : {},
    kinds: ['approvals'],
  });
  const half = useList<Approval>('/approvals', {
    query: { status: 'partially_signed' },
    kinds: ['approvals'],
  });
  // What has one of two signatures waits as well, and first.
  const rows =
    which === 'waiting' && approvals.items && half.items
      ? [...half.items, ...approvals.items]
      : approvals.items;
  return (
    <>
      <Head title={text.title}>
        <Segments
          label={text.which}
          value={which}
          options={[
            ['waiting', text.waiting],
            ['all', text.all],
          ]}
          onChange={setWhich}
        />
      </Head>
      <Table
        label={text.title}
        rows={rows}
        asked={approvals}
        columns={columns}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => address(['approvals', id])}
        more={approvals.more}
        empty={<Empty title={text.none}>{text.noneNote}</Empty>}
      />
    </>
  );
}

const columns: readonly Column<Approval>[] = [
  { head: text.runs, cell: ({ rendered }) => <code class="cut">{rendered}</code> },
  {
    head: text.where,
    width: '16%',
    rank: 2,
    cell: ({ target }) => <span class="cut">{target.name}</span>,
  },
  {
    head: text.by,
    width: '16%',
    rank: 1,
    cell: ({ requested_by: by, persona }) => (
      <span class="cut">{persona === null ? by.name : `${persona} · ${by.name}`}</span>
    ),
  },
  {
    head: text.status,
    width: '140px',
    cell: ({ status }) => <Status tone={toneOf(status)}>{status.replaceAll('_', ' ')}</Status>,
  },
  {
    head: text.expires,
    width: '100px',
    cell: ({ expires_at: at, status }) => (isWaiting(status) ? <Time at={at} /> : null),
  },
];

/** Change to be signed: everything that is signed is on the page, and nothing is truncated. */
function One({ id }: { readonly id: string }) {
  const may = useMay();
  const { value, error, reload } = useData<Approval>(`/approvals/${encodeURIComponent(id)}`, {
    kinds: ['approvals'],
  });
  const [comment, setComment] = useState('');
  if (error && value === undefined) {
    return <Refused error={error} retry={reload} />;
  }
  if (value === undefined) {
    return <Skeleton lines={8} />;
  }
  const { args_sha256: hash, signatures = [] } = value;
  const given = signatures.filter(({ decision }) => decision === 'approved').length;
  const sign = (): void =>
    void attempt(
      () =>
        api.post(`/approvals/${id}/approve`, {
          args_sha256: hash,
          ...(comment !== '' && { comment }),
        }),
      text.signed,
    ).then(reload);
  const deny = (): void =>
    void attempt(
      () => api.post(`/approvals/${id}/deny`, { args_sha256: hash, reason: comment }),
      text.denied,
    ).then(reload);
  return (
    <>
      <Head
        title={value.tool || text.title}
        note={<Status tone={toneOf(value.status)}>{value.status.replaceAll('_', ' ')}</Status>}
      >
        {isWaiting(value.status) && may('approval:sign') && (
          <>
            <Button kind="danger" onClick={deny} disabled={comment.trim() === ''}>
              {text.deny}
            </Button>
            <Button kind="primary" onClick={sign}>
              {text.sign}
            </Button>
          </>
        )}
      </Head>
      <pre class="code">{value.rendered}</pre>
      {isWaiting(value.status) && may('approval:sign') && (
        <TextField label={text.comment} value={comment} onInput={setComment} />
      )}
      <Facts approval={value} signed={given} />
      <Section title={text.args}>
        <pre class="code">{JSON.stringify(value.args, undefined, 2)}</pre>
      </Section>
      {signatures.length > 0 && <Signatures of={signatures} />}
    </>
  );
}

function Facts({ approval, signed }: { readonly approval: Approval; readonly signed: number }) {
  return (
    <Fields
      of={[
        [
          text.where,
          approval.target.id === null ? (
            approval.target.name
          ) : (
            <a href={address(['devices', approval.target.id])}>{approval.target.name}</a>
          ),
        ],
        [
          text.class,
          <Tag tone={approval.class === 'dangerous' ? 'critical' : 'warning'}>
            {approval.class}
          </Tag>,
        ],
        [text.by, approval.requested_by.name],
        [text.persona, approval.persona],
        [text.reason, approval.reason],
        [text.signatures, say(text.needed, { signed, needed: approval.required_signatures })],
        [text.expires, <Time at={approval.expires_at} />],
        [
          text.session,
          approval.session_id === null ? null : (
            <a href={address(['chat', approval.session_id])}>{text.open}</a>
          ),
        ],
        [text.hash, <code>{approval.args_sha256}</code>],
      ]}
    />
  );
}

const Signatures = ({ of }: { readonly of: NonNullable<Approval['signatures']> }) => (
  <Section title={text.signatures}>
    <ul class="list">
      {of.map(({ name, decision, comment: said, at }) => (
        <li key={`${name} ${at}`}>
          <Status tone={decision === 'approved' ? 'ok' : 'critical'}>{name}</Status>
          <span>{said}</span>
          <span class="soft">
            <Time at={at} />
          </span>
        </li>
      ))}
    </ul>
  </Section>
);
