import { type Tool, type ToolSource, ToolSources } from 'svc/contracts/skill';
import {
  byteRoute,
  type Call,
  defineEvent,
  type PackRoute,
  type PackSkill,
  type PluginContext,
  type PluginManifest,
  type Principal,
  route,
  type RouteDeclaration,
} from 'svc/sdk';

import type { Child } from './process/child-options.ts';

/** Declares what the manifest of a pack describes: its process answers for it. */
export function bringIn(
  { id, routes, events, skills, settings, limits }: PluginManifest,
  ctx: PluginContext,
  child: Child,
): void {
  ctx.http.routes(routes.map((described) => proxied(described, child)));
  for (const event of events) {
    // Waits in the bounded queue that every subscriber has, one delivery at a time, and also for a
    // process that is starting: nobody would send the event again.
    ctx.events.on(
      defineEvent<unknown>(event),
      async (call) =>
        void (await child.call(
          'event',
          { key: event, call },
          { timeoutMs: limits.activate_ms + limits.call_ms },
        )),
    );
  }
  Object.keys(settings).forEach((key) =>
    ctx.settings.watch(key, (value) => child.tell(key, value)),
  );
  if (skills.length > 0) {
    ctx.extend.contribute(ToolSources, `pack:${id}`, toolSource(id, skills, limits.call_ms, child));
  }
}

const usualMb = 16;
/** Time limit of a body in transit; if nothing moves, the deadline of a call ends it. */
const flowMs = 600_000;

function toolSource(
  id: string,
  skills: readonly PackSkill[],
  callMs: number,
  child: Child,
): ToolSource {
  const tools = skills.map(({ params, result, ...skill }): Tool => {
    return {
      ...skill,
      scope: 'manager',
      schema: params,
      ...(result && { result_schema: result }),
      source: `pack:${id}`,
      trust: 'untrusted',
    };
  });
  return {
    list: () => tools,
    // Other skills come with another generation, and so with another source.
    onChange: () => () => undefined,
    run: (key, params, { principal, timeoutMs, signal }) =>
      child.call(
        'skill',
        { key, call: { params, principal: publicFacts(principal) } },
        { timeoutMs: Math.min(timeoutMs, callMs), signal },
      ),
  };
}

function proxied(described: PackRoute, child: Child): RouteDeclaration {
  const {
    method,
    path,
    access,
    summary,
    body,
    response,
    consumes,
    produces,
    max_body_mb: maxMb = usualMb,
  } = described;
  const key = `${method} ${path}`;
  const given = ({
    params,
    query,
    principal,
  }: Pick<Call, 'params' | 'query' | 'principal'>): object => ({
    params,
    query,
    principal: publicFacts(principal),
  });
  const declared = { method, path, summary, access: access as never };
  if (produces !== undefined) {
    return byteRoute({
      ...declared,
      produces,
      streamed: true,
      maxBodyBytes: maxMb * 1024 * 1024,
      timeoutMs: flowMs,
      ...(consumes && { consumes }),
      handle: async (call) => {
        // Bytes, and then none, where the request has no body.
        const sent =
          call.body instanceof Uint8Array ? undefined : (call.body as AsyncIterable<Uint8Array>);
        return (await child.call(
          'route',
          { key, call: given(call) },
          { signal: call.signal, body: sent, bytes: true },
        )) as AsyncIterable<Uint8Array>;
      },
    });
  }
  return route({
    ...declared,
    ...(body && { body: body as never }),
    response: (response ?? {}) as never,
    handle: async (call) =>
      (await child.call(
        'route',
        { key, call: { ...given(call), body: call.body } },
        { signal: call.signal },
      )) as never,
  });
}

const publicFacts = ({ id, kind, role }: Principal) => ({ id, kind, role });
