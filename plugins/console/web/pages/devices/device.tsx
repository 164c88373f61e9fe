import { useState } from 'preact/hooks';

import type { Page } from '../../client/api.ts';
import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useData } from '../../client/data.ts';
import { figure } from '../../text/format.ts';
import { address } from '../../browser/location.ts';
import { device as text } from '../../text/english/watch/devices.ts';
import { say } from '../../text/words.ts';
import type { Device, Incident } from '../shapes.ts';
import { Chart } from '../../kit/chart/chart.tsx';
import type { ChartQuery } from '../../kit/chart/matrix.ts';
import { Dialog, tell } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Button, Empty, Fields, Head, Refused, Section, Skeleton, Tabs } from '../../kit/parts.tsx';
import { SpanChoice, useSpan } from '../../kit/chart/span.tsx';
import { Mark, severityName, Tag, toneOf } from '../../kit/status.tsx';
import { Time } from '../../kit/time.tsx';
import { LogLines } from '../logs/lines.tsx';
import { Changes } from '../overview/changes.tsx';
import { Agents } from './agents.tsx';
import { Processes } from './processes.tsx';

/** One device: how it is, what runs on it, what it says, who watches it. */
export function DevicePage({ id, part }: { readonly id: string; readonly part: string }) {
  const {
    value: device,
    error,
    reload,
  } = useData<Device>(`/devices/${encodeURIComponent(id)}`, { kinds: ['devices', 'edges'] });
  const edges = useData<Page<{ id: number; status: string | null }>>(
    device && `/devices/${device.id}/edges`,
    { kinds: ['edges'] },
  );
  const may = useMay();
  const [isEdited, setEdited] = useState(false);
  if (device === undefined) {
    return error === undefined ? (
      <Skeleton lines={8} />
    ) : error.status === 404 || error.status === 400 ? (
      <Empty title={say(text.notFound, { id })}>
        <a href={address(['devices'])}>{text.back}</a>
      </Empty>
    ) : (
      <Refused error={error} retry={reload} />
    );
  }
  const edge =
    edges.value?.items.find(({ status }) => status === 'online') ?? edges.value?.items[0];
  return (
    <>
      <Head
        title={
          <span class="status">
            <Mark
              tone={device.online ? 'ok' : 'warning'}
              label={device.online ? text.online : text.offline}
            />
            <span>{device.display_name}</span>
          </span>
        }
        note={
          <>
            {[device.os, device.os_version, device.arch].filter(Boolean).join(' ')} · {text.seen}{' '}
            <Time at={device.last_seen_at} />
          </>
        }
      >
        {may('device:update') && <Button onClick={() => setEdited(true)}>{text.edit}</Button>}
        {may('webshell') && (
          <a class="button" href={address(['shell', device.id])}>
            {text.shell}
          </a>
        )}
      </Head>
      <Tabs
        active={part}
        tabs={(['overview', 'processes', 'logs', 'agents'] as const).map((one) => ({
          id: one,
          title: text[one],
          href: address(one === 'overview' ? ['devices', device.id] : ['devices', device.id, one]),
        }))}
      />
      {part === 'processes' ? (
        <Processes edge={edge?.id} />
      ) : part === 'logs' ? (
        <LogLines query={`{device_id="${device.id}"}`} />
      ) : part === 'agents' ? (
        <Agents device={device.id} />
      ) : (
        <Overview device={device} />
      )}
      {isEdited && <Edit device={device} onClose={() => setEdited(false)} />}
    </>
  );
}

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

function Overview({ device }: { readonly device: Device }) {
  const { window, zoom } = useSpan();
  const incidents = useData<Page<Incident>>('/alerts/incidents', {
    query: { scope: `host:${device.id}`, status: 'active', limit: 10 },
    kinds: ['incidents'],
  });
  const marks = incidents.value?.items.map(({ last_fired_at: at }) => ({
    at: Date.parse(at) / 1000,
    tone: '--critical',
  }));
  return (
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
              marks={marks}
              onRange={zoom}
            />
          ))}
        </div>
      </div>
      <div>
        <Section title={text.incidents}>
          {incidents.value === undefined ? (
            incidents.error ? (
              <Refused error={incidents.error} />
            ) : (
              <Skeleton lines={2} />
            )
          ) : incidents.value.items.length === 0 ? (
            <p class="soft calm">{text.noIncidents}</p>
          ) : (
            <ul class="list">
              {incidents.value.items.map(
                ({ id, severity, status, summary, rule_name: name, last_fired_at: at }) => (
                  <li key={id}>
                    <Mark tone={toneOf(severity, status)} label={severityName(severity)} />
                    <a class="cut" href={address(['incidents', id])}>
                      {summary || name}
                    </a>
                    <span class="soft">
                      <Time at={at} />
                    </span>
                  </li>
                ),
              )}
            </ul>
          )}
        </Section>
        <Facts device={device} />
        <Changes device={device.id} limit={6} />
      </div>
    </div>
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

function Edit({ device, onClose }: { readonly device: Device; readonly onClose: () => void }) {
  const [name, setName] = useState(device.display_name);
  const [roles, setRoles] = useState(device.roles.join(', '));
  const [tags, setTags] = useState(
    Object.entries(device.tags)
      .map(([tag, value]) => `${tag}=${value}`)
      .join('\n'),
  );
  const submit = async (): Promise<void> => {
    const pairs = tags
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .map(
        (line) =>
          [
            line.split('=', 1)[0]!,
            line.includes('=') ? line.slice(line.indexOf('=') + 1) : '',
          ] as const,
      );
    await api.patch(`/devices/${device.id}`, {
      display_name: name.trim() || null,
      tags: Object.fromEntries(pairs),
    });
    const given = roles
      .split(',')
      .map((role) => role.trim())
      .filter((role) => role !== '');
    await api.patch(`/devices/${device.id}/roles`, { roles: given });
    tell(text.saved);
    onClose();
  };
  return (
    <Dialog title={text.editTitle} onClose={onClose}>
      <Form onSubmit={submit} onCancel={onClose}>
        <TextField label={text.name} value={name} onInput={setName} autoFocus />
        <TextField label={text.roles} value={roles} onInput={setRoles} hint={text.rolesHint} />
        <TextField
          label={text.tags}
          value={tags}
          onInput={setTags}
          rows={4}
          mono
          hint={text.tagsHint}
        />
      </Form>
    </Dialog>
  );
}
