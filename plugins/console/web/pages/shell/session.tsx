import { useEffect, useRef, useState } from 'preact/hooks';

import { useData } from '../../client/data.ts';
import { address } from '../../browser/location.ts';
import { Store, useStore } from '../../browser/store.ts';
import { shellSession as text } from '../../text/english/act/shell.ts';
import { say } from '../../text/words.ts';
import type { Device } from '../shapes.ts';
import { Form, Segments, TextField } from '../../kit/form.tsx';
import { Button, Empty, Head, Refused, Skeleton } from '../../kit/parts.tsx';
import { Status, type Tone } from '../../kit/status.tsx';
import { type LinkState, type Login, ShellLink } from './link.ts';
import type { Screen } from './terminal.ts';

/** A shell on one device: who one is there, then the terminal. */
export function ShellPage({ device: id }: { readonly device: string }) {
  const { value: device, error, reload } = useData<Device>(`/devices/${encodeURIComponent(id)}`);
  const [login, setLogin] = useState<{ readonly user: string; readonly auth: Login }>();
  if (device === undefined) {
    return error === undefined ? (
      <Skeleton lines={6} />
    ) : error.status === 404 || error.status === 400 ? (
      <Empty title={say(text.notFound, { id })} />
    ) : (
      <Refused error={error} retry={reload} />
    );
  }
  return (
    <>
      <Head
        title={say(text.title, { name: device.display_name })}
        note={
          login === undefined ? (
            text.note
          ) : (
            <>
              {login.user} · <a href={address(['devices', device.id])}>{device.display_name}</a>
            </>
          )
        }
      />
      {login === undefined ? (
        <SignIn onDone={setLogin} />
      ) : (
        <Running
          device={device.id}
          name={device.display_name}
          user={login.user}
          auth={login.auth}
          onAgain={() => setLogin(undefined)}
        />
      )}
    </>
  );
}

function SignIn({
  onDone,
}: {
  readonly onDone: (login: { readonly user: string; readonly auth: Login }) => void;
}) {
  const [user, setUser] = useState('root');
  const [by, setBy] = useState<'password' | 'key'>('password');
  const [secret, setSecret] = useState('');
  const [passphrase, setPassphrase] = useState('');
  const submit = (): Promise<void> => {
    const auth: Login =
      by === 'password'
        ? { type: 'password', password: secret }
        : {
            type: 'key',
            private_key: `${secret.trim()}\n`,
            ...(passphrase !== '' && { passphrase }),
          };
    onDone({ user, auth });
    return Promise.resolve();
  };
  return (
    <Form submit={text.open} onSubmit={submit} disabled={secret === '' || user === ''}>
      <TextField
        label={text.user}
        value={user}
        onInput={setUser}
        mono
        autoComplete="off"
        required
        autoFocus
      />
      <Segments
        label={text.by}
        value={by}
        onChange={(kind) => {
          setBy(kind);
          setSecret('');
        }}
        options={[
          ['password', text.password],
          ['key', text.key],
        ]}
      />
      {by === 'password' ? (
        <TextField
          label={text.password}
          type="password"
          autoComplete="off"
          value={secret}
          onInput={setSecret}
          required
        />
      ) : (
        <>
          <TextField
            label={text.key}
            hint={text.keyHint}
            value={secret}
            onInput={setSecret}
            rows={6}
            mono
            required
          />
          <TextField
            label={text.passphrase}
            type="password"
            autoComplete="off"
            value={passphrase}
            onInput={setPassphrase}
          />
        </>
      )}
    </Form>
  );
}

interface RunningProps {
  readonly device: number;
  readonly name: string;
  readonly user: string;
  readonly auth: Login;
  readonly onAgain: () => void;
}

function Running({ device, name, user, auth, onAgain }: RunningProps) {
  const element = useRef<HTMLDivElement>(null);
  const [link, setLink] = useState<ShellLink>();
  const [refused, setRefused] = useState<Error>();
  const state = useStore(link?.state ?? beforeLink);
  const isUnheard = state.name === 'over' && nobodyListens.test(state.why);
  useEffect(() => {
    let screen: Screen | undefined;
    let opened: ShellLink | undefined;
    let isLeft = false;
    const begin = async (): Promise<void> => {
      const { openScreen } = await import('./terminal.ts');
      if (isLeft) {
        return;
      }
      screen = openScreen(element.current!);
      screen.fit();
      opened = new ShellLink({
        device,
        user,
        terminal: screen.terminal,
        exited: (code) => say(text.exited, { code }),
        ended: text.ended,
      });
      setLink(opened);
      screen.terminal.focus();
      await opened.open(auth);
    };
    begin().catch((error: unknown) =>
      setRefused(error instanceof Error ? error : new Error(String(error))),
    );
    return () => {
      isLeft = true;
      opened?.close();
      screen?.close();
    };
  }, []);
  return (
    <>
      {refused ? <p class="critical">{refused.message}</p> : link && <LinkLine link={link} />}
      <div
        class="terminal"
        ref={element}
        hidden={isUnheard}
        role="group"
        aria-label={`${text.terminal}: ${name}`}
      />
      <div class="filters">
        <Button onClick={onAgain}>{text.again}</Button>
        {link && (
          <Button kind="danger" onClick={() => link.end()}>
            {text.end}
          </Button>
        )}
      </div>
    </>
  );
}

/** Explanation of a network error, with the original text for experts. */
const Ending = ({ why }: { readonly why: string }) =>
  nobodyListens.test(why) ? (
    <>
      {text.noServer} <span class="soft">{why}</span>
    </>
  ) : (
    <>{why}</>
  );

const beforeLink = new Store<LinkState>({ name: 'joining' });
const nobodyListens = /\bE(?:CONNREFUSED|TIMEDOUT|HOSTUNREACH)\b|connection refused/i;

const tones: Readonly<Record<LinkState['name'], Tone>> = {
  joining: 'info',
  open: 'ok',
  lost: 'warning',
  over: 'muted',
};

function LinkLine({ link }: { readonly link: ShellLink }) {
  const state = useStore(link.state);
  const notice = useStore(link.notice);
  return (
    <p role="status">
      <Status tone={tones[state.name]}>
        {state.name === 'joining' && text.joining}
        {state.name === 'open' &&
          [
            text.running,
            state.recorded && text.recorded,
            state.isNew && say(text.newKey, { fingerprint: state.fingerprint }),
          ]
            .filter(Boolean)
            .join(' · ')}
        {state.name === 'lost' && text.lost}
        {state.name === 'over' && <Ending why={state.why} />}
        {notice !== '' && ` · ${notice}`}
      </Status>
    </p>
  );
}
