import { byteRoute, listRoute, route, type RouteDeclaration, type Tables } from 'svc/sdk';

import { errors } from '../protocol/errors.ts';
import type { Authority, Seen } from '../rights/authority.ts';
import type { Recordings } from '../recording/recordings.ts';
import type { Retention } from '../recording/retention.ts';
import { DownloadQuery, IdParams, RecordingItem, RecordingQuery } from './schema.ts';
import { sessionStore } from '../sessions/session-store.ts';
import { shownRecording } from './shown.ts';
import type { SessionRow, WebshellTables } from '../sessions/tables.ts';

export interface RecordingRouteParts {
  readonly tables: Tables<WebshellTables>;
  readonly recordings: Recordings;
  readonly retention: Retention;
  readonly authority: Authority;
}

export const recordingRoutes = ({
  tables,
  recordings,
  retention,
  authority,
}: RecordingRouteParts): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/webshell/recordings',
    access: 'webshell:review',
    devices: 'narrowed',
    summary: 'List shell recordings, newest first',
    query: RecordingQuery,
    items: RecordingItem,
    async handle({ principal, query, page }) {
      const filter = {
        state: 'all',
        recorded: true,
        deviceId: query.device_id,
        userId: query.user_id,
      } as const;
      const { items, ...rest } = await sessionStore(tables.read).list(
        await authority.seenBy(principal),
        filter,
        page,
      );
      return { ...rest, items: items.map(shownRecording) };
    },
  }),
  byteRoute({
    method: 'GET',
    path: '/api/v1/webshell/recordings/{id}',
    access: 'webshell:review',
    devices: 'narrowed',
    summary: 'Download a recording: asciicast v2, compressed',
    params: IdParams,
    query: DownloadQuery,
    produces: 'application/gzip',
    audited: true,
    action: 'webshell:review',
    errors: ['not_found', 'conflict'],
    async handle(call) {
      const { params, query, principal } = call;
      const row = await recorded(tables, await authority.seenBy(principal), params.id);
      if (row.recording_state === 'recording') {
        throw errors.recorded_shell_open();
      }
      const form = query.format ?? 'gz';
      call.setHeader(
        'content-disposition',
        `attachment; filename="webshell-${row.id}.cast${form === 'gz' ? '.gz' : ''}"`,
      );
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
    summary: 'Delete a recording',
    params: IdParams,
    action: 'webshell:remove-recording',
    errors: ['not_found', 'conflict'],
    async handle(call) {
      const { params, principal } = call;
      const row = await recorded(tables, await authority.seenBy(principal), params.id);
      if (row.recording_state === 'recording') {
        throw errors.recording_in_use();
      }
      call.note({
        resourceType: 'recording',
        resourceId: row.id,
        before: { device_id: row.device_id, user_id: row.user_id, sha256: row.recording_sha256 },
      });
      await retention.remove(row);
    },
  }),
];

async function recorded(
  { read }: Tables<WebshellTables>,
  seen: Seen,
  id: number,
): Promise<SessionRow> {
  const row = await sessionStore(read).find(seen, id);
  if (!row || row.recording_key === null) {
    throw errors.no_recording({ id });
  }
  return row;
}
