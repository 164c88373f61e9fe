import { BufferEvent, ClockEvent, oneLine, PolicyEvent } from 'svc/edge-protocol';
import { type Clock, isSvcError, type MaybePromise } from 'svc/sdk';
import type { TunnelListener, TunnelMethod, TunnelSession } from 'svc/tunnel';

import type { EdgeRecord } from '../record/record.ts';
import { shapeCheck } from '../record/shape-check.ts';
import { errors } from './errors.ts';

/** Takes one event of an edge; resolves once it is dealt with, to what the edge should know of it, and logs why it could not be. */
export interface Receiver {
  receive(record: EdgeRecord, payload: unknown): MaybePromise<object | void>;
}

/**
 * Intake of what edges report: as events, which are lost with the connection, or by the method
 * `tell`, whose answer confirms receipt. Duplicates count once.
 */
export class EventIntake {
  readonly events: ReadonlyMap<string, TunnelListener>;
  readonly tell: TunnelMethod = {
    handle: (params: unknown, { session }) => this.#tell(params, session),
  };
  readonly #receivers: ReadonlyMap<string, Receiver>;
  readonly #owners: ReadonlyMap<TunnelSession, EdgeRecord>;

  constructor(
    receivers: ReadonlyMap<string, Receiver>,
    owners: ReadonlyMap<TunnelSession, EdgeRecord>,
  ) {
    this.#receivers = receivers;
    this.#owners = owners;
    this.events = new Map(
      [...receivers].map(([event, receiver]) => [
        event,
        (payload: unknown, session: TunnelSession): void => {
          const record = owners.get(session);
          if (record) {
            // No answer waits for it; the receiver has logged its failure.
            Promise.resolve(receiver.receive(record, payload)).catch(() => undefined);
          }
        },
      ]),
    );
  }

  async #tell(params: unknown, session: TunnelSession): Promise<object> {
    const { event, payload } = (params ?? {}) as { event?: unknown; payload?: unknown };
    const receiver = typeof event === 'string' ? this.#receivers.get(event) : undefined;
    const record = this.#owners.get(session);
    if (!receiver) {
      throw errors.no_event({
        event: JSON.stringify(event)?.slice(0, 80),
        list: [...this.#receivers.keys()].join(', '),
      });
    }
    if (!record) {
      throw errors.connection_over();
    }
    try {
      return (await receiver.receive(record, payload)) ?? {};
    } catch (error) {
      throw isSvcError(error) ? error : errors.event_not_stored({ cause: error });
    }
  }
}

/** Reports of edges about their buffers; invalid ones are dropped. */
export class BufferReports implements Receiver {
  readonly #fits = shapeCheck<BufferEvent>(BufferEvent);

  receive(record: EdgeRecord, report: unknown): void {
    if (this.#fits(report)) {
      const { dropped, queued_bytes, oldest_at, damaged = [] } = report;
      record.buffer = {
        dropped,
        queued_bytes,
        oldest_at,
        damaged: damaged.map(({ lane, file, bytes, from, to }) => ({
          lane: oneLine(lane, 20),
          file: oneLine(file, 1_000),
          bytes,
          from,
          to,
        })),
      };
    }
  }
}

/** Reports of edges about their clocks, which they compare with ours. */
export class ClockReports implements Receiver {
  readonly #fits = shapeCheck<ClockEvent>(ClockEvent);
  readonly #clock: Pick<Clock, 'now'>;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  receive({ tunnel }: EdgeRecord, report: unknown): { readonly now: number } {
    if (tunnel && this.#fits(report) && report.skew_ms !== undefined) {
      tunnel.clockSkewMs = report.skew_ms;
    }
    return { now: this.#clock.now() };
  }
}

/** Reports of edges on whether the policy of their host is valid; invalid reports are dropped. */
export class PolicyReports implements Receiver {
  readonly #fits = shapeCheck<PolicyEvent>(PolicyEvent);

  receive(record: EdgeRecord, report: unknown): void {
    if (this.#fits(report)) {
      record.policyProblem = report.problem === null ? undefined : oneLine(report.problem, 2_000);
    }
  }
}
