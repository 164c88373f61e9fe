import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useList } from '../../client/data.ts';
import { nameOfDevice, useNames } from '../../client/names.ts';
import { address, useParam } from '../../browser/location.ts';
import { fleet as text } from '../../text/english/watch/devices.ts';
import { say } from '../../text/words.ts';
import { attempt } from '../../kit/dialog.tsx';
import { Segments } from '../../kit/form.tsx';
import { Button, Empty, Refused } from '../../kit/parts.tsx';
import { Status, type Tone } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';

interface Edge {
  readonly id: number;
  readonly name: string;
  readonly status: 'pending' | 'online' | 'offline';
  readonly agent_version: string | null;
  readonly version_drift: boolean;
  readonly device_id: number | null;
  readonly device_reason: string | null;
  readonly refused_machine: { readonly at: string; readonly reason: string } | null;
  readonly conflict: { readonly since: string } | null;
  readonly last_seen_at: string | null;
}

const tones: Readonly<Record<Edge['status'], Tone>> = {
  online: 'ok',
  offline: 'warning',
  pending: 'info',
};

/** Every agent: what watches no device, or is claimed by two machines, says why and how it is decided. */
export function Fleet() {
  const [q, setQ] = useParam('q');
  const [status, setStatus] = useParam('status');
  const may = useMay();
  const edges = useList<Edge>('/edges', { query: { q, status }, kinds: ['edges', 'devices'] });
  useNames((edges.items ?? []).map(({ device_id: id }) => ({ device_id: String(id ?? '') })));
  const letIn = (id: number): void =>
    void attempt(() => api.post(`/edges/${id}/resolve`, {}), text.letInDone).then(edges.reload);
  const columns: readonly Column<Edge>[] = [
    {
      head: text.name,
      cell: ({ name, status: state }) => (
        <Status tone={tones[state]}>
          <span class="cut">{name}</span>
        </Status>
      ),
    },
    {
      head: text.device,
      width: '44%',
      cell: (edge) => (
        <Watched edge={edge} onLetIn={may('edge:resolve') ? () => letIn(edge.id) : undefined} />
      ),
    },
    {
      head: text.version,
      width: '110px',
      rank: 1,
      cell: ({ agent_version: version, version_drift: drifts }) => (
        <span class={drifts ? 'warning' : 'soft'} title={drifts ? text.drift : undefined}>
          {version ?? '–'}
        </span>
      ),
    },
    { head: text.seen, width: '110px', rank: 2, cell: ({ last_seen_at: at }) => <Time at={at} /> },
  ];
  return (
    <>
      <div class="filters">
        <input
          type="search"
          aria-label={text.search}
          placeholder={text.search}
          value={q}
          onInput={(event) => setQ(event.currentTarget.value)}
        />
        <Segments
          label={text.shown}
          value={status}
          onChange={setStatus}
          options={[
            ['', text.all],
            ['online', text.online],
            ['offline', text.offline],
            ['pending', text.pending],
          ]}
        />
      </div>
      {edges.error && !edges.items ? (
        <Refused error={edges.error} retry={edges.reload} />
      ) : (
        <Table
          label={text.label}
          rows={edges.items}
          columns={columns}
          keyOf={({ id }) => id}
          total={edges.total}
          more={edges.more}
          empty={
            q === '' && status === '' ? (
              <Empty title={text.empty}>{text.emptyNote}</Empty>
            ) : (
              <Empty title={text.none} />
            )
          }
        />
      )}
    </>
  );
}

function Watched({
  edge,
  onLetIn,
}: {
  readonly edge: Edge;
  readonly onLetIn: (() => void) | undefined;
}) {
  const { device_id: device, device_reason: reason, conflict, refused_machine: refused } = edge;
  if (conflict !== null || refused !== null) {
    const why = conflict === null ? `${text.stranger}: ${refused!.reason}` : text.clones;
    return (
      <span class="status">
        <span class="critical cut" title={why}>
          {why}
        </span>
        {onLetIn && <Button onClick={onLetIn}>{text.letIn}</Button>}
      </span>
    );
  }
  if (device !== null) {
    return (
      <a class="cut" href={address(['devices', device])}>
        {nameOfDevice(String(device)) ?? say(text.watches, { id: device })}
      </a>
    );
  }
  // The reason ends with the command that decides it; the page of that device has the same as a button.
  const [, claimed] = /svc device accept (\d+) /.exec(reason ?? '') ?? [];
  return (
    <span class="status">
      <span class="warning cut" title={reason ?? undefined}>
        {reason ?? '–'}
      </span>
      {claimed !== undefined && (
        <a class="button" href={address(['devices', claimed, 'agents'])}>
          {text.decide}
        </a>
      )}
    </span>
  );
}
