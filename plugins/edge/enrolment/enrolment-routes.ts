import { EnrolAnswer, EnrolRequest } from 'svc/edge-protocol';
import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import { EnrolmentDraft, EnrolmentId, EnrolmentItem, NewEnrolment } from '../record/schema.ts';
import type { Enrolments } from './enrolments.ts';

const path = '/api/v1/edges/enrolments';

export const enrolmentRoutes = (enrolments: Enrolments): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path,
    access: 'edge:enrol',
    reads: 'none',
    summary: 'Create an enrolment token; the response contains the command to run on each machine',
    body: EnrolmentDraft,
    response: NewEnrolment,
    errors: ['not_found'],
    action: 'edge:enrolment',
    handle: (call) => enrolments.create(call, call.body),
  }),
  listRoute({
    path,
    access: 'edge:enrol',
    summary: 'List enrolments, newest first',
    items: EnrolmentItem,
    handle: ({ page }) => enrolments.list(page),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    access: 'edge:enrol',
    summary: 'Revoke an enrolment token; the edges that used it are kept',
    params: EnrolmentId,
    action: 'edge:enrolment-revoke',
    errors: ['not_found'],
    handle: (call) => enrolments.revoke(call, call.params.id),
  }),
  route({
    method: 'POST',
    path: '/internal/edge/enrol',
    access: 'public',
    summary: 'Enrol a machine with an enrolment token',
    body: EnrolRequest,
    response: EnrolAnswer,
    action: 'edge:enrol',
    errors: ['unauthorized', 'rate_limited', 'conflict'],
    handle: (call) => enrolments.enrol(call, call.body),
  }),
];
