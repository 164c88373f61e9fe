import { listRoute, type Principal, route, type RouteDeclaration } from 'svc/sdk';
import { type Static, Type } from 'typebox';

import type { ApprovalStore, Viewer } from './approval-store.ts';
import { type Decisions, required } from './decisions.ts';
import { itemOf, outlineOf, signatureOf } from './shown.ts';
import { mayRead } from './signers.ts';
import type { RequestRow } from './tables.ts';

const path = '/api/v1/approvals';

const Status = Type.Enum([
  ...([
    'pending',
    'partially_signed',
    'approved',
    'executing',
    'executed',
    'failed',
    'unknown',
  ] as const),
  ...(['denied', 'expired', 'cancelled', 'superseded'] as const),
]);
const orNull = <T extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>>(
  type: T,
) => Type.Union([type, Type.Null()]);
const Instant = Type.String({ format: 'date-time' });
const Digest = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'Hash of the reviewed change: tool, arguments and target',
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
});

const ApprovalId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 64 }) });
const Item = Type.Object({
  id: Type.String(),
  visible: Type.Boolean({
    description:
      'Whether the caller may read the change, as its requester, a signer or a holder of approval:read. For others, only the state and times are filled in.',
  }),
  status: Status,
  tool: Type.String(),
  class: Type.Enum(['safe', 'mutating', 'dangerous']),
  required_signatures: Type.Integer(),
  args: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Secrets are hidden, but args_sha256 covers them too.',
  }),
  args_sha256: Type.String({
    pattern: '^([0-9a-f]{64})?$',
    examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    description: 'Hash of the tool, arguments and target; this hash is what gets signed',
  }),
  rendered: Type.String({
    description: 'Exactly what will run, and where',
  }),
  target: Type.Object({
    kind: Type.Enum(['manager', 'device']),
    id: orNull(Type.Integer()),
    name: Type.String(),
  }),
  owner: Type.Enum(['chat', 'skill', 'mcp']),
  run_id: Type.String(),
  session_id: orNull(Type.String()),
  tool_call_id: orNull(Type.String()),
  persona: orNull(Type.String()),
  persona_version: orNull(Type.Integer()),
  requested_by: Type.Object({
    kind: Type.String(),
    id: Type.String(),
    name: Type.String(),
    role: Type.String(),
  }),
  reason: orNull(Type.String()),
  result_evidence_id: orNull(Type.String()),
  created_at: Instant,
  expires_at: Instant,
  decided_at: orNull(Instant),
  begun_at: orNull(Instant),
  finished_at: orNull(Instant),
});
const Signature = Type.Object({
  user_id: Type.Integer(),
  name: Type.String(),
  decision: Type.Enum(['approved', 'denied']),
  comment: Type.String(),
  args_sha256: Digest,
  method: Type.Enum(['session', 'chat']),
  at: Instant,
});
const Detail = Type.Object({ ...Item.properties, signatures: Type.Array(Signature) });
const Filter = Type.Object({
  status: Type.Optional(Status),
  session_id: Type.Optional(Type.String({ maxLength: 64 })),
  mine: Type.Optional(Type.Boolean({ description: 'Only changes that the caller has requested' })),
});
const Approve = Type.Object({
  args_sha256: Digest,
  comment: Type.Optional(Type.String({ maxLength: 2_000 })),
});
const Deny = Type.Object({
  args_sha256: Digest,
  reason: Type.String({ minLength: 1, maxLength: 2_000 }),
});

const decided = {
  method: 'POST',
  access: 'any',
  devices: 'narrowed',
  params: ApprovalId,
  response: Detail,
  status: 200,
  errors: ['not_found', 'forbidden', 'conflict'],
} as const;

/** Returns a row as its reader may see it, with its signatures if they may see those. */
type DetailOf = (row: RequestRow, principal: Principal) => Promise<Static<typeof Detail>>;

export function approvalRoutes(
  store: ApprovalStore,
  decisions: Decisions,
  viewerOf: (principal: Principal) => Promise<Viewer>,
): readonly RouteDeclaration[] {
  const detailOf: DetailOf = async (row, principal) =>
    mayRead(principal, row)
      ? { ...itemOf(row), signatures: (await store.signaturesOf(row.id)).map(signatureOf) }
      : { ...outlineOf(row), signatures: [] };
  return [...readingRoutes(store, viewerOf, detailOf), ...decidingRoutes(decisions, detailOf)];
}

const readingRoutes = (
  store: ApprovalStore,
  viewerOf: (principal: Principal) => Promise<Viewer>,
  detailOf: DetailOf,
): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    devices: 'narrowed',
    summary: 'List approvals, newest first',
    query: Filter,
    items: Item,
    handle: async ({ query: { status, session_id, mine }, page, principal }) => {
      const { items, ...rest } = await store.page(
        { status, session_id, requester_id: mine === true ? principal.id : undefined },
        page,
        await viewerOf(principal),
      );
      return {
        ...rest,
        items: items.map((row) => (mayRead(principal, row) ? itemOf(row) : outlineOf(row))),
      };
    },
  }),
  route({
    method: 'GET',
    path: `${path}/{id}`,
    access: 'any',
    devices: 'narrowed',
    summary: 'Get an approval, including what will run and who has signed it',
    params: ApprovalId,
    response: Detail,
    errors: ['not_found'],
    handle: async ({ params, principal }) =>
      await detailOf(await required(store, params.id, await viewerOf(principal)), principal),
  }),
];

const decidingRoutes = (decisions: Decisions, detailOf: DetailOf): readonly RouteDeclaration[] => [
  route({
    ...decided,
    path: `${path}/{id}/approve`,
    summary: 'Sign a change',
    description:
      'A mutating change needs one signature, from the requester or a holder of approval:sign. A dangerous one needs signatures from two different people, each with approval:sign. If approval.requester_signs is off, the requester may sign neither.',
    body: Approve,
    async handle({ params, body: { args_sha256, comment = '' }, principal, ip, note }) {
      const row = await decisions.approve(params.id, { principal, ip, args_sha256, comment });
      note({
        resourceType: 'approval',
        resourceId: row.id,
        after: { status: row.status, args_sha256, tool: row.tool },
      });
      return await detailOf(row, principal);
    },
  }),
  route({
    ...decided,
    path: `${path}/{id}/deny`,
    summary: 'Deny a change; the reason goes to the requester',
    body: Deny,
    async handle({ params, body: { args_sha256, reason }, principal, ip, note }) {
      const row = await decisions.deny(params.id, {
        principal,
        ip,
        args_sha256,
        comment: reason,
      });
      note({
        resourceType: 'approval',
        resourceId: row.id,
        after: { status: row.status, args_sha256, tool: row.tool, reason },
      });
      return await detailOf(row, principal);
    },
  }),
  route({
    ...decided,
    path: `${path}/{id}/cancel`,
    summary: 'Withdraw a change, as its requester or an administrator',
    async handle({ params, principal, note }) {
      const row = await decisions.cancel(params.id, principal);
      note({
        resourceType: 'approval',
        resourceId: row.id,
        after: { status: row.status, tool: row.tool },
      });
      return await detailOf(row, principal);
    },
  }),
];
