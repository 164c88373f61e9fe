import { byteRoute, listRoute, route, type RouteDeclaration, SvcError, type Tables } from 'svc/sdk';

import type { Recordings } from './recording/recordings.ts';
import type { Retention } from './retention.ts';
import { DownloadQuery, IdParams, RecordingItem, RecordingQuery } from './schema.ts';
import { sessionStore } from './session-store.ts';
import { shownRecording } from './shown.ts';
import type { SessionRow, WebshellTables } from './tables.ts';

export interface RecordingRouteParts {
  readonly tables: Tables<WebshellTables>;
  readonly recordings: Recordings;
  readonly retention: Retention;
}

export const recordingRoutes = ({ tables, recordings, retention }: RecordingRouteParts): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/webshell/recordings',
    access: 'webshell:review',
    summary: 'List the recordings of shells, newest first',
    query: RecordingQuery,
    items: RecordingItem,
    async handle({ query, page }) {
      const { items, ...rest } = await sessionStore(tables.read).list({ state: 'all', recorded: true, deviceId: query.device_id, userId: query.user_id }, page);
      return { ...rest, items: items.map(shownRecording) };
    },
  }),
  byteRoute({
    method: 'GET',
    path: '/api/v1/webshell/recordings/{id}',
    access: 'webshell:review',
    summary: 'Download a recording: asciicast v2, compressed',
    params: IdParams,
    query: DownloadQuery,
    produces: 'application/gzip',
    audited: true,
    action: 'webshell:review',
    errors: ['not_found', 'conflict'],
    async handle(call) {
      const { params, query } = call;
      const row = await recorded(tables, params.id);
      if (row.recording_state === 'recording') {
        throw new SvcError('conflict', 'this shell is still open; download its recording when it has ended');
      }
      const form = query.format ?? 'gz';
      call.setHeader('content-disposition', `attachment; filename="webshell-${row.id}.cast${form === 'gz' ? '.gz' : ''}"`);
      if (form === 'cast') {
        call.setHeader('content-type', 'application/x-asciicast');
      }
      return recordings.read(row, form);
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/webshell/recordings/{id}',
    access: 'admin',
    summary: 'Remove a recording before its time',
    params: IdParams,
    action: 'webshell:remove-recording',
    errors: ['not_found', 'conflict'],
    async handle(call) {
      const { params } = call;
      const row = await recorded(tables, params.id);
      if (row.recording_state === 'recording') {
        throw new SvcError('conflict', 'this shell is still open; end it first');
      }
      call.note({ resourceType: 'recording', resourceId: row.id, before: { device_id: row.device_id, user_id: row.user_id, sha256: row.recording_sha256 } });
      await retention.remove(row);
    },
  }),
];

async function recorded({ read }: Tables<WebshellTables>, id: number): Promise<SessionRow> {
  const row = await sessionStore(read).find(id);
  if (!row || row.recording_key === null) {
    throw new SvcError('not_found', `there is no recording ${id}`);
  }
  return row;
}
