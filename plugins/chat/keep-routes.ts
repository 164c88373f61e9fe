import { route, type RouteDeclaration, timestamp } from 'svc/sdk';
import { Type } from 'typebox';

import type { KeptAnswers } from './keep/kept-answers.ts';
import type { Shares, ShareRow } from './keep/shares.ts';
import { BySession, MessageItem, shownMessage } from './schema.ts';
import { path } from './session-routes.ts';

const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const orNull = <T extends typeof Id | ReturnType<typeof Type.String>>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const messageId = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Answer; default: the last one in the session',
  }),
);

const KeepBody = Type.Object({
  as: Type.Enum(['note', 'document', 'investigation'], {
    description:
      'note: adds it to the timeline of an incident; document: stores it in the knowledge base; investigation: adds a note and investigates the incident again',
  }),
  message_id: messageId,
  incident_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Incident for a note or an investigation; default: that of the session',
    }),
  ),
  path: Type.Optional(
    Type.String({ minLength: 1, maxLength: 400, description: 'Path of a document' }),
  ),
  title: Type.Optional(Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' })),
  org_id: Type.Optional(Id),
});

const Kept = Type.Object({
  as: Type.String(),
  incident_id: orNull(Id),
  document_id: orNull(Id),
  path: orNull(Type.String()),
  investigation_id: orNull(Id),
});

const ByShare = Type.Object({ share_id: Type.String({ minLength: 1, maxLength: 64 }) });

const ShareItem = Type.Object({
  share_id: Type.String(),
  message_id: Type.Integer(),
  link: Type.String({ description: 'Address of the page that shows the answer' }),
  shared_by: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
  expires_at: Type.String({ format: 'date-time' }),
});

const shared = '/api/v1/chat/shared';

export interface KeepRoutesPorts {
  readonly kept: KeptAnswers;
  readonly shares: Shares;
  readonly publicUrl: () => string;
}

export const keepRoutes = ({
  kept,
  shares,
  publicUrl,
}: KeepRoutesPorts): readonly RouteDeclaration[] => {
  const shown = (row: ShareRow) => ({
    share_id: row.id,
    message_id: row.message_id,
    link: `${publicUrl().replace(/\/$/, '')}/ui/chat/shared/${row.id}`,
    shared_by: row.shared_by,
    created_at: timestamp(row.created_at),
    expires_at: timestamp(row.expires_at),
  });
  return [
    route({
      method: 'POST',
      path: `${path}/{id}/save`,
      access: 'any',
      devices: 'narrowed',
      summary: 'Save an answer as a note, a document or an investigation',
      params: BySession,
      body: KeepBody,
      response: Kept,
      status: 201,
      errors: ['not_found', 'forbidden', 'conflict', 'unavailable'],
      handle: ({ params, body, principal, note }) =>
        kept.keep(params.id, body, { principal, note }),
    }),
    route({
      method: 'POST',
      path: `${path}/{id}/share`,
      access: 'any',
      devices: 'narrowed',
      summary: 'Share an answer with colleagues for 30 days',
      description:
        'Signed-in users can open the link if they see all devices and organizations that you see.',
      params: BySession,
      body: Type.Object({ message_id: messageId }),
      response: ShareItem,
      status: 201,
      errors: ['not_found', 'forbidden'],
      handle: async ({ principal, params, body, note }) => {
        const row = await shares.share(principal, params.id, body.message_id);
        note({ resourceType: 'chat share', resourceId: row.message_id });
        return shown(row);
      },
    }),
    route({
      method: 'GET',
      path: `${shared}/{share_id}`,
      access: 'any',
      devices: 'narrowed',
      summary: 'Read an answer that a colleague has shared',
      params: ByShare,
      response: Type.Object({
        share: ShareItem,
        question: Type.String(),
        answer: MessageItem,
      }),
      errors: ['not_found'],
      handle: async ({ principal, params }) => {
        const { share, question, answer } = await shares.open(principal, params.share_id);
        return { share: shown(share), question, answer: shownMessage(answer) };
      },
    }),
    route({
      method: 'DELETE',
      path: `${shared}/{share_id}`,
      access: 'any',
      devices: 'narrowed',
      summary: 'Stop sharing an answer',
      params: ByShare,
      errors: ['not_found'],
      handle: ({ principal, params }) => shares.revoke(principal, params.share_id),
    }),
  ];
};
