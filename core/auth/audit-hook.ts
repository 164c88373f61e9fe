import type { AuditNote, AuditRecord, Principal, RouteDeclaration } from '../sdk/index.ts';
import { type HideSecrets, redact } from './redact.ts';

/** Call as recorded in the trail, however it ended. */
interface AuditedCall {
  readonly declaration: RouteDeclaration;
  readonly params: Readonly<Record<string, unknown>>;
  readonly principal: Principal;
  readonly occurredAt: number;
  readonly ip: string;
  readonly userAgent: string;
  readonly requestId: string;
  readonly note: AuditNote | undefined;
}

export interface AuditedEnd {
  readonly httpStatus: number;
  /** The sentence the caller got instead of an answer. */
  readonly error?: string;
}

const longestUserAgent = 512;

/** The record of a call; nothing of it needs help from the handler, a note only sharpens it. */
export function auditRecord(call: AuditedCall, end: AuditedEnd, hide?: HideSecrets): AuditRecord {
  const subject = auditSubject(call.declaration);
  const hidden = (text: string): string => hide?.(text) ?? text;
  const id =
    call.note?.resourceId ??
    (subject.idParam === undefined
      ? undefined
      : (call.params[subject.idParam] as string | number | undefined));
  return {
    occurredAt: call.occurredAt,
    principal: call.note?.actor ?? call.principal,
    ip: call.ip,
    userAgent: hidden(call.userAgent).slice(0, longestUserAgent),
    action: subject.action,
    resourceType: call.note?.resourceType ?? subject.resourceType,
    resourceId: id === undefined ? undefined : hidden(String(id)),
    status:
      end.httpStatus < 400
        ? 'success'
        : end.httpStatus === 401 || end.httpStatus === 403
          ? 'denied'
          : 'failure',
    httpStatus: end.httpStatus,
    error: end.error === undefined ? undefined : hidden(end.error),
    requestId: hidden(call.requestId),
    before: redact(call.note?.before, hide),
    after: redact(call.note?.after, hide),
  };
}

interface Subject {
  readonly action: string;
  readonly resourceType: string;
  readonly idParam: string | undefined;
}

/** Parameters of paths that are themselves what opens the route; no row may repeat them. */
const secretParams = new Set(['token', 'secret', 'ticket', 'code']);

const subjects = new WeakMap<RouteDeclaration, Subject>();
const verbs = {
  GET: 'read',
  POST: 'create',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'delete',
} as const;

/**
 * Returns the subject of a route: `POST /api/v1/edges/{id}/rotate-secret` is `edge:rotate-secret`
 * on the edge `{id}`.
 */
export function auditSubject(declaration: RouteDeclaration): Subject {
  let subject = subjects.get(declaration);
  if (!subject) {
    subject = deriveSubject(declaration);
    subjects.set(declaration, subject);
  }
  return subject;
}

function deriveSubject({ access, action, method, path }: RouteDeclaration): Subject {
  const segments = path
    .replace(/^\/api\/v\d+(?:\/admin)?(?=\/|$)/, '')
    .split('/')
    .filter(Boolean);
  const lastParam = segments.findLastIndex((segment) => segment.startsWith('{'));
  const named = lastParam > 0 ? segments.slice(0, lastParam) : segments.slice(0, 1);
  const resourceType = singular(named.findLast((segment) => !segment.startsWith('{')) ?? 'service');
  const guarded = typeof access === 'object' ? access.action : access;
  const area = guarded.includes(':')
    ? guarded.slice(0, guarded.indexOf(':'))
    : singular(segments[0] ?? 'service');
  const idParam = segments[lastParam]?.slice(1, -1);
  const last = segments.at(-1);
  const verb =
    segments.length > 1 && last !== undefined && !last.startsWith('{') ? last : verbs[method];
  return {
    action: action ?? `${area}:${verb}`,
    resourceType,
    idParam: secretParams.has(idParam ?? '') ? undefined : idParam,
  };
}

function singular(plural: string): string {
  return plural.endsWith('ies')
    ? `${plural.slice(0, -3)}y`
    : /(ss|us)$/.test(plural)
      ? plural
      : plural.replace(/s$/, '');
}
