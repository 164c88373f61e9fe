import type { Guide, SkillRegistry, Tool } from 'svc/contracts/skill';
import { listRoute, nearest, pageOfList, route, type RouteDeclaration, timestamp } from 'svc/sdk';
import { Type } from 'typebox';

import { errors } from './errors.ts';
import type { EvidenceStore } from './evidence-store.ts';
import type { Executions } from './executions.ts';
import { classNamed } from './registry.ts';

const path = '/api/v1/skills';
const longestSeconds = 600;

const Key = Type.Object({ key: Type.String({ minLength: 1, maxLength: 200 }) });
const Item = Type.Object({
  key: Type.String(),
  name: Type.String(),
  description: Type.String(),
  kind: Type.Enum(['tool', 'guide'], {
    description:
      'A tool can be run; a guide (SKILL.md) gives instructions and lists the tools it needs.',
  }),
  scope: Type.Enum(['manager', 'edge']),
  class: Type.Enum(['safe', 'mutating', 'dangerous']),
  tier: Type.Enum(['core', 'specialty']),
  devices: Type.Optional(
    Type.Enum(['none', 'narrowed'], {
      description:
        'What the tool returns to members of an organization with a device selector: no device data, or only data about their devices. If absent, they are refused.',
    }),
  ),
  reads: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Areas that an API token must be allowed to read, as read:<area>.',
    }),
  ),
  schema: Type.Record(Type.String(), Type.Unknown(), {
    description: 'JSON Schema of its parameters.',
  }),
  result_schema: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  source: Type.String({ description: 'Plugin, edge, pack:<id> or mcp:<server>.' }),
  requires: Type.Array(Type.String(), { description: 'Keys of the tools that a guide needs.' }),
});
const Detail = Type.Object({
  ...Item.properties,
  body: Type.Optional(Type.String({ description: 'Text of a guide, byte for byte.' })),
});
const Filter = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 200 })),
  scope: Type.Optional(Type.Enum(['manager', 'edge'])),
  class: Type.Optional(
    Type.Enum(['safe', 'mutating', 'dangerous', 'read', 'write', 'destructive']),
  ),
  kind: Type.Optional(Type.Enum(['tool', 'guide'])),
});
const Order = Type.Object({
  params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  device_id: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Device to run an edge skill on.' }),
  ),
  edge_id: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Edge to run the skill on, instead of device_id.' }),
  ),
  timeout: Type.Optional(
    Type.Integer({ minimum: 1, maximum: longestSeconds, default: 30, description: 'Seconds.' }),
  ),
});
const Executed = Type.Object({
  status: Type.Enum(['ok', 'error', 'timeout', 'approval']),
  result: Type.Optional(
    Type.Unknown({
      description:
        'The complete result if it is small; otherwise its beginning and end, and how to read the rest.',
    }),
  ),
  error: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  duration_ms: Type.Optional(Type.Integer()),
  execution_id: Type.Optional(Type.String()),
  evidence: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: 'Id under which a large result is stored.',
    }),
  ),
  approval_id: Type.Optional(
    Type.String({ description: 'With status 202: approval to be signed before the skill runs.' }),
  ),
});

const EvidenceId = Type.Object({
  id: Type.String({ pattern: '^E[1-9][0-9]{0,14}$', examples: ['E12'] }),
});
const longestPart = 200_000;
const EvidencePart = Type.Object({
  from: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Character to start at: next_from of the previous part.',
    }),
  ),
});
const EvidenceShown = Type.Object({
  id: Type.String(),
  tool: Type.String(),
  params: Type.Unknown({
    description:
      'Parameters of the call, with secrets hidden; null if the result was stored by an earlier version.',
  }),
  created_at: Type.String({ format: 'date-time' }),
  bytes: Type.Integer(),
  sha256: Type.String(),
  truncated: Type.Boolean({ description: 'True if only the beginning of the result was kept.' }),
  trust: Type.Enum(['trusted', 'untrusted']),
  text: Type.String({ description: 'JSON or text of the result, starting at `from`.' }),
  next_from: Type.Union([Type.Integer(), Type.Null()]),
});

const itemOf = ({ trust: _trust, reads, ...tool }: Tool) => ({
  ...tool,
  ...(reads && { reads: [...reads] }),
  kind: 'tool' as const,
  requires: [] as string[],
});
const guideOf = ({ key, name, description, tools, source }: Guide) => ({
  key,
  name,
  description,
  source,
  kind: 'guide' as const,
  scope: 'manager' as const,
  class: 'safe' as const,
  tier: 'specialty' as const,
  schema: {},
  requires: [...tools],
});

export const skillRoutes = (
  registry: SkillRegistry,
  executions: Executions,
  evidence: Pick<EvidenceStore, 'read'>,
): readonly RouteDeclaration[] => [
  evidenceRouteOf(evidence),
  listRouteOf(registry),
  oneRouteOf(registry),
  executeRouteOf(registry, executions),
];

