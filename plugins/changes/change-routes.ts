import { type Change, type ChangeKind, changeKinds } from 'svc/contracts/changes';
import type { SeenBy, SeenDevices } from 'svc/query';
import { type Clock, type Ids, listRoute, route, type RouteDeclaration, timestamp } from 'svc/sdk';
import { type Static, Type } from 'typebox';

import { errors } from './errors.ts';
import type { Feed } from './feed.ts';

const path = '/api/v1/changes';
const Words = Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 500 }), {
  maxProperties: 32,
});
const Instant = Type.String({ format: 'date-time' });
const orNull = Type.Union([Type.String(), Type.Null()]);
const kindList = `^(${changeKinds.join('|')})(,(${changeKinds.join('|')}))*$`;

export const ChangeItem = Type.Object({
  id: Type.Integer(),
  at: Instant,
  kind: Type.Enum([...changeKinds]),
  source: Type.String({ description: 'api, audit, edge, metrics or svc' }),
  summary: Type.String(),
  actor: orNull,
  device_id: orNull,
  edge_id: orNull,
  service: orNull,
  link: orNull,
  labels: Type.Record(Type.String(), Type.String()),
});

const ChangeQuery = Type.Object({
  kind: Type.Optional(
    Type.String({
      pattern: kindList,
      examples: ['deploy,upgrade'],
      maxLength: 200,
      description: 'One or more kinds, separated by commas, such as deploy,upgrade',
    }),
  ),
  device_id: Type.Optional(Type.Integer({ minimum: 1 })),
  service: Type.Optional(Type.String({ maxLength: 200 })),
  from: Type.Optional(Instant),
  to: Type.Optional(Instant),
  q: Type.Optional(
    Type.String({ maxLength: 200, description: 'Only changes whose summary contains this text' }),
  ),
});

/** Kinds that may be posted; svc detects the others itself. */
const posted = [
  'deploy',
  'config',
  'package',
  'cron',
  'certificate',
  'restart',
  'note',
] as const satisfies readonly ChangeKind[];

const NewChange = Type.Object({
  summary: Type.String({ minLength: 1, maxLength: 500, pattern: '\\S' }),
  kind: Type.Optional(Type.Enum([...posted], { description: 'Default: deploy' })),
  at: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Default: now; at most 7 days ago',
    }),
  ),
  service: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  device_id: Type.Optional(
    Type.Integer({ minimum: 1, description: 'An edge can post only for its own device' }),
  ),
  version: Type.Optional(Type.String({ maxLength: 200 })),
  link: Type.Optional(
    Type.String({
      maxLength: 2_000,
      pattern: '^https?://',
      examples: ['https://deploys.example.org/812'],
    }),
  ),
  labels: Type.Optional(Words),
});

const oldestMs = 7 * 86_400_000;
const aheadMs = 60_000;

export interface ChangeRouteParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly seenBy: SeenBy;
}

export const changeRoutes = (
  feed: Feed,
  { clock, ids, seenBy }: ChangeRouteParts,
): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    devices: 'narrowed',
    summary: 'List changes, newest first',
    query: ChangeQuery,
    items: ChangeItem,
    async handle({ query: { kind, device_id: device, service, from, to, q }, page, principal }) {
      const { items, ...rest } = await feed.page(
        {
          kinds: kind?.split(',') as ChangeKind[] | undefined,
          device_id: device?.toString(),
          service,
          q,
          from: from === undefined ? undefined : Date.parse(from),
          to: to === undefined ? undefined : Date.parse(to),
        },
        page,
        await seenBy(principal),
      );
      return { ...rest, items: items.map(shownChange) };
    },
  }),
  route({
    method: 'POST',
    path,
    access: { action: 'change:post', machine: true },
    devices: 'narrowed',
    brief: ['id'],
    summary: 'Record a deploy or another change for investigations, or a note for charts',
    description:
      'Safe to repeat with the same Idempotency-Key. A note is shown at its time; no investigation takes it for a cause.',
    body: NewChange,
    response: ChangeItem,
    errors: ['not_found'],
    async handle({ body, principal, note }) {
      const { kind = 'deploy', summary, service, link, version, labels = {} } = body;
      assertOfSeen(body.device_id, await seenBy(principal));
      const device = principal.kind === 'edge' ? principal.device : body.device_id?.toString();
      const change = await feed.post({
        ref: `post:${ids.uuid()}`,
        at: timeOf(body.at, clock.now()),
        kind,
        source: 'api',
        summary,
        service,
        link,
        device_id: device,
        actor: principal.name ?? principal.email ?? `${principal.kind} ${principal.id}`,
        labels: { ...labels, ...(version !== undefined && { version }) },
      });
      note({ resourceType: 'change', resourceId: change.id, after: { kind, summary, service } });
      return shownChange(change);
    },
  }),
];

/** Throws unless a user with access to some devices posts about one of these. */
function assertOfSeen(deviceId: number | undefined, seen: SeenDevices): void {
  if (seen === undefined) {
    return;
  }
  if (deviceId === undefined) {
    throw errors.device_id_missing({ details: [{ path: '/device_id', message: 'is missing' }] });
  }
  if (!seen.ids.has(deviceId)) {
    throw errors.no_device({ id: deviceId });
  }
}

function timeOf(asked: string | undefined, now: number): number {
  const at = asked === undefined ? now : Date.parse(asked);
  if (at > now + aheadMs || at < now - oldestMs) {
    throw errors.time_out_of_range();
  }
  return at;
}

export const shownChange = ({
  id,
  at,
  kind,
  source,
  summary,
  labels,
  ...rest
}: Change): Static<typeof ChangeItem> => ({
  id,
  at: timestamp(at),
  kind,
  source,
  summary,
  actor: rest.actor ?? null,
  device_id: rest.device_id ?? null,
  edge_id: rest.edge_id ?? null,
  service: rest.service ?? null,
  link: rest.link ?? null,
  labels: { ...labels },
});
