import {
  ApprovalDecisions,
  ApprovalRequested,
  Approvals,
  ApprovalSettled,
} from 'svc/contracts/approval';
import { Gate } from 'svc/contracts/gate';
import { Directory } from 'svc/contracts/iam';
import { NoticeDispatcher } from 'svc/contracts/notify';
import { Personas } from 'svc/contracts/persona';
import { DeviceScopes, seenBy } from 'svc/query';
import { BuildInfo, definePlugin } from 'svc/sdk';

import { approvalRoutes } from './approval-routes.ts';
import { ApprovalStore, viewerBy } from './approval-store.ts';
import { ApprovalService } from './approval-service.ts';
import { Decisions } from './decisions.ts';
import { errors } from './errors.ts';
import { approvalOf } from './shown.ts';
import { Signers } from './signers.ts';
import type { ApprovalTables, RequestRow } from './tables.ts';
import { Announcer, Upkeep } from './upkeep.ts';

const sweepMs = 15_000;

export default definePlugin({
  errors,
  activate(ctx) {
    const { clock, ids, log, services, settings } = ctx;
    const tables = ctx.db<ApprovalTables>();
    const viewerOf = viewerBy(seenBy(services.maybe(DeviceScopes)));
    const directory = services.use(Directory);
    const signers = new Signers({ directory, settings });
    const ends = ctx.metrics.counter('settled_total', 'Approvals that were decided or expired.', [
      'status',
    ]);
    const again = (row: RequestRow): void => {
      const { id, status, owner, target, requested_by } = approvalOf(row);
      ctx.events.emit(ApprovalSettled, { id, status, owner, target, requested_by });
    };
    const settled = (row: RequestRow): void => {
      ends.add(1, { status: row.status });
      again(row);
    };
    const announcer = new Announcer({ notices: services.maybe(NoticeDispatcher), settings, log });
    const process = String(services.use(BuildInfo).startedAt);
    const approvals = new ApprovalService({
      tables,
      directory,
      signers,
      viewerOf,
      clock,
      ids,
      process,
      settled,
      gate: services.use(Gate),
      personas: services.maybe(Personas),
      requested(row) {
        ctx.events.emit(ApprovalRequested, approvalOf(row));
        ctx.scope.task(`send notifications for approval ${row.id}`, () => announcer.tell(row));
      },
    });
    const upkeep = new Upkeep({
      tables,
      clock,
      log,
      process,
      settled,
      again,
      tell: (row) => announcer.tell(row),
    });

    services.provide(Approvals, () => approvals);
    const decisions = new Decisions({ tables, signers, clock, settled, viewerOf });
    services.provide(ApprovalDecisions, () => ({
      approve: async (id, word) => approvalOf(await decisions.approve(id, word)),
      deny: async (id, word) => approvalOf(await decisions.deny(id, word)),
    }));
    ctx.http.routes(approvalRoutes(new ApprovalStore(tables.read), decisions, viewerOf));
    ctx.scope.interval('expire approvals', sweepMs, () => upkeep.sweep());
    return upkeep;
  },
  async start(_ctx, upkeep) {
    await upkeep.markUnknown();
    await upkeep.sweep();
  },
});
