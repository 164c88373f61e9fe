import { isSvcError, type MaybePromise, SvcError } from 'svc/sdk';
import type { TunnelHandlers, TunnelMethod, TunnelSession } from 'svc/tunnel';

import type { EdgeRecord } from '../record.ts';

/** Takes what an edge tells; resolves once it has come to its end, and logs why it has not. */
export type Note = (record: EdgeRecord, payload: unknown) => MaybePromise<void>;

/**
 * What edges tell: as events, which are lost with the connection, or by the method `tell`, whose answer says that it was taken. What
 * is told twice counts once.
 */
export function createHearing(
  notes: ReadonlyMap<string, Note>,
  owners: ReadonlyMap<TunnelSession, EdgeRecord>,
): Required<Pick<TunnelHandlers, 'events' | 'methods'>> {
  return {
    events: new Map(
      [...notes].map(([event, note]) => [
        event,
        (payload: unknown, session: TunnelSession): void => {
          const record = owners.get(session);
          if (record) {
            // Nobody waits for it; whoever notes has logged its failure.
            Promise.resolve(note(record, payload)).catch(() => undefined);
          }
        },
      ]),
    ),
    methods: new Map<string, TunnelMethod>([
      [
        'tell',
        {
          async handle(params: unknown, { session }) {
            const { event, payload } = (params ?? {}) as { event?: unknown; payload?: unknown };
            const note = typeof event === 'string' ? notes.get(event) : undefined;
            const record = owners.get(session);
            if (!note || !record) {
              throw new SvcError(note ? 'unavailable' : 'invalid_argument', note ? 'this connection serves no edge any more' : 'there is no such event');
            }
            try {
              await note(record, payload);
            } catch (error) {
              throw isSvcError(error) ? error : new SvcError('unavailable', 'it could not be kept; tell it again', { cause: error });
            }
            return {};
          },
        },
      ],
    ]),
  };
}
