import { useState } from 'preact/hooks';

import { api, type Page } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useData } from '../../client/data.ts';
import { figure } from '../../text/format.ts';
import {
  agentActions as actions,
  agentsOfDevice as text,
} from '../../text/english/watch/devices.ts';
import { say } from '../../text/words.ts';
import { attempt, Dialog } from '../../kit/dialog.tsx';
import { Button, Copyable, Empty, Refused, Section, Skeleton } from '../../kit/parts.tsx';
import { Status, type Tone } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';

interface Edge {
  readonly id: number;
  readonly name: string | null;
  readonly status: string | null;
  readonly agent_version: string | null;
  readonly last_seen_at: string | null;
  readonly binding: 'bound' | 'conflict';
  readonly reason: string | null;
}

/** The agents that watch a device, and what each of them collects. */
export function Agents({ device }: { readonly device: number }) {
  const { value, error, reload } = useData<Page<Edge>>(`/devices/${device}/edges`, {
    kinds: ['edges'],
  });
  if (value === undefined) {
    return error ? <Refused error={error} retry={reload} /> : <Skeleton lines={4} />;
  }
  return value.items.length === 0 ? (
    <Empty title={text.none} />
  ) : (
    <>
      {value.items.map((edge) => (
        <Section
          key={edge.id}
          title={edge.name ?? String(edge.id)}
          aside={
            <span class="soft">
              {edge.status} · {edge.agent_version} · {text.seen} <Time at={edge.last_seen_at} />
            </span>
          }
        >
          {edge.binding === 'conflict' && <Claim device={device} edge={edge} onDone={reload} />}
          <AgentActions edge={edge} onDone={reload} />
          <Notice edge={edge.id} />
          <Collectors edge={edge.id} />
        </Section>
      ))}
    </>
  );
}

/** A machine that says it is this device and does not prove it: a person decides. */
function Claim({
  device,
  edge: { id, name, reason },
  onDone,
}: {
  readonly device: number;
  readonly edge: Edge;
  readonly onDone: () => void;
}) {
  const may = useMay();
  const path = `/devices/${device}/edges/${id}`;
  const accept = (): void =>
    void attempt(() => api.post(`${path}/accept`), say(text.accepted, { name: name ?? id })).then(
      onDone,
    );
  const refuse = (): void => void attempt(() => api.delete(path), text.refused).then(onDone);
  return (
    <div class="claim">
      <Status tone="warning">{text.waits}</Status>
      <p class="soft">{reason}</p>
      <div class="buttons">
        {may('device:accept') && (
          <Button kind="primary" onClick={accept}>
            {text.accept}
          </Button>
        )}
        {may('device:delete') && <Button onClick={refuse}>{text.refuse}</Button>}
      </div>
    </div>
  );
}

/** Buttons for what can be done to an agent, as with `svc edge upgrade`, `rotate` and `rm`. */
function AgentActions({ edge, onDone }: { readonly edge: Edge; readonly onDone: () => void }) {
  const may = useMay();
  const [secret, setSecret] = useState<string>();
  const [isAsked, setAsked] = useState(false);
  const name = edge.name ?? String(edge.id);
  const path = `/edges/${edge.id}`;
  const upgrade = (): void =>
    void attempt(() => api.post(`${path}/upgrade-package`, {}), say(actions.upgraded, { name }));
  const rotate = (): void =>
    void attempt(async () => {
      const { secret_key: made } = await api.post<{ readonly secret_key: string }>(
        `${path}/rotate-secret`,
        {},
      );
      setSecret(made);
    });
  const remove = (): void =>
    void attempt(() => api.delete(path), say(actions.removed, { name })).then((done) => {
      setAsked(false);
      if (done) {
        onDone();
      }
    });
  return (
    <div class="buttons agent-actions">
      {may('edge:upgrade') && <Button onClick={upgrade}>{actions.upgrade}</Button>}
      {may('edge:rotate') && <Button onClick={rotate}>{actions.rotate}</Button>}
      {may('edge:delete') && <Button onClick={() => setAsked(true)}>{actions.remove}</Button>}
      {secret !== undefined && (
        <Dialog title={say(actions.rotatedTitle, { name })} onClose={() => setSecret(undefined)}>
          <p>{actions.rotatedNote}</p>
          <Copyable value={secret} />
        </Dialog>
      )}
      {isAsked && (
        <Dialog title={say(actions.removeTitle, { name })} onClose={() => setAsked(false)}>
          <p>{actions.removeNote}</p>
          <div class="buttons">
            <Button kind="danger" onClick={remove}>
              {actions.removeNow}
            </Button>
            <Button onClick={() => setAsked(false)}>{actions.cancel}</Button>
          </div>
        </Dialog>
      )}
    </div>
  );
}

/** Shows tasks that the agent cannot do, with the remedy. */
function Notice({ edge }: { readonly edge: number }) {
  const { value } = useData<{ readonly notice: string | null }>(`/edges/${edge}`, {
    kinds: ['edges'],
  });
  return value?.notice ? <Status tone="warning">{value.notice}</Status> : null;
}

interface Collector {
  readonly name: string;
  readonly kind: string;
  readonly enabled: boolean;
  readonly health: {
    readonly state: string;
    readonly last_error: string | null;
    readonly restart_count: number;
    readonly samples: number;
  };
}

const tones: Readonly<Record<string, Tone>> = {
  running: 'ok',
  crashed: 'critical',
  starting: 'info',
  stopping: 'muted',
  stopped: 'muted',
};

function Collectors({ edge }: { readonly edge: number }) {
  const { value, error } = useData<Page<Collector>>(`/edges/${edge}/plugins`, {
    kinds: ['edges'],
    every: 15_000,
  });
  return error && !value ? (
    <Refused error={error} />
  ) : (
    <Table
      label={text.name}
      rows={value?.items}
      keyOf={({ name }) => name}
      columns={columns}
      empty={<Empty title={text.none} />}
    />
  );
}

const columns: readonly Column<Collector>[] = [
  { head: text.name, cell: ({ name }) => name },
  {
    head: text.state,
    width: '130px',
    cell: ({ enabled, health }) => (
      <Status tone={enabled ? (tones[health.state] ?? 'muted') : 'muted'}>{health.state}</Status>
    ),
  },
  {
    head: text.samples,
    width: '100px',
    numeric: true,
    cell: ({ health }) => figure(health.samples),
  },
  {
    head: text.restarts,
    width: '90px',
    numeric: true,
    rank: 2,
    cell: ({ health }) => figure(health.restart_count),
  },
  {
    head: text.error,
    rank: 1,
    cell: ({ health }) => <span class="cut soft">{health.last_error ?? ''}</span>,
  },
];
