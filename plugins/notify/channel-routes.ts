import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import type { Channels } from './channels.ts';
import { ChannelDraft, ChannelId, ChannelShown, TestResult } from './schema.ts';
import type { ChannelTests } from './channel-tests.ts';

const path = '/api/v1/notification-channels';

export const channelRoutes = (channels: Channels, tests: ChannelTests): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    summary: 'List notification channels, newest first',
    description: 'Of an address only the host is shown, of a secret only that there is one.',
    items: ChannelShown,
    handle: ({ page }) => channels.list(page),
  }),
  route({
    method: 'POST',
    path,
    access: 'channel:create',
    summary: 'Create a notification channel',
    body: ChannelDraft,
    response: ChannelShown,
    errors: ['conflict'],
    handle: (call) => channels.create(call, call.body),
  }),
  route({
    method: 'GET',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'One notification channel, and how it fares',
    params: ChannelId,
    response: ChannelShown,
    errors: ['not_found'],
    handle: ({ params }) => channels.get(params.id),
  }),
  route({
    method: 'PUT',
    path: `${path}/{id}`,
    access: 'channel:update',
    summary: 'Replace a notification channel',
    description: 'If-Match takes the ETag of what was read. A secret must be entered again when the endpoint changes.',
    params: ChannelId,
    body: ChannelDraft,
    response: ChannelShown,
    errors: ['not_found', 'conflict'],
    handle: (call) => channels.replace(call, call.params.id, call.body),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    access: 'channel:delete',
    summary: 'Delete a notification channel that no rule names',
    params: ChannelId,
    errors: ['not_found', 'conflict'],
    handle: (call) => channels.remove(call, call.params.id),
  }),
  route({
    method: 'POST',
    path: `${path}/{id}/test`,
    access: 'channel:test',
    summary: 'Send a synthetic notification, the way every other goes, and say what came of it',
    description: 'One try; also while the channel is disabled.',
    params: ChannelId,
    response: TestResult,
    status: 200,
    errors: ['not_found'],
    handle: ({ params }) => tests.send(params.id),
  }),
];
