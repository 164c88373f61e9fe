import { listRoute, route, type RouteDeclaration, timestamp } from 'svc/sdk';
import { type Static, Type } from 'typebox';

import type { Board, OwnedJob } from './board.ts';

const path = '/api/v1/jobs';
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Instant = Type.String({ format: 'date-time' });
const states = ['waiting', 'running', 'parked', 'done', 'failed', 'cancelled'] as const;
const Name = Type.String({ minLength: 1, maxLength: 100 });

export const JobItem = Type.Object({
  id: Type.String(),
  plugin: Type.String(),
  queue: Type.String({ description: 'Kind of work within the plugin' }),
  title: Type.String(),
  state: Type.Enum([...states], {
    description: 'parked: waiting for an event, such as a decision, rather than for a set time',
  }),
  attempts: Type.Integer({ description: 'Number of attempts' }),
  created_at: Instant,
  due_at: orNull(Type.String({ format: 'date-time', description: 'Time of the next attempt' })),
  started_at: orNull(Instant),
  ended_at: orNull(Instant),
  progress: orNull(
    Type.Object({
      done: Type.Number(),
      total: Type.Number({ description: '0: unknown' }),
      note: Type.String(),
    }),
  ),
  error: orNull(Type.String({ description: 'Error from the last attempt' })),
  cancellable: Type.Boolean(),
});

const JobQuery = Type.Object({
  plugin: Type.Optional(Name),
  queue: Type.Optional(Name),
  state: Type.Optional(Type.Enum([...states])),
});

const ById = Type.Object({ id: Type.String({ minLength: 1, maxLength: 300 }) });

export const jobRoutes = (board: Board): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'job:read',
    // Jobs are named after what they work on, and their errors name hosts.
    quotes: ['alert', 'device', 'knowledge', 'notify'],
    summary: 'List jobs of all plugins, newest first',
    description: 'Finished jobs are listed only if their plugin keeps them; most plugins do not.',
    query: JobQuery,
    items: JobItem,
    async handle({ query, page }) {
      const { items, ...rest } = await board.page(query, page);
      return { ...rest, items: items.map(shown) };
    },
  }),
  route({
    method: 'POST',
    path: `${path}/{id}/cancel`,
    access: 'job:cancel',
    brief: ['id'],
    summary: 'Cancel a job',
    description: 'A running job is signalled to stop, and may end a moment later.',
    params: ById,
    response: JobItem,
    status: 200,
    errors: ['not_found', 'conflict'],
    async handle({ params: { id }, principal, note }) {
      const by = principal.name ?? principal.email ?? `${principal.kind} ${principal.id}`;
      const job = await board.cancel(id, by);
      const { plugin, queue, title, state } = job;
      note({ resourceType: 'job', resourceId: id, after: { plugin, queue, title, state } });
      return shown(job);
    },
  }),
];

const instant = (at: number | null): string | null => (at === null ? null : timestamp(at));

const shown = ({ progress, ...job }: OwnedJob): Static<typeof JobItem> => ({
  id: job.id,
  plugin: job.plugin,
  queue: job.queue,
  title: job.title,
  state: job.state,
  attempts: job.attempts,
  created_at: timestamp(job.created_at),
  due_at: instant(job.due_at),
  started_at: instant(job.started_at),
  ended_at: instant(job.ended_at),
  progress: progress && { ...progress },
  error: job.error,
  cancellable: job.cancellable,
});
