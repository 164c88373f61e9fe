import { useEffect, useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useList } from '../../client/data.ts';
import { address, goTo, place, useParam } from '../../browser/location.ts';
import { copy as copyText } from '../../text/english/watch/board-editor.ts';
import { dashboard as text } from '../../text/english/watch/dashboards.ts';
import { say } from '../../text/words.ts';
import { freeUid } from '../../kit/chart/free-uid.ts';
import { attempt, Dialog } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Button, Head } from '../../kit/parts.tsx';
import type { Rendered } from './drawn/shape.ts';

/** Returns the address of this page with other parameters. */
export function inPlace(changes: Readonly<Record<string, string | undefined>>): string {
  const next = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) {
      next.delete(name);
    } else {
      next.set(name, value);
    }
  }
  return `${location.pathname}?${next.toString()}`;
}

/** Shows the dashboard alone, without the console around it; Escape leads back. */
export function Kiosk() {
  const [kiosk, setKiosk] = useParam('kiosk');
  const isOn = kiosk !== '';
  useEffect(() => {
    const { dataset } = document.documentElement;
    const leave = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) {
        setKiosk('');
      }
    };
    if (isOn) {
      dataset['kiosk'] = 'on';
      addEventListener('keydown', leave);
    }
    return () => {
      delete dataset['kiosk'];
      removeEventListener('keydown', leave);
    };
  }, [isOn]);
  return isOn ? (
    <p class="kiosk-leave">
      <Button kind="quiet" icon="close" onClick={() => setKiosk('')}>
        {text.leaveKiosk}
      </Button>
    </p>
  ) : null;
}

interface HeadingProps {
  readonly dashboard: Rendered;
  readonly mayWrite: boolean;
  readonly onEdit: () => void;
  readonly onChanged: () => void;
}

export function Heading({
  dashboard: { uid, title, description, panels, variables, from, to },
  mayWrite,
  onEdit,
  onChanged,
}: HeadingProps) {
  const [parts, setParts] = useState<typeof import('./versions.tsx')>();
  const [sharing, setSharing] = useState<typeof import('./share.tsx')>();
  const [isCopied, setCopied] = useState(false);
  const mayShare = useMay()('monitor:share');
  const path = `/monitor/dashboards/${encodeURIComponent(uid)}`;
  const remove = (): void =>
    void attempt(() => api.delete(path), text.deleted).then(
      (done) => done && goTo(address(['dashboards'])),
    );
  return (
    <Head title={title} note={description}>
      <Button onClick={() => void attempt(() => download(path, uid))}>{text.export}</Button>
      <Button
        onClick={() => void import('./versions.tsx').then((module) => setParts(() => module))}
      >
        {text.versions}
      </Button>
      <Button onClick={() => goTo(inPlace({ kiosk: 'on' }))}>{text.kiosk}</Button>
      {mayShare && (
        <Button
          icon="link"
          onClick={() => void import('./share.tsx').then((module) => setSharing(() => module))}
        >
          {text.share}
        </Button>
      )}
      {mayWrite && (
        <>
          <Button onClick={() => setCopied(true)}>{text.duplicate}</Button>
          <Button kind="primary" onClick={onEdit}>
            {text.edit}
          </Button>
        </>
      )}
      {mayWrite && panels.some(({ id }) => id !== null) && (
        <Button kind="danger" icon="trash" onClick={remove}>
          {text.delete}
        </Button>
      )}
      {parts && (
        <parts.Versions
          uid={uid}
          title={title}
          mayWrite={mayWrite}
          onClose={() => setParts(undefined)}
          onRestored={() => {
            setParts(undefined);
            onChanged();
          }}
        />
      )}
      {sharing && (
        <sharing.Share
          uid={uid}
          title={title}
          range={(Date.parse(to) - Date.parse(from)) / 1_000}
          variables={Object.fromEntries(
            variables
              .filter(({ value }) => value.length > 0)
              .map(({ name, value }) => [name, value]),
          )}
          onClose={() => setSharing(undefined)}
        />
      )}
      {isCopied && <Copy path={path} title={title} onClose={() => setCopied(false)} />}
    </Head>
  );
}

/** Hands the dashboard to the browser as a file that Grafana imports. */
async function download(path: string, uid: string): Promise<void> {
  const json = JSON.stringify(await api.get(`${path}/export`), null, 2);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([json], { type: 'application/json' }));
  link.download = `${uid}.json`;
  link.click();
  URL.revokeObjectURL(link.href);
}

interface CopyProps {
  readonly path: string;
  readonly title: string;
  readonly onClose: () => void;
}

/** Copies a dashboard under another title, and opens the copy. */
function Copy({ path, title, onClose }: CopyProps) {
  const known = useList<{ readonly uid: string }>('/observability/dashboards', { pageSize: 200 });
  const [name, setName] = useState(say(copyText.proposal, { title }).slice(0, 200));
  return (
    <Dialog title={copyText.title} onClose={onClose}>
      <Form
        submit={copyText.submit}
        onCancel={onClose}
        disabled={name.trim() === '' || known.items === undefined}
        onSubmit={async () => {
          const uid = freeUid(name, known.items ?? []);
          await api.post(`${path}/copy`, { uid, title: name.trim() });
          onClose();
          goTo(address(['dashboards', uid]));
        }}
      >
        <TextField label={copyText.name} value={name} onInput={setName} autoFocus required />
      </Form>
    </Dialog>
  );
}
