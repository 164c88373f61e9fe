import type { DirectoryContract } from 'svc/contracts/iam';
import {
  type AuditTrailContract,
  type Clock,
  type Handle,
  type Ids,
  isSvcError,
  type Logger,
  type Principal,
  type Settings,
  type Tables,
} from 'svc/sdk';

import type { IamTables } from '../store/tables.ts';

export interface FirstAdminParts {
  readonly directory: DirectoryContract;
  readonly tables: Tables<IamTables>;
  readonly trail: Handle<AuditTrailContract>;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
}

/**
 * Principal of the start itself, which applies the operator's environment without a network
 * request.
 */
const start: Principal = Object.freeze({
  kind: 'system',
  id: 'start',
  name: 'SVC_ADMIN_EMAIL',
  role: 'none',
  grants: Object.freeze([]),
});

/**
 * Creates the administrator that the operator named, at a start without any. An existing account is
 * left unchanged.
 */
export async function ensureFirstAdmin({
  directory,
  tables,
  trail,
  settings,
  clock,
  ids,
  log,
}: FirstAdminParts): Promise<void> {
  const email = settings.get<string>('auth.admin_email');
  const password = settings.get<string>('auth.admin_password');
  if ((email === '' && password === '') || (await directory.hasAdmin())) {
    return;
  }
  if (email === '' || password === '') {
    const missing =
      email === '' ? 'SVC_ADMIN_EMAIL' : 'SVC_ADMIN_PASSWORD or SVC_ADMIN_PASSWORD_FILE';
    log.error(
      { event: 'iam.first_admin_incomplete' },
      `no administrator created: ${missing} is not set, but both are required`,
    );
    return;
  }
  try {
    const { id } = await directory.create(
      { email, password, display_name: '', role: 'admin' },
      undefined,
      writeDown,
    );
    log.info({ user_id: id, email }, 'first administrator created');
  } catch (error) {
    // A disk that takes no writes fails the start of the plugin, which is tried again.
    if (!isSvcError(error) || error.code === 'unavailable') {
      throw error;
    }
    log.error(
      { event: 'iam.first_admin_refused', email },
      `no administrator created: ${error.message}`,
    );
  }

  /** There is no request whose pipeline would do it. Joins the write of the account: no row, no administrator. */
  async function writeDown(account: {
    readonly id: number;
    readonly email: string;
  }): Promise<void> {
    if (!trail.available) {
      return;
    }
    const place = { ip: '', userAgent: '', requestId: ids.uuid(), httpStatus: 0, error: undefined };
    const act = {
      principal: start,
      action: 'user:create',
      resourceType: 'user',
      resourceId: String(account.id),
      status: 'success',
    } as const;
    const change = {
      before: undefined,
      after: { id: account.id, email: account.email, role: 'admin' },
    };
    await tables.write((tx) =>
      trail.get().append(tx, { occurredAt: clock.now(), ...place, ...act, ...change }),
    );
  }
}
