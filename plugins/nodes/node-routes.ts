import type { NodeControl } from 'svc/contracts/nodes';
import { route, type RouteDeclaration, type ServiceToken } from 'svc/sdk';
import Type from 'typebox';

type Control = typeof NodeControl extends ServiceToken<infer C> ? C : never;

const Node = Type.Object({
  id: Type.String(),
  url: Type.String({ description: 'URL at which people and agents reach this node' }),
  wire: Type.String({ description: 'Address for other nodes; empty if it has none' }),
  version: Type.String(),
  role: Type.Enum(['owner', 'standby']),
  state: Type.Enum(['ready', 'drained', 'away']),
  seen_s: Type.Integer({ description: 'Seconds since the node was last seen' }),
});
const Token = Type.Object({ token: Type.String(), expires_at: Type.String() });
const Id = Type.Object({ id: Type.String({ format: 'uuid' }) });
const Done = Type.Object({ id: Type.String() });

/** Routes about the nodes; `control` throws where there is none. */
export function nodeRoutes(control: () => Control): readonly RouteDeclaration[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/nodes',
      access: 'admin',
      summary: 'List the nodes of this installation',
      response: Type.Object({ items: Type.Array(Node) }),
      errors: ['conflict'],
      async handle() {
        const nodes = await control().list();
        return {
          items: nodes.map(({ id, url, wire, version, role, state, seen_s }) => ({
            id,
            url,
            wire,
            version,
            role,
            state,
            seen_s,
          })),
        };
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/nodes/tokens',
      access: 'admin',
      summary: 'Create a token by which one machine becomes a node',
      description:
        'The token is valid for an hour, or until this node stops. It gives access to the secret key of the installation, so keep it secret.',
      response: Token,
      status: 201,
      action: 'node:invite',
      errors: ['conflict'],
      handle: () => control().token(),
    }),
    ...careRoutes(control),
  ];
}

/** Routes about one node. */
const careRoutes = (control: () => Control): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/nodes/{id}/drain',
    access: 'admin',
    summary: 'Let a node take no traffic; an owner hands the data over',
    params: Id,
    response: Done,
    status: 200,
    action: 'node:drain',
    errors: ['conflict', 'not_found'],
    async handle({ params: { id } }) {
      await control().drain(id);
      return { id };
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/nodes/{id}/resume',
    access: 'admin',
    summary: 'Let a drained node take traffic again',
    params: Id,
    response: Done,
    status: 200,
    action: 'node:resume',
    errors: ['conflict', 'not_found'],
    async handle({ params: { id } }) {
      await control().resume(id);
      return { id };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/nodes/{id}',
    access: 'admin',
    summary: 'Remove a node that has ended',
    params: Id,
    response: Done,
    status: 200,
    action: 'node:remove',
    errors: ['conflict', 'not_found'],
    async handle({ params: { id } }) {
      await control().remove(id);
      return { id };
    },
  }),
];
