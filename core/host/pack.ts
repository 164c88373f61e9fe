import { definePlugin, type PluginDefinition, type PluginManifest, type Principal, route, type RouteDeclaration } from '../sdk/index.ts';
import type { Compiled } from './compile.ts';
import type { HostPorts, PackLaunch, PackProcess } from './ports.ts';

/** A pack with code as a plugin of this host: its routes are described by the manifest and answered by its own process. */
export function packAsPlugin(
  manifest: PluginManifest,
  compiled: Compiled,
  folderPath: string,
  ports: HostPorts,
  told: Pick<PackLaunch, 'onStumble' | 'onFailed'>,
): PluginDefinition<unknown> {
  return definePlugin({
    async activate(ctx) {
      const child = ports.launchPack({
        manifest,
        label: `${manifest.id}#${ctx.generation}`,
        code: compiled.code,
        filename: compiled.filename,
        read: [folderPath, ...manifest.permissions.read],
        ...told,
      });
      ctx.scope.defer('pack process', () => child.stop());
      ctx.http.routes(manifest.routes.map((described) => proxied(described, child)));
      await child.ready;
    },
  });
}

function proxied(described: PluginManifest['routes'][number], child: PackProcess): RouteDeclaration {
  const { method, path, access, summary, body, response } = described;
  const key = `${method} ${path}`;
  return route({
    method,
    path,
    summary,
    access: access as 'any',
    ...(body && { body: body as never }),
    response: (response ?? {}) as never,
    handle: async (call) =>
      (await child.call(
        'route',
        { key, call: { params: call.params, query: call.query, body: call.body, principal: publicFacts(call.principal) } },
        { signal: call.signal },
      )) as never,
  });
}

const publicFacts = ({ id, kind, role }: Principal) => ({ id, kind, role });