const evidenceRouteOf = (store: Pick<EvidenceStore, 'read'>): RouteDeclaration =>
  route({
    method: 'GET',
    path: `${path}/evidence/{id}`,
    access: 'any',
    devices: 'narrowed',
    summary: 'Get the result that an answer cites, and the call that returned it',
    params: EvidenceId,
    query: EvidencePart,
    response: EvidenceShown,
    errors: ['not_found'],
    async handle({ params: { id }, query: { from = 0 }, principal }) {
      const { evidence, text, params, createdAt } = await store.read(id, principal);
      const part = text.slice(from, from + longestPart);
      const end = from + part.length;
      return {
        ...evidence,
        params: params === null ? null : readParams(params),
        created_at: timestamp(createdAt),
        text: part,
        next_from: end < text.length ? end : null,
      };
    },
  });

/** Params that were too long to be kept whole are a text. */
function readParams(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

const listRouteOf = (registry: SkillRegistry): RouteDeclaration =>
  listRoute({
    path,
    access: 'any',
    devices: 'narrowed',
    summary: 'List skills: tools on the manager and the edges, and guides',
    query: Filter,
    items: Item,
    async handle({ query: { q, scope, class: kind, kind: form }, page, principal }) {
      const shown = await registry.shownTo(principal);
      const words = q?.toLowerCase();
      const fits = (item: ReturnType<typeof itemOf> | ReturnType<typeof guideOf>): boolean =>
        (words === undefined ||
          `${item.key} ${item.name} ${item.description}`.toLowerCase().includes(words)) &&
        (scope === undefined || item.scope === scope) &&
        (kind === undefined || item.class === classNamed(kind)) &&
        (form === undefined || item.kind === form);
      return pageOfList(
        [...shown.tools().map(itemOf), ...shown.guides().map(guideOf)].filter(fits),
        ({ key, kind: of }) => `${key} ${of}`,
        page,
      );
    },
  });

const oneRouteOf = (registry: SkillRegistry): RouteDeclaration =>
  route({
    method: 'GET',
    path: `${path}/{key}`,
    access: 'any',
    devices: 'narrowed',
    summary: 'Get a skill: schema, scope and class of a tool, or the text of a guide',
    params: Key,
    response: Detail,
    errors: ['not_found'],
    async handle({ params: { key }, principal }) {
      const shown = await registry.shownTo(principal);
      const tool = shown.tool(key);
      const guide = shown.guides().find((one) => one.key === key);
      if (!tool && !guide) {
        const near = nearest(
          key,
          shown.tools().map((one) => one.key),
        );
        throw errors.no_skill({
          key: key.slice(0, 100),
          detail: near === undefined ? '' : `; perhaps ${near} is meant`,
        });
      }
      return tool ? itemOf(tool) : { ...guideOf(guide!), body: guide!.body };
    },
  });

const executeRouteOf = (registry: SkillRegistry, executions: Executions): RouteDeclaration =>
  route({
    method: 'POST',
    path: `${path}/{key}/execute`,
    access: 'skill:execute',
    devices: 'narrowed',
    reads: 'none',
    summary: 'Run a skill',
    description:
      "A safe skill runs at once. A mutating one requires the action skill:* and the setting agent.write_enabled and, if called with an API token, a person's signature. A dangerous one returns 202 and an approval_id, and runs once two people have signed.",
    params: Key,
    body: Order,
    response: Executed,
    status: 200,
    timeoutMs: (longestSeconds + 10) * 1_000,
    action: 'skill:execute',
    errors: ['not_found', 'forbidden', 'invalid_argument', 'unavailable', 202],
    async handle({
      params: { key },
      body: { params = {}, device_id, edge_id, timeout = 30 },
      principal,
      signal,
      note,
      setStatus,
    }) {
      const end = await executions.execute({
        principal,
        key,
        params,
        device_id,
        edge_id,
        timeoutMs: timeout * 1_000,
        signal,
        origin: 'api',
      });
      const kind = registry.tool(key)?.class;
      if ('approval_id' in end) {
        note({
          resourceType: 'skill',
          resourceId: key,
          after: { class: kind, approval_id: end.approval_id },
        });
        setStatus(202);
        return { status: 'approval' as const, approval_id: end.approval_id };
      }
      const { status, result, error, duration_ms, execution_id, evidence } = end;
      note({
        resourceType: 'skill',
        resourceId: key,
        after: {
          class: kind,
          status,
          execution_id,
          device_id: device_id ?? null,
          edge_id: edge_id ?? null,
        },
      });
      return {
        status,
        result,
        error: error ?? null,
        duration_ms,
        execution_id,
        evidence: evidence?.id ?? null,
      };
    },
  });
