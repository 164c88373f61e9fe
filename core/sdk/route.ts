import type { Static, TSchema } from 'typebox';

import type { ErrorCode } from './errors.ts';
import type { Principal } from './principal.ts';
import type { MaybePromise } from './scope.ts';

/**
 * Access to a route: `public` (without a credential), `known` (people and API tokens), `any` (the
 * same; a token must be allowed to read what the route `reads`), `admin` (who holds `*`), `machine`
 * (an edge), or an action such as `edge:create` that a role must hold. `{ action, self }` also
 * admits a principal whose user id equals that path parameter, `{ action, machine }` an edge, and `{
 * action, people }` every person who is signed in, so that only API tokens need the action.
 */
export type Access =
  | 'public'
  | 'known'
  | 'any'
  | 'admin'
  | 'machine'
  | 'webshell'
  | `${string}:${string}`
  | { readonly action: 'admin' | `${string}:${string}`; readonly self: string }
  | { readonly action: `${string}:${string}`; readonly machine: true }
  | { readonly action: `${string}:${string}`; readonly people: true };

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** An error as a route with wording of its own gets it: already fit to be read by the caller. */
export interface ShownError {
  readonly code: ErrorCode;
  readonly status: number;
  readonly message: string;
  /** Finer than the code, where a service says it: `timeout`, `bad_data`. */
  readonly kind: string | undefined;
}

export interface ErrorWording {
  /** Status; default: that of the error. */
  readonly status?: number;
  readonly type: string;
  readonly body: string | Uint8Array;
}

/** Request headers, lower-case names. */
export type RequestHeaders = Readonly<Record<string, string | undefined>>;

/** A request whose body has not been read. */
export interface Arrival {
  readonly principal: Principal;
  readonly headers: RequestHeaders;
  /** Size of the body that its head announces; undefined if it does not. */
  readonly announcedBytes: number | undefined;
}

/** Capacity that one body takes, from its first byte until its call has ended. */
export interface BodyQuota {
  /** Called before each piece is kept; throws to refuse the rest. */
  reserve(bytes: number): void;
  /** The call has ended, however it did. */
  release(): void;
}

/**
 * Additions by a handler to the audit row that the pipeline writes; never needed for the row
 * itself.
 */
export interface AuditNote {
  readonly resourceType?: string;
  readonly resourceId?: string | number;
  readonly before?: unknown;
  readonly after?: unknown;
  /** Actor, if the call itself determines it: a login knows its user only afterwards. */
  readonly actor?: Principal;
}

export interface PageRequest {
  readonly limit: number;
  /** The keyset of the last row of the previous page, exactly as the handler returned it in `next`. */
  readonly after?: readonly (string | number)[];
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Size of the filtered set. */
  readonly total: number;
  /** Keyset of the last item; absent on the last page. The pipeline seals it into `next_cursor`. */
  readonly next?: readonly (string | number)[] | undefined;
}

/** A request as its handler sees it; its functions may be taken from it: `handle: ({ body, note }) => …`. */
export interface Call<P = unknown, Q = unknown, B = unknown> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly principal: Principal;
  readonly requestId: string;
  readonly ip: string;
  readonly headers: RequestHeaders;
  /** Aborts when the client is gone, the route's deadline passed, or the plugin retires. */
  readonly signal: AbortSignal;
  /** Page; only meaningful on list routes. */
  readonly page: PageRequest;
  /** Last event id that a reconnecting event-stream client has seen. */
  readonly lastEventId: string | undefined;
  readonly setHeader: (name: string, value: string) => void;
  readonly setStatus: (status: number) => void;
  /** `If-Match` against a resource as it stands inside the write: throws conflict on a mismatch. */
  readonly requireMatch: (resource: { readonly updated_at: string }) => void;
  /** Refuses an API token that may not read the area, which must be one of `readsAsked`. */
  readonly requireRead: (area: string) => void;
  readonly note: (note: AuditNote) => void;
}

/** Schema-typed call: the shapes of a declaration are the types of its handler. */
export type CallOf<P, Q, B> = Call<
  P extends TSchema ? Static<P> : Readonly<Record<string, string>>,
  Q extends TSchema ? Static<Q> : Readonly<Record<string, never>>,
  B extends TSchema ? Static<B> : undefined
>;

interface Declared<
  P extends TSchema | undefined,
  Q extends TSchema | undefined,
  B extends TSchema | undefined,
