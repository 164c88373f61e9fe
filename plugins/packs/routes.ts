import {
  isSvcError,
  listRoute,
  pageOfList,
  type PluginDirectory,
  route,
  type RouteDeclaration,
  timestamp,
} from 'svc/sdk';
import { type Static, Type } from 'typebox';

import type { ProcessFacts } from './loader.ts';
import type { Acceptances, Asking } from './rights/acceptances.ts';

const PackId = Type.Object({
  id: Type.String({ pattern: '^[a-z][a-z0-9-]{1,40}$', examples: ['nginx-doctor'] }),
});
const Hash = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'Hash of the permissions shown',
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
});

const Process = Type.Object(
  {
    state: Type.String({
      description: 'asleep: has run before, and starts again on the next call',
    }),
    ended: Type.Union([Type.String(), Type.Null()], {
      description:
        'Why it last ended: spinning, out-of-memory, flooding, garbage, endless-statement …',
    }),
    cause: Type.Union([Type.String(), Type.Null()]),
    restarts: Type.Integer(),
    pid: Type.Union([Type.Integer(), Type.Null()]),
  },
  { description: "Process that runs the pack's code" },
);

const PackRights = Type.Object({
  id: Type.String(),
  state: Type.String({ description: 'Same as in the plugin list' }),
  rights: Type.Array(Type.String()),
  hash: Hash,
  accepted: Type.Boolean({ description: 'Whether exactly these permissions have been accepted' }),
  accepted_by: Type.Union([Type.String(), Type.Null()]),
  accepted_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  process: Type.Union([Process, Type.Null()]),
  refused: Type.Union([Type.String(), Type.Null()], {
    description: 'Why these permissions cannot be accepted; null: an administrator can accept them',
  }),
});

type ProcessOf = (id: string) => ProcessFacts | undefined;

const shownProcess = (child: ReturnType<ProcessOf>): Static<typeof Process> | null =>
  child === undefined
    ? null
    : {
        state: child.state,
        ended: child.causeKind ?? null,
        cause: child.cause ?? null,
        restarts: child.restarts,
        pid: child.pid ?? null,
      };

export const packRoutes = (
  acceptances: Acceptances,
  plugins: PluginDirectory,
  processOf: ProcessOf,
): readonly RouteDeclaration[] => {
  const shown: Show = (asking) => ({
    id: asking.id,
    state: stateOf(plugins, asking.id) ?? 'gone',
    rights: [...asking.sentences],
    hash: asking.hash,
    accepted: asking.accepted !== undefined,
    accepted_by: asking.accepted?.accepted_by ?? null,
    accepted_at: asking.accepted ? timestamp(asking.accepted.accepted_at) : null,
    process: shownProcess(processOf(asking.id)),
    refused: asking.refused ?? null,
  });
  return [...listedRoutes(acceptances, shown), ...wordRoutes(acceptances, plugins, shown)];
};

type Show = (asking: Asking) => Static<typeof PackRights>;

const listedRoutes = (acceptances: Acceptances, shown: Show): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/packs',
    access: 'admin',
    summary: 'List packs in the data folder and the permissions they request',
    items: PackRights,
    handle: ({ page }) =>
      pageOfList(
        acceptances
          .list()
          .map(shown)
          .filter(({ state }) => state !== 'gone'),
        (item) => item.id,
        page,
      ),
  }),
  route({
    method: 'GET',
    path: '/api/v1/packs/{id}',
    access: 'admin',
    summary: 'Get the permissions that a pack requests, and their hash',
    params: PackId,
    response: PackRights,
    errors: ['not_found'],
    handle: ({ params }) => shown(acceptances.find(params.id)),
  }),
];

/** Routes for accepting the permissions of a pack, which restarts with each change. */
const wordRoutes = (
  acceptances: Acceptances,
  plugins: PluginDirectory,
  shown: Show,
): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/packs/{id}/accept',
    access: 'admin',
    summary: 'Accept the permissions of a pack by their hash and start it',
    params: PackId,
    body: Type.Object({ hash: Hash }),
    response: PackRights,
    status: 200,
    timeoutMs: 150_000,
    errors: ['not_found', 'conflict'],
    handle: async ({ params, body, principal, note }) => {
      const { sentences } = acceptances.find(params.id);
      await acceptances.accept(params.id, body.hash, principal.id);
      note({
        resourceType: 'pack',
        resourceId: params.id,
        after: { hash: body.hash, rights: sentences },
      });
      await plugins.enable(params.id);
      return shown(acceptances.find(params.id));
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/packs/{id}/revoke',
    access: 'admin',
    summary: 'Revoke all permissions of a pack and stop it',
    params: PackId,
    response: PackRights,
    status: 200,
    timeoutMs: 150_000,
    errors: ['not_found'],
    handle: async ({ params, note }) => {
      const { hash, sentences } = acceptances.find(params.id);
      await acceptances.revoke(params.id);
      note({ resourceType: 'pack', resourceId: params.id, before: { hash, rights: sentences } });
      await plugins.enable(params.id);
      return shown(acceptances.find(params.id));
    },
  }),
];

function stateOf(plugins: PluginDirectory, id: string): string | undefined {
  try {
    return plugins.explain(id).state;
  } catch (error) {
    if (isSvcError(error) && error.code === 'not_found') {
      return undefined;
    }
    throw error;
  }
}
