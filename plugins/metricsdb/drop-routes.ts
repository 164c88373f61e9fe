import {
  byteRoute,
  type FieldProblem,
  type Principal,
  route,
  type RouteDeclaration,
} from 'svc/sdk';
import { type Static, Type } from 'typebox';

import { confirmationOf, type Dropping } from './drop/dropping.ts';
import { errors } from './drop/errors.ts';
import { common, formRead, pairsOf } from './prometheus-routes.ts';
import { deletionQuery } from './prometheus-shapes.ts';
import type { Drop } from './store/drop/drop-table.ts';
import type { DropCount, Pairs } from './thread/contract.ts';

/** Time that a caller may wait for blocks to be rewritten; the drop itself goes on. */
const waitMs = 30 * 60_000;
const timeoutMs = waitMs + 60_000;
const path = '/prometheus/api/v1/admin/tsdb/delete_series';

const Moment = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Unix time in seconds, or an RFC 3339 timestamp',
});

const Wanted = Type.Object({
  match: Type.String({
    minLength: 1,
    maxLength: 65_536,
    examples: ['http_requests_total{user_id!=""}'],
    description: 'Series selector',
  }),
  start: Type.Optional(Moment),
  end: Type.Optional(Moment),
  confirm: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        'Confirmation word, as given in the details of the error that is returned if it is omitted',
    }),
  ),
});

const Dropped = Type.Object({
  id: Type.Integer(),
  state: Type.Enum(['done', 'running']),
  series: Type.Integer({
    description: 'Number of series removed from memory; they no longer count towards the limits',
  }),
  blocks: Type.Integer({
    description: 'Number of blocks on disk that may contain dropped samples',
  }),
  done: Type.Integer({ description: 'Number of blocks already rewritten' }),
  damaged: Type.Integer({ description: 'Number of unreadable blocks, which were left unchanged' }),
});

/** Routes that delete series: with a confirmation for people, and as Prometheus has it. */
export const dropRoutes = (dropping: Dropping): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/metricsdb/drops',
    access: 'admin',
    summary: 'Drop series from the embedded metrics store',
    description:
      'Without confirmation, nothing is dropped: the error contains the number of series and the confirmation word. Dropped series stop counting towards the limits at once; blocks on disk are rewritten one by one, and after a restart if necessary.',
    body: Wanted,
    response: Dropped,
    status: 200,
    timeoutMs,
    action: 'metricsdb:drop',
    errors: ['conflict', 'budget_exceeded', 'unavailable'],
    async handle({ body, principal, signal, note }) {
      const pairs = pairsAsked(body);
      const confirm = confirmationOf(pairs);
      if (body.confirm !== confirm) {
        throw errors.drop_unconfirmed({
          details: problemsOf(await dropping.count({ pairs }, signal), confirm),
        });
      }
      const drop = await dropping.begin({ pairs }, nameOf(principal));
      note({
        resourceType: 'metricsdb',
        resourceId: `drop-${drop.id}`,
        after: { match: body.match, start: body.start, end: body.end, series: drop.series },
      });
      return shown((await dropping.ended(drop, { ms: waitMs, signal })) ?? drop);
    },
  }),
  ...(['POST', 'PUT'] as const).map((method) =>
    byteRoute({
      ...common,
      ...formRead,
      method,
      path,
      access: 'admin',
      summary: 'Prometheus API: delete series, or their samples between two times',
      query: deletionQuery,
      timeoutMs,
      action: 'metricsdb:drop',
      audited: true,
      status: 204,
      errors: ['conflict', 'unavailable'],
      async handle({ query, body, principal, signal, note }) {
        const asked = { pairs: pairsOf(query), form: new Uint8Array(body) };
        const drop = await dropping.begin(asked, nameOf(principal));
        note({
          resourceType: 'metricsdb',
          resourceId: `drop-${drop.id}`,
          after: { selectors: drop.selection.selectors, series: drop.series },
        });
        const ended = await dropping.ended(drop, { ms: waitMs, signal });
        if (ended?.ended === undefined) {
          throw errors.drop_continues();
        }
      },
    }),
  ),
];

const pairsAsked = ({ match, start, end }: Static<typeof Wanted>): Pairs => [
  ['match[]', match],
  ...(start === undefined ? [] : [['start', start] as const]),
  ...(end === undefined ? [] : [['end', end] as const]),
];

const nameOf = ({ name, email, kind, id }: Principal): string => name ?? email ?? `${kind} ${id}`;

const problemsOf = (
  { series, inHead, metrics }: DropCount,
  confirm: string,
): readonly FieldProblem[] => [
  { path: '/confirm', message: confirm },
  { path: '/series', message: `${series}, of which ${inHead} count against the limits` },
  ...metrics.map((metric, at) => ({ path: `/metrics/${at}`, message: metric })),
];

const shown = ({ id, series, blocks, done, damaged, ended }: Drop): Static<typeof Dropped> => ({
  id,
  state: ended === undefined ? 'running' : 'done',
  series,
  blocks,
  done,
  damaged,
});
