import { Gate } from 'svc/contracts/gate';
import { ServerSources } from 'svc/contracts/mcp';
import { SkillExecutor, Skills, ToolSources } from 'svc/contracts/skill';
import { BuildInfo, definePlugin } from 'svc/sdk';

import { errors } from './errors.ts';
import { mcpRoutes } from './routes.ts';
import { type McpTables, SeenTools } from './seen-tools.ts';
import { McpServer } from './server.ts';
import { McpServers, type ServerEntry } from './servers.ts';

const refreshMs = 5 * 60_000;
const retryMs = 2_500;

export default definePlugin({
  errors,
  activate(ctx) {
    const { version } = ctx.services.use(BuildInfo);
    const server = new McpServer({
      registry: ctx.services.use(Skills),
      executor: ctx.services.use(SkillExecutor),
      gate: ctx.services.use(Gate),
      version,
    });
    const brought = ctx.extend.open(ServerSources);
    const servers = new McpServers({
      fetch: (url, request) => ctx.fetch(url, request),
      entries: () => [
        ...ctx.settings.get<readonly ServerEntry[]>('mcp.servers'),
        ...brought.gather(({ value }) => [...value.servers()]).flat(),
      ],
      tokens: () => ctx.settings.get('mcp.tokens'),
      seen: new SeenTools(ctx.db<McpTables>()),
      clock: ctx.clock,
      log: ctx.log,
      version,
    });
    ctx.http.routes(mcpRoutes(server, servers));
    ctx.extend.contribute(ToolSources, 'mcp', servers);
    for (const key of ['mcp.servers', 'mcp.tokens']) {
      ctx.settings.watch(key, () => servers.refresh(ctx.scope.signal));
    }
    const again = (): void => {
      if (!ctx.scope.closed) {
        ctx.scope.task('list tools of MCP servers of packs', (signal) => servers.refresh(signal));
      }
    };
    const followed = new WeakSet<object>();
    const follow = (): void =>
      void brought.gather(({ id, value }) => {
        if (!followed.has(value)) {
          followed.add(value);
          ctx.scope.defer(`follow the servers of ${id}`, value.onChange(again));
        }
      });
    follow();
    brought.onChange(({ added }) => {
      if (!ctx.scope.closed && added.length > 0) {
        follow();
        again();
      }
    });
    return servers;
  },
  start(ctx, servers) {
    ctx.scope.task('list tools of MCP servers', (signal) => servers.refresh(signal));
    ctx.scope.interval('list tools of MCP servers again', refreshMs, (signal) =>
      servers.refresh(signal),
    );
    ctx.scope.interval('look at failed MCP servers again', retryMs, (signal) =>
      servers.retryFailed(signal),
    );
  },
});
