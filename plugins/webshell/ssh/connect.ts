import type { Duplex } from 'node:stream';

import { isSvcError, messageOf, type SvcError } from 'svc/sdk';
import { type Client, type ClientChannel, loadSsh } from 'svc/ssh';

import { errors } from '../protocol/errors.ts';
import type { Login, Size } from '../protocol/frames.ts';
import { limits } from '../protocol/limits.ts';
import { type HostKey, hostKeyAlgorithms, hostKeyOf } from './fingerprint.ts';

export interface SshOrder extends Size {
  /** Leads to the SSH server; ends with the connection. */
  readonly stream: Duplex;
  readonly user: string;
  readonly login: Login;
  readonly term: string;
  readonly known: HostKey | undefined;
  /** Throws to refuse the key; nothing secret is sent before it has agreed. */
  readonly verify: (key: HostKey) => Promise<void>;
}

export interface SshShell {
  readonly channel: ClientChannel;
  readonly hostKey: HostKey;
  /** Outcome reported by the server, which may arrive before there is a listener. */
  readonly fate: {
    exit?: { readonly code: number | null; readonly signal: string | null };
    isClosed: boolean;
  };
  /** Ends the connection at once. */
  close(): void;
}

/** Signs in and opens a shell with a terminal: unauthorized when the server does not want this login, upstream_error when it does not get so far. */
export async function openShell(order: SshOrder): Promise<SshShell> {
  order.stream.on('error', () => {});
  const { Client: SshClient } = await loadSsh();
  const client = new SshClient();
  const close = (): void => {
    client.end();
    client.destroy();
    order.stream.destroy();
  };
  const fate: SshShell['fate'] = { isClosed: false };
  const attached = (channel: ClientChannel): ClientChannel =>
    channel
      .on(
        'exit',
        (code: number | null | undefined, signal?: string) =>
          (fate.exit = { code: code ?? null, signal: signal ?? null }),
      )
      .on('close', () => (fate.isClosed = true))
      .on('error', () => {});
  // From here on its errors are those of the channel: it closes.
  client.on('error', () => {});
  try {
    const hostKey = await signIn(client, order);
    const { term, cols, rows } = order;
    const channel = await new Promise<ClientChannel>((opened, failed) => {
      client.once('close', () => failed(errors.connection_ended_early()));
      client.shell({ term, cols, rows, width: 0, height: 0 }, (error, made) =>
        error
          ? failed(errors.no_shell_from_server({ cause: messageOf(error) }))
          : opened(attached(made)),
      );
    });
    return { channel, hostKey, fate, close };
  } catch (error) {
    close();
    throw error;
  }
}

function signIn(
  client: Client,
  { stream, user, login, known, verify }: SshOrder,
): Promise<HostKey> {
  return new Promise((signedIn, failed) => {
    let hostKey: HostKey | undefined;
    let refusal: unknown;
    client.once('ready', () => {
      // It is not needed any more.
      client.config.password = undefined;
      client.config.privateKey = undefined;
      signedIn(hostKey!);
    });
    client.once('error', (error: Error & { readonly level?: string }) =>
      failed(refusal ?? explained(error)),
    );
    client.once('close', () => failed(refusal ?? errors.connection_lost_at_login()));
    client.on(
      'keyboard-interactive',
      (
        _name,
        _text,
        _language,
        prompts: readonly { readonly echo?: boolean }[],
        answer: (texts: readonly string[]) => void,
      ) =>
        answer(
          login.type === 'password' && prompts.length === 1 && prompts[0]!.echo !== true
            ? [login.password]
            : [],
        ),
    );
    client.connect({
      sock: stream,
      username: user,
      ident: 'svc',
      readyTimeout: limits.sshMs,
      algorithms: { serverHostKey: hostKeyAlgorithms(known) },
      hostVerifier: (blob, answer) => {
        const key = hostKeyOf(blob);
        verify(key).then(
          () => {
            hostKey = key;
            answer(true);
          },
          (error: unknown) => {
            refusal = error;
            answer(false);
          },
        );
      },
      ...credentialsOf(login),
    });
  });
}

/** Refuses a private key that cannot be read, before a connection is made. */
export async function assertLogin(login: Login): Promise<void> {
  const parsed =
    login.type === 'key'
      ? (await loadSsh()).utils.parseKey(login.private_key, login.passphrase)
      : undefined;
  if (
    parsed instanceof Error ||
    (Array.isArray(parsed) && parsed.some((key) => key instanceof Error))
  ) {
    throw errors.private_key_unreadable();
  }
}

/**
 * Returns the credentials; `none` first: it is how a server is asked what it accepts, and ssh2
 * tries nothing else before it knows.
 */
function credentialsOf(login: Login) {
  if (login.type === 'password') {
    return {
      password: login.password,
      tryKeyboard: true,
      authHandler: ['none', 'password', 'keyboard-interactive'],
    };
  }
  return {
    privateKey: login.private_key,
    passphrase: login.passphrase,
    authHandler: ['none', 'publickey'],
  };
}

function explained(error: Error & { readonly level?: string }): SvcError {
  if (isSvcError(error)) {
    return error;
  }
  return error.level === 'client-authentication'
    ? errors.login_refused()
    : error.level === 'client-timeout'
      ? errors.server_too_late()
      : errors.ssh_failed({ cause: messageOf(error) });
}
