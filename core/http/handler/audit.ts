import { auditRecord, type AuditedEnd, principalKey } from '../../auth/index.ts';
import {
  type AuditRecord,
  AuditTrail,
  type AuditTrailContract,
  messageOf,
  type MaybePromise,
  type SvcError,
  withDeadline,
} from '../../sdk/index.ts';
import { publicError } from '../replies/error-reply.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { auditErrors, errors } from './errors.ts';
import type { Claim } from './idempotency.ts';
import type { ChangeWitness, Transaction } from '../exchange/ports.ts';

const refusalsAtOnce = 256;
const refusalMs = 2_000;

/**
 * Runs the handler so that its change, the audit row and the idempotency row are one transaction:
 * the rows join its first write unit, or are written on their own when it wrote nothing.
 */
export async function witnessed<R>(
  exchange: Exchange,
  claim: Claim | undefined,
  work: () => MaybePromise<R>,
): Promise<R> {
  const { changes } = exchange.front;
  if (exchange.served!.route.declaration.unwritten && changes.writable() !== undefined) {
    return await work();
  }
  assertWritable(exchange);
  let rowsIn = false;
  let failure: SvcError | undefined;
  const witness: ChangeWitness = {
    async beforeCommit(tx) {
      if (exchange.abandoned) {
        throw errors.request_abandoned();
      }
      if (!rowsIn) {
        await appendRows(exchange, claim, tx).catch((error: unknown) => {
          failure = untraceable(error);
          throw failure;
        });
        rowsIn = true;
        claim?.attach();
      }
    },
    undone() {
      rowsIn = false;
      claim?.detach();
    },
  };
  try {
    const result = await changes.witness(witness, work);
    if (failure === undefined && !rowsIn) {
      await changes.write((tx) => witness.beforeCommit(tx));
    }
    if (failure === undefined || rowsIn) {
      return result;
    }
  } catch (error) {
    // The handler only sees its write fail; why is known here.
    throw failure ?? error;
  }
  throw failure;
}

/**
 * An audited call is refused before it does anything that could not be written down. Only the operator, who can
 * repair the trail, may go on while the plugin that should keep it is down.
 */
export function assertWritable(exchange: Exchange): void {
  const { front, principal } = exchange;
  const absent =
    trailOf(exchange) || principal.kind === 'operator' ? undefined : front.absentTrail?.();
  const reason = front.changes.writable() ?? absent;
  if (reason !== undefined) {
    throw errors.read_only(
      { cause: reason },
      {
        retryAfterSeconds: 30,
      },
    );
  }
}

/**
 * Writes down a call that failed or was refused. It must not become a lever: few at a time, never waited
 * for long, and the caller gets the same answer whether or not it succeeded.
 */
export async function recordRefusal(exchange: Exchange, error: unknown): Promise<void> {
  const { front } = exchange;
  const trail = trailOf(exchange);
  if (!trail || front.changes.writable() !== undefined) {
    return;
  }
  const principal =
    exchange.principal.kind === 'anonymous' ? undefined : principalKey(exchange.principal);
  if (
    front.refusals >= refusalsAtOnce ||
    !front.refusalBudget.spend({ ip: exchange.ip, principal })
  ) {
    front.log.warn(
      { event: 'audit.refusal_counted', request_id: exchange.requestId, route: exchange.label },
      'too many refused calls from one source; the audit log only counts them',
    );
    front.unwrittenRefusals += 1;
    return;
  }
  const shown = publicError(error);
  const record = recordOf(exchange, { httpStatus: shown.status, error: shown.message });
  front.refusals += 1;
  const writing = front.changes
    .write(async (tx) => {
      await trail.append(tx, record);
      const unwritten = front.unwrittenRefusals;
      if (unwritten > 0) {
        front.unwrittenRefusals = 0;
        await trail.append(tx, {
          ...record,
          requestId: front.ids.uuid(),
          action: 'audit:overflow',
          error: `${unwritten} more refused calls came and are only counted`,
        });
      }
    })
    .finally(() => {
      front.refusals -= 1;
    });
  const late = (): Promise<never> =>
    Promise.reject(new Error(`the audit trail did not answer within ${refusalMs} ms`));
  await withDeadline(writing, refusalMs, late, { idle: true }).catch((cause: unknown) => {
    front.log.error(
      {
        event: 'audit.refusal_lost',
        request_id: exchange.requestId,
        route: exchange.label,
        cause: messageOf(cause),
      },
      'failed to write a refused call to the audit log',
    );
  });
}

async function appendRows(
  exchange: Exchange,
  claim: Claim | undefined,
  tx: Transaction,
): Promise<void> {
  const { route } = exchange.served!;
  if (route.audited) {
    await trailOf(exchange)?.append(
      tx,
      recordOf(exchange, { httpStatus: exchange.status ?? route.status }),
    );
  }
  if (claim) {
    await exchange.front.changes.idempotency.insert(tx, claim.row);
  }
}

function recordOf(exchange: Exchange, end: AuditedEnd): AuditRecord {
  const { served, params, principal, front, ip, requestId, note, req } = exchange;
  const call = {
    declaration: served!.route.declaration,
    params,
    principal,
    occurredAt: front.clock.now(),
    ip,
    requestId,
    note,
  };
  return auditRecord(
    { ...call, userAgent: req.headers['user-agent'] ?? '' },
    end,
    front.hideSecrets,
  );
}

const trailOf = ({ snapshot, served }: Exchange): AuditTrailContract | undefined =>
  (snapshot ?? served?.pin.snapshot)?.services.get(AuditTrail.id)?.value.instance as
    | AuditTrailContract
    | undefined;

const untraceable = (cause: unknown): SvcError =>
  auditErrors.not_written({
    cause,
    retryAfterSeconds: 5,
  });
