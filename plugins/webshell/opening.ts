import { type Clock, isSvcError, type Logger, type Settings, SvcError } from 'svc/sdk';

import type { DeviceEntry } from '../device/contract.ts';
import type { Authority } from './authority.ts';
import type { FailedLogins } from './failed-logins.ts';
import type { OpenFrame } from './frames.ts';
import type { HostKeys } from './host-keys.ts';
import type { Keeper } from './keeper.ts';
import { limits } from './limits.ts';
import { portOf, reach, type ReachParts } from './reach.ts';
import { type LiveShell, startShell } from './shell.ts';
import type { Shells } from './shells.ts';
import { assertLogin, openShell, type SshShell } from './ssh/connect.ts';
import type { HostKey } from './ssh/fingerprint.ts';
import type { Turns } from './ssh/turns.ts';
import type { Visit } from './visit.ts';

export interface OpeningParts extends ReachParts {
  readonly authority: Authority;
  readonly hostKeys: HostKeys;
  readonly failedLogins: FailedLogins;
  readonly shells: Shells;
  readonly turns: Turns;
  readonly keeper: Keeper;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly after: (ms: number, work: () => void) => () => unknown;
}

export interface Entered {
  readonly device: DeviceEntry;
  readonly edgeId: number;
  readonly user: string;
  readonly ssh: SshShell;
  readonly trust: 'known' | 'first_use';
  /** Told of each keystroke. */
  readonly typed: () => void;
}

/** Through the tunnel and past the login of the SSH server; what it refuses is written down. */
export async function enter(parts: OpeningParts, visit: Visit, frame: OpenFrame): Promise<Entered> {
  const { deviceId, standing } = visit;
  const { failedLogins, hostKeys, fleet, settings, keeper, authority } = parts;
  const user = visit.user ?? frame.user;
  if (user === undefined || (frame.user !== undefined && frame.user !== user)) {
    throw new SvcError('invalid_argument', user === undefined ? 'say as which user to log in' : `the ticket is for ${user}`);
  }
  assertLogin(frame.auth);
  failedLogins.check(deviceId);
  const { device, edgeId } = await reach(parts, deviceId);
  const stream = await fleet.get().openStream(edgeId, 'tcp', { host: '127.0.0.1', port: portOf(device, settings) }, { timeoutMs: limits.sshMs });
  let trust: 'known' | 'first_use' = 'known';
  let shown: HostKey | undefined;
  try {
    const ssh = await openShell({
      ...{ stream, user, login: frame.auth, term: frame.term, cols: frame.cols, rows: frame.rows },
      known: await hostKeys.known(deviceId),
      verify: async (key) => {
        shown = key;
        trust = await hostKeys.verify(deviceId, key);
      },
    });
    if (!authority.holds(standing)) {
      ssh.close();
      throw new SvcError('forbidden', 'your right to open shells has ended');
    }
    return { device, edgeId, user, ssh, trust, typed: parts.turns.pace(stream) };
  } catch (error) {
    stream.destroy();
    if (isSvcError(error)) {
      if (error.code === 'unauthorized') {
        failedLogins.count(deviceId);
      }
      await keeper.refused({ visit, edgeId, user, auth: frame.auth.type, fingerprint: shown?.fingerprint, error });
    }
    throw error;
  }
}

/** From here on there is a session: whatever happens, it is written down how it ended, and `over` is told. */
export async function begin(
  parts: OpeningParts,
  visit: Visit,
  frame: OpenFrame,
  { entered: { device, edgeId, user, ssh, trust, typed }, over }: { readonly entered: Entered; readonly over: () => void },
): Promise<LiveShell> {
  const { keeper, shells, settings, clock, log, after } = parts;
  try {
    const kept = await keeper.open({ visit, edgeId, user, auth: frame.auth.type, hostKey: ssh.hostKey, trust });
    const { socket, standing, deviceId } = visit;
    try {
      const shell = await startShell({
        ...{ id: kept.id, deviceId, edgeId, viewer: { socket, standing, acks: frame.acks }, ssh, clock, log, after },
        typed,
        idleMs: () => settings.get<number>('webshell.idle_minutes') * 60_000,
        record:
          kept.record &&
          ((reports) => kept.record!({ ...reports, term: frame.term, title: `${user}@${device.display_name}`, cols: frame.cols, rows: frame.rows })),
        ready: { type: 'ready', session_id: kept.id, user, host_key: { ...ssh.hostKey, trust }, recorded: kept.record !== undefined },
        keep: async (end) => {
          try {
            await kept.close(end);
          } finally {
            shells.remove(kept.id);
            over();
          }
        },
      });
      shells.add(shell);
      return shell;
    } catch (error) {
      await kept.close({ endedBy: 'record_failure', exitCode: null, bytesIn: 0, bytesOut: 0, durationMs: 0, recorded: 'failed' });
      throw new SvcError('internal', 'the recording cannot be written, and without one there is no shell', { cause: error });
    }
  } catch (error) {
    ssh.close();
    throw error;
  }
}
