import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { asApiError } from '../../client/data.ts';
import { bulk as text } from '../../text/english/watch/devices.ts';
import { count, say } from '../../text/words.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Button } from '../../kit/parts.tsx';
import type { FoundDevice } from './found.ts';

type Kind = 'addTag' | 'addRole' | 'silence' | 'rotate' | 'remove';

/** The permission that each action needs of every device. */
const permissions: Readonly<Record<Kind, string>> = {
  addTag: 'device:update',
  addRole: 'device:update',
  silence: 'alert:silence',
  rotate: 'edge:rotate',
  remove: 'device:delete',
};

/** Buttons for what can be done to all chosen devices; each is a request of its own, with its own entry in the audit log. */
export function BulkActions({
  devices,
  onDone,
}: {
  readonly devices: readonly FoundDevice[];
  readonly onDone: () => void;
}) {
  const may = useMay();
  const [kind, setKind] = useState<Kind>();
  const close = (): void => {
    setKind(undefined);
    onDone();
  };
  return (
    <>
      {(Object.keys(permissions) as Kind[])
        .filter((one) => may(permissions[one]))
        .map((one) => (
          <Button key={one} onClick={() => setKind(one)}>
            {text[one]}
          </Button>
        ))}
      {kind !== undefined && <BulkDialog kind={kind} devices={devices} onClose={close} />}
    </>
  );
}

const titles: Readonly<Record<Kind, string>> = {
  addTag: text.tagTitle,
  addRole: text.roleTitle,
  silence: text.silenceTitle,
  rotate: text.rotateTitle,
  remove: text.removeTitle,
};

interface Failure {
  readonly name: string;
  readonly message: string;
}

/** Shows which devices an action is for, then how far it is and what svc refused. */
function BulkDialog({
  kind,
  devices,
  onClose,
}: {
  readonly kind: Kind;
  readonly devices: readonly FoundDevice[];
  readonly onClose: () => void;
}) {
  const [given, setGiven] = useState('');
  const [hours, setHours] = useState('2');
  const [done, setDone] = useState(0);
  const [isOver, setOver] = useState(false);
  const [failures, setFailures] = useState<readonly Failure[]>([]);
  // A rotation is of agents: a device without one has nothing to rotate.
  const [targets] = useState(
    devices.filter(({ edge_id: edge }) => kind !== 'rotate' || edge !== null),
  );
  const run = async (): Promise<void> => {
    const refused: Failure[] = [];
    for (const [at, device] of targets.entries()) {
      try {
        await act(kind, device, given.trim(), hours);
      } catch (error) {
        refused.push({ name: device.display_name, message: asApiError(error).message });
        setFailures([...refused]);
      }
      setDone(at + 1);
    }
    setOver(true);
  };
  const title = count(titles[kind], targets.length);
  return (
    <Dialog title={title} onClose={onClose}>
      {isOver ? (
        <>
          <p role="status">
            {say(text.done, { done: targets.length - failures.length, total: targets.length })}
          </p>
          <Failures of={failures} />
          <div class="buttons">
            <Button kind="primary" onClick={onClose}>
              {text.close}
            </Button>
          </div>
        </>
      ) : (
        <Form
          submit={text.run}
          kind={kind === 'remove' ? 'danger' : 'primary'}
          onSubmit={run}
          onCancel={onClose}
          disabled={targets.length === 0 || !isComplete(kind, given, hours)}
        >
          <Question kind={kind} given={given} onGiven={setGiven} hours={hours} onHours={setHours} />
          <details open={targets.length <= 10}>
            <summary>{text.these}</summary>
            <p class="soft">{targets.map(({ display_name: name }) => name).join(', ')}</p>
          </details>
          {done > 0 && <p role="status">{say(text.progress, { done, total: targets.length })}</p>}
          <Failures of={failures} />
        </Form>
      )}
    </Dialog>
  );
}

function Question({
  kind,
  given,
  onGiven,
  hours,
  onHours,
}: {
  readonly kind: Kind;
  readonly given: string;
  readonly onGiven: (given: string) => void;
  readonly hours: string;
  readonly onHours: (hours: string) => void;
}): ComponentChildren {
  switch (kind) {
    case 'addTag':
      return (
        <TextField
          label={text.tag}
          hint={text.tagHint}
          value={given}
          onInput={onGiven}
          mono
          autoFocus
        />
      );
    case 'addRole':
      return (
        <TextField
          label={text.role}
          hint={text.roleHint}
          value={given}
          onInput={onGiven}
          mono
          autoFocus
        />
      );
    case 'silence':
      return (
        <>
          <TextField label={text.reason} value={given} onInput={onGiven} autoFocus />
          <TextField label={text.hours} type="number" value={hours} onInput={onHours} />
        </>
      );
    case 'rotate':
      return <p>{text.rotateNote}</p>;
    case 'remove':
      return <p>{text.removeNote}</p>;
  }
}

const Failures = ({ of }: { readonly of: readonly Failure[] }) =>
  of.length === 0 ? null : (
    <div class="refused" role="alert">
      <p>{text.failed}</p>
      <ul>
        {of.map(({ name, message }) => (
          <li key={name}>
            {name}: {message}
          </li>
        ))}
      </ul>
    </div>
  );

function isComplete(kind: Kind, given: string, hours: string): boolean {
  switch (kind) {
    case 'addTag':
      return /^[A-Za-z0-9][\w./-]{0,62}=.{0,255}$/.test(given.trim());
    case 'addRole':
      return /^[A-Za-z0-9][\w.-]{0,62}$/.test(given.trim());
    case 'silence':
      return given.trim() !== '' && Number(hours) > 0;
    default:
      return true;
  }
}

async function act(kind: Kind, device: FoundDevice, given: string, hours: string): Promise<void> {
  const path = `/devices/${device.id}`;
  switch (kind) {
    case 'addTag': {
      const equals = given.indexOf('=');
      const [key, value] = [given.slice(0, equals), given.slice(equals + 1)];
      return await change(path, '', ({ tags }) => ({ tags: { ...tags, [key]: value } }));
    }
    case 'addRole':
      return await change(path, '/roles', ({ roles }) => ({
        roles: [...new Set([...roles, given])],
      }));
    case 'silence':
      return await api.post('/alerts/silences', {
        matchers: [{ name: 'device_id', op: '=', value: String(device.id) }],
        duration: `${Math.ceil(Number(hours) * 60)}m`,
        reason: given,
      });
    case 'rotate':
      return await api.post(`/edges/${device.edge_id}/rotate-secret`, {});
    case 'remove':
      return await api.delete(path);
  }
}

/**
 * Changes a device as it is now, not as the list showed it: what somebody else has added since then
 * stays, and a change that comes in between is refused.
 */
async function change(
  path: string,
  part: string,
  bodyOf: (device: FoundDevice) => object,
): Promise<void> {
  const answer = await api.open('GET', path);
  const body = bodyOf((await answer.json()) as FoundDevice);
  const tag = answer.headers.get('etag');
  await api.patch(`${path}${part}`, body, { headers: tag === null ? {} : { 'if-match': tag } });
}
