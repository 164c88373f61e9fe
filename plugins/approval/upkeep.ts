import type { NoticeDispatcher } from 'svc/contracts/notify';
import {
  type Clock,
  type Handle,
  type Logger,
  messageOf,
  type Settings,
  type Tables,
  timestamp,
} from 'svc/sdk';

import { ApprovalStore } from './approval-store.ts';
import { itemOf } from './shown.ts';
import type { ApprovalTables, RequestRow } from './tables.ts';

export interface UpkeepParts {
  readonly tables: Tables<ApprovalTables>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly process: string;
  readonly settled: (row: RequestRow) => void;
  /** Called for an approval that was announced before. */
  readonly again: (row: RequestRow) => void;
  /** Signatures are awaited. */
  readonly tell: (row: RequestRow) => Promise<void>;
}

/**
 * Periodic work on approvals: they expire, are announced again, and become unknown if svc ended
 * while they ran.
 */
export class Upkeep {
  readonly #parts: UpkeepParts;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
  }

  /**
   * Marks as unknown what an earlier process began and did not finish: it may have run or not, so a
   * person has to check, and it is not retried.
   */
  async markUnknown(): Promise<void> {
    const { tables, clock, log, process, settled } = this.#parts;
    const reason =
      'svc stopped while it ran, so it may or may not have taken effect; check its target before you request it again';
    for (const { id, tool, process: begunBy } of await new ApprovalStore(tables.read).standing([
      'executing',
    ])) {
      if (begunBy !== process) {
        const row = await tables.write((tx) =>
          new ApprovalStore(tx).move(id, ['executing'], {
            status: 'unknown',
            reason,
            finished_at: clock.now(),
          }),
        );
        log.warn(
          { event: 'approval.unknown', approval_id: id, tool },
          'approved call interrupted by shutdown; check its target',
        );
        if (row) {
          settled(row);
        }
      }
    }
  }

  /**
   * Ends what has expired, and announces again what is approved and not begun: its plugin, or its
   * device, may have been unavailable.
   */
  async sweep(): Promise<void> {
    const { tables, clock, settled, again, tell } = this.#parts;
    for (const row of await new ApprovalStore(tables.read).standing([
      'pending',
      'partially_signed',
      'approved',
    ])) {
      if (row.expires_at <= clock.now()) {
        const change = {
          status: 'expired' as const,
          decided_at: clock.now(),
          reason: 'not signed, or not begun, in time',
        };
        const expired = await tables.write((tx) =>
          new ApprovalStore(tx).move(row.id, [row.status], change),
        );
        if (expired) {
          settled(expired);
        }
      } else if (row.status === 'approved') {
        again(row);
      } else {
        await tell(row);
      }
    }
  }
}

export interface AnnouncerParts {
  readonly notices: Handle<NoticeDispatcher>;
  readonly settings: Pick<Settings, 'get'>;
  readonly log: Logger;
}

/**
 * Notifies channels that signatures are awaited, with a link to the page: nothing is ever signed by
 * a link.
 */
export class Announcer {
  readonly #parts: AnnouncerParts;

  constructor(parts: AnnouncerParts) {
    this.#parts = parts;
  }

  /**
   * Sends the notification once, however often it is called: what a crash or a missing plugin
   * prevented is sent by the next sweep.
   */
  async tell(row: RequestRow): Promise<void> {
    const { notices, settings, log } = this.#parts;
    const channels = settings.get<readonly number[]>('approval.channel_ids');
    if (channels.length === 0 || !notices.available) {
      return;
    }
    const { rendered, requested_by: by, target } = itemOf(row);
    const lines = [
      `Runs: ${rendered}`,
      `Asked for by ${by.name} (${by.role})${row.persona === null ? '' : ` through the agent ${row.persona}`}, on ${target.name}`,
      `It is ${row.class} and needs ${row.signatures === 1 ? 'one signature' : 'the signatures of two people'} until ${timestamp(row.expires_at)}`,
      `svc approval sign ${row.id}`,
    ];
    try {
      await notices.get().say({
        id: `approval.${row.id}`,
        title: `Approval needed: ${rendered}`,
        lines,
        path: `/ui/approvals/${row.id}`,
        channels,
      });
    } catch (error) {
      log.warn(
        { event: 'approval.not_told', approval_id: row.id, cause: messageOf(error) },
        'failed to notify channels about an approval; retrying at the next sweep',
      );
    }
  }
}
