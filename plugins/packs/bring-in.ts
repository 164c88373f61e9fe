import {
  defineEvent,
  defineExtensionPoint,
  type PackRoute,
  type PackSkill,
  type PluginContext,
  type PluginManifest,
  type Principal,
  route,
  type RouteDeclaration,
} from 'svc/sdk';

import type { Tool, ToolSource } from '../skill/contract.ts';
import type { Child } from './child.ts';

/** By its id: the folder of the skills may be taken away. */
const ToolSources = defineExtensionPoint<ToolSource>('skill.sources');

/** Declares what the manifest of a pack describes: its process answers for it. */
export function bringIn({ id, routes, events, skills, settings, limits }: PluginManifest, ctx: PluginContext, child: Child): void {
  ctx.http.routes(routes.map((described) => proxied(described, child)));
  for (const event of events) {
    // Waits in the bounded queue that every subscriber has, one delivery at a time.
    ctx.events.on(defineEvent<unknown>(event), async (call) => void (await child.call('event', { key: event, call })));
  }
  Object.keys(settings).forEach((key) => ctx.settings.watch(key, (value) => child.tell(key, value)));
  if (skills.length > 0) {
    ctx.extend.contribute(ToolSources, `pack:${id}`, toolSource(id, skills, limits.call_ms, child));
  }
}

function toolSource(id: string, skills: readonly PackSkill[], callMs: number, child: Child): ToolSource {
  const tools = skills.map(({ params, result, ...skill }): Tool => {
    return { ...skill, scope: 'manager', schema: params, ...(result && { result_schema: result }), source: `pack:${id}`, trust: 'untrusted' };
  });
  return {
    list: () => tools,
    // Other skills come with another generation, and so with another source.
    onChange: () => () => undefined,
    run: (key, params, { principal, timeoutMs, signal }) =>
      child.call('skill', { key, call: { params, principal: publicFacts(principal) } }, { timeoutMs: Math.min(timeoutMs, callMs), signal }),
  };
}

function proxied(described: PackRoute, child: Child): RouteDeclaration {
  const { method, path, access, summary, body, response } = described;
  const key = `${method} ${path}`;
  return route({
    method,
    path,
    summary,
    access: access as never,
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
