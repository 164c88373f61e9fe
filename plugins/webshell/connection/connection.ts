import type { Socket } from 'svc/sdk';

import { errors } from '../protocol/errors.ts';
import type { Standing } from '../rights/authority.ts';
import { type AttachFrame, type OpenFrame, readFrame } from '../protocol/frames.ts';
import { limits } from '../protocol/limits.ts';

/** Admitted WebSocket with its purpose: by its ticket, or by its token. */
export interface Connection {
  readonly socket: Socket;
  readonly standing: Standing;
  readonly deviceId: number;
  /** User on the device, from the ticket. */
  readonly user: string | undefined;
  /** The shell that the ticket leads back to; undefined opens one. */
  readonly session: number | undefined;
  readonly ip: string;
  readonly userAgent: string;
}

export interface FirstFrameOptions {
  readonly after: (ms: number, work: () => void) => () => unknown;
  readonly closed: Promise<unknown>;
  /** Called with what follows the first frame. */
  readonly next: (data: string | Uint8Array) => void;
}

/** Undefined when the browser has gone. */
export function firstFrame(
  { socket, session }: Connection,
  { after, closed, next }: FirstFrameOptions,
): Promise<OpenFrame | AttachFrame | undefined> {
  const wanted = session === undefined ? 'open' : 'attach';
  return new Promise((resolve, reject) => {
    let isFirst = true;
    const late = after(limits.openMs, () => reject(errors.first_frame_late()));
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
        reject(errors.first_frame_form({ forms: forms[wanted] }));
      }
    });
    void closed.then(() => {
      stop();
      resolve(undefined);
    });
  });
}

const forms = {
  open: '{"type":"open", cols, rows, term, user?, auth}',
  attach: '{"type":"attach", from, cols, rows}, as the ticket is for an open shell',
};
