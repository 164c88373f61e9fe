import { type Access, type DescribedRoute, type ErrorCode, errorStatus } from 'svc/sdk';

/** A JSON Schema as data. */
interface Schema {
  readonly [keyword: string]: unknown;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly 'x-svc-access': Access;
  readonly 'x-svc-plugin': string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, object>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
}

/** The API as it is served, made from the declarations that also validate. */
export function openApi(declarations: readonly DescribedRoute[], version: string): OpenApiDocument {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const declaration of declarations.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))) {
    (paths[declaration.path] ??= {})[declaration.method.toLowerCase()] = operation(declaration);
  }
  return { openapi: '3.1.0', info: { title: 'svc', version }, paths, components };
}

function operation(declaration: DescribedRoute): Operation {
  const { method, path, summary, description, access, pluginId } = declaration;
  const body = requestBody(declaration);
  return {
    operationId: operationId(method, path),
    summary,
    ...(description !== undefined && { description }),
    tags: [segmentsOf(path.replace(/^\/api\/v\d+/, ''))[0]?.name ?? 'service'],
    security: access === 'public' ? [] : isForMachines(access) ? [{ bearer: [] }, { basic: [] }] : [{ bearer: [] }],
    'x-svc-access': access,
    'x-svc-plugin': pluginId,
    parameters: [...pathParameters(declaration), ...queryParameters(declaration)],
    ...(body && { requestBody: body }),
    responses: { ...success(declaration), ...failures(declaration) },
  };
}

/** Parts of a declared path, each one word or one whole parameter. */
const segmentsOf = (path: string): readonly { readonly name: string; readonly isParam: boolean }[] =>
  path
    .split('/')
    .filter((part) => part !== '')
    .map((part) => (part.startsWith('{') ? { name: part.slice(1, -1), isParam: true } : { name: part, isParam: false }));

const isForMachines = (access: Access): boolean => access === 'machine' || (typeof access === 'object' && 'machine' in access);

/** `getApiV1PluginsById`: stable, so that generated clients keep their names. */
function operationId(method: string, path: string): string {
  const words = segmentsOf(path).map(({ name, isParam }) => (isParam ? `by-${name}` : name));
  return method.toLowerCase() + words.map((word) => word.replace(/(^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, __, first: string) => first.toUpperCase())).join('');
}

function pathParameters({ path, params }: DescribedRoute): readonly Parameter[] {
  const shapes = propertiesOf(params);
  return segmentsOf(path)
    .filter((segment) => segment.isParam)
    .map(({ name }) => ({ name, in: 'path', required: true, schema: shapes[name] ?? { type: 'string' } }));
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
  return kind === 'list' ? [...own, ...pageParameters] : kind === 'events' ? [...own, lastEventId] : own;
}

const pageParameters: readonly Parameter[] = [
  {
    name: 'limit',
    in: 'query',
    required: false,
    description: 'Items per page; more than 200 counts as 200',
    schema: { type: 'integer', minimum: 1, default: 50 },
  },
  { name: 'cursor', in: 'query', required: false, description: '`next_cursor` of the page before', schema: { type: 'string' } },
];

const lastEventId: Parameter = { name: 'Last-Event-ID', in: 'header', required: false, description: 'Resume after this event', schema: { type: 'string' } };

function requestBody({ kind, body, consumes }: DescribedRoute): Operation['requestBody'] {
  if (kind === 'bytes') {
    return consumes && { required: true, content: Object.fromEntries(consumes.map((type) => [type, { schema: {} }])) };
  }
  return body && { required: true, content: { 'application/json': { schema: body as Schema } } };
}

function success({ kind, status, produces, response, items }: DescribedRoute): Record<string, object> {
  switch (kind) {
    case 'socket':
      return { 101: { description: 'The connection is a WebSocket from here on' } };
    case 'events':
      return { [status]: { description: 'A stream of server-sent events', content: { 'text/event-stream': { schema: { type: 'string' } } } } };
    case 'bytes':
      return { [status]: { description: 'Done', content: { [produces!.split(';')[0]!]: { schema: {} } } } };
    case 'list':
      return { [status]: { description: 'One page', content: { 'application/json': { schema: pageSchema(items as Schema) } } } };
    default:
      return {
        [status]: response === undefined ? { description: 'Done' } : { description: 'Done', content: { 'application/json': { schema: response } } },
      };
  }
}

const pageSchema = (items: Schema): Schema => ({
  type: 'object',
  required: ['items', 'next_cursor', 'total'],
  properties: {
    items: { type: 'array', items },
    next_cursor: { type: 'string', description: 'Empty on the last page' },
    total: { type: 'integer', minimum: 0, description: 'Size of the filtered set' },
  },
});

/** What the stages of the pipeline may answer with, and what the handler adds. */
function failures({ access, path, query, body, params, kind, consumes, method, errors }: DescribedRoute): Record<string, object> {
  const takesInput = query ?? body ?? params ?? consumes ?? (kind === 'list' ? true : undefined);
  const codes: readonly (ErrorCode | false)[] = [
    takesInput !== undefined && 'invalid_argument',
    access !== 'public' && 'unauthorized',
    access !== 'public' && access !== 'known' && 'forbidden',
    path.includes('{') && 'not_found',
    method === 'POST' && access !== 'public' && 'conflict',
    kind === 'events' && 'rate_limited',
    'unavailable',
    'internal',
    ...errors,
  ];
  const named = new Map<number, Set<string>>();
  for (const code of codes) {
    if (code !== false) {
      named.set(errorStatus[code], (named.get(errorStatus[code]) ?? new Set()).add(code));
    }
  }
  return Object.fromEntries([...named].map(([status, set]) => [status, { description: [...set].join(' or '), content: errorContent }]));
}

const errorContent = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };

const propertiesOf = (schema: object | undefined): Readonly<Record<string, Schema>> =>
  ((schema as Schema | undefined)?.properties ?? {}) as Record<string, Schema>;

const components = {
  securitySchemes: {
    bearer: { type: 'http', scheme: 'bearer' },
    basic: { type: 'http', scheme: 'basic', description: 'Key id and secret of an edge' },
  },
  schemas: {
    Error: {
      type: 'object',
      required: ['error', 'message'],
      properties: {
        error: { type: 'string', enum: Object.keys(errorStatus) },
        message: { type: 'string', description: 'Names the cause and the fix' },
        request_id: { type: 'string' },
        details: {
          type: 'array',
          items: { type: 'object', required: ['path', 'message'], properties: { path: { type: 'string' }, message: { type: 'string' } } },
        },
      },
    },
  },
};
