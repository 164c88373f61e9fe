import { createHash } from 'node:crypto';

import { type Clock, type Ids, type Principal, SvcError } from 'svc/sdk';

import { type Authority, shellAction, type Standing } from './authority.ts';
import { limits } from './limits.ts';

export interface Ticket {
  readonly deviceId: number;
  /** On the device; undefined leaves it to the first frame. */
  readonly user: string | undefined;
  /** The shell that it leads back to; undefined opens one. */
  readonly session: number | undefined;
  readonly origin: string;
  readonly ip: string;
  readonly standing: Standing;
  /** By the monotonic clock. */
  readonly until: number;
}

/** Browsers cannot send a header with a WebSocket; instead they show one of these, once. Kept in memory, by their hashes alone. */
export interface Tickets {
  issue(wish: Omit<Ticket, 'standing' | 'until'> & { readonly principal: Principal }): { readonly ticket: string; readonly expiresAt: number };
  /** Spends it. The principal may open a shell and nothing else. */
  recognise(ticket: string, ip: string): Principal | undefined;
  /** The ticket by which this very principal came. */
  of(principal: Principal): Ticket | undefined;
  /** Those of a session that has ended are worth nothing. */
  forget(session: string): void;
}

const form = /^[\w-]{43}$/;
const digest = (ticket: string): string => createHash('sha256').update(ticket).digest('base64url');

export function createTickets({ clock, ids, authority }: { readonly clock: Clock; readonly ids: Ids; readonly authority: Authority }): Tickets {
  const open = new Map<string, Ticket>();
  const shown = new WeakMap<Principal, Ticket>();

  function dropExpired(): void {
    const now = clock.monotonic();
    for (const [hash, { until }] of open) {
      if (until <= now) {
        open.delete(hash);
      }
    }
  }

  return {
    issue({ principal, ...bounds }) {
      dropExpired();
      const own = [...open.values()].filter(({ standing }) => standing.principal.kind === principal.kind && standing.principal.id === principal.id).length;
      if (open.size >= limits.tickets || own >= limits.ticketsPerUser) {
        throw new SvcError('rate_limited', 'there are too many tickets that nobody has used yet; they run out within 30 s', { retryAfterSeconds: 30 });
      }
      const standing = authority.standing(principal);
      if (!standing) {
        throw new SvcError('forbidden', 'only people and their API tokens open shells');
      }
      const ticket = ids.token(32);
      open.set(digest(ticket), { ...bounds, standing, until: clock.monotonic() + limits.ticketMs });
      return { ticket, expiresAt: clock.now() + limits.ticketMs };
    },

    recognise(text, ip) {
      const hash = form.test(text) ? digest(text) : '';
      const ticket = open.get(hash);
      open.delete(hash);
      if (!ticket || ticket.until <= clock.monotonic() || ticket.ip !== ip || !authority.holds(ticket.standing)) {
        return undefined;
      }
      const principal = { ...ticket.standing.principal, grants: [shellAction] };
      shown.set(principal, ticket);
      return principal;
    },

    of: (principal) => shown.get(principal),

    forget(session) {
      for (const [hash, { standing }] of open) {
        if (standing.principal.session === session) {
          open.delete(hash);
        }
      }
    },
  };
}
