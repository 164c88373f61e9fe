import { useAdditions, useSeesAll } from '../../client/additions.ts';
import { type Data, useData, useList } from '../../client/data.ts';
import type { Unit } from '../../text/format.ts';
import { address } from '../../browser/location.ts';
import { overview as text } from '../../text/english/watch/overview.ts';
import { count } from '../../text/words.ts';
import type { Page } from '../../client/api.ts';
import { Chart } from '../../kit/chart/chart.tsx';
import { Awaited, Empty, Head, Section } from '../../kit/parts.tsx';
import { Mark, type Severity, severityName } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { placeOf, TitleCell } from '../incident-cell.tsx';
import type { Device, Incident } from '../shapes.ts';
import { Checklist } from './checklist.tsx';
import { Busiest } from './busiest.tsx';
import { Changes } from './changes.tsx';

export default function Overview() {
  const incidents = useList<Incident>('/alerts/incidents', {
    query: { status: 'active' },
    kinds: ['incidents'],
    pageSize: 50,
  });
  const silent = useData<Page<Device>>('/devices', {
    query: { online: false, limit: 12 },
    kinds: ['devices', 'edges'],
  });
  const pace = useData<Pace>(useSeesAll() ? '/alerts/runtime-info' : undefined, {
    kinds: ['rules'],
    every: 60_000,
  });
  return (
    <>
      <Head title={text.title} />
      <Stats
        incidents={incidents.items}
        total={incidents.total}
        silent={silent.value?.total}
        pace={pace.value}
      />
      <Checklist>
        <div class="columns">
          <div>
            <Section
              title={text.firing}
              aside={<a href={address(['incidents'])}>{text.allIncidents}</a>}
            >
              <Table
                label={text.firing}
                rows={incidents.items}
                asked={incidents}
                total={incidents.total}
                columns={incidentColumns}
                keyOf={({ id }) => id}
                hrefOf={({ id }) => address(['incidents', id])}
                empty={
                  <Empty title={text.calm}>
                    {pace.value && count(text.calmNote, pace.value.rules_enabled)}
                  </Empty>
                }
              />
            </Section>
            <Busiest />
            <div class="charts two">
              <Chart
                title={text.cpuChart}
                queries={cpuQueries}
                window={lastHour}
                unit="percent"
                top={100}
                sync="overview"
              />
              <Chart
                title={text.memoryChart}
                queries={memoryQueries}
                window={lastHour}
                unit="percent"
                top={100}
                sync="overview"
              />
              <Cards />
            </div>
          </div>
          <div>
            <Silent devices={silent} />
            <Changes />
            <OwnHealth />
          </div>
        </div>
      </Checklist>
    </>
  );
}

interface Pace {
  readonly rules_enabled: number;
  readonly failing: readonly unknown[];
}

/** Figures at a glance: how many of each, and whether that is bad. */
function Stats({
  incidents,
  total,
  silent,
  pace,
}: {
  readonly incidents: readonly Incident[] | undefined;
  readonly total: number;
  readonly silent: number | undefined;
  readonly pace: Pace | undefined;
}) {
  const all = useData<Page<Device>>('/devices', { query: { limit: 1 }, kinds: ['devices'] });
  const numbers = useNumbers(incidents, total);
  const online =
    all.value === undefined || silent === undefined ? undefined : all.value.total - silent;
  return (
    <ul class="stats">
      {severities.map((severity, at) => (
        <Stat
          key={severity}
          value={numbers[at]}
          label={severityName(severity)}
          tone={severity}
          href={address(['incidents'], { severity })}
        />
      ))}
      <li class="rule" aria-hidden="true" />
      <Stat value={online} label={text.online} href={address(['devices'], { online: 'true' })} />
      <Stat
        value={silent}
        label={text.offline}
        tone="warning"
        href={address(['devices'], { online: 'false' })}
      />
      <li class="rule" aria-hidden="true" />
      <Stat value={pace?.rules_enabled} label={text.rules} href={address(['rules'])} />
      {(pace?.failing.length ?? 0) > 0 && (
        <Stat
          value={pace?.failing.length}
          label={text.failing}
          tone="warning"
          href={address(['rules'])}
        />
      )}
    </ul>
  );
}

