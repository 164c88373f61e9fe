import { timestamp } from 'svc/sdk';

import type { Ending } from '../protocol/limits.ts';
import type { LiveShell } from '../shell/shell.ts';
import type { SessionRow } from '../sessions/tables.ts';

type RecordingState = 'recording' | 'complete' | 'interrupted' | 'failed' | 'deleted';

/** Renders a session, with its current totals. */
export const shownSession = (
  row: SessionRow,
  live?: Pick<LiveShell, 'isAttached' | 'bytesIn' | 'bytesOut'>,
) => ({
  id: row.id,
  user_id: row.user_id,
  device_id: row.device_id,
  edge_id: row.edge_id,
  remote_user: row.remote_user,
  started_at: timestamp(row.started_at),
  ended_at: row.ended_at === null ? null : timestamp(row.ended_at),
  attached: live?.isAttached ?? false,
  bytes_in: live?.bytesIn ?? row.bytes_in,
  bytes_out: live?.bytesOut ?? row.bytes_out,
  exit_code: row.exit_code,
  ended_by: row.ended_by as Ending | null,
  recording: row.recording_state === null ? null : recordingOf(row),
});

const recordingOf = (row: SessionRow) => ({
  state: row.recording_state as RecordingState,
  bytes: row.recording_bytes,
  sha256: row.recording_sha256,
  duration_seconds: row.recording_ms === null ? null : row.recording_ms / 1_000,
});

export const shownRecording = (row: SessionRow) => ({
  id: row.id,
  session_id: row.id,
  user_id: row.user_id,
  device_id: row.device_id,
  remote_user: row.remote_user,
  started_at: timestamp(row.started_at),
  ended_at: row.ended_at === null ? null : timestamp(row.ended_at),
  ...recordingOf(row),
});
