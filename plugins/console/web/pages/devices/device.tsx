import { useState } from 'preact/hooks';

import type { Page } from '../../client/api.ts';
import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useData } from '../../client/data.ts';
import { address } from '../../browser/location.ts';
import { device as text } from '../../text/english/watch/devices.ts';
import { say } from '../../text/words.ts';
import type { Device } from '../shapes.ts';
import { Dialog, tell } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Button, Empty, Head, Refused, Skeleton, Tabs } from '../../kit/parts.tsx';
import { Mark } from '../../kit/status.tsx';
import { Time } from '../../kit/time.tsx';
import { LogLines } from '../logs/lines.tsx';
import { Agents } from './agents.tsx';
import { DeviceOverview } from './overview.tsx';
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
        <DeviceOverview device={device} edge={edge?.id} />
      )}
      {isEdited && <Edit device={device} onClose={() => setEdited(false)} />}
    </>
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
