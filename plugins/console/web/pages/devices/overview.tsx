import type { Page } from '../../client/api.ts';
import { useData } from '../../client/data.ts';
import { figure } from '../../text/format.ts';
import { address } from '../../browser/location.ts';
import { device as text } from '../../text/english/watch/devices.ts';
import { useAnnotations } from '../../kit/chart/annotations.tsx';
import { Chart } from '../../kit/chart/chart.tsx';
import type { ChartQuery, Window } from '../../kit/chart/matrix.ts';
import { SpanChoice, useSpan } from '../../kit/chart/span.tsx';
import { Awaited, Fields, Section } from '../../kit/parts.tsx';
import { Mark, severityName, Tag, toneOf } from '../../kit/status.tsx';
import { Time } from '../../kit/time.tsx';
import { Together } from '../../kit/together.tsx';
import { Changes } from '../overview/changes.tsx';
import type { Device, Incident } from '../shapes.ts';
import { Disks } from './disks.tsx';
import { LiveViews } from './live-views.tsx';
import { ProcessHistory } from './process-history.tsx';

const chartsOf = (
  id: number,
): readonly {
  readonly title: string;
  readonly unit: 'percent' | 'count' | 'bytes-per-second';
  readonly top?: number;
  readonly queries: readonly ChartQuery[];
}[] => {
  const of = `device_id="${id}"`;
  return [
    {
      title: text.cpu,
      unit: 'percent',
      top: 100,
      queries: [{ expr: `node_cpu_usage_percent{${of}}`, name: text.cpu }],
    },
    {
      title: text.memoryUse,
      unit: 'percent',
      top: 100,
      queries: [{ expr: `node_memory_used_percent{${of}}`, name: text.memory }],
    },
    {
      title: text.load,
      unit: 'count',
      queries: [
        { expr: `node_load1{${of}}`, name: '1 min' },
        { expr: `node_load5{${of}}`, name: '5 min' },
        { expr: `node_load15{${of}}`, name: '15 min' },
      ],
    },
    {
      title: text.diskUse,
      unit: 'percent',
      top: 100,
      queries: [
        {
          expr: `topk(6, max by (mountpoint) (node_filesystem_used_percent{${of},fstype!="tmpfs"}))`,
          name: '{{mountpoint}}',
        },
      ],
    },
    {
      title: text.network,
      unit: 'bytes-per-second',
      queries: [
        { expr: `sum(rate(node_network_receive_bytes_total{${of},device!="lo"}[2m]))`, name: 'in' },
        {
          expr: `sum(rate(node_network_transmit_bytes_total{${of},device!="lo"}[2m]))`,
          name: 'out',
        },
      ],
    },
    {
      title: text.diskIo,
      unit: 'bytes-per-second',
      queries: [
        { expr: `sum(rate(node_disk_read_bytes_total{${of}}[2m]))`, name: 'read' },
        { expr: `sum(rate(node_disk_written_bytes_total{${of}}[2m]))`, name: 'written' },
      ],
    },
  ];
};

/** State of a device, and since when: everything of the range of the page, then what it is made of. */
export function DeviceOverview({
  device,
  edge,
}: {
  readonly device: Device;
  /** Agent that answers for the device, if it has one. */
  readonly edge: number | undefined;
}) {
  const { window, bounds, zoom } = useSpan();
  const annotations = useAnnotations(window, device.id);
  const { from, to } = bounds();
  return (
    <Together>
      <div class="columns">
        <div>
          <div class="filters">
            <SpanChoice />
          </div>
          <div class="charts two">
            {chartsOf(device.id).map(({ title, unit, top, queries }) => (
              <Chart
                key={title}
                title={title}
                unit={unit}
                top={top}
                queries={queries}
                window={window}
                sync="device"
                marks={annotations}
                onRange={zoom}
              />
            ))}
          </div>
          <ProcessHistory edge={edge} device={device.id} window={window} onRange={zoom} />
          <Disks device={device.id} window={window} />
          <LiveViews device={device.id} />
        </div>
        <div>
          <Incidents device={device.id} window={window} />
          <Facts device={device} />
          <Changes
            device={device.id}
            limit={6}
            {...('last' in window ? {} : { from: instantOf(from), to: instantOf(to) })}
          />
        </div>
      </div>
    </Together>
  );
}

const instantOf = (seconds: number): string => new Date(seconds * 1000).toISOString();

/** Incidents that are open, or that fired in the window. */
function Incidents({ device, window }: { readonly device: number; readonly window: Window }) {
  const { value, error } = useData<Page<Incident>>('/alerts/incidents', {
    query: { scope: `host:${device}`, limit: 50 },
    kinds: ['incidents'],
  });
  const { from, to } =
    'last' in window ? { from: Date.now() / 1000 - window.last, to: Infinity } : window;
  const shown = value?.items.filter(({ last_fired_at: fired, status }) => {
    const at = Date.parse(fired) / 1000;
    return status !== 'resolved' || (at >= from && at <= to);
  });
  return (
    <Section title={text.incidents}>
      {shown === undefined ? (
        <Awaited error={error} lines={2} />
      ) : shown.length === 0 ? (
        <p class="soft calm">{text.noIncidents}</p>
      ) : (
        <ul class="list">
          {shown.map(({ id, severity, status, summary, rule_name: name, last_fired_at: at }) => (
            <li key={id}>
              <Mark tone={toneOf(severity, status)} label={severityName(severity)} />
              <a class="cut" href={address(['incidents', id])}>
                {summary || name}
              </a>
              <span class="soft">
                <Time at={at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function Facts({ device }: { readonly device: Device }) {
  const tags = Object.entries(device.tags);
  return (
    <Section title={text.facts}>
      <Fields
        of={[
          [text.hostname, device.hostname],
          [text.address, device.ip_address],
          [text.system, [device.os, device.os_version].filter(Boolean).join(' ')],
          [text.kernel, device.kernel_version],
          [text.cpus, device.cpu_count],
          [
            text.memory,
            device.mem_total_bytes === null ? undefined : figure(device.mem_total_bytes, 'bytes'),
          ],
          [
            text.disk,
            device.disk_total_bytes === null ? undefined : figure(device.disk_total_bytes, 'bytes'),
          ],
          [
            text.roles,
            device.roles.length === 0
              ? undefined
              : device.roles.map((role) => <a href={address(['devices'], { role })}>{role} </a>),
          ],
          [
            text.tags,
            tags.length === 0
              ? undefined
              : tags.map(([name, value]) => <Tag key={name}>{`${name}=${value}`}</Tag>),
          ],
        ]}
      />
    </Section>
  );
}
