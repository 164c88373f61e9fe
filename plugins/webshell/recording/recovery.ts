import { type Clock, type Logger, messageOf, type Tables } from 'svc/sdk';

import type { Recordings } from './recordings.ts';
import { sessionStore } from '../sessions/session-store.ts';
import type { SessionRow, WebshellTables } from '../sessions/tables.ts';
import { type Note, webshellItself } from '../sessions/trail.ts';

export interface RecoveryParts {
  readonly tables: Tables<WebshellTables>;
  readonly recordings: Recordings;
  readonly note: Note;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Records the end of sessions whose process is gone, and what is left of their recordings. */
export async function closeLeftBehind(
  { tables, recordings, note, clock, log }: RecoveryParts,
  isLeft: (row: SessionRow) => boolean,
): Promise<void> {
  for (const row of (await sessionStore(tables.read).open()).filter(isLeft)) {
    const kept = row.recording_key === null ? undefined : await salvaged(row);
    await tables.write(async (tx) => {
      const ended = { ended_at: clock.now(), ended_by: 'manager_restart' };
      const file = {
        recording_bytes: kept?.bytes ?? null,
        recording_sha256: kept?.sha256 ?? null,
        recording_ms: kept?.tally.ms ?? null,
      };
      await sessionStore(tx).update(row.id, {
        ...ended,
        ...(row.recording_key !== null && {
          recording_state: kept ? 'interrupted' : 'failed',
          ...file,
        }),
      });
      // Up to the last second that was recorded.
      const { bytesIn, bytesOut } = kept?.tally ?? {
        bytesIn: row.bytes_in,
        bytesOut: row.bytes_out,
      };
      await sessionStore(tx).count(row.id, bytesIn, bytesOut);
      await note(tx, {
        action: 'webshell:close',
        principal: webshellItself,
        ip: '',
        userAgent: '',
        resource: { type: 'session', id: row.id },
        after: {
          device_id: row.device_id,
          user_id: row.user_id,
          remote_user: row.remote_user,
          ended_by: 'manager_restart',
          ...(kept && { bytes_in: bytesIn, bytes_out: bytesOut, duration_ms: kept.tally.ms }),
          recording: kept ? { bytes: kept.bytes, sha256: kept.sha256 } : null,
        },
      });
    });
    log.warn(
      { event: 'webshell.session_left_open', session: row.id, device_id: row.device_id },
      'closed a shell session left open by an earlier process',
    );
  }

  async function salvaged(row: SessionRow) {
    try {
      return await recordings.salvage(row);
    } catch (error) {
      log.error(
        { event: 'webshell.recording_lost', session: row.id, cause: messageOf(error) },
        "failed to recover an interrupted session's recording; the recording is lost",
      );
      return undefined;
    }
  }
}
