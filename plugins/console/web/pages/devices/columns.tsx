import { useParam } from '../../browser/location.ts';
import { figure } from '../../text/format.ts';
import { devices as text } from '../../text/english/watch/devices.ts';
import { CheckField } from '../../kit/form.tsx';
import { Share } from '../../kit/share.tsx';
import { Mark, severityName, toneOf } from '../../kit/status.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import type { FoundDevice } from './found.ts';
import { Sparkline } from './sparkline.tsx';
import type { TrendName } from './trends.ts';

const trend = (name: TrendName, head: string): Column<FoundDevice> => ({
  head,
  width: '100px',
  rank: 1,
  cell: ({ id }) => <Sparkline name={name} device={id} />,
});

/** Columns of the list by their names in the address, in their order. */
const choices: Readonly<Record<string, Column<FoundDevice>>> = {
  cpu: {
    head: text.cpu,
    sort: 'cpu',
    width: '72px',
    numeric: true,
    cell: ({ cpu }) => <Share value={cpu ?? undefined} />,
  },
  'cpu-trend': trend('cpu', text.cpuTrend),
  memory: {
    head: text.memory,
    sort: 'memory',
    width: '84px',
    numeric: true,
    cell: ({ memory }) => <Share value={memory ?? undefined} />,
  },
  'memory-trend': trend('memory', text.memoryTrend),
  disk: {
    head: text.disk,
    sort: 'disk',
    width: '72px',
    numeric: true,
    rank: 2,
    cell: ({ disk }) => <Share value={disk ?? undefined} />,
  },
  'disk-trend': trend('disk', text.diskTrend),
  load: {
    head: text.load,
    sort: 'load',
    width: '64px',
    numeric: true,
    rank: 1,
    cell: ({ load }) => figure(load ?? undefined),
  },
  'load-trend': trend('load', text.loadTrend),
  alerts: {
    head: text.alerts,
    sort: 'incidents',
    width: '68px',
    numeric: true,
    rank: 2,
    cell: ({ firing, severity }) =>
      firing > 0 && <span class={severity === 'critical' ? 'critical' : 'warning'}>{firing}</span>,
  },
  address: {
    head: text.address,
    sort: 'address',
    width: '112px',
    rank: 1,
    cell: ({ ip_address: ip }) => <span class="soft">{ip ?? '–'}</span>,
  },
  system: {
    head: text.system,
    sort: 'os',
    width: '136px',
    rank: 1,
    cell: ({ os, os_version: version }) => (
      <span class="soft cut">{[os, version].filter(Boolean).join(' ')}</span>
    ),
  },
  agent: {
    head: text.version,
    sort: 'version',
    width: '90px',
    rank: 1,
    cell: ({ agent_version: version }) => <span class="soft">{version ?? '–'}</span>,
  },
  roles: {
    head: text.roles,
    width: '15%',
    rank: 1,
    cell: ({ roles, tags }) => (
      <span class="cut soft">
        {[...roles, ...Object.entries(tags).map(([name, value]) => `${name}=${value}`)].join('  ')}
      </span>
    ),
  },
  seen: {
    head: text.seen,
    sort: 'seen',
    width: '96px',
    rank: 2,
    cell: ({ last_seen_at: at }) => <Time at={at} />,
  },
};

const names = Object.keys(choices);
const usual = 'cpu,cpu-trend,memory,disk,load,alerts,system,roles,seen';

const nameColumn: Column<FoundDevice> = {
  head: text.name,
  sort: 'name',
  width: 'clamp(120px, 18cqw, 260px)',
  cell: ({ online, severity, display_name: name }) => (
    <span class="status">
      <Mark
        tone={!online ? 'muted' : severity === null ? 'ok' : toneOf(severity, 'open')}
        label={!online ? text.offline : severity === null ? text.online : severityName(severity)}
      />
      <span class="cut">{name}</span>
    </span>
  ),
};

/** Returns the columns that the address names; the name of the device is always the first. */
export function useColumns(): readonly Column<FoundDevice>[] {
  const [chosen] = useParam('columns', usual);
  const shown = chosen.split(',');
  return [
    nameColumn,
    ...names.filter((name) => shown.includes(name)).map((name) => choices[name]!),
  ];
}

/** Chooses the columns; the address keeps the choice. */
export function ColumnChoice() {
  const [chosen, choose] = useParam('columns', usual);
  const shown = chosen.split(',');
  return (
    <details class="further">
      <summary>{text.columns}</summary>
      <div class="column-choice" role="group" aria-label={text.columns}>
        {names.map((name) => (
          <CheckField
            key={name}
            label={choices[name]!.head}
            value={shown.includes(name)}
            onChange={(isShown) =>
              choose(
                names.filter((one) => (one === name ? isShown : shown.includes(one))).join(',') ||
                  'none',
              )
            }
          />
        ))}
      </div>
    </details>
  );
}
