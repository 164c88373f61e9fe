import type { Clock, Principal, Settings, SvcError, Tables } from 'svc/sdk';

import type { Connection } from './connection.ts';
import type { Size } from '../protocol/frames.ts';
import { Recorder, type RecorderOptions } from '../recording/recorder.ts';
import type { Recordings } from '../recording/recordings.ts';
import { sessionStore } from '../sessions/session-store.ts';
import type { End, LiveShell } from '../shell/shell.ts';
import type { HostKey } from '../ssh/fingerprint.ts';
import type { WebshellDb, WebshellTables } from '../sessions/tables.ts';
import type { Note } from '../sessions/trail.ts';

/** A login that was tried. */
export interface LoginEntry {
  readonly connection: Connection;
  readonly edgeId: number;
  readonly user: string;
  readonly auth: string;
}

export interface OpenEntry extends LoginEntry {
  readonly hostKey: HostKey;
  readonly trust: 'known' | 'first_use';
}

/** A session that has its row. */
export interface KeptSession {
  readonly id: number;
  /** Recording; undefined if nothing is recorded. */
  readonly record:
    | ((
        wish: Pick<RecorderOptions, 'after' | 'term' | 'title' | 'counted' | 'failed' | 'drained'> &
          Size,
      ) => Promise<Recorder>)
    | undefined;
  close(end: End): Promise<void>;
}

export interface JournalParts {
  readonly tables: Tables<WebshellTables>;
  readonly note: Note;
  readonly recordings: Recordings;
  readonly settings: Settings;
  readonly clock: Clock;
  /** Id of this process. */
  readonly life: string;
}

/** Writes down what becomes of connections; a row of a session and its row in the trail are one transaction. */
export class SessionJournal {
  readonly #parts: JournalParts;

  constructor(parts: JournalParts) {
    this.#parts = parts;
  }

  async refused({
    fingerprint,
    error,
    ...entry
  }: LoginEntry & {
    readonly fingerprint: string | undefined;
    readonly error: SvcError;
  }): Promise<void> {
    const { tables, note } = this.#parts;
    await tables.write((tx) =>
      note(tx, {
        action: 'webshell:login',
        ...sourceOf(entry.connection),
        resource: { type: 'device', id: entry.connection.deviceId },
        failure: {
          status:
            error.code === 'upstream_error' || error.code === 'unavailable' ? 'failure' : 'denied',
          message: error.message,
        },
        after: { ...loginOf(entry), fingerprint: fingerprint ?? null },
      }),
    );
  }

  /** A shell that was opened before is shown again. */
  async attached({
    connection,
    shell,
    from,
  }: {
    connection: Connection;
    shell: Pick<LiveShell, 'id' | 'edgeId'>;
    from: number;
  }): Promise<void> {
    const { tables, note } = this.#parts;
    await tables.write((tx) =>
      note(tx, {
        action: 'webshell:re-attach',
        ...sourceOf(connection),
        resource: { type: 'session', id: shell.id },
        after: { device_id: connection.deviceId, edge_id: shell.edgeId, from },
      }),
    );
  }

  async open(entry: OpenEntry): Promise<KeptSession> {
    const { tables, recordings, settings, clock } = this.#parts;
    const isRecorded = settings.get<string>('webshell.recording') === 'required';
    const { id, key } = await tables.write(async (tx) => {
      const id = await this.#insert(tx, entry, isRecorded);
      return { id, key: isRecorded ? await recordings.newKey(tx, id) : undefined };
    });
    return {
      id,
      record:
        key &&
        (async (wish) => {
          const file = await recordings.create(id, key);
          return await Recorder.start({
            ...wish,
            file,
            clock,
            maxBytes: settings.get<number>('webshell.recording_max_bytes'),
          });
        }),
      close: (end) => tables.write((tx) => this.#close(tx, id, entry, end)),
    };
  }

  async #insert(tx: WebshellDb, entry: OpenEntry, isRecorded: boolean): Promise<number> {
    const { note, life, clock } = this.#parts;
    const { connection, trust, hostKey } = entry;
    const { deviceId, ip, standing } = connection;
    const resource = { type: 'device', id: deviceId } as const;
    const said = { ...loginOf(entry), fingerprint: hostKey.fingerprint };
    const { id } = await sessionStore(tx).insert({
      life,
      user_kind: standing.principal.kind,
      user_id: userIdOf(standing.principal),
      device_id: deviceId,
      ip,
      started_at: clock.now(),
      ...said,
      recording_state: isRecorded ? 'recording' : null,
    });
    if (trust === 'first_use') {
      const { algorithm, fingerprint } = hostKey;
      await note(tx, {
        action: 'webshell:trust-host-key',
        ...sourceOf(connection),
        resource,
        after: { algorithm, fingerprint },
      });
    }
    await note(tx, {
      action: 'webshell:login',
      ...sourceOf(connection),
      resource,
      after: { session_id: id, recorded: isRecorded, ...said },
    });
    return id;
  }

  async #close(
    tx: WebshellDb,
    id: number,
    entry: OpenEntry,
    { endedBy, exitCode, bytesIn, bytesOut, durationMs, recorded }: End,
  ): Promise<void> {
    const { note, clock } = this.#parts;
    const rows = sessionStore(tx);
    const kept = recorded === 'failed' ? undefined : recorded;
    await rows.count(id, bytesIn, bytesOut);
    await rows.update(id, {
      ended_at: clock.now(),
      ended_by: endedBy,
      exit_code: exitCode,
      ...(recorded !== undefined && {
        recording_state: kept ? 'complete' : 'failed',
        recording_ms: durationMs,
      }),
      ...(kept && { recording_bytes: kept.bytes, recording_sha256: kept.sha256 }),
    });
    await note(tx, {
      action: 'webshell:close',
      ...sourceOf(entry.connection),
      resource: { type: 'session', id },
      after: {
        device_id: entry.connection.deviceId,
        ...loginOf(entry),
        fingerprint: entry.hostKey.fingerprint,
        ended_by: endedBy,
        exit_code: exitCode,
        duration_ms: durationMs,
        bytes_in: bytesIn,
        bytes_out: bytesOut,
        recording: kept ? { bytes: kept.bytes, sha256: kept.sha256 } : (recorded ?? null),
      },
    });
  }
}

const sourceOf = ({ standing, ip, userAgent }: Connection) => ({
  principal: standing.principal,
  ip,
  userAgent,
});
const loginOf = ({ edgeId, user, auth }: LoginEntry) => ({
  edge_id: edgeId,
  remote_user: user,
  auth,
});
const userIdOf = ({ id }: Principal): number | null =>
  Number.isSafeInteger(Number(id)) ? Number(id) : null;
