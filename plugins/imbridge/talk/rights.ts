import {
  type AuditTrailContract,
  type Clock,
  covers,
  type DeclaredCatalogue,
  type Handle,
  type Ids,
  type Principal,
  type Tables,
} from 'svc/sdk';

import type { ImTables } from '../store/tables.ts';
import { errors } from './errors.ts';

export interface RightsParts {
  readonly catalogue: Pick<DeclaredCatalogue, 'declarations'>;
  readonly trail: Handle<AuditTrailContract>;
  readonly tables: Tables<ImTables>;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Action in a chat, as its equivalent request. */
export interface Deed {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly action: string;
  readonly resource_type: string;
  readonly resource_id: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * Permission checks: nobody does in a chat what the API would refuse them, and what is done there
 * is audited as well.
 */
export class Rights {
  readonly #parts: RightsParts;

  constructor(parts: RightsParts) {
    this.#parts = parts;
  }

  /**
   * Returns whether the guard of the equivalent route admits it; a user with access to some devices
   * may do what is narrowed to them.
   */
  may(
    { kind, grants, id, selectors }: Principal,
    { method, path }: Pick<Deed, 'method' | 'path'>,
  ): boolean {
    const route = this.#parts.catalogue
      .declarations()
      .find((each) => each.method === method && each.path === path);
    if (route === undefined) {
      throw errors.no_route();
    }
    if (selectors !== undefined && route.devices === undefined) {
      return false;
    }
    const { access } = route;
    if (access === 'any' || access === 'known' || access === 'public') {
      return kind !== 'anonymous';
    }
    if (typeof access === 'object') {
      return (
        this.#holds(grants, access.action) ||
        'people' in access ||
        ('self' in access && access.self === id)
      );
    }
    return this.#holds(grants, access);
  }

  demand(principal: Principal, deed: Pick<Deed, 'method' | 'path'>): void {
    if (!this.may(principal, deed)) {
      throw errors.forbidden({ role: principal.role });
    }
  }

  /** Notes the deed before it is done: no row, no deed. What fails is noted again. */
  async carryOut<R>(
    principal: Principal,
    provider: string,
    deed: Deed,
    work: () => Promise<R>,
  ): Promise<R> {
    if (!this.may(principal, deed)) {
      await this.note(principal, provider, deed, 'denied', 'forbidden');
      throw errors.may_not({ role: principal.role });
    }
    await this.note(principal, provider, deed, 'success', undefined);
    try {
      return await work();
    } catch (error) {
      await this.note(
        principal,
        provider,
        deed,
        'failure',
        error instanceof Error ? error.message : String(error),
      );
      throw error;
    }
  }

  #holds(grants: readonly string[], access: string): boolean {
    return grants.some((grant) => covers(grant, access === 'admin' ? '*' : access));
  }

  /** Into the trail, as requests are. */
  async note(
    principal: Principal,
    provider: string,
    deed: Omit<Deed, 'method' | 'path'>,
    status: 'success' | 'failure' | 'denied',
    error: string | undefined,
  ): Promise<void> {
    const { trail, tables, clock, ids } = this.#parts;
    if (!trail.available) {
      return;
    }
    const { action, resource_type: resourceType, resource_id: resourceId, details = {} } = deed;
    const record = {
      action,
      resourceType,
      resourceId,
      status,
      error,
      httpStatus: 0,
      requestId: ids.uuid(),
      ip: `im:${provider}`,
      userAgent: '',
      before: null,
    };
    await tables.write((tx) =>
      trail.get().append(tx, {
        ...record,
        occurredAt: clock.now(),
        principal,
        after: { ...details, via: provider },
      }),
    );
  }
}