> {
  readonly method: Method;
  /** Full path with `{name}` parameters, as a client types it: `/api/v1/plugins/{id}`. */
  readonly path: string;
  readonly access: Access;
  /**
   * Content for users with access to some devices: about no device (`none`), or about theirs
   * (`narrowed`). Default: they are refused.
   */
  readonly devices?: 'none' | 'narrowed';
  /**
   * Areas (plugins) whose content the answer shows: an API token needs `read:<area>` for each, or
   * gets `brief`, or without that a refusal. `none`: the answer shows only what the call itself sent
   * or made. Default: the own area; `none` for a GET that requires an action, which is then the
   * permission to read.
   */
  readonly reads?: 'none' | readonly string[];
  /** Other areas of which the answer holds a part that belongs to this one, such as the channels that an incident was sent to. */
  readonly quotes?: readonly string[];
  /**
   * Further areas, of which the answer shows those that the call asks for, such as the store of a
   * query: its handler calls `requireRead` for each.
   */
  readonly readsAsked?: readonly string[];
  /** Fields of the answer for API tokens that may make the call, but not read; without any it is 204. */
  readonly brief?: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** Largest accepted body; default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Deadline of the handler; default 30 s. */
  readonly timeoutMs?: number;
  /** True if the call is audited; default: every method but GET. */
  readonly audited?: boolean;
  /** Works while nothing can be written, too: then it leaves no row, and its handler knows what to do without. */
  readonly unwritten?: boolean;
  /** Name of the audited action; default `<area>:<last literal segment or verb>`. */
  readonly action?: string;
  /** Codes, and statuses that no code has, beyond those of the pipeline that the handler may answer with, for the OpenAPI text. */
  readonly errors?: readonly (ErrorCode | number)[];
  /** True if its handler calls `requireMatch`, which throws in a route without this. */
  readonly ifMatch?: true;
  /** Error bodies of a protocol that has its own. Paths that all routes around word alike are unknown in the same words. */
  readonly wording?: (error: ShownError, headers: RequestHeaders) => ErrorWording;
}

/** JSON that was written elsewhere, such as in a thread, and is passed on as it is. */
export type FinishedJson = Uint8Array;

/** A request that is answered with one JSON value. */
export interface JsonRoute<
  P extends TSchema | undefined,
  Q extends TSchema | undefined,
  B extends TSchema | undefined,
  R extends TSchema | undefined,
> extends Declared<P, Q, B> {
  readonly response?: R;
  /** Default: 201 with a body for POST, 204 without `response`, else 200. */
  readonly status?: number;
  readonly handle: (
    call: CallOf<P, Q, B>,
  ) => MaybePromise<R extends TSchema ? Static<R> | FinishedJson : void>;
}

/** A list: `limit` and `cursor` are read and `{items, next_cursor, total}` is answered by the pipeline. */
export interface ListRoute<
  P extends TSchema | undefined,
  Q extends TSchema | undefined,
  I extends TSchema,
> extends Omit<Declared<P, Q, undefined>, 'method' | 'body'> {
  readonly items: I;
  readonly handle: (call: CallOf<P, Q, undefined>) => MaybePromise<Page<Static<I>>>;
}

export interface ServerEvent {
  /** Lets a client resume after it. */
  readonly id?: string;
  readonly event?: string;
  /** JSON unless it is a string already. */
  readonly data: unknown;
}

/** A server-sent-event stream: heartbeat, back-pressure and resume ids are the pipeline's. */
export interface EventRoute<
  P extends TSchema | undefined,
  Q extends TSchema | undefined,
  B extends TSchema | undefined,
> extends Declared<P, Q, B> {
  readonly headers?: Readonly<Record<string, string>>;
  readonly handle: (call: CallOf<P, Q, B>) => MaybePromise<AsyncIterable<ServerEvent>>;
}

/** Bytes out, bytes in, or both: downloads, uploads, pages, protocols that are not JSON. */
export interface ByteRoute<
  P extends TSchema | undefined,
  Q extends TSchema | undefined,
> extends Omit<Declared<P, Q, undefined>, 'body'> {
  /** Accepted media types of the body, which arrives as a Buffer; absent: no body. */
  readonly consumes?: readonly string[];
  /** The body is not gathered: `call.body` is an async iterable of its pieces, read as fast as the handler takes them. */
  readonly streamed?: boolean;
  /** Called before a body is read; throws to refuse it unread. */
  readonly admit?: (arrival: Arrival) => BodyQuota;
  readonly produces: string;
  /** Shape of the JSON among these bytes; for the API document, not checked. */
  readonly response?: TSchema;
  readonly status?: number;
  readonly handle: (
    call: Call<CallOf<P, Q, undefined>['params'], CallOf<P, Q, undefined>['query'], Uint8Array>,
  ) => MaybePromise<string | Uint8Array | AsyncIterable<Uint8Array> | void>;
}

