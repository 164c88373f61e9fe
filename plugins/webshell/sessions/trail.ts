import type { AuditTrailContract, Clock, Handle, Ids, Principal } from 'svc/sdk';

import type { WebshellDb } from './tables.ts';

/** Event in a shell, which happens after its request: no pipeline writes these rows. */
export interface ShellEvent {
  readonly action:
    | 'webshell:login'
    | 'webshell:re-attach'
    | 'webshell:close'
    | 'webshell:trust-host-key'
    | 'webshell:remove-recording';
  readonly principal: Principal;
  readonly ip: string;
  readonly userAgent: string;
  readonly resource: { readonly type: 'device' | 'session' | 'recording'; readonly id: number };
  /** Why it failed, and whether it was forbidden. */
  readonly failure?: { readonly status: 'failure' | 'denied'; readonly message: string };
  readonly after: Readonly<Record<string, unknown>>;
}

/** Joins the change's own transaction. */
export type Note = (tx: WebshellDb, event: ShellEvent) => Promise<void>;

/** Acts where no request asked for it. */
export const webshellItself: Principal = Object.freeze({
  kind: 'system',
  id: 'webshell',
  name: 'webshell',
  role: 'none',
  grants: Object.freeze([]),
});

export const noteTo =
  (trail: Handle<AuditTrailContract>, clock: Clock, ids: Ids): Note =>
  async (tx, { action, principal, ip, userAgent, resource, failure, after }) => {
    if (trail.available) {
      await trail.get().append(tx, {
        occurredAt: clock.now(),
        principal,
        ip,
        userAgent: userAgent.slice(0, 512),
        action,
        resourceType: resource.type,
        resourceId: String(resource.id),
        requestId: ids.uuid(),
        status: failure?.status ?? 'success',
        httpStatus: 0,
        error: failure?.message,
        before: undefined,
        after,
      });
    }
  };
