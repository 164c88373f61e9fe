import { type Clock, type Handle, isSvcError, type Logger, messageOf, type Principal, type Settings, type Socket, SvcError } from 'svc/sdk';

import type { DeviceDirectory, DeviceEntry } from '../device/contract.ts';
import type { EdgeFleet } from '../edge/contract.ts';
import type { Authority, Standing } from './authority.ts';
import type { FailedLogins } from './failed-logins.ts';
import { type OpenFrame, readFrame } from './frames.ts';
import type { HostKeys } from './host-keys.ts';
import { closeCode, limits } from './limits.ts';
import type { Keeper } from './keeper.ts';
import type { Seats } from './seats.ts';
import { type LiveShell, startShell } from './shell.ts';
import type { Shells } from './shells.ts';
import { assertLogin, openShell, type SshShell } from './ssh/connect.ts';
import type { HostKey } from './ssh/fingerprint.ts';
import type { Turns } from './ssh/turns.ts';

export interface Visit {
  readonly socket: Socket;
  readonly standing: Standing;
  readonly deviceId: number;
  /** On the device, as the ticket says. */
  readonly user: string | undefined;
  readonly ip: string;
  readonly userAgent: string;
}

export interface VisitParts {
  readonly devices: Pick<DeviceDirectory, 'get' | 'onlineEdge'>;
  readonly fleet: Handle<EdgeFleet>;
  readonly authority: Authority;
  readonly hostKeys: HostKeys;
  readonly seats: Seats;
  readonly failedLogins: FailedLogins;
  readonly shells: Shells;
  readonly turns: Turns;
  readonly keeper: Keeper;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly after: (ms: number, work: () => void) => () => unknown;
}

/** Where a device can be reached: unavailable when it cannot, forbidden when its owner wants no shells. */
export async function reach({ devices, fleet }: Pick<VisitParts, 'devices' | 'fleet'>, deviceId: number): Promise<{ device: DeviceEntry; edgeId: number }> {
  const device = await devices.get(deviceId);
  if (!device) {
    throw new SvcError('not_found', `there is no device ${deviceId}`);
  }
  const edgeId = await devices.onlineEdge(deviceId);
  if (edgeId === undefined || !fleet.available) {
    throw new SvcError('unavailable', `device ${deviceId} is offline: no edge that watches it is connected`);
  }
  if (fleet.get().capabilities(edgeId)?.webshell === false) {
    throw new SvcError('forbidden', `the owner of device ${deviceId} allows no shells, in the policy file of its edge`);
  }
  return { device, edgeId };
}

/** Where the SSH server of a device listens: its own tag goes before what holds for all. The edge dials it only when its owner allows that. */
function portOf({ tags }: DeviceEntry, settings: Settings): number {
  const own = tags['ssh_port'];
  if (own === undefined) {
    return settings.get<number>('webshell.ssh_port');
  }
  if (!/^[1-9]\d{0,4}$/.test(own) || Number(own) > 65_535) {
    throw new SvcError('invalid_argument', `the tag ssh_port of this device is "${own.slice(0, 32)}", and that is no port`);
  }
  return Number(own);
}

/** A refusal after the upgrade, as its close code tells it. */
const codeOfError = (error: SvcError): number =>
  ({
    ...{ invalid_argument: closeCode.badFrame, unauthorized: closeCode.loginRefused, forbidden: closeCode.revoked, conflict: closeCode.hostKeyChanged },
    ...{ rate_limited: closeCode.limit, unavailable: closeCode.offline, not_found: closeCode.offline, internal: closeCode.recordFailure },
    ...{ budget_exceeded: closeCode.limit, upstream_error: closeCode.lost },
  })[error.code];

/** Takes a browser from its first frame to the end of its shell. */
export async function attend(parts: VisitParts, visit: Visit): Promise<void> {
  const { socket, standing, deviceId } = visit;
  let leave = (): void => {};
  let live: LiveShell | undefined;
  let closed = false;
  const whenClosed = new Promise<void>((resolve) => {
    socket.onClose(() => {
      closed = true;
      resolve();
    });
  });
  socket.onLeave(() => void live?.end('manager_restart', 'the service stops, or reloads its shells'));
  try {
    leave = parts.seats.take(standing.principal, deviceId);
    const frame = await firstFrame(parts, visit, whenClosed, (data) => live?.receive(data));
    if (!frame) {
      return;
    }
    // What comes before the shell is ready waits in the connection.
    socket.pause();
    const opened = await enter(parts, visit, frame);
    if (closed) {
      opened.ssh.close();
      return;
    }
    live = await begin(parts, visit, frame, opened);
    socket.resume();
    await whenClosed;
    await live.end('closed');
  } catch (error) {
    const shown = isSvcError(error) ? error : new SvcError('internal', 'the shell could not be opened');
    if (!isSvcError(error)) {
      parts.log.error({ device_id: deviceId, cause: messageOf(error) }, 'a shell could not be opened');
    }
    // A socket that waits would not hear the answer to being closed.
    socket.resume();
    socket.send(JSON.stringify({ type: 'error', code: shown.code, message: shown.message }));
    socket.close(codeOfError(shown), shown.message);
  } finally {
    leave();
  }
}

/** Undefined when the browser has gone. */
function firstFrame(
  { after }: VisitParts,
  { socket }: Visit,
  whenClosed: Promise<void>,
  next: (data: string | Uint8Array) => void,
): Promise<OpenFrame | undefined> {
  return new Promise((resolve, reject) => {
    let isFirst = true;
    const late = after(limits.openMs, () => reject(new SvcError('invalid_argument', 'the first frame has not come within 15 s')));
    const stop = (): void => {
      isFirst = false;
      void late();
    };
    socket.onMessage((data) => {
      if (!isFirst) {
        return next(data);
      }
      stop();
      const frame = typeof data === 'string' ? readFrame(data) : undefined;
      if (frame?.type === 'open') {
        resolve(frame);
      } else {
        reject(new SvcError('invalid_argument', 'the first frame must be {"type":"open", cols, rows, term, user?, auth}'));
      }
    });
    void whenClosed.then(() => {
      stop();
      resolve(undefined);
    });
  });
}

interface Entered {
  readonly device: DeviceEntry;
  readonly edgeId: number;
  readonly user: string;
  readonly ssh: SshShell;
  readonly trust: 'known' | 'first_use';
}

/** Through the tunnel and past the login of the SSH server; what it refuses is written down. */
async function enter(parts: VisitParts, visit: Visit, frame: OpenFrame): Promise<Entered> {
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
    parts.turns.pace(stream);
    return { device, edgeId, user, ssh, trust };
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

/** From here on there is a session: whatever happens, it is written down how it ended. */
async function begin(parts: VisitParts, visit: Visit, frame: OpenFrame, { device, edgeId, user, ssh, trust }: Entered): Promise<LiveShell> {
  const { keeper, shells, settings, clock, log, after } = parts;
  try {
    const kept = await keeper.open({ visit, edgeId, user, auth: frame.auth.type, hostKey: ssh.hostKey, trust });
    const { socket, standing, deviceId } = visit;
    try {
      const shell = await startShell({
        ...{ id: kept.id, deviceId, edgeId, standing, socket, ssh, acks: frame.acks, clock, log, after },
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

/** Somebody who may have a shell; for a ticket, whoever it was given to. */
export function standingOf(authority: Authority, principal: Principal): Standing {
  const standing = authority.standing(principal);
  if (!standing) {
    throw new SvcError('forbidden', 'only people and their API tokens open shells');
  }
  return standing;
}