/** The server side of one WebSocket; its functions may be taken from it. */
export interface Socket {
  readonly protocol: string;
  /** Bytes given to `send` that the system has not taken yet. */
  readonly bufferedBytes: number;
  readonly send: (data: string | Uint8Array) => void;
  readonly close: (code?: number, reason?: string) => void;
  /** Ends the connection without a close frame. */
  readonly terminate: () => void;
  /** Stops reading, so that the client's TCP has to wait. It is not pinged meanwhile, because its answers would wait, too. */
  readonly pause: () => void;
  readonly resume: () => void;
  readonly onMessage: (listener: (data: string | Uint8Array) => void) => void;
  readonly onClose: (listener: (code: number, reason: string) => void) => void;
  /** Registers a listener for each time the system has accepted a part of what was buffered. */
  readonly onDrain: (listener: () => void) => void;
  /** The last moment to say something before the service closes the socket: its plugin retires, or the service stops. */
  readonly onLeave: (listener: () => void) => void;
}

export interface SocketRoute<
  P extends TSchema | undefined,
  Q extends TSchema | undefined,
> extends Omit<Declared<P, Q, undefined>, 'method' | 'body' | 'timeoutMs'> {
  /** Accepted subprotocols, best first; a client that offers none of them is refused. */
  readonly protocols?: readonly string[];
  /** Largest message; default 1 MiB. */
  readonly maxMessageBytes?: number;
  /** Heartbeat; `own` if its protocol notices itself when a client is gone, so none is pinged. */
  readonly heartbeat?: 'own';
  /** `own`: the handler itself sees to it that its caller goes when their right ends. */
  readonly authority?: 'own';
  /**
   * Called before the upgrade; throws to refuse it. A refusal with a time to come back holds for
   * its address for 50 ms, one by `http.door_full` for all.
   */
  readonly knock?: (call: CallOf<P, Q, undefined>) => MaybePromise<void>;
  /** Runs after the upgrade; the socket is closed (1012) when the plugin retires. */
  readonly handle: (call: CallOf<P, Q, undefined>, socket: Socket) => MaybePromise<void>;
}

/** A route as the host holds it: one of five kinds, types erased, validated by its schemas at run time. */
export interface RouteDeclaration extends Declared<
  TSchema | undefined,
  TSchema | undefined,
  TSchema | undefined
> {
  readonly kind: 'json' | 'list' | 'events' | 'bytes' | 'socket';
  readonly response?: TSchema;
  readonly items?: TSchema;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly consumes?: readonly string[];
  readonly streamed?: boolean;
  readonly admit?: (arrival: Arrival) => BodyQuota;
  readonly produces?: string;
  readonly protocols?: readonly string[];
  readonly maxMessageBytes?: number;
  readonly heartbeat?: 'own';
  readonly authority?: 'own';
  readonly knock?: (call: Call<any, any, any>) => unknown;
  readonly handle: (call: Call<any, any, any>, socket: Socket) => unknown;
}

const declare =
  (kind: RouteDeclaration['kind'], method?: Method) =>
  (declaration: object): RouteDeclaration => {
    const whole = { ...(method && { method }), ...declaration, kind } as RouteDeclaration;
    const { body } = whole;
    const changes = whole.method === 'PATCH' && body !== undefined;
    return Object.freeze({ ...whole, ...(changes && { body: changeShape(body) }) });
  };

type Optional = TSchema | undefined;

export const route = declare('json') as <
  P extends Optional = undefined,
  Q extends Optional = undefined,
  B extends Optional = undefined,
  R extends Optional = undefined,
>(
  declaration: JsonRoute<P, Q, B, R>,
) => RouteDeclaration;

export const listRoute = declare('list', 'GET') as <
  I extends TSchema,
  P extends Optional = undefined,
  Q extends Optional = undefined,
>(
  declaration: ListRoute<P, Q, I>,
) => RouteDeclaration;

export const eventRoute = declare('events') as <
  P extends Optional = undefined,
  Q extends Optional = undefined,
  B extends Optional = undefined,
>(
  declaration: EventRoute<P, Q, B>,
) => RouteDeclaration;

export const byteRoute = declare('bytes') as <
  P extends Optional = undefined,
  Q extends Optional = undefined,
>(
  declaration: ByteRoute<P, Q>,
) => RouteDeclaration;

export const socketRoute = declare('socket', 'GET') as <
  P extends Optional = undefined,
  Q extends Optional = undefined,
>(
  declaration: SocketRoute<P, Q>,
) => RouteDeclaration;

interface ObjectSchema {
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

/**
 * Returns the shape of a change made from that of a whole: a field that is left out stays as it is,
 * so none has a default, which would reset it.
 */
function changeShape<S extends TSchema>(whole: S): S {
  const { properties, required } = whole as unknown as Partial<ObjectSchema>;
  if (properties === undefined || !Object.values(properties).some(hasDefault)) {
    return whole;
  }
  return {
    ...whole,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, withoutDefault(schema)]),
    ),
    ...(required && { required: required.filter((name) => !hasDefault(properties[name]!)) }),
  };
}

function hasDefault(schema: object): boolean {
  return Object.hasOwn(schema, 'default');
}

function withoutDefault(schema: object): object {
  const { default: _, ...rest } = schema as { readonly default?: unknown };
  return hasDefault(schema) ? rest : schema;
}
