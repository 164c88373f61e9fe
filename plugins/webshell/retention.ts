import type { Clock, Settings, Tables } from 'svc/sdk';

import type { Recordings } from './recording/recordings.ts';
import { sessionStore } from './session-store.ts';
import type { SessionRow, WebshellTables } from './tables.ts';
import { caretaker, type Note } from './trail.ts';

const dayMs = 86_400_000;
const batch = 100;

export interface RetentionParts {
  readonly tables: Tables<WebshellTables>;
  readonly recordings: Recordings;
  readonly settings: Settings;
  readonly note: Note;
  readonly clock: Clock;
}

export interface Removal {
  /** Its key first: without it the file is noise, should the rest not be reached. */
  remove(row: SessionRow, along: (tx: Tables<WebshellTables>['read']) => Promise<void>): Promise<void>;
  /** Removes what is too old, and the oldest of what is too much. */
  tidy(): Promise<void>;
}

export function createRemoval({ tables, recordings, settings, note, clock }: RetentionParts): Removal {
  async function remove(row: SessionRow, along: (tx: Tables<WebshellTables>['read']) => Promise<void>): Promise<void> {
    await tables.write(async (tx) => {
      await sessionStore(tx).update(row.id, { recording_state: 'deleted', recording_key: null });
      await along(tx);
    });
    await recordings.remove(row.id);
  }

  const byPolicy =
    (row: SessionRow, why: string) =>
    (tx: Tables<WebshellTables>['read']): Promise<void> =>
      note(tx, {
        ...{ action: 'webshell:remove-recording', principal: caretaker, ip: '', userAgent: '', resource: { type: 'recording', id: row.id } },
        after: { why, device_id: row.device_id, sha256: row.recording_sha256 },
      });

  return {
    remove,
    async tidy() {
      const rows = sessionStore(tables.read);
      const oldest = clock.now() - settings.get<number>('webshell.recording_days') * dayMs;
      for (const row of await rows.recordedBefore(oldest, batch)) {
        await remove(row, byPolicy(row, 'webshell.recording_days'));
      }
      await tables.write((tx) => sessionStore(tx).forgetBefore(oldest));
      let excess = (await rows.recordedBytes()) - settings.get<number>('webshell.recordings_max_bytes');
      for (const row of excess > 0 ? await rows.recordedBefore(clock.now() + 1, batch) : []) {
        if (excess <= 0) {
          return;
        }
        await remove(row, byPolicy(row, 'webshell.recordings_max_bytes'));
        excess -= row.recording_bytes ?? 0;
      }
    },
  };
}
