import {
  type Clock,
  covers,
  listRoute,
  pageOfList,
  type Principal,
  route,
  type RouteDeclaration,
  type Tables,
  timestamp,
} from 'svc/sdk';
import { type Static, Type } from 'typebox';

import { DocStore } from '../documents/doc-store.ts';
import { assertOwn, existing } from '../documents/library.ts';
import { DocId } from '../documents/schema.ts';
import type { KnowledgeTables } from '../documents/tables.ts';
import { CareStore } from './care-store.ts';

const docs = '/api/v1/knowledge/docs';
const writes = 'knowledge:update';

const Instant = Type.String({ format: 'date-time' });
const ReviewBy = Type.Union([Instant, Type.Null()], {
  description: 'Time after which the document counts as stale; null: never',
});
const Owner = Type.String({
  maxLength: 120,
  description: 'Person or team that looks after the document; empty: no owner',
});
const Count = Type.Integer({ minimum: 0 });

const Shown = Type.Object({
  owner: Owner,
  review_by: ReviewBy,
  is_stale: Type.Boolean(),
  votes: Type.Union([Type.Object({ helpful: Count, not_helpful: Count }), Type.Null()], {
    description: 'Shown to those who may update documents',
  }),
  own_vote: Type.Union([Type.Boolean(), Type.Null()], {
    description: 'Whether the document helped you; null: no vote yet',
  }),
});

const Due = Type.Object({
  id: Type.Integer(),
  path: Type.String(),
  title: Type.String(),
  owner: Owner,
  review_by: ReviewBy,
  is_stale: Type.Boolean(),
  helpful: Count,
  not_helpful: Count,
});

/** Owner and review date of documents of any source, and whether they have helped. */
export const careRoutes = (
  tables: Tables<KnowledgeTables>,
  clock: Clock,
): readonly RouteDeclaration[] => [
  readRoute(tables, clock),
  changeRoute(tables, clock),
  voteRoute(tables, clock),
  dueRoute(tables, clock),
];

async function shownCare(
  store: CareStore,
  doc: number,
  principal: Principal,
  now: number,
): Promise<Static<typeof Shown>> {
  const { owner, review_by: reviewBy } = await store.of(doc);
  return {
    owner,
    review_by: reviewBy === null ? null : timestamp(reviewBy),
    is_stale: isStale(reviewBy, now),
    votes: principal.grants.some((grant) => covers(grant, writes)) ? await store.votes(doc) : null,
    own_vote: await store.vote(doc, voterOf(principal)),
  };
}

const readRoute = (tables: Tables<KnowledgeTables>, clock: Clock): RouteDeclaration =>
  route({
    method: 'GET',
    path: `${docs}/{id}/care`,
    access: 'any',
    devices: 'narrowed',
    summary: 'Get the owner and review date of a document, and whether it helped',
    params: DocId,
    response: Shown,
    errors: ['not_found'],
    async handle({ params: { id }, principal }) {
      await existing(new DocStore(tables.read), id, principal);
      return await shownCare(new CareStore(tables.read), id, principal, clock.now());
    },
  });

const changeRoute = (tables: Tables<KnowledgeTables>, clock: Clock): RouteDeclaration =>
  route({
    method: 'PATCH',
    path: `${docs}/{id}/care`,
    access: writes,
    devices: 'narrowed',
    brief: [],
    summary: 'Set the owner or review date of a document, whatever its source',
    params: DocId,
    body: Type.Object({ owner: Type.Optional(Owner), review_by: Type.Optional(ReviewBy) }),
    response: Shown,
    errors: ['not_found'],
    async handle({ params: { id }, body, principal, note }) {
      await tables.write(async (tx) => {
        const { org_id: org } = await existing(new DocStore(tx), id, principal);
        assertOwn(principal, org);
        const store = new CareStore(tx);
        const before = await store.of(id);
        const after = {
          owner: body.owner?.trim() ?? before.owner,
          review_by:
            body.review_by === undefined
              ? before.review_by
              : body.review_by === null
                ? null
                : Date.parse(body.review_by),
        };
        await store.set(id, after);
        note({ resourceType: 'document', resourceId: id, before, after });
      });
      return await shownCare(new CareStore(tables.read), id, principal, clock.now());
    },
  });

const voteRoute = (tables: Tables<KnowledgeTables>, clock: Clock): RouteDeclaration =>
  route({
    method: 'PUT',
    path: `${docs}/{id}/vote`,
    access: 'any',
    devices: 'narrowed',
    summary: 'Say whether a document helped you; your last vote counts',
    params: DocId,
    body: Type.Object({ helpful: Type.Boolean() }),
    response: Shown,
    errors: ['not_found'],
    async handle({ params: { id }, body: { helpful }, principal, note }) {
      await tables.write(async (tx) => {
        const { version } = await existing(new DocStore(tx), id, principal);
        const vote = { helpful, version, at: Math.floor(clock.now()) };
        await new CareStore(tx).cast(id, voterOf(principal), vote);
        note({ resourceType: 'document', resourceId: id, after: { helpful } });
      });
      return await shownCare(new CareStore(tables.read), id, principal, clock.now());
    },
  });

const dueRoute = (tables: Tables<KnowledgeTables>, clock: Clock): RouteDeclaration =>
  listRoute({
    path: '/api/v1/knowledge/review',
    access: writes,
    devices: 'narrowed',
    summary: 'List documents that are past their review date or did not help',
    items: Due,
    async handle({ page, principal }) {
      const due = await new CareStore(tables.read).due(clock.now());
      const ids = due.map(({ id }) => id);
      const seen = await new DocStore(tables.read).among(ids, principal);
      const { items, ...rest } = pageOfList(
        due.filter(({ id }) => seen.has(id)),
        ({ path, id }) => `${path} ${id}`,
        page,
      );
      return {
        ...rest,
        items: items.map(({ id, path, title, owner, review_by, helpful, not_helpful }) => ({
          id,
          path,
          title,
          owner,
          review_by: review_by === null ? null : timestamp(review_by),
          is_stale: isStale(review_by, clock.now()),
          helpful,
          not_helpful,
        })),
      };
    },
  });

const voterOf = ({ kind, id }: Principal): string => `${kind} ${id}`;
const isStale = (reviewBy: number | null, now: number): boolean =>
  reviewBy !== null && reviewBy < now;
