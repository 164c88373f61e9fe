import { type Handle, type Logger, messageOf, type Settings, timestamp } from 'svc/sdk';

import type { NoticeDispatcher } from '../notify/contract.ts';
import { itemOf } from './shown.ts';
import type { RequestRow } from './tables.ts';

export interface TellingParts {
  readonly notices: Handle<NoticeDispatcher>;
  readonly settings: Pick<Settings, 'get'>;
  readonly log: Logger;
}

/** Tells channels that signatures are awaited, with the way to them: nothing is ever signed by a link. */
export class Telling {
  readonly #parts: TellingParts;

  constructor(parts: TellingParts) {
    this.#parts = parts;
  }

  /** Told again, it is said once: what a crash or a missing room has kept back comes with the next sweep. */
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
      `It is ${row.class} and takes ${row.signatures === 1 ? 'one signature' : 'the signatures of two people'} until ${timestamp(row.expires_at)}`,
      `svc approval sign ${row.id}`,
    ];
    try {
      await notices.get().say({ id: `approval.${row.id}`, title: `Approval wanted: ${rendered}`, lines, path: `/ui/approvals/${row.id}`, channels });
    } catch (error) {
      log.warn({ approval_id: row.id, cause: messageOf(error) }, 'channels could not be told of an approval; told again with the next sweep');
    }
  }
}
