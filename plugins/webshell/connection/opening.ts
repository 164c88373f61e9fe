import type { DeviceEntry } from 'svc/contracts/device';
import { type Clock, isSvcError, type Logger, type Settings } from 'svc/sdk';

import { errors } from '../protocol/errors.ts';
import type { Authority } from '../rights/authority.ts';
import type { Connection } from './connection.ts';
import type { FailedLogins } from '../rights/failed-logins.ts';
import type { OpenFrame } from '../protocol/frames.ts';
import type { HostKeys } from '../ssh/host-keys.ts';
import { limits } from '../protocol/limits.ts';
import { portOf, reach, type ReachParts } from '../rights/reach.ts';
import type { SessionJournal } from './session-journal.ts';
import { LiveShell } from '../shell/shell.ts';
import type { Shells } from '../shell/shells.ts';
import { assertLogin, openShell, type SshShell } from '../ssh/connect.ts';
import type { HostKey } from '../ssh/fingerprint.ts';
import type { Turns } from '../ssh/turns.ts';

export interface OpeningParts extends ReachParts {
  readonly authority: Authority;
  readonly hostKeys: HostKeys;
  readonly failedLogins: FailedLogins;
  readonly shells: Shells;
  readonly turns: Turns;
  readonly journal: SessionJournal;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly after: (ms: number, work: () => void) => () => unknown;
}

/** A login that the SSH server of a device has accepted. */
export interface AcceptedLogin {
  readonly device: DeviceEntry;
  readonly edgeId: number;
  readonly user: string;
  readonly ssh: SshShell;
  readonly trust: 'known' | 'first_use';
  /** Called at each keystroke. */
  readonly typed: () => void;
}

/** Connects through the tunnel and logs in at the SSH server; a refusal is recorded. */
export async function logIn(
  parts: OpeningParts,
  connection: Connection,
  frame: OpenFrame,
): Promise<AcceptedLogin> {
  const { deviceId, standing } = connection;
  const { failedLogins, hostKeys, fleet, settings, journal, authority } = parts;
  const user = remoteUser(connection, frame);
  await assertLogin(frame.auth);
  failedLogins.check(deviceId);
  const { device, edgeId } = await reach(parts, standing.principal, deviceId);
  const stream = await fleet
    .get()
    .openStream(
      edgeId,
      'tcp',
      { host: '127.0.0.1', port: portOf(device, settings) },
      { timeoutMs: limits.sshMs },
    );
  let trust: 'known' | 'first_use' = 'known';
  let shown: HostKey | undefined;
  try {
    const ssh = await openShell({
      stream,
      user,
      login: frame.auth,
      term: frame.term,
      cols: frame.cols,
      rows: frame.rows,
      known: await hostKeys.known(deviceId),
      verify: async (key) => {
        shown = key;
        trust = await hostKeys.verify(deviceId, key);
      },
    });
    if (!authority.holds(standing)) {
      ssh.close();
      throw errors.right_to_open_ended();
    }
    return { device, edgeId, user, ssh, trust, typed: parts.turns.pace(stream) };
  } catch (error) {
    stream.destroy();
    if (isSvcError(error)) {
      if (error.code === 'unauthorized') {
        failedLogins.count(deviceId);
      }
      await journal.refused({
        connection,
        edgeId,
        user,
        auth: frame.auth.type,
        fingerprint: shown?.fingerprint,
        error,
      });
    }
    throw error;
  }
}

function remoteUser(connection: Connection, frame: OpenFrame): string {
  const user = connection.user ?? frame.user;
  if (user === undefined) {
    throw errors.user_missing();
  }
  if (frame.user !== undefined && frame.user !== user) {
    throw errors.ticket_of_another_user({ user });
  }
  return user;
}

/**
 * Opens a session. From here on one exists: whatever happens, its end is recorded, and `ended` is
 * called.
 */
export async function openSession(
  parts: OpeningParts,
  connection: Connection,
  frame: OpenFrame,
  {
    login: { device, edgeId, user, ssh, trust, typed },
    ended,
  }: { readonly login: AcceptedLogin; readonly ended: () => void },
): Promise<LiveShell> {
  const { journal, shells, settings, clock, log, after } = parts;
  const { socket, standing, deviceId } = connection;
  try {
    const kept = await journal.open({
      connection,
      edgeId,
      user,
      auth: frame.auth.type,
      hostKey: ssh.hostKey,
      trust,
    });
    try {
      const shell = await LiveShell.start({
        id: kept.id,
        deviceId,
        edgeId,
        attachment: { socket, standing, acks: frame.acks },
        ssh,
        clock,
        log,
        after,
        typed,
        idleMs: () => settings.get<number>('webshell.idle_minutes') * 60_000,
        record:
          kept.record &&
          ((reports) =>
            kept.record!({
              ...reports,
              term: frame.term,
              title: `${user}@${device.display_name}`,
              cols: frame.cols,
              rows: frame.rows,
            })),
        ready: {
          type: 'ready',
          session_id: kept.id,
          user,
          host_key: { ...ssh.hostKey, trust },
          recorded: kept.record !== undefined,
        },
        keep: async (end) => {
          try {
            await kept.close(end);
          } finally {
            shells.remove(kept.id);
            ended();
          }
        },
      });
      shells.add(shell);
      return shell;
    } catch (error) {
      await kept.close({
        endedBy: 'record_failure',
        exitCode: null,
        bytesIn: 0,
        bytesOut: 0,
        durationMs: 0,
        recorded: 'failed',
      });
      throw errors.recording_not_writable({ cause: error });
    }
  } catch (error) {
    ssh.close();
    throw error;
  }
}
