import { useLayoutEffect, useState } from 'preact/hooks';

import { api, type Page } from '../../client/api.ts';
import { useData } from '../../client/data.ts';
import { duration, figure } from '../../text/format.ts';
import { address } from '../../browser/location.ts';
import { incident as text } from '../../text/english/watch/incidents.ts';
import { say } from '../../text/words.ts';
import type { Incident } from '../shapes.ts';
import { Chart } from '../../kit/chart/chart.tsx';
import { attempt } from '../../kit/dialog.tsx';
import { Link } from '../../kit/markdown.tsx';
import { Button, Empty, Fields, Head, Refused, Section, Skeleton } from '../../kit/parts.tsx';
import { Mark, severityName, Status, statusName, Tag, toneOf } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Together } from '../../kit/together.tsx';
import { Time, useNow } from '../../kit/time.tsx';
import { Changes } from '../overview/changes.tsx';
import { NoteDialog, SilenceDialog } from './dialogs.tsx';
import { titleOf } from '../incident-cell.tsx';
import { Report } from './report.tsx';
import { Runbook } from './runbook.tsx';
import { Timeline } from './timeline.tsx';
import { Notifications } from './notifications.tsx';

interface Rule {
  readonly id: number;
  readonly kind: string;
  readonly conditions: readonly { readonly expr?: string; readonly metric?: string }[];
}

/** One incident: what, since when, why, who knows, and what can be done about it. */
export function IncidentPage({ id }: { readonly id: string }) {
  const {
    value: incident,
    error,
    reload,
  } = useData<Incident>(`/alerts/incidents/${encodeURIComponent(id)}`, { kinds: ['incidents'] });
  if (incident === undefined) {
    return error === undefined ? (
      <Skeleton lines={8} />
    ) : (
      <NotThere id={id} isMissing={error.status === 404 || error.status === 400}>
        {error && <Refused error={error} retry={reload} />}
      </NotThere>
    );
  }
  return <Shown incident={incident} />;
}

function Shown({ incident }: { readonly incident: Incident }) {
  return (
    <>
      <Head
        title={
          <span class="status">
            <Mark
              tone={toneOf(incident.severity, incident.status)}
              label={severityName(incident.severity)}
            />
            <span>{titleOf(incident)}</span>
          </span>
        }
        note={<When of={incident} />}
      >
        <Actions incident={incident} />
      </Head>
      {incident.annotations['description'] && (
        <p class="lead">{incident.annotations['description']}</p>
      )}
      <Together>
        <div class="columns">
          <div>
            <Report incident={incident.id} />
            <Measured incident={incident} />
            <Runbook incident={incident} />
            <Timeline incident={incident.id} />
            <Instances incident={incident} />
          </div>
          <div>
            <Facts incident={incident} />
            <Notifications incident={incident.id} />
            <Changes
              from={new Date(Date.parse(incident.last_fired_at) - 2 * 3_600_000).toISOString()}
              to={new Date(Date.parse(incident.last_fired_at) + 600_000).toISOString()}
              limit={10}
            />
          </div>
        </div>
      </Together>
    </>
  );
}

function NotThere({
  id,
  isMissing,
  children,
}: {
  readonly id: string;
  readonly isMissing: boolean;
  readonly children: preact.ComponentChildren;
}) {
  return isMissing ? (
    <Empty title={say(text.notFound, { id })}>
      <a href={address(['incidents'])}>{text.back}</a>
    </Empty>
  ) : (
    <>{children}</>
  );
}

function When({
  of: { status, last_fired_at: fired, resolved_at: resolved },
}: {
  readonly of: Incident;
}) {
  const now = useNow();
  const span = ((resolved === null ? now : Date.parse(resolved)) - Date.parse(fired)) / 1000;
  return (
    <>
      {statusName(status)} · {text.fired} <Time at={fired} /> ·{' '}
      {say(resolved === null ? text.lasting : text.lasts, { span: duration(Math.max(0, span)) })}
    </>
  );
}

function Actions({ incident }: { readonly incident: Incident }) {
  const { id, status } = incident;
  const [shown, setShown] = useState<'silence' | 'note'>();
  const [parts, setParts] = useState<typeof import('./handover.tsx')>();
  const path = `/alerts/incidents/${id}`;
  // What was pressed may be gone with the state: whoever works by keyboard goes on at what is left.
  const pressed = document.activeElement;
  useLayoutEffect(() => {
    if (pressed?.isConnected === false && document.activeElement === document.body) {
      document.querySelector<HTMLElement>('main .actions button')?.focus();
    }
  });
  // Nothing more is sent about one that is acknowledged: there is nothing to silence.
  return (
    <>
      {status === 'open' && (
        <Button
          kind="primary"
          onClick={() => void attempt(() => api.post(`${path}/ack`, {}), text.acknowledged)}
        >
          {text.acknowledge}
        </Button>
      )}
      {status === 'silenced' ? (
        <Button onClick={() => void attempt(() => api.delete(`${path}/silence`), text.ended)}>
          {text.endSilence}
        </Button>
      ) : (
        status === 'open' && <Button onClick={() => setShown('silence')}>{text.silence}</Button>
      )}
      <Button onClick={() => setShown('note')}>{text.note}</Button>
      {status !== 'resolved' && (
        <Button
          onClick={() => void import('./handover.tsx').then((module) => setParts(() => module))}
        >
          {text.handOver}
        </Button>
      )}
      {status !== 'resolved' && (
        <Button onClick={() => void attempt(() => api.post(`${path}/resolve`, {}), text.resolved)}>
          {text.resolve}
        </Button>
      )}
      {shown === 'silence' && <SilenceDialog id={id} onClose={() => setShown(undefined)} />}
      {parts && <parts.Handover incident={incident} onClose={() => setParts(undefined)} />}
      {shown === 'note' && <NoteDialog id={id} onClose={() => setShown(undefined)} />}
    </>
  );
}

