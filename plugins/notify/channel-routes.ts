import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import type { Channels } from './channels/channels.ts';
import type { Deliveries } from './queue/deliveries.ts';
import {
  ChannelDraft,
  ChannelId,
  ChannelShown,
  DeliveryId,
  DeliveryQuery,
  DeliveryShown,
  Resent,
  TestResult,
} from './channels/schema.ts';
import type { ChannelTests } from './queue/channel-tests.ts';

const path = '/api/v1/notification-channels';
const deliveriesPath = '/api/v1/notification-deliveries';

export const channelRoutes = (
  channels: Channels,
  tests: ChannelTests,
): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    summary: 'List notification channels, newest first',
    description: 'Only the host of an address is shown; for a secret, only whether one is set.',
    items: ChannelShown,
    handle: ({ page }) => channels.list(page),
  }),
  route({
    method: 'POST',
    path,
    access: 'channel:create',
    brief: ['id'],
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
    summary: 'Get a notification channel and its health',
    params: ChannelId,
    response: ChannelShown,
    errors: ['not_found'],
    handle: ({ params }) => channels.get(params.id),
  }),
  route({
    method: 'PUT',
    path: `${path}/{id}`,
    ifMatch: true,
    access: 'channel:update',
    brief: ['id'],
    summary: 'Replace a notification channel',
    description: 'If the endpoint changes, the secret must be entered again.',
    params: ChannelId,
    body: ChannelDraft,
    response: ChannelShown,
    errors: ['not_found', 'conflict'],
    handle: (call) => channels.replace(call, call.params.id, call.body),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    ifMatch: true,
    access: 'channel:delete',
    summary: 'Delete a notification channel that no rule uses',
    params: ChannelId,
    errors: ['not_found', 'conflict'],
    handle: (call) => channels.remove(call, call.params.id),
  }),
  route({
    method: 'POST',
    path: `${path}/{id}/test`,
    access: 'channel:test',
    reads: 'none',
    // The result names the host that was called.
    quotes: ['notify'],
    summary: 'Send a test notification in the same way as a real one, and report the result',
    description: 'Makes one attempt, even if the channel is disabled.',
    params: ChannelId,
    response: TestResult,
    status: 200,
    errors: ['not_found'],
    handle: ({ params }) => tests.send(params.id),
  }),
];

export const deliveryRoutes = (deliveries: Deliveries): readonly RouteDeclaration[] => [
  listRoute({
    path: deliveriesPath,
    access: 'any',
    summary: 'List notifications and their delivery state, newest first',
    description:
      'One entry per notification and channel. state=delayed lists those that have been tried but not delivered yet.',
    query: DeliveryQuery,
    items: DeliveryShown,
    handle: ({ query, page }) => deliveries.list(query, page),
  }),
  route({
    method: 'POST',
    path: `${deliveriesPath}/{id}/resend`,
    access: 'channel:resend',
    brief: ['id'],
    summary: 'Resend a notification that was not delivered',
    description:
      'A waiting notification is sent at once, along with the rest of its message; a failed one is queued again under a new id.',
    params: DeliveryId,
    response: DeliveryShown,
    status: 200,
    errors: ['not_found', 'conflict'],
    handle: ({ params }) => deliveries.resend(params.id),
  }),
  route({
    method: 'POST',
    path: `${path}/{id}/resend`,
    access: 'channel:resend',
    reads: 'none',
    summary: "Retry a channel's notifications that have not been delivered yet",
    params: ChannelId,
    response: Resent,
    status: 200,
    errors: ['not_found'],
    handle: async ({ params }) => ({ resent: await deliveries.resendAll(params.id) }),
  }),
];
