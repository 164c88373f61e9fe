import { byteRoute, listRoute, route, type RouteDeclaration, SvcError, type Tables } from 'svc/sdk';

import { shellAction } from './authority.ts';
import type { Recordings } from './recording/recordings.ts';
import type { Removal } from './retention.ts';
import { DownloadQuery, IdParams, RecordingItem, RecordingQuery, SessionItem, SessionQuery } from './schema.ts';
import { sessionStore } from './session-store.ts';
import type { Shells } from './shells.ts';
import { shownRecording, shownSession } from './shown.ts';
import type { SessionRow, WebshellTables } from './tables.ts';

export interface SessionRouteParts {
  readonly tables: Tables<WebshellTables>;
  readonly shells: Shells;
  readonly recordings: Recordings;
  readonly removal: Removal;
}

export const sessionRoutes = ({ tables, shells, recordings, removal }: SessionRouteParts): readonly RouteDeclaration[] => {
  const store = sessionStore(tables.read);

  async function recorded(id: number): Promise<SessionRow> {
    const row = await store.find(id);
    if (!row || row.recording_key === null) {
      throw new SvcError('not_found', `there is no recording ${id}`);
    }
    return row;
  }

  return [
    listRoute({
      path: '/api/v1/webshell/sessions',
      access: 'any',
      summary: 'List the shells that are open, or were; newest first',
      query: SessionQuery,
      items: SessionItem,
      async handle({ query, page }) {
        const { items, ...rest } = await store.list({ state: query.state ?? 'active', deviceId: query.device_id, userId: query.user_id }, page);
        return { ...rest, items: items.map((row) => shownSession(row, shells.get(row.id))) };
      },
    }),
    route({
      method: 'DELETE',
      path: '/api/v1/webshell/sessions/{id}',
      access: shellAction,
      summary: 'End a shell at once',
      params: IdParams,
      action: 'webshell:kill',
      errors: ['not_found', 'conflict'],
      async handle(call) {
        const { params } = call;
        const row = await store.find(params.id);
        if (!row) {
          throw new SvcError('not_found', `there is no session ${params.id}`);
        }
        const shell = shells.get(params.id);
        if (!shell) {
          throw new SvcError('conflict', `session ${params.id} has ended already`);
        }
        call.note({ resourceType: 'session', resourceId: params.id, after: { device_id: row.device_id, user_id: row.user_id } });
        await shell.end('killed', 'somebody who may has ended this shell');
      },
    }),
    listRoute({
      path: '/api/v1/webshell/recordings',
      access: 'webshell:review',
      summary: 'List the recordings of shells, newest first',
      query: RecordingQuery,
      items: RecordingItem,
      async handle({ query, page }) {
        const { items, ...rest } = await store.list({ state: 'all', recorded: true, deviceId: query.device_id, userId: query.user_id }, page);
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
        const row = await recorded(params.id);
        if (row.recording_state === 'recording') {
          throw new SvcError('conflict', 'this shell is open still; its recording can be downloaded when it has ended');
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
        const row = await recorded(params.id);
        if (row.recording_state === 'recording') {
          throw new SvcError('conflict', 'this shell is open still; end it first');
        }
        call.note({ resourceType: 'recording', resourceId: row.id, before: { device_id: row.device_id, user_id: row.user_id, sha256: row.recording_sha256 } });
        await removal.remove(row, () => Promise.resolve());
      },
    }),
  ];
};
