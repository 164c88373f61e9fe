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
    summary:
      'Make a token that enrols some machines for some time; the answer has the line to run on each',
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
    summary: 'Revoke an enrolment; edges that it brought stay',
    params: EnrolmentId,
    action: 'edge:enrolment-revoke',
    errors: ['not_found'],
    handle: (call) => enrolments.revoke(call, call.params.id),
  }),
  route({
    method: 'POST',
    path: '/internal/edge/enrol',
    access: 'public',
    summary: 'A machine becomes an edge, with the token of an enrolment',
    body: EnrolRequest,
    response: EnrolAnswer,
    action: 'edge:enrol',
    errors: ['unauthorized', 'rate_limited', 'conflict'],
    handle: (call) => enrolments.enrol(call, call.body),
  }),
];
