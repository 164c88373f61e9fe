import type { SeenBy } from 'svc/query';
import { byteRoute, listRoute, route, type RouteDeclaration } from 'svc/sdk';
import { Type } from 'typebox';

import { AgainItem } from './asked-again.ts';
import { askerOf, type InvestigationQueue } from './investigation-queue.ts';
import { ReplayItem } from './replay.ts';
import { markdownOf, type Report, textOf } from './report/markdown.ts';
import { ReportItem } from './report/schema.ts';
import { CalibrationItem, type Reports } from './reports.ts';
import { RunItem, shownRun } from './shown.ts';

const path = '/api/v1/investigations';
const ofIncident = '/api/v1/alerts/incidents/{id}/investigation';

const Id = Type.Object({ id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) });
const EvidenceId = Type.Object({
  ...Id.properties,
  evidence: Type.String({ pattern: '^E[1-9]\\d{0,5}$', examples: ['E1'] }),
});
const Shown = Type.Object({
  ...ReportItem.properties,
  markdown: Type.String({ description: 'The report as markdown.' }),
  text: Type.String({ description: 'The report as text for a terminal.' }),
});
const RunQuery = Type.Object({
  incident_id: Type.Optional(Type.Integer({ minimum: 1 })),
  status: Type.Optional(Type.Enum(['pending', 'running', 'ready', 'failed', 'skipped'])),
  rule: Type.Optional(Type.String({ maxLength: 200, description: 'rule_key' })),
});
const Told = Type.Object({
  verdict: Type.Enum(['right', 'partly', 'wrong']),
  true_cause: Type.Optional(Type.String({ maxLength: 2_000, description: 'The actual cause' })),
  comment: Type.Optional(Type.String({ maxLength: 2_000 })),
});

export interface RouteParts {
  readonly reports: Reports;
  readonly queue: InvestigationQueue;
  readonly seenBy: SeenBy;
  /** Returns the public origin of svc. */
  readonly origin: () => string;
}

const wholeAt =
  (origin: () => string) =>
  (report: Report): Report & { readonly markdown: string; readonly text: string } => ({
    ...report,
    markdown: markdownOf(report),
    text: textOf(report, origin().replace(/\/$/, '')),
  });

export const investigationRoutes = (parts: RouteParts): readonly RouteDeclaration[] => {
  const whole = wholeAt(parts.origin);
  return [
    ...incidentRoutes(parts, whole),
    ...reportRoutes(parts, whole),
    ...evidenceRoutes(parts, whole),
  ];
};

/** Areas that reports are made from. */
const quotes = [
  'alert',
  'changes',
  'device',
  'knowledge',
  'logs',
  'metricsdb',
  'topology',
  'traces',
] as const;

type Whole = ReturnType<typeof wholeAt>;

/** Routes below the incidents of another plugin; they disappear with this one. */
const incidentRoutes = (
  { reports, queue, seenBy }: RouteParts,
  whole: Whole,
): readonly RouteDeclaration[] => [
  route({
    method: 'GET',
    path: ofIncident,
    access: 'any',
    devices: 'narrowed',
    quotes,
    summary: 'Get the latest investigation of an incident',
    params: Id,
    response: Shown,
    errors: ['not_found'],
    handle: async ({ params, principal }) =>
      whole(await reports.ofIncident(params.id, await seenBy(principal))),
  }),
  route({
    method: 'POST',
    path: ofIncident,
    access: 'any',
    devices: 'narrowed',
    quotes,
    summary: 'Investigate an incident, for the first time or again; earlier reports are kept',
    description:
      'Returns the investigation that is already queued or running, if any. Needs no model and is read-only.',
    params: Id,
    response: Shown,
    status: 202,
    action: 'investigation:start',
    errors: ['not_found', 'rate_limited', 'unavailable'],
    async handle({ params, principal, note }) {
      const seen = await seenBy(principal);
      const { id } = await queue.start(params.id, askerOf(principal), seen);
      note({ resourceType: 'incident', resourceId: params.id, after: { investigation_id: id } });
      return whole(await reports.get(id, seen));
    },
  }),
];

const reportRoutes = (
  { reports, seenBy }: RouteParts,
  whole: Whole,
): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    devices: 'narrowed',
    summary: 'List investigations, newest first',
    query: RunQuery,
    items: RunItem,
    async handle({ query: { incident_id, status, rule }, page, principal }) {
      const { items, ...rest } = await reports.page(
        { incident_id, status, rule_key: rule },
        page,
        await seenBy(principal),
      );
      return { ...rest, items: items.map(shownRun) };
    },
  }),
  route({
    method: 'GET',
    path: `${path}/calibration`,
    access: 'any',
    summary:
      'Get the share of reports at each confidence level that were right, according to feedback',
    response: CalibrationItem,
    handle: () => reports.calibration(),
  }),
  route({
    method: 'GET',
    path: `${path}/{id}`,
    access: 'any',
    devices: 'narrowed',
    quotes,
    summary: 'Get an investigation with its report',
    params: Id,
    response: Shown,
    errors: ['not_found'],
    handle: async ({ params, principal }) =>
      whole(await reports.get(params.id, await seenBy(principal))),
  }),
  byteRoute({
    method: 'GET',
    path: `${path}/{id}/markdown`,
    access: 'any',
    devices: 'narrowed',
    quotes,
    summary: 'Get the report as markdown',
    params: Id,
    produces: 'text/markdown; charset=utf-8',
    errors: ['not_found'],
    handle: async ({ params, principal }) =>
      await reports.markdown(params.id, await seenBy(principal)),
  }),
];

/** Routes for people who doubt a report, or know better. */
const evidenceRoutes = (
  { reports, seenBy }: RouteParts,
  whole: Whole,
): readonly RouteDeclaration[] => [
  route({
    method: 'GET',
    path: `${path}/{id}/evidence/{evidence}/again`,
    access: 'any',
    devices: 'narrowed',
    quotes,
    summary: 'Repeat the query behind a piece of evidence and compare the results',
    params: EvidenceId,
    response: AgainItem,
    errors: ['not_found'],
    handle: async ({ params, principal, signal }) =>
      await reports.again(params.id, params.evidence, signal, await seenBy(principal)),
  }),
  route({
    method: 'GET',
    path: `${path}/{id}/replay`,
    access: 'any',
    devices: 'narrowed',
    quotes,
    summary: 'Replay an investigation with the current engine and compare the results',
    params: Id,
    response: ReplayItem,
    errors: ['not_found'],
    handle: async ({ params, principal }) =>
      await reports.replay(params.id, await seenBy(principal)),
  }),
  route({
    method: 'POST',
    path: `${path}/{id}/feedback`,
    access: 'any',
    devices: 'narrowed',
    quotes,
    summary: 'Give feedback on a report; each person has one vote, and the latest one counts',
    params: Id,
    body: Told,
    response: Shown,
    status: 200,
    errors: ['not_found', 'conflict'],
    async handle({ params, body, principal, note }) {
      note({
        resourceType: 'investigation',
        resourceId: params.id,
        after: { verdict: body.verdict },
      });
      return whole(await reports.tell(params.id, body, principal, await seenBy(principal)));
    },
  }),
];
