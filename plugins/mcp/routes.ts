import { byteRoute, route, type RouteDeclaration } from 'svc/sdk';
import { type TSchema, Type } from 'typebox';

import { parseRpc, rpcCode, RpcError } from './json-rpc.ts';
import type { McpServer } from './server.ts';
import type { McpServers, ServerStatus } from './servers.ts';

const longestCallMs = 10 * 60_000;
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

const Digest = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'Digest of the complete tool definition that the server returns.',
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
});
const Server = Type.Object({
  name: Type.String(),
  url: Type.String(),
  state: Type.Enum(['pending', 'ok', 'failed', 'disabled']),
  error: orNull(Type.String()),
  tools: Type.Integer(),
  changed: Type.Array(
    Type.Object({
      tool: Type.String(),
      digest: Digest,
      title: Type.String(),
      description: Type.String(),
      schema: Type.Record(Type.String(), Type.Unknown()),
    }),
    {
      description:
        'Tools whose description or schema has changed since they were classified, with the new texts; they are treated as dangerous until accepted.',
    },
  ),
  checked_at: orNull(Type.String({ format: 'date-time' })),
});
const Accept = Type.Object({
  tools: Type.Array(
    Type.Object({
      tool: Type.String({
        minLength: 1,
        maxLength: 128,
        description: "The tool's name on the server.",
      }),
      digest: Digest,
    }),
    {
      minItems: 1,
      maxItems: 500,
      description: "Tools from the server's changed list, as reviewed.",
    },
  ),
});

export const mcpRoutes = (server: McpServer, servers: McpServers): readonly RouteDeclaration[] => [
  byteRoute({
    method: 'POST',
    path: '/mcp',
    access: 'any',
    devices: 'narrowed',
    summary: 'Receive a message from an MCP client (streamable HTTP, stateless)',
    description:
      'Tools are listed and called on behalf of the signed-in caller, with the same checks as everywhere else.',
    consumes: ['application/json'],
    produces: 'application/json; charset=utf-8',
    status: 200,
    timeoutMs: longestCallMs,
    action: 'mcp:call',
    errors: [202],
    wording: ({ code, status, message }) => ({
      type: 'application/json; charset=utf-8',
      // Who may not call has not spoken the protocol yet.
      body: JSON.stringify(
        status === 401 || status === 403
          ? { error: code, message }
          : failure(status < 500 ? rpcCode.invalidRequest : rpcCode.internal, message),
      ),
    }),
    async handle({ body, principal, signal, setStatus, note }) {
      try {
        const request = parseRpc(Buffer.from(body).toString('utf8'));
        note({ resourceType: 'mcp method', resourceId: request?.method ?? 'reply' });
        const reply = request && (await server.answer(request, { principal, signal }));
        if (reply !== undefined) {
          return JSON.stringify(reply);
        }
        setStatus(202);
        return '';
      } catch (error) {
        if (!(error instanceof RpcError)) {
          throw error;
        }
        return JSON.stringify(failure(error.code, error.message));
      }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/mcp/servers',
    access: 'any',
    devices: 'none',
    summary: 'List MCP servers with their state and number of tools',
    response: Type.Object({ items: Type.Array(Server) }),
    handle: () => ({ items: servers.status().map(shown) }),
  }),
  route({
    method: 'POST',
    path: '/api/v1/mcp/servers/{name}/accept',
    access: 'mcp:accept',
    brief: ['name'],
    summary: 'Accept changed tools of an MCP server; the classes in mcp.servers apply again',
    description:
      'A tool that has changed since its digest was read stays dangerous and is listed in changed again.',
    params: Type.Object({ name: Type.String({ maxLength: 64 }) }),
    body: Accept,
    response: Server,
    status: 200,
    errors: ['not_found', 'conflict'],
    async handle({ params, body, signal, note }) {
      note({
        resourceType: 'mcp server',
        resourceId: params.name,
        after: { accepted: body.tools },
      });
      return shown(await servers.accept(params.name, body.tools, signal));
    },
  }),
];

const shown = ({ changed, ...server }: ServerStatus) => ({
  ...server,
  changed: changed.map((one) => ({ ...one, schema: { ...one.schema } })),
});

const failure = (code: number, message: string) => ({
  jsonrpc: '2.0',
  id: null,
  error: { code, message },
});