const severities: readonly Severity[] = ['critical', 'warning', 'info'];

/**
 * Returns the number of incidents per severity: counted here if all are loaded, by svc otherwise.
 */
function useNumbers(
  incidents: readonly Incident[] | undefined,
  total: number,
): readonly (number | undefined)[] {
  const isWhole = incidents === undefined || incidents.length >= total;
  return severities.map((severity) => {
    const asked = useData<Page<unknown>>(isWhole ? undefined : '/alerts/incidents', {
      query: { status: 'active', severity, limit: 1 },
      kinds: ['incidents'],
    });
    return isWhole
      ? incidents?.filter((incident) => incident.severity === severity).length
      : asked.value?.total;
  });
}

function Silent({ devices: { value, error } }: { readonly devices: Data<Page<Device>> }) {
  return (
    <Section title={text.offlineTitle}>
      {value === undefined ? (
        <Awaited error={error} lines={2} />
      ) : value.items.length === 0 ? (
        <p class="soft calm">{text.allOnline}</p>
      ) : (
        <ul class="list">
          {value.items.map(({ id, display_name: name, last_seen_at: seen }) => (
            <li key={id}>
              <Mark tone="warning" />
              <a class="cut" href={address(['devices', id])}>
                {name}
              </a>
              <span class="soft">
                <Time at={seen} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** Figure; zero is no news, and has no tone. */
function Stat({
  value,
  label,
  tone,
  href,
}: {
  readonly value: number | undefined;
  readonly label: string;
  readonly tone?: Severity;
  readonly href: string;
}) {
  return (
    <li>
      <a href={href}>
        <b class={value ? tone : 'faint'}>{value === undefined ? '–' : value.toLocaleString()}</b>
        <span>
          {tone && (value ?? 0) > 0 && <Mark tone={tone} />} {label}
        </span>
      </a>
    </li>
  );
}

const incidentColumns: readonly Column<Incident>[] = [
  {
    head: text.incident,
    cell: (incident) => <TitleCell of={incident} />,
  },
  {
    head: text.where,
    width: '22%',
    rank: 2,
    cell: (incident) => <span class="cut soft">{placeOf(incident)}</span>,
  },
  { head: text.since, width: '110px', cell: ({ last_fired_at: at }) => <Time at={at} /> },
];

const lastHour = { last: 3_600 };
const cpuQueries = [{ expr: 'topk(6, node_cpu_usage_percent)', name: '{{instance}}' }];
const memoryQueries = [{ expr: 'topk(6, node_memory_used_percent)', name: '{{instance}}' }];

/** Figures that other plugins and packs add. */
function Cards() {
  const { cards } = useAdditions();
  return (
    <>
      {cards.map(({ id, title, query, unit }) => (
        <Chart
          key={id}
          title={title}
          queries={[{ expr: query }]}
          window={lastHour}
          unit={unit as Unit | undefined}
          sync="overview"
        />
      ))}
    </>
  );
}

function OwnHealth() {
  const { value, error } = useData<{
    parts: readonly { part: string; ok: boolean; state?: string; detail?: string }[];
  }>('//readyz', { every: 15_000 });
  const bad = value?.parts.filter(({ ok, state }) => !ok || state === 'degraded') ?? [];
  return (
    <Section title={text.ownHealth}>
      {value === undefined ? (
        <Awaited error={error} lines={1} />
      ) : bad.length === 0 ? (
        <p class="soft calm">{text.healthy}</p>
      ) : (
        <ul class="list tall">
          {bad.map(({ part, ok, detail }) => (
            <li key={part}>
              <Mark tone={ok ? 'warning' : 'critical'} /> {part} <span class="soft">{detail}</span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
