import { type Principal, route, type RouteDeclaration, socketRoute, timestamp } from 'svc/sdk';

import { shellAction } from '../rights/authority.ts';
import { limits } from '../protocol/limits.ts';
import { userOf } from '../rights/quota.ts';
import { reach } from '../rights/reach.ts';
import { DeviceParams, TicketBody, TicketItem } from './schema.ts';
import { type ConnectionParts, serveConnection } from '../connection/serve-connection.ts';
import { errors } from '../protocol/errors.ts';
import type { Shells } from '../shell/shells.ts';
import type { Tickets } from '../rights/tickets.ts';

const shellProtocol = 'svc.shell.v1';

export interface ShellRouteParts extends ConnectionParts {
  readonly tickets: Tickets;
  /** Public URL of this service. */
  readonly publicUrl: string;
}

export const shellRoutes = (parts: ShellRouteParts): readonly RouteDeclaration[] => [
  shellSocket(parts),
  ticketRoute(parts),
];

const description =
  'Browsers show a ticket as the subprotocol svc.ticket.<ticket>, others an Authorization header. The first frame is the text ' +
  '{"type":"open","cols","rows","term","user"?,"auth":{"type":"password","password"}|{"type":"key","private_key","passphrase"?},"acks"?}. ' +
  'Binary frames are the bytes of the terminal both ways. Text frames of the browser: {"type":"resize","cols","rows"}, {"type":"close"}, and, when it ' +
  'said acks, {"type":"ack","bytes"} with how much of the output it has shown. Of the service: ready, exit {exit_code}, notice, error. ' +
  'When the connection breaks, or the page goes away, the shell goes on for 60 s; what closes it at once is the frame close, or the codes 1000 and ' +
  '1005. A browser that comes back shows a ticket for that session_id, and its first frame is {"type":"attach","from","cols","rows","acks"?}: from is ' +
  'how many bytes of output it has, counted from the beginning of the shell, 0 for all that is kept. The answer {"type":"attached","session_id","from",' +
  '"missed"} says where the bytes go on that follow it, and how many before are gone: 256 KiB are kept, and a browser that tells with acks misses nothing. ' +
  'Of a shell that has ended in that time come the same, and then its exit or error. ' +
  'The browser that showed the shell until then is closed with 4413.';

function shellSocket(parts: ShellRouteParts): RouteDeclaration {
  const { tickets, authority, quota, shells } = parts;
  return socketRoute({
    path: '/api/v1/devices/{device_id}/shell',
    access: shellAction,
    devices: 'narrowed',
    summary: 'Open a shell on a device over a WebSocket with svc.shell.v1',
    description,
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
        throw errors.ticket_of_another_place();
      }
      if (ticket?.session !== undefined) {
        return void shells.requireAttachable(ticket.session);
      }
      if (!ticket) {
        authority.requireStanding(principal);
      }
      quota.check(principal, params.device_id);
      await reach(parts, principal, params.device_id);
    },
    handle({ principal, params, ip, headers }, socket) {
      const ticket = tickets.of(principal);
      const standing = ticket?.standing ?? authority.requireStanding(principal);
      const { user, session } = ticket ?? {};
      return serveConnection(parts, {
        socket,
        standing,
        deviceId: params.device_id,
        user,
        session,
        ip,
        userAgent: headers['user-agent'] ?? '',
      });
    },
  });
}

function ticketRoute(parts: ShellRouteParts): RouteDeclaration {
  const { tickets, shells, publicUrl } = parts;
  return route({
    method: 'POST',
    path: '/api/v1/webshell/tickets',
    access: shellAction,
    devices: 'narrowed',
    summary:
      'Create a ticket for opening a shell in a browser: valid once, for 30 s, for this device, page and address',
    body: TicketBody,
    response: TicketItem,
    errors: ['not_found', 'rate_limited'],
    async handle(call) {
      const { principal, body, ip, headers } = call;
      const { device_id: deviceId, user, session_id: session } = body;
      if (session === undefined) {
        await reach(parts, principal, deviceId);
      } else {
        assertOwn(shells, principal, { deviceId, session, user });
      }
      call.note({
        resourceType: 'device',
        resourceId: deviceId,
        after: { remote_user: user ?? null, session_id: session ?? null },
      });
      const origin = headers['origin'] ?? new URL(publicUrl).origin;
      const { ticket: text, expiresAt } = tickets.issue({
        principal,
        deviceId,
        user,
        session,
        origin,
        ip,
      });
      return {
        ticket: text,
        protocol: `svc.ticket.${text}`,
        path: `/api/v1/devices/${deviceId}/shell`,
        expires_in: limits.ticketMs / 1_000,
        expires_at: timestamp(expiresAt),
      };
    },
  });
}

/** Throws unless the shell belongs to this person and this user on the device. */
function assertOwn(
  shells: Shells,
  principal: Principal,
  { deviceId, session, user }: { deviceId: number; session: number; user: string | undefined },
): void {
  const shell = shells.attachable(session);
  if (shell?.deviceId !== deviceId || userOf(shell.standing.principal) !== userOf(principal)) {
    throw errors.no_shell_to_attach({ session, device: deviceId });
  }
  if (user !== undefined) {
    throw errors.ticket_names_user();
  }
}
