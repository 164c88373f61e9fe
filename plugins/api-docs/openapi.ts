import { type Access, type DescribedRoute, errorStatus } from 'svc/sdk';

import { exampleOf } from './examples.ts';
import { failures } from './failures.ts';
import { asSent, Named, pascal, type Schema, singular } from './named-schemas.ts';

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly 'x-svc-access': Access;
  readonly 'x-svc-devices': 'none' | 'narrowed' | 'refused';
  /** Areas that an API token must be allowed to read: `device` is `read:device`. */
  readonly 'x-svc-reads': readonly string[];
  /** Further ones, of which a call needs those that it asks for. */
  readonly 'x-svc-reads-asked'?: readonly string[];
  /** Other ones, of which the answer holds a part all the same. */
  readonly 'x-svc-quotes'?: readonly string[];
  /** Fields of the answer for API tokens that may call it, but not read. */
  readonly 'x-svc-brief'?: readonly string[];
  readonly 'x-svc-plugin': string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<
      Record<string, { readonly schema: Schema; readonly example?: unknown }>
    >;
  };
  readonly responses: Readonly<Record<string, object>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: object;
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, object>>;
  };
}

/** The API as it is served, made from the declarations that also validate. */
export function openApi(
  declarations: readonly DescribedRoute[],
  version: string,
  url: string,
): OpenApiDocument {
  const named = new Named({ Error: errorShape });
  const paths: Record<string, Record<string, Operation>> = {};
  for (const declaration of declarations.toSorted((a, b) =>
    a.path < b.path ? -1 : a.path > b.path ? 1 : 0,
  )) {
    (paths[declaration.path] ??= {})[declaration.method.toLowerCase()] = operation(
      declaration,
      named,
    );
  }
  const { schemas, responses } = named;
  return {
    openapi: '3.1.0',
    info: { title: 'svc', version },
    servers: [{ url }],
    paths,
    components: { securitySchemes, schemas, responses },
  };
}

function operation(declaration: DescribedRoute, named: Named): Operation {
  const { method, path, summary, description, access, pluginId, devices = 'refused' } = declaration;
  const { reads, readsAsked, quotes, brief } = declaration;
  const body = requestBody(declaration, named);
  return {
    operationId: operationId(method, path),
    summary,
    ...(description !== undefined && { description }),
    tags: [segmentsOf(path.replace(/^\/api\/v\d+/, ''))[0]?.name ?? 'service'],
    security:
      access === 'public'
        ? []
        : isForMachines(access)
          ? [{ bearer: [] }, { basic: [] }]
          : [{ bearer: [] }],
    'x-svc-access': access,
    'x-svc-devices': devices,
    'x-svc-reads': reads,
    ...(readsAsked && { 'x-svc-reads-asked': readsAsked }),
    ...(quotes && { 'x-svc-quotes': quotes }),
    ...(brief && { 'x-svc-brief': brief }),
    'x-svc-plugin': pluginId,
    parameters: [
      ...pathParameters(declaration),
      ...queryParameters(declaration),
      ...headerParameters(declaration),
    ].map(withExample),
    ...(body && { requestBody: body }),
    responses: { ...success(declaration, named), ...failures(declaration, named) },
  };
}

/** `/api/v1/alert-rules/{id}/enabled` → `AlertRuleEnabled`: what a shape of this path is called. */
function noun(path: string): string {
  const segments = segmentsOf(path.replace(/^\/api\/v\d+/, ''));
  return (
    segments
      .map(({ name, isParam }, at) =>
        isParam
          ? ''
          : segments[at + 1]?.isParam === true || at === segments.length - 1
            ? singular(pascal(name))
            : pascal(name),
      )
      .join('') || 'Service'
  );
}

/** Parts of a declared path, each one word or one whole parameter. */
const segmentsOf = (
  path: string,
): readonly { readonly name: string; readonly isParam: boolean }[] =>
  path
    .split('/')
    .filter((part) => part !== '')
    .map((part) =>
      part.startsWith('{')
        ? { name: part.slice(1, -1), isParam: true }
        : { name: part, isParam: false },
    );

const isForMachines = (access: Access): boolean =>
  access === 'machine' || (typeof access === 'object' && 'machine' in access);

/** `getApiV1PluginsById`: stable, so that generated clients keep their names. A path that ends with a slash is another one. */
function operationId(method: string, path: string): string {
  const words = segmentsOf(path).flatMap(({ name, isParam }) =>
    `${isParam ? 'by-' : ''}${name}`.split(/[^A-Za-z0-9]+/),
  );
  const end = path.length > 1 && path.endsWith('/') ? ['slash'] : [];
  return (
    method.toLowerCase() +
    [...words, ...end].map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  );
}

function pathParameters({ path, params }: DescribedRoute): readonly Parameter[] {
  const shapes = propertiesOf(params);
  return segmentsOf(path)
    .filter((segment) => segment.isParam)
    .map(({ name }) => ({
      name,
      in: 'path',
      required: true,
      schema: shapes[name] ?? { type: 'string' },
    }));
}

function queryParameters({ kind, query }: DescribedRoute): readonly Parameter[] {
  const required = ((query as Schema | undefined)?.required ?? []) as readonly string[];
  const own = Object.entries(propertiesOf(query)).map(([name, schema]): Parameter => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(typeof schema.description === 'string' && { description: schema.description }),
    schema,
  }));
  return kind === 'list' ? [...own, ...pageParameters] : own;
}

