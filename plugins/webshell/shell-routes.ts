import { route, type RouteDeclaration, socketRoute, SvcError, timestamp } from 'svc/sdk';

import { shellAction } from './authority.ts';
import { limits } from './limits.ts';
import { DeviceParams, TicketBody, TicketItem } from './schema.ts';
import type { Tickets } from './tickets.ts';
import { attend, reach, standingOf, type VisitParts } from './visit.ts';

const shellProtocol = 'svc.shell.v1';

export interface ShellRouteParts extends VisitParts {
  readonly tickets: Tickets;
  /** What browsers call this service. */
  readonly publicUrl: string;
}

export const shellRoutes = (parts: ShellRouteParts): readonly RouteDeclaration[] => {
  const { tickets, authority, seats, publicUrl } = parts;
  return [
    socketRoute({
      path: '/api/v1/devices/{device_id}/shell',
      access: shellAction,
      summary: 'A shell on a device, as a WebSocket of svc.shell.v1',
      description:
        'Browsers show a ticket as the subprotocol svc.ticket.<ticket>, others an Authorization header. The first frame is the text ' +
        '{"type":"open","cols","rows","term","user"?,"auth":{"type":"password","password"}|{"type":"key","private_key","passphrase"?},"acks"?}. ' +
        'Binary frames are the bytes of the terminal both ways. Text frames of the browser: {"type":"resize","cols","rows"}, {"type":"close"}, and, when it ' +
        'said acks, {"type":"ack","bytes"} with how much of the output it has shown. Of the service: ready, exit {exit_code}, notice, error.',
      params: DeviceParams,
      protocols: [shellProtocol],
      maxMessageBytes: limits.frameBytes,
      authority: 'own',
      audited: true,
      action: 'webshell:open',
      errors: ['rate_limited', 'not_found', 'conflict'],
      async knock({ principal, params, headers }) {
        const ticket = tickets.of(principal);
        if (ticket && (ticket.deviceId !== params.device_id || ticket.origin !== headers['origin'])) {
          throw new SvcError('unauthorized', 'this ticket is for another device, or for a page of another origin');
        }
        if (!ticket) {
          standingOf(authority, principal);
        }
        seats.check(principal, params.device_id);
        await reach(parts, params.device_id);
      },
      handle({ principal, params, ip, headers }, socket) {
        const ticket = tickets.of(principal);
        const standing = ticket?.standing ?? standingOf(authority, principal);
        const visit = { socket, standing, deviceId: params.device_id, user: ticket?.user, ip, userAgent: headers['user-agent'] ?? '' };
        return attend(parts, visit);
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/webshell/tickets',
      access: shellAction,
      summary: 'A ticket for one shell, for browsers: good for 30 s, once, for this device, page and address',
      body: TicketBody,
      response: TicketItem,
      errors: ['not_found', 'rate_limited'],
      async handle(call) {
        const { principal, body, ip, headers } = call;
        await reach(parts, body.device_id);
        call.note({ resourceType: 'device', resourceId: body.device_id, after: { remote_user: body.user ?? null } });
        const origin = headers['origin'] ?? new URL(publicUrl).origin;
        const { ticket, expiresAt } = tickets.issue({ principal, deviceId: body.device_id, user: body.user, origin, ip });
        return {
          ticket,
          protocol: `svc.ticket.${ticket}`,
          path: `/api/v1/devices/${body.device_id}/shell`,
          expires_in: limits.ticketMs / 1_000,
          expires_at: timestamp(expiresAt),
        };
      },
    }),
  ];
};
