import { useEffect, useState } from 'preact/hooks';

import { Form, TextField } from '../../kit/form.tsx';
import { ApiError } from '../../client/api.ts';
import { below } from '../../browser/base.ts';
import { otherAccount, signIn } from '../../client/session.ts';
import { welcome as text } from '../../text/english/welcome.ts';

interface Start {
  readonly setup: boolean;
  readonly registration: boolean;
}

/** Everybody comes in here: by the link of the banner, by a password, or not at all. */
export function Welcome({ why }: { readonly why?: string }) {
  const [start, setStart] = useState<Start>();
  const [token] = useState(() => takeToken('setup'));
  const [resetToken, setResetToken] = useState(() => takeToken('reset'));
  const [note, setNote] = useState<string>();
  const [email, setEmail] = useState('');
  const [forgets, setForgets] = useState(false);
  const [registers, setRegisters] = useState(false);
  useEffect(() => {
    void fetch(below('/api/v1/console/start'))
      .then((answer) => answer.json() as Promise<Start>)
      .then(setStart, () => setStart({ setup: false, registration: false }));
  }, []);
  document.title = 'svc';
  return (
    <main class="welcome">
      <div>
        <p class="brand">
          <svg width="22" height="22" viewBox="0 0 20 20" aria-hidden="true">
            <path
              d="M2 10h3l2-5 3.500 10L13 8l1.500 2H18"
              fill="none"
              stroke="currentColor"
              stroke-width="2"
              stroke-linejoin="round"
              stroke-linecap="round"
            />
          </svg>
          svc
        </p>
        {start === undefined ? null : start.setup ? (
          token === undefined ? (
            <WaitForLink />
          ) : (
            <SetUp token={token} />
          )
        ) : resetToken !== undefined ? (
          <Reset
            token={resetToken}
            onDone={() => {
              setResetToken(undefined);
              setNote(text.reset);
            }}
          />
        ) : forgets ? (
          <Forgot email={email} onEmail={setEmail} />
        ) : (
          <SignIn why={why} note={note} registers={registers} email={email} onEmail={setEmail} />
        )}
        {start !== undefined && !start.setup && !registers && (
          <button
            type="button"
            class="button button-quiet"
            onClick={() => {
              setForgets(resetToken !== undefined || !forgets);
              setResetToken(undefined);
              setNote(undefined);
            }}
          >
            {resetToken !== undefined ? text.another : forgets ? text.back : text.forgot}
          </button>
        )}
        {start?.registration && !start.setup && !forgets && resetToken === undefined && (
          <button
            type="button"
            class="button button-quiet"
            onClick={() => setRegisters(!registers)}
          >
            {registers ? text.haveAccount : text.register}
          </button>
        )}
      </div>
    </main>
  );
}

/** The token leaves the address at once, so that it is in no history and on no picture of the screen. */
function takeToken(name: 'setup' | 'reset'): string | undefined {
  const [, found, token] = /^#(setup|reset)=([\w-]{1,200})$/.exec(location.hash) ?? [];
  if (found !== name) {
    return undefined;
  }
  history.replaceState(null, '', location.pathname);
  return token;
}

async function post(path: string, body: object): Promise<void> {
  const answer = await fetch(below(`/api/v1/${path}`), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) {
    const { error, message } = (await answer.json()) as { error: string; message: string };
    throw new ApiError(answer.status, error, message);
  }
}

interface WithEmail {
  readonly email: string;
  readonly onEmail: (email: string) => void;
}

function Forgot({ email, onEmail }: WithEmail) {
  const [isSent, setSent] = useState(false);
  return (
    <>
      <h1>{text.forgotTitle}</h1>
      <p class="soft">{isSent ? text.sent : text.forgotNote}</p>
      {!isSent && (
        <Form
          submit={text.forgotSubmit}
          onSubmit={() => post('password-resets', { email }).then(() => setSent(true))}
        >
          <TextField
            label={text.email}
            type="email"
            autoComplete="username"
            value={email}
            onInput={onEmail}
            autoFocus
          />
        </Form>
      )}
    </>
  );
}

function Reset({ token, onDone }: { readonly token: string; readonly onDone: () => void }) {
  const [password, setPassword] = useState('');
  return (
    <>
      <h1>{text.resetTitle}</h1>
      <p class="soft">{text.resetNote}</p>
      <Form
        submit={text.resetSubmit}
        onSubmit={() => post('password-resets/redeem', { token, password }).then(onDone)}
      >
        <TextField
          label={text.password}
          type="password"
          autoComplete="new-password"
          value={password}
          onInput={setPassword}
          hint={text.passwordHint}
          autoFocus
        />
      </Form>
    </>
  );
}

interface SignInProps extends WithEmail {
  readonly why?: string | undefined;
  readonly note?: string | undefined;
  readonly registers: boolean;
}

function SignIn({ why, note, registers, email, onEmail }: SignInProps) {
  const [password, setPassword] = useState('');
  const [isMade, setMade] = useState(false);
  const submit = async (): Promise<void> => {
    if (registers && !isMade) {
      await post('auth/register', { email, password });
      setMade(true);
    }
    await orThrow(signIn('login', { email, password }));
  };
  return (
    <>
      <h1>{registers ? text.register : text.signIn}</h1>
      {why !== undefined && <p class="soft">{why === otherAccount ? text.other : text.ended}</p>}
      {(isMade || note !== undefined) && <p class="soft">{isMade ? text.made : note}</p>}
      <Form submit={registers ? text.register : text.signIn} onSubmit={submit}>
        <TextField
          label={text.email}
          type="email"
          autoComplete="username"
          value={email}
          onInput={onEmail}
          autoFocus
        />
        <TextField
          label={text.password}
          type="password"
          autoComplete={registers ? 'new-password' : 'current-password'}
          value={password}
          onInput={setPassword}
          hint={registers ? text.passwordHint : undefined}
        />
      </Form>
    </>
  );
}

function SetUp({ token }: { readonly token: string }) {
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  return (
    <>
      <h1>{text.setupTitle}</h1>
      <p class="soft">{text.setupNote}</p>
      <Form
        submit={text.setupSubmit}
        onSubmit={() =>
          orThrow(
            signIn('setup', {
              token,
              email,
              password,
              ...(name.trim() !== '' && { display_name: name.trim() }),
            }),
          )
        }
      >
        <TextField label={text.name} autoComplete="name" value={name} onInput={setName} autoFocus />
        <TextField
          label={text.email}
          type="email"
          autoComplete="username"
          value={email}
          onInput={setEmail}
        />
        <TextField
          label={text.password}
          type="password"
          autoComplete="new-password"
          value={password}
          onInput={setPassword}
          hint={text.passwordHint}
        />
      </Form>
    </>
  );
}

function WaitForLink() {
  return (
    <>
      <h1>{text.waitTitle}</h1>
      <p>{text.waitNote}</p>
      <p>
        <code>{text.waitFile}</code>
      </p>
      <p class="soft">
        {text.waitAdd} <code>#setup=…</code>
      </p>
    </>
  );
}

async function orThrow(
  outcome: Promise<{ readonly code: string; readonly message: string } | undefined>,
): Promise<void> {
  const refused = await outcome;
  if (refused) {
    throw new ApiError(400, refused.code, refused.message);
  }
}