function Facts({ incident }: { readonly incident: Incident }) {
  const {
    severity,
    status,
    value,
    worst_value: worst,
    threshold,
    device_id: device,
    device_name: name,
    labels,
    runbook_url: runbook,
  } = incident;
  return (
    <Section title={text.facts}>
      <Fields
        of={[
          [text.state, <Status tone={toneOf(severity, status)}>{statusName(status)}</Status>],
          [text.severity, severityName(severity)],
          [
            text.rule,
            incident.rule_id === null ? (
              incident.rule_name
            ) : (
              <a href={address(['rules', incident.rule_id])}>{incident.rule_name}</a>
            ),
          ],
          [
            text.device,
            device === null ? undefined : <a href={address(['devices', device])}>{name}</a>,
          ],
          [text.value, value === null ? undefined : figure(value)],
          [text.worst, worst === null ? undefined : figure(worst)],
          [text.threshold, threshold === null ? undefined : figure(threshold)],
          [text.by, incident.acknowledged_by],
          [
            text.until,
            status === 'silenced' && incident.silenced_until !== null ? (
              <Time at={incident.silenced_until} as="clock" />
            ) : undefined,
          ],
          [
            text.runbook,
            runbook === '' ? undefined : (
              <Link href={runbook} label={runbook.replace(/^playbook:\/\//, '')} />
            ),
          ],
          [
            text.labels,
            Object.keys(labels).length === 0 ? undefined : (
              <span class="tags">
                {Object.entries(labels).map(([name, label]) => (
                  <Tag key={name}>
                    {name}={label}
                  </Tag>
                ))}
              </span>
            ),
          ],
        ]}
      />
    </Section>
  );
}

/** The expression of the rule around the time of the incident, where it is one that can be drawn. */
function Measured({ incident }: { readonly incident: Incident }) {
  const rule = useData<Rule>(
    incident.rule_id === null ? undefined : `/alert-rules/${incident.rule_id}`,
  );
  const expr =
    rule.value?.kind === 'metric_raw'
      ? rule.value.conditions[0]?.expr
      : rule.value?.conditions[0]?.metric;
  const now = useNow();
  if (expr === undefined) {
    return null;
  }
  const fired = Date.parse(incident.last_fired_at) / 1000;
  const over = incident.resolved_at === null ? undefined : Date.parse(incident.resolved_at) / 1000;
  const end = Math.min(now / 1000, (over ?? now / 1000) + 900);
  const from = Math.floor(Math.max(fired - 1_800, end - 86_400) / 60) * 60;
  const window =
    over === undefined && end - from < 86_400
      ? { last: Math.ceil((end - from) / 900) * 900 }
      : { from, to: Math.ceil(end / 60) * 60 };
  return (
    <Section title={text.measured}>
      <Chart
        title={expr.length > 90 ? `${expr.slice(0, 90)}…` : expr}
        queries={[{ expr: measuredOf(expr, incident) }]}
        window={window}
        marks={[
          { at: fired, tone: '--critical' },
          ...(over === undefined ? [] : [{ at: over, tone: '--ok' }]),
        ]}
      />
    </Section>
  );
}

/**
 * Returns the expression without its comparison, which shows the measured value even while nothing
 * fires; only if it certainly is one.
 */
function measuredOf(expr: string, { device_id: device }: Incident): string {
  // What is compared inside of the brackets of one function is a part of what is measured.
  const [, left] =
    /^([^<>=!{}"]+(?:\{[^{}]*\})?[^<>=!{}"]*|\w+\((?:[^(){}"]|\([^(){}"]*\))*\))\s*(?:>=|<=|==|!=|>|<)\s*-?[\d.]+(?:e\d+)?$/.exec(
      expr.trim(),
    ) ?? [];
  const [, name] = /^([a-zA-Z_:][\w:]*)\s*$/.exec(left ?? '') ?? [];
  return name !== undefined && device !== null
    ? `${name}{device_id="${device.replaceAll(/["\\]/g, '')}"}`
    : (left ?? expr);
}

interface Instance {
  readonly labels: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing' | 'stale' | 'resolved';
  readonly value: number | null;
  readonly since: string;
  readonly last_seen_at: string;
}

function Instances({ incident }: { readonly incident: Incident }) {
  const { value } = useData<Page<Instance>>(`/alerts/incidents/${incident.id}/instances`, {
    query: { limit: 100 },
    kinds: ['incidents'],
  });
  if (!value || value.total < 2) {
    return null;
  }
  return (
    <Section title={`${text.instances} (${value.total})`}>
      <Table
        label={text.instances}
        rows={value.items}
        keyOf={({ labels }) => JSON.stringify(labels)}
        columns={instanceColumns}
        empty={null}
      />
    </Section>
  );
}

const instanceColumns: readonly Column<Instance>[] = [
  {
    head: text.instance,
    cell: ({ labels }) => (
      <span class="cut mono">
        {Object.entries(labels)
          .map(([name, label]) => `${name}=${label}`)
          .join(' ')}
      </span>
    ),
  },
  {
    head: text.state,
    width: '110px',
    cell: ({ state }) => (
      <Status tone={state === 'firing' ? 'critical' : state === 'resolved' ? 'ok' : 'muted'}>
        {state}
      </Status>
    ),
  },
  { head: text.value, width: '90px', numeric: true, cell: ({ value }) => figure(value) },
  { head: text.since, width: '110px', rank: 2, cell: ({ since }) => <Time at={since} /> },
  { head: text.seen, width: '110px', rank: 1, cell: ({ last_seen_at: at }) => <Time at={at} /> },
];
