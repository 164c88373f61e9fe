import { isSvcError, messageOf, type Principal, type Socket, SvcError } from 'svc/sdk';

import type { Authority, Standing } from './authority.ts';
import { type AttachFrame, type OpenFrame, readFrame } from './frames.ts';
import { closeCode, limits } from './limits.ts';
import { begin, enter, type OpeningParts } from './opening.ts';
import type { Seats } from './seats.ts';
import type { LiveShell } from './shell.ts';
import type { Shells } from './shells.ts';

export interface Visit {
  readonly socket: Socket;
  readonly standing: Standing;
  readonly deviceId: number;
  /** On the device, as the ticket says. */
  readonly user: string | undefined;
  /** The shell that the ticket leads back to; undefined opens one. */
  readonly session: number | undefined;
  readonly ip: string;
  readonly userAgent: string;
}

export interface VisitParts extends OpeningParts {
  readonly seats: Seats;
}

/** A refusal after the upgrade, as its close code tells it. */
const codeOfError = (error: SvcError): number =>
  ({
    ...{ invalid_argument: closeCode.badFrame, unauthorized: closeCode.loginRefused, forbidden: closeCode.revoked, conflict: closeCode.hostKeyChanged },
    ...{ rate_limited: closeCode.limit, unavailable: closeCode.offline, not_found: closeCode.offline, internal: closeCode.recordFailure },
    ...{ budget_exceeded: closeCode.limit, upstream_error: closeCode.lost },
  })[error.code];

/** Takes a browser from its first frame to a shell, and stays until it is gone. The shell may go on without it. */
export async function attend(parts: VisitParts, visit: Visit): Promise<void> {
  const { socket, standing, deviceId, session } = visit;
  const closing = { hasClosed: false };
  const closed = new Promise<number>((resolve) =>
    socket.onClose((code) => {
      closing.hasClosed = true;
      resolve(code);
    }),
  );
  let shell: LiveShell | undefined;
  let early: (string | Uint8Array)[] | undefined = [];
  let leave = (): void => {};
  socket.onLeave(() => void shell?.end('manager_restart', 'the service stops, or reloads its shells'));
  try {
    // A shell that somebody comes back to has its seat.
    leave = session === undefined ? parts.seats.take(standing.principal, deviceId) : leave;
    const frame = await firstFrame(parts, visit, closed, (data) => (shell ? shell.receive(socket, data) : early?.push(data)));
    if (!frame) {
      return leave();
    }
    // What comes before the shell is ready waits in the connection; what came along with the first frame waits here.
    socket.pause();
    if (frame.type === 'attach') {
      shell = await comeBack(parts, visit, frame);
    } else {
      const entered = await enter(parts, visit, frame);
      if (closing.hasClosed) {
        entered.ssh.close();
        return leave();
      }
      shell = await begin(parts, visit, frame, { entered, over: leave });
    }
    for (const data of early) {
      shell.receive(socket, data);
    }
    early = undefined;
    await shell.left(socket, await closed);
  } catch (error) {
    early = undefined;
    leave();
    const shown = isSvcError(error) ? error : new SvcError('internal', 'the shell could not be opened');
    if (!isSvcError(error)) {
      parts.log.error({ device_id: deviceId, cause: messageOf(error) }, 'a shell could not be opened');
    }
    // A socket that waits would not hear the answer to being closed.
    socket.resume();
    socket.send(JSON.stringify({ type: 'error', code: shown.code, message: shown.message }));
    socket.close(codeOfError(shown), shown.message);
  }
}

/** Undefined when the browser has gone. */
function firstFrame(
  { after }: VisitParts,
  { socket, session }: Visit,
  closed: Promise<unknown>,
  next: (data: string | Uint8Array) => void,
): Promise<OpenFrame | AttachFrame | undefined> {
  const wanted = session === undefined ? 'open' : 'attach';
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
      if ((frame?.type === 'open' || frame?.type === 'attach') && frame.type === wanted) {
        resolve(frame);
      } else {
        const form =
          wanted === 'open' ? '{"type":"open", cols, rows, term, user?, auth}' : '{"type":"attach", from, cols, rows}, as the ticket leads to a shell';
        reject(new SvcError('invalid_argument', `the first frame must be ${form}`));
      }
    });
    void closed.then(() => {
      stop();
      resolve(undefined);
    });
  });
}

/** To the shell that the ticket is for; written down before anything of it is shown. */
async function comeBack({ shells, authority, keeper }: VisitParts, visit: Visit, { from, cols, rows, acks }: AttachFrame): Promise<LiveShell> {
  const { socket, standing, session } = visit;
  const shell = shellOf(shells, session!);
  if (!authority.holds(standing)) {
    throw new SvcError('forbidden', 'your right to this shell has ended');
  }
  shell.assertShowable(from);
  await keeper.cameBack({ visit, shell, from });
  shell.attach({ socket, standing, acks }, { from, cols, rows });
  return shell;
}

export function shellOf(shells: Shells, id: number): LiveShell {
  const shell = shells.toShow(id);
  if (!shell) {
    throw new SvcError('not_found', `there is no shell ${id} to come back to; it has ended`);
  }
  return shell;
}

/** Somebody who may have a shell; for a ticket, whoever it was given to. */
export function standingOf(authority: Authority, principal: Principal): Standing {
  const standing = authority.standing(principal);
  if (!standing) {
    throw new SvcError('forbidden', 'only people and their API tokens open shells');
  }
  return standing;
}