const headerParameters = ({
  kind,
  method,
  access,
  ifMatch,
}: DescribedRoute): readonly Parameter[] => [
  ...(kind === 'events' ? [header('Last-Event-ID', 'Resume after this event')] : []),
  ...(ifMatch
    ? [
        header(
          'If-Match',
          'ETag of the version that was read; if it has changed since, the response is 409 and nothing is written: read it again and repeat the change',
        ),
      ]
    : []),
  ...(kind === 'json' && method === 'POST' && access !== 'public'
    ? [
        header(
          'Idempotency-Key',
          'Chosen by the caller: repeating the same request with it within a day returns the first response and changes nothing',
          idempotencyKey,
        ),
      ]
    : []),
];

const header = (
  name: string,
  description: string,
  schema: Schema = { type: 'string' },
): Parameter => ({
  name,
  in: 'header',
  required: false,
  description,
  schema,
});
const idempotencyKey: Schema = {
  type: 'string',
  pattern: '^[!-~]{1,200}$',
  examples: ['deploy-812'],
};

/** Adds an example to a required parameter, or to one whose author gave an example. */
const withExample = (parameter: Parameter): Parameter =>
  parameter.required || 'examples' in parameter.schema
    ? { ...parameter, example: exampleOf(parameter.schema) }
    : parameter;

const form = 'application/x-www-form-urlencoded';

const pageParameters: readonly Parameter[] = [
  {
    name: 'limit',
    in: 'query',
    required: false,
    description: 'Items per page, at most 200',
    schema: { type: 'integer', minimum: 1, default: 50 },
  },
  {
    name: 'cursor',
    in: 'query',
    required: false,
    description: '`next_cursor` from the previous page',
    schema: { type: 'string' },
  },
];

function requestBody(
  { kind, method, path, body, consumes, query }: DescribedRoute,
  named: Named,
): Operation['requestBody'] {
  if (kind === 'bytes') {
    // A protocol that takes its parameters as a form takes the same as in the address.
    const schemaOf = (type: string): Schema =>
      type === form && query !== undefined ? (query as Schema) : {};
    return (
      consumes && {
        required: false,
        content: Object.fromEntries(consumes.map((type) => [type, { schema: schemaOf(type) }])),
      }
    );
  }
  if (body === undefined) {
    return undefined;
  }
  const sent = asSent(body as Schema);
  const schema = named.schema(sent, noun(path) + (method === 'POST' ? 'Input' : 'Change'));
  return {
    required: ((body as Schema).required as unknown[] | undefined)?.length !== 0,
    content: { 'application/json': { schema, example: exampleOf(sent) } },
  };
}

function success(route: DescribedRoute, named: Named): Record<string, object> {
  const { kind, status, errors } = route;
  if (kind === 'socket') {
    return { 101: { description: 'Switching to WebSocket' } };
  }
  const content = answerContent(route, named);
  const done = { description: kind === 'list' ? 'One page' : 'Done', ...(content && { content }) };
  // Also what the handler may set in its place, and the answer to an If-None-Match that still holds.
  const others = errors.filter((other) => typeof other === 'number').filter((other) => other < 400);
  const unchanged =
    kind === 'json' && route.method !== 'POST' && route.method !== 'DELETE'
      ? { 304: { description: 'Not modified: the ETag still matches' } }
      : {};
  const empty =
    kind === 'bytes' && route.method === 'POST'
      ? { 204: { description: 'Done; the response has no body' } }
      : {};
  return {
    ...empty,
    ...Object.fromEntries(
      [status, ...others].map((each) => [
        each,
        isEmpty(kind, each) ? { description: 'Done' } : done,
      ]),
    ),
    ...unchanged,
  };
}

const isEmpty = (kind: DescribedRoute['kind'], status: number): boolean =>
  status === 204 || (kind === 'bytes' && status === 202);

function answerContent(
  { kind, path, produces, consumes, response, items }: DescribedRoute,
  named: Named,
): object | undefined {
  const json = (schema: Schema): object => ({ 'application/json': { schema } });
  const shapeOf = (type: string): Schema =>
    type.startsWith('text/')
      ? { type: 'string' }
      : type === 'application/json' && response
        ? named.schema(response as Schema, noun(path))
        : {};
  switch (kind) {
    case 'events':
      return { 'text/event-stream': { schema: { type: 'string' } } };
    case 'bytes':
      // A protocol that speaks two languages answers in that of the question.
      return Object.fromEntries(
        typesOf(produces!.split(';')[0]!, consumes).map((type) => [
          type,
          { schema: shapeOf(type) },
        ]),
      );
    case 'list':
      return json(
        named.schema(pageSchema(items as Schema, noun(path), named), `${noun(path)}Page`),
      );
    default:
      return response && json(named.schema(response as Schema, noun(path)));
  }
}

const typesOf = (produced: string, consumed: readonly string[] = []): readonly string[] =>
  consumed.includes('application/json') && consumed.includes(produced)
    ? [...new Set([produced, 'application/json'])]
    : [produced];

const pageSchema = (items: Schema, name: string, named: Named): Schema => ({
  type: 'object',
  required: ['items', 'next_cursor', 'total'],
  properties: {
    items: { type: 'array', items: named.schema(items, name) },
    next_cursor: { type: 'string', description: 'Empty on the last page' },
    total: { type: 'integer', minimum: 0, description: 'Number of matching items' },
  },
});

const propertiesOf = (schema: object | undefined): Readonly<Record<string, Schema>> =>
  ((schema as Schema | undefined)?.properties ?? {}) as Record<string, Schema>;

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer' },
  basic: { type: 'http', scheme: 'basic', description: 'Access key and secret key of an edge' },
};

const errorShape: Schema = {
  type: 'object',
  required: ['error', 'message'],
  properties: {
    error: { type: 'string', enum: Object.keys(errorStatus) },
    message: { type: 'string', description: 'What is wrong and what to do about it' },
    request_id: { type: 'string' },
    details: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
};
