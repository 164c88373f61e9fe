import type { Entry } from '../../registry/index.ts';
import type { DescribedRoute, RouteDeclaration } from '../../sdk/index.ts';
import { compileRoute } from './route-table.ts';
import { closed, modern, type Schema } from './schema.ts';

/** What a document may say of a route. */
export function describeRoute(entry: Entry<RouteDeclaration>): DescribedRoute {
  const { method, path, access, summary, description, kind, consumes, produces, params, query, body, response, items, errors = [] } = entry.value;
  return {
    method,
    path,
    access,
    summary,
    pluginId: entry.owner.pluginId,
    kind,
    ...(description !== undefined && { description }),
    ...(consumes && { consumes }),
    ...(produces !== undefined && { produces }),
    status: compileRoute(entry).status,
    params: params && modern(params as Schema),
    query: query && modern(query as Schema),
    body: body && closed(body as Schema),
    response: response && modern(response as Schema),
    items: items && modern(items as Schema),
    errors,
  };
}
