import type { Kysely } from 'kysely';

import type { AuthenticatorContract, Principal } from './principal.ts';
import { defineService } from './tokens.ts';

/** One line of the audit trail, complete but for its place in the chain. */
export interface AuditRecord {
  readonly occurredAt: number;
  readonly principal: Principal;
  readonly ip: string;
  readonly userAgent: string;
  readonly action: string;
  readonly resourceType: string;
  readonly resourceId: string | undefined;
  readonly status: 'success' | 'failure' | 'denied';
  readonly httpStatus: number;
  readonly error: string | undefined;
  readonly requestId: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Keeps the trail. `append` runs inside the change's own transaction: no row, no change. */
export interface AuditTrailContract {
  append(tx: Kysely<any>, record: AuditRecord): Promise<void>;
}

export const AuditTrail = defineService<AuditTrailContract>('audit.trail');

/**
 * Service that verifies credentials; without a provider only the operator's boot token is known.
 */
export const Authenticator = defineService<AuthenticatorContract>('auth.authenticator');
