import { isSvcError, messageOf, type SvcError } from 'svc/sdk';

import { errors } from '../protocol/errors.ts';
import { type Connection, firstFrame } from './connection.ts';
import type { AttachFrame, OpenFrame } from '../protocol/frames.ts';
import { closeCode } from '../protocol/limits.ts';
import { logIn, openSession, type OpeningParts } from './opening.ts';
import type { ShellQuota } from '../rights/quota.ts';
import type { LiveShell } from '../shell/shell.ts';

export interface ConnectionParts extends OpeningParts {
  readonly quota: ShellQuota;
}

/** A refusal after the upgrade, as its close code tells it. */
const codeOfError = (error: SvcError): number =>
  ({
    invalid_argument: closeCode.badFrame,
    unauthorized: closeCode.loginRefused,
    forbidden: closeCode.revoked,
    conflict: closeCode.hostKeyChanged,
    rate_limited: closeCode.limit,
    unavailable: closeCode.offline,
    not_found: closeCode.offline,
    internal: closeCode.recordFailure,
    budget_exceeded: closeCode.limit,
    upstream_error: closeCode.lost,
  })[error.code];

/** Takes a browser from its first frame to a shell, and stays until it is gone. The shell may go on without it. */
export async function serveConnection(
  parts: ConnectionParts,
  connection: Connection,
): Promise<void> {
  const { socket, standing, deviceId, session } = connection;
  let hasClosed = false;
  const closed = new Promise<number>((resolve) =>
    socket.onClose((code) => {
      hasClosed = true;
      resolve(code);
    }),
  );
  let shell: LiveShell | undefined;
  let early: (string | Uint8Array)[] | undefined = [];
  let release = (): void => {};
  socket.onLeave(
    () => void shell?.end('manager_restart', 'the service stops, or reloads its shells'),
  );
  try {
    // A shell that is attached to again is counted already.
    release = session === undefined ? parts.quota.reserve(standing.principal, deviceId) : release;
    const next = (data: string | Uint8Array): unknown =>
      shell ? shell.receive(socket, data) : early?.push(data);
    const frame = await firstFrame(connection, { after: parts.after, closed, next });
    if (!frame) {
      return release();
    }
    // Frames that arrive before the shell is ready wait in the connection; those that came with the
    // first frame wait here.
    socket.pause();
    shell =
      frame.type === 'attach'
        ? await attach(parts, connection, frame)
        : await open(parts, connection, frame, { release, hasClosed: () => hasClosed });
    if (!shell) {
      return release();
    }
    for (const data of early) {
      shell.receive(socket, data);
    }
    early = undefined;
    await shell.left(socket, await closed);
  } catch (error) {
    early = undefined;
    release();
    refuse(parts, connection, error);
  }
}

/** Undefined when the browser has gone meanwhile. */
async function open(
  parts: ConnectionParts,
  connection: Connection,
  frame: OpenFrame,
  { release, hasClosed }: { readonly release: () => void; readonly hasClosed: () => boolean },
): Promise<LiveShell | undefined> {
  const login = await logIn(parts, connection, frame);
  if (hasClosed()) {
    login.ssh.close();
    return undefined;
  }
  return await openSession(parts, connection, frame, { login, ended: release });
}

/** Attaches to the shell of the ticket; recorded before any of it is shown. */
async function attach(
  { shells, authority, journal }: ConnectionParts,
  connection: Connection,
  { from, cols, rows, acks }: AttachFrame,
): Promise<LiveShell> {
  const { socket, standing, session } = connection;
  const shell = shells.requireAttachable(session!);
  if (!authority.holds(standing) || !(await authority.sees(standing, shell.deviceId))) {
    throw errors.right_to_shell_ended();
  }
  shell.assertShowable(from);
  await journal.attached({ connection, shell, from });
  shell.attach({ socket, standing, acks }, { from, cols, rows });
  return shell;
}

function refuse({ log }: ConnectionParts, { socket, deviceId }: Connection, error: unknown): void {
  const shown = isSvcError(error) ? error : errors.shell_not_opened();
  if (!isSvcError(error)) {
    log.error(
      { event: 'webshell.open_failed', device_id: deviceId, cause: messageOf(error) },
      'failed to open a shell',
    );
  }
  // A paused socket would not receive the answer to being closed.
  socket.resume();
  socket.send(JSON.stringify({ type: 'error', code: shown.code, message: shown.message }));
  socket.close(codeOfError(shown), shown.message);
}
