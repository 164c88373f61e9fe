import { type Clock, type Settings, type SvcError, type Tables } from 'svc/sdk';

import type { Size } from './frames.ts';
import type { Recordings } from './recording/recordings.ts';
import { type Recorder, type RecorderOptions, startRecorder } from './recording/recorder.ts';
import { sessionStore } from './session-store.ts';
import type { End, LiveShell } from './shell.ts';
import type { HostKey } from './ssh/fingerprint.ts';
import type { WebshellTables } from './tables.ts';
import type { Note } from './trail.ts';
import type { Visit } from './visit.ts';

export interface KeptSession {
  readonly id: number;
  /** Undefined where nothing is recorded. */
  readonly record: ((wish: Pick<RecorderOptions, 'term' | 'title' | 'counted' | 'failed' | 'drained'> & Size) => Promise<Recorder>) | undefined;
  close(end: End): Promise<void>;
}

/** Writes down what becomes of visits; a row of a session and its row in the trail are one transaction. */
export interface Keeper {
  refused(attempt: {
    readonly visit: Visit;
    readonly edgeId: number;
    readonly user: string;
    readonly auth: string;
    readonly fingerprint: string | undefined;
    readonly error: SvcError;
  }): Promise<void>;
  /** Somebody shows a shell again that was opened before. */
  cameBack(entry: { readonly visit: Visit; readonly shell: Pick<LiveShell, 'id' | 'edgeId'>; readonly from: number }): Promise<void>;
  open(entry: {
    readonly visit: Visit;
    readonly edgeId: number;
    readonly user: string;
    readonly auth: string;
    readonly hostKey: HostKey;
    readonly trust: 'known' | 'first_use';
  }): Promise<KeptSession>;
}

export interface KeeperParts {
  readonly tables: Tables<WebshellTables>;
  readonly note: Note;
  readonly recordings: Recordings;
  readonly settings: Settings;
  readonly clock: Clock;
  /** Of this process. */
  readonly life: string;
}

export function createKeeper({ tables, note, recordings, settings, clock, life }: KeeperParts): Keeper {
  return {
    refused: ({ visit: { standing, ip, userAgent, deviceId }, edgeId, user, auth, fingerprint, error }) =>
      tables.write((tx) =>
        note(tx, {
          ...{ action: 'webshell:login', principal: standing.principal, ip, userAgent, resource: { type: 'device', id: deviceId } },
          failure: { status: error.code === 'upstream_error' || error.code === 'unavailable' ? 'failure' : 'denied', message: error.message },
          after: { edge_id: edgeId, remote_user: user, auth, fingerprint: fingerprint ?? null },
        }),
      ),

    cameBack: ({ visit: { standing, ip, userAgent, deviceId }, shell, from }) =>
      tables.write((tx) =>
        note(tx, {
          ...{ action: 'webshell:re-attach', principal: standing.principal, ip, userAgent, resource: { type: 'session', id: shell.id } },
          after: { device_id: deviceId, edge_id: shell.edgeId, from },
        }),
      ),

    async open({ visit: { standing, ip, userAgent, deviceId }, edgeId, user, auth, hostKey, trust }) {
      const { principal } = standing;
      const { fingerprint } = hostKey;
      const isRecorded = settings.get<string>('webshell.recording') === 'required';
      const said = { edge_id: edgeId, remote_user: user, auth, fingerprint };
      const { id, key } = await tables.write(async (tx) => {
        const row = await sessionStore(tx).insert({
          ...{ life, user_kind: principal.kind, user_id: Number.isSafeInteger(Number(principal.id)) ? Number(principal.id) : null },
          ...{ device_id: deviceId, edge_id: edgeId, remote_user: user, auth, fingerprint, ip, started_at: clock.now() },
          recording_state: isRecorded ? 'recording' : null,
        });
        if (trust === 'first_use') {
          const after = { algorithm: hostKey.algorithm, fingerprint };
          await note(tx, { action: 'webshell:trust-host-key', principal, ip, userAgent, resource: { type: 'device', id: deviceId }, after });
        }
        const after = { session_id: row.id, recorded: isRecorded, ...said };
        await note(tx, { action: 'webshell:login', principal, ip, userAgent, resource: { type: 'device', id: deviceId }, after });
        return { id: row.id, key: isRecorded ? await recordings.newKey(tx, row.id) : undefined };
      });
      return {
        id,
        record:
          key &&
          (async (wish) => {
            const file = await recordings.create(id, key);
            return await startRecorder({ ...wish, file, clock, maxBytes: settings.get<number>('webshell.recording_max_bytes') });
          }),
        close: ({ endedBy, exitCode, bytesIn, bytesOut, durationMs, recorded }) =>
          tables.write(async (tx) => {
            const rows = sessionStore(tx);
            const kept = recorded === 'failed' ? undefined : recorded;
            await rows.count(id, bytesIn, bytesOut);
            await rows.update(id, {
              ...{ ended_at: clock.now(), ended_by: endedBy, exit_code: exitCode },
              ...(recorded !== undefined && { recording_state: kept ? 'complete' : 'failed', recording_ms: durationMs }),
              ...(kept && { recording_bytes: kept.bytes, recording_sha256: kept.sha256 }),
            });
            await note(tx, {
              ...{ action: 'webshell:close', principal, ip, userAgent, resource: { type: 'session', id } },
              after: {
                ...{ device_id: deviceId, ...said, ended_by: endedBy, exit_code: exitCode, duration_ms: durationMs, bytes_in: bytesIn, bytes_out: bytesOut },
                recording: kept ? { bytes: kept.bytes, sha256: kept.sha256 } : (recorded ?? null),
              },
            });
          }),
      };
    },
  };
}
