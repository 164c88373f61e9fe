import { nearest, type RouteDeclaration } from '../../sdk/index.ts';
import { errors } from './errors.ts';
import { readsProblem } from './reads.ts';

const literal = /^[A-Za-z0-9._~-]+$/;
const param = /^\{([a-z][a-z0-9_]*)\}$/;
const action = /^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*$/;
const methods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

const ofCall = ['params', 'query', 'handle'] as const;
const ofEach = [
  'kind',
  'method',
  'path',
  'access',
  'devices',
  'reads',
  'readsAsked',
  'quotes',
  'summary',
  'description',
  ...ofCall,
  'audited',
  'action',
  'errors',
  'wording',
] as const;
const withBody = ['maxBodyBytes', 'timeoutMs'] as const;

/** Fields allowed in a declaration of each kind. */
const keysOf: Readonly<Record<RouteDeclaration['kind'], readonly (keyof RouteDeclaration)[]>> = {
  json: [...ofEach, ...withBody, 'body', 'response', 'brief', 'status', 'unwritten', 'ifMatch'],
  list: [...ofEach, 'timeoutMs', 'items'],
  events: [...ofEach, ...withBody, 'body', 'headers'],
  bytes: [
    ...ofEach,
    ...withBody,
    'consumes',
    'streamed',
    'admit',
    'produces',
    'response',
    'status',
  ],
  socket: [...ofEach, 'protocols', 'maxMessageBytes', 'heartbeat', 'authority', 'knock'],
};

/** One segment of a declared path. */
export interface Segment {
  readonly name: string;
  readonly isParam: boolean;
}

/** `GET /api/v1/plugins/{}`: two declarations with the same key would answer the same requests. */
export const routeKey = ({ method, path }: Pick<RouteDeclaration, 'method' | 'path'>): string =>
  `${method} ${path.replace(/\{[^}]*\}/g, '{}')}`;

export function pathSegments(path: string): readonly Segment[] {
  if (path === '/') {
    return [];
  }
  return path
    .slice(1)
    .split('/')
    .map((segment) => {
      const name = param.exec(segment)?.[1];
      return name === undefined ? { name: segment, isParam: false } : { name, isParam: true };
    });
}

/** Refuses an invalid declaration; returns the key of a valid one. */
export function checkRoute(declaration: RouteDeclaration): string {
  const at = `route ${String(declaration.method)} ${String(declaration.path)}`;
  const refuse = (cause: string): never => {
    throw errors.route_declaration({ route: at, problem: cause });
  };
  if (!Object.hasOwn(keysOf, declaration.kind)) {
    refuse(
      'has no kind; declare it with route(), listRoute(), eventRoute(), byteRoute() or socketRoute()',
    );
  }
  checkKeys(declaration, refuse);
  if (!methods.includes(declaration.method)) {
    refuse(`has no method that can be declared; use one of ${methods.join(', ')}`);
  }
  const names = checkPath(declaration.path, refuse);
  checkAccess(declaration, names, refuse);
  checkParams(declaration, names, refuse);
  const unread = readsProblem(declaration);
  if (unread !== undefined) {
    refuse(unread);
  }
  checkShape(declaration, refuse);
  return routeKey(declaration);
}

type Refuse = (cause: string) => never;

/** A key that nobody reads is a limit or a check that its author believes in and that does not exist. */
function checkKeys(declaration: RouteDeclaration, refuse: Refuse): void {
  const known = keysOf[declaration.kind];
  const unknown = Object.keys(declaration).find((key) => !known.some((name) => name === key));
  if (unknown !== undefined) {
    const meant = nearest(unknown, known);
    refuse(
      `has the unknown key "${unknown}" for ${article(declaration.kind)} route; ${meant === undefined ? `known keys: ${known.join(', ')}` : `did you mean "${meant}"?`}`,
    );
  }
}

const article = (kind: RouteDeclaration['kind']): string =>
  kind === 'events' ? 'an event' : `a ${kind === 'bytes' ? 'byte' : kind}`;

function checkPath(path: unknown, refuse: Refuse): readonly string[] {
  if (typeof path !== 'string' || !path.startsWith('/')) {
    return refuse('has a path that does not begin with "/"');
  }
  const segments = pathSegments(path);
  for (const [at, { name, isParam }] of segments.entries()) {
    // A path may end with a slash: a separate address, for people who type it.
    const isEnd = name === '' && at > 0 && at === segments.length - 1;
    if (!isParam && !isEnd && (!literal.test(name) || name === '.' || name === '..')) {
      refuse(
        `has the path segment "${name}"; a segment is plain text or one whole parameter such as {id}`,
      );
    }
  }
  const names = segments.filter((segment) => segment.isParam).map((segment) => segment.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? names : refuse(`names the parameter {${twice}} twice`);
}

function checkAccess({ access }: RouteDeclaration, names: readonly string[], refuse: Refuse): void {
  if (access === undefined || access === null) {
    refuse('does not declare its access; say who may call it, for example access: "any"');
  }
  const guarded = typeof access === 'object' ? access.action : access;
  const plain =
    typeof access === 'object'
      ? ['admin']
      : ['public', 'known', 'any', 'admin', 'machine', 'webshell'];
  if (!plain.includes(guarded) && !action.test(guarded)) {
    refuse(
      `has the access "${String(guarded)}", which is neither one of ${plain.join(', ')} nor an action such as "edge:create"`,
    );
  }
  if (typeof access === 'object' && 'machine' in access) {
    if ((access.machine as unknown) !== true || access.action === ('admin' as string)) {
      refuse(
        'accepts edges next to administrators; name the action that people need for it, such as "ingest:push"',
      );
    }
  } else if (typeof access === 'object' && 'people' in access) {
    if ((access.people as unknown) !== true || access.action === ('admin' as string)) {
      refuse(
        'admits everybody next to administrators; name the action that API tokens need for it, such as "alert:ack"',
      );
    }
  } else if (typeof access === 'object' && !names.includes(access.self)) {
    refuse(`lets {${access.self}} through as self, but its path has no such parameter`);
  }
}

function checkParams({ params }: RouteDeclaration, names: readonly string[], refuse: Refuse): void {
  if (params === undefined) {
    return;
  }
  const described = Object.keys((params as { properties?: object }).properties ?? {});
  const missing = names.find((name) => !described.includes(name));
  const unknown = described.find((name) => !names.includes(name));
  if (missing !== undefined) {
    refuse(`has the parameter {${missing}} in its path but not in its params schema`);
  }
  if (unknown !== undefined) {
    refuse(`describes the parameter "${unknown}" that its path does not have`);
  }
}

function checkShape(declaration: RouteDeclaration, refuse: Refuse): void {
  if (typeof declaration.summary !== 'string' || declaration.summary === '') {
    refuse('has no summary; describe it in one line');
  }
  if (typeof declaration.handle !== 'function') {
    refuse('has no handle function');
  }
  if (
    declaration.method === 'GET' &&
    (declaration.body !== undefined || declaration.consumes !== undefined)
  ) {
    refuse('is a GET with a body; use POST, or put the input into the query');
  }
  if (declaration.kind === 'list' && declaration.items === undefined) {
    refuse('is a list without an items schema');
  }
  if (declaration.kind === 'bytes' && declaration.produces === undefined) {
    refuse('is a byte route that does not declare its media type');
  }
  if (
    (declaration.kind === 'list' || declaration.kind === 'socket') &&
    declaration.method !== 'GET'
  ) {
    refuse(`is a ${declaration.kind} route, which is always a GET`);
  }
}
