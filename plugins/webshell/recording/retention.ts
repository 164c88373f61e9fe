import type { Clock, Settings, Tables } from 'svc/sdk';

import type { Recordings } from './recordings.ts';
import { recordingStore, sessionStore } from '../sessions/session-store.ts';
import type { SessionRow, WebshellDb, WebshellTables } from '../sessions/tables.ts';
import { type Note, webshellItself } from '../sessions/trail.ts';

const dayMs = 86_400_000;
const batch = 100;

export interface RetentionParts {
  readonly tables: Tables<WebshellTables>;
  readonly recordings: Recordings;
  readonly settings: Settings;
  readonly note: Note;
  readonly clock: Clock;
}

/**
 * Deletion of recordings: expired ones, the oldest above the size limit, and those that an
 * administrator deletes.
 */
export class Retention {
  readonly #parts: RetentionParts;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
  }

  /**
   * Deletes a recording, its key first: without it the file is noise, should the rest fail. `along`
   * joins that write.
   */
  async remove(row: SessionRow, along?: (tx: WebshellDb) => Promise<void>): Promise<void> {
    const { tables, recordings } = this.#parts;
    await tables.write(async (tx) => {
      await sessionStore(tx).update(row.id, { recording_state: 'deleted', recording_key: null });
      await along?.(tx);
    });
    await recordings.remove(row.id);
  }

  /** Reduces recordings to webshell.recording_days and webshell.recordings_max_bytes. */
  async apply(): Promise<void> {
    const { tables, settings, clock } = this.#parts;
    const rows = recordingStore(tables.read);
    const oldest = clock.now() - settings.get<number>('webshell.recording_days') * dayMs;
    for (const row of await rows.recordedBefore(oldest, batch)) {
      await this.#removeBy('webshell.recording_days', row);
    }
    await tables.write((tx) => sessionStore(tx).forgetBefore(oldest));
    let excess =
      (await rows.recordedBytes()) - settings.get<number>('webshell.recordings_max_bytes');
    for (const row of excess > 0 ? await rows.recordedBefore(clock.now() + 1, batch) : []) {
      if (excess <= 0) {
        return;
      }
      await this.#removeBy('webshell.recordings_max_bytes', row);
      excess -= row.recording_bytes ?? 0;
    }
  }

  #removeBy(why: string, row: SessionRow): Promise<void> {
    return this.remove(row, (tx) =>
      this.#parts.note(tx, {
        action: 'webshell:remove-recording',
        principal: webshellItself,
        ip: '',
        userAgent: '',
        resource: { type: 'recording', id: row.id },
        after: { why, device_id: row.device_id, sha256: row.recording_sha256 },
      }),
    );
  }
}
