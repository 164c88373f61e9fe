import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import type { Device, Incident } from '../shapes.ts';
import { useMay } from '../../client/additions.ts';
import { api, type Page } from '../../client/api.ts';
import { below } from '../../browser/base.ts';
import { useData } from '../../client/data.ts';
import { address } from '../../browser/location.ts';
import { kept } from '../../browser/store.ts';
import { checklist as text } from '../../text/english/watch/overview.ts';
import { say } from '../../text/words.ts';
import { attempt } from '../../kit/dialog.tsx';
import { Button, Copyable, Skeleton } from '../../kit/parts.tsx';
import { Mark } from '../../kit/status.tsx';

const keptAs = 'first-steps';
/** Key of the trial rule, which is deleted once its incident is over. */
const tryOutKey = 'console_try_out';
const tryOutSeconds = 60;

/**
 * Checklist for a new svc, ticked off as it is done; for administrators, until they hide it or all
 * of it is done. What follows it is rendered once its height is known, so that nothing moves.
 */
export function Checklist({ children }: { readonly children: ComponentChildren }) {
  const may = useMay();
  const [isHidden, setHidden] = useState(kept.read(keptAs) === 'hidden');
  const isShown = may('*') && !isHidden;
  const { devices, channels, incidents, chats } = useFirstSteps(isShown);
  const tried = incidents.value?.items[0];
  const isOver = tried?.status === 'resolved';
  useEffect(() => {
    if (isOver) {
      void forget().catch(() => undefined);
    }
  }, [isOver]);
  if (!isShown) {
    return <>{children}</>;
  }
  if ([devices, channels, incidents, chats].some(({ isFirst }) => isFirst)) {
    return <Skeleton lines={8} />;
  }
  const hosts = devices.value?.total ?? 0;
  const steps = [
    hosts > 0,
    hosts > 1,
    Boolean(channels.value?.total),
    isOver,
    Boolean(chats.value?.total),
  ];
  if (steps.every(Boolean)) {
    return <>{children}</>;
  }
  const hide = (): void => {
    kept.write(keptAs, 'hidden');
    setHidden(true);
  };
  return (
    <>
      <section class="checklist" aria-label={text.title}>
        <header>
          <h2>{text.title}</h2>
          <span class="soft">
            {steps.filter(Boolean).length} / {steps.length}
          </span>
          <Button kind="quiet" onClick={hide}>
            {text.hide}
          </Button>
        </header>
        <ol>
          <Step done={steps[0]!} title={text.machine} note={text.machineNote} />
          <Step done={steps[1]!} title={text.host} note={text.hostNote}>
            <AddHost />
          </Step>
          <Step done={steps[2]!} title={text.notify} note={text.notifyNote}>
            <a class="button" href={address(['channels'])}>
              {text.notifyLink}
            </a>
          </Step>
          <Step done={steps[3]!} title={text.incident} note={text.incidentNote}>
            <TryIncident incident={tried} />
          </Step>
          <Step done={steps[4]!} title={text.ask} note={text.askNote}>
            <a class="button" href={address(['chat'])}>
              {text.askLink}
            </a>
          </Step>
        </ol>
      </section>
      {children}
    </>
  );
}

/** Returns the progress of a new svc, fetched only while it is shown. */
function useFirstSteps(isShown: boolean) {
  const devices = useData<Page<Device>>(isShown ? '/devices' : undefined, {
    query: { limit: 1 },
    kinds: ['devices'],
    every: 5_000,
  });
  const channels = useData<Page<unknown>>(isShown ? '/notification-channels' : undefined, {
    query: { limit: 1 },
    kinds: ['deliveries'],
    every: 15_000,
  });
  const incidents = useData<Page<Incident>>(isShown ? '/alerts/incidents' : undefined, {
    query: { rule: tryOutKey, limit: 1 },
    kinds: ['incidents'],
    every: 5_000,
  });
  const chats = useData<Page<unknown>>(isShown ? '/chat/sessions' : undefined, {
    query: { limit: 1 },
    kinds: ['chat'],
  });
  return { devices, channels, incidents, chats };
}

function Step({
  done,
  title,
  note,
  children,
}: {
  readonly done: boolean;
  readonly title: string;
  readonly note: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <li class={done ? 'done' : undefined}>
      <Mark tone={done ? 'ok' : 'muted'} label={done ? '✓' : '–'} />
      <div>
        <b>{title}</b>
        {!done && <p class="soft">{note}</p>}
        {!done && children}
      </div>
    </li>
  );
}

interface Lines {
  /**
   * Command for a host that has svc; the script installs it, which a manager on a loopback address
   * cannot serve.
   */
  readonly install_command: string;
  readonly script_command: string | null;
  readonly advice: string | null;
}

/** The line that adds a host: made when it is asked for, because it holds a token. */
export function AddHost({ label = text.hostButton }: { readonly label?: string }) {
  const [lines, setLines] = useState<Lines>();
  const make = async (): Promise<void> =>
    setLines(await api.post<Lines>('/edges/enrolments', { max_uses: 20, expires_in: '24h' }));
  return lines === undefined ? (
    <Button onClick={() => void attempt(make)}>{label}</Button>
  ) : (
    <>
      <Copyable value={lines.script_command ?? lines.install_command} />
      {lines.advice && (
        <p class="soft">
          {lines.advice}. <a href={below('/docs/install#other-hosts')}>{text.manual}</a>
        </p>
      )}
    </>
  );
}

function TryIncident({ incident }: { readonly incident: Incident | undefined }) {
  const [isComing, setComing] = useState(false);
  if (incident && incident.status !== 'resolved') {
    return (
      <a class="button button-primary" href={address(['incidents', incident.id])}>
        {say(text.incidentLink, { id: incident.id })}
      </a>
    );
  }
  if (isComing) {
    return <p class="soft">{text.incidentComing}</p>;
  }
  return (
    <Button onClick={() => void attempt(tryOut).then(setComing)}>{text.incidentButton}</Button>
  );
}

/** Deletes the trial rule, so that nothing has to be cleaned up by hand. */
async function forget(): Promise<void> {
  const { items } = await api.get<Page<{ id: number; rule_key: string }>>('/alert-rules', {
    q: tryOutKey,
  });
  for (const { id, rule_key: key } of items) {
    if (key === tryOutKey) {
      await api.delete(`/alert-rules/${id}`);
    }
  }
}

/** A rule that is true for a moment only. */
async function tryOut(): Promise<void> {
  await forget();
  const until = Math.floor(Date.now() / 1000) + tryOutSeconds;
  await api.post('/alert-rules', {
    rule_key: tryOutKey,
    name: text.testRule,
    kind: 'metric_raw',
    source_type: 'svc_builtin',
    scope_type: 'global',
    join_mode: 'all',
    severity: 'info',
    conditions: [{ expr: `vector(time() < bool ${until}) > 0` }],
    annotations: {
      summary: text.testSummary,
      description: text.incidentNote,
    },
  });
}
