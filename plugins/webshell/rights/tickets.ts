import { createHash } from 'node:crypto';

import type { TicketVerifier } from 'svc/contracts/session';
import type { Clock, Ids, Principal } from 'svc/sdk';

import { errors } from '../protocol/errors.ts';
import { type Authority, shellAction, type Standing } from './authority.ts';
import { limits } from '../protocol/limits.ts';

export interface Ticket {
  readonly deviceId: number;
  /** User on the device; undefined leaves it to the first frame. */
  readonly user: string | undefined;
  /** The shell that it leads back to; undefined opens one. */
  readonly session: number | undefined;
  readonly origin: string;
  readonly ip: string;
  readonly standing: Standing;
  /** Expiry by the monotonic clock. */
  readonly until: number;
}

const form = /^[\w-]{43}$/;
/** A ticket opens nothing else, whatever its person may see. */
const shellPath = /^\/api\/v1\/devices\/\d+\/shell$/;
const digest = (ticket: string): string => createHash('sha256').update(ticket).digest('base64url');

/** Browsers cannot send a header with a WebSocket; instead they show one of these, once. Kept in memory, by their hashes alone. */
export class Tickets implements TicketVerifier {
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #authority: Authority;
  readonly #open = new Map<string, Ticket>();
  readonly #shown = new WeakMap<Principal, Ticket>();

  constructor({
    clock,
    ids,
    authority,
  }: {
    readonly clock: Clock;
    readonly ids: Ids;
    readonly authority: Authority;
  }) {
    this.#clock = clock;
    this.#ids = ids;
    this.#authority = authority;
  }

  issue({
    principal,
    ...bounds
  }: Omit<Ticket, 'standing' | 'until'> & { readonly principal: Principal }): {
    readonly ticket: string;
    readonly expiresAt: number;
  } {
    this.#dropExpired();
    const own = [...this.#open.values()].filter(
      ({ standing: { principal: holder } }) =>
        holder.kind === principal.kind && holder.id === principal.id,
    ).length;
    if (this.#open.size >= limits.tickets || own >= limits.ticketsPerUser) {
      throw errors.too_many_tickets({ retryAfterSeconds: 30 });
    }
    const standing = this.#authority.requireStanding(principal);
    const ticket = this.#ids.token(32);
    this.#open.set(digest(ticket), {
      ...bounds,
      standing,
      until: this.#clock.monotonic() + limits.ticketMs,
    });
    return { ticket, expiresAt: this.#clock.now() + limits.ticketMs };
  }

  /** The principal may open a shell and nothing else. */
  recognise(
    text: string,
    { ip, path }: { readonly ip: string; readonly path: string },
  ): Principal | undefined {
    const hash = form.test(text) ? digest(text) : '';
    const ticket = this.#open.get(hash);
    this.#open.delete(hash);
    if (
      !ticket ||
      ticket.until <= this.#clock.monotonic() ||
      ticket.ip !== ip ||
      !shellPath.test(path) ||
      !this.#authority.holds(ticket.standing)
    ) {
      return undefined;
    }
    const principal = { ...ticket.standing.principal, grants: [shellAction] };
    this.#shown.set(principal, ticket);
    return principal;
  }

  /** The ticket by which this very principal came. */
  of(principal: Principal): Ticket | undefined {
    return this.#shown.get(principal);
  }

  /** Drops tickets of a session that has ended. */
  forget(session: string): void {
    for (const [hash, { standing }] of this.#open) {
      if (standing.principal.session === session) {
        this.#open.delete(hash);
      }
    }
  }

  #dropExpired(): void {
    const now = this.#clock.monotonic();
    for (const [hash, { until }] of this.#open) {
      if (until <= now) {
        this.#open.delete(hash);
      }
    }
  }
}
