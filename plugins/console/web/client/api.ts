import { below } from '../browser/base.ts';
import { client as text } from '../text/english/client.ts';
import { say } from '../text/words.ts';
import { accessToken, renew, signedOut } from './session.ts';

/** Error answer of svc, in its own words; `code` is stable. */
export class ApiError extends Error {
  readonly code: string;
  readonly status: number;
  readonly details: readonly { readonly path: string; readonly message: string }[];

  constructor(status: number, code: string, message: string, details: ApiError['details'] = []) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }

  /** No answer came at all: svc is down, or the way to it is. */
  get isSilence(): boolean {
    return this.status === 0;
  }
}

export type Query = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

export interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string;
  readonly total: number;
}

interface Request {
  readonly query?: Query;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The public API, by its paths behind `/api/v1`; a path that begins with `//` is one of the whole server. */
export const api = {
  get: <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
    asked<T>('GET', path, { query, signal }),
  post: <T = void>(path: string, body?: unknown, options: Request = {}): Promise<T> =>
    asked<T>('POST', path, { ...options, body }),
  put: <T = void>(path: string, body?: unknown, options: Request = {}): Promise<T> =>
    asked<T>('PUT', path, { ...options, body }),
  patch: <T = void>(path: string, body?: unknown, options: Request = {}): Promise<T> =>
    asked<T>('PATCH', path, { ...options, body }),
  delete: <T = void>(path: string, query?: Query): Promise<T> =>
    asked<T>('DELETE', path, { query }),
  /** The answer as it comes, for streams and downloads. */
  open: (method: string, path: string, request: Request = {}): Promise<Response> =>
    opened(method, path, request),
  /** Whatever svc answers, also where it refuses. */
  raw: (method: string, path: string, request: Request = {}): Promise<Response> =>
    answered(method, path, request),
};

async function asked<T>(method: string, path: string, request: Request): Promise<T> {
  const answer = await opened(method, path, request);
  return (answer.status === 204 ? undefined : await answer.json()) as T;
}

/** The access token is good for minutes: one new one, and once more. */
async function answered(method: string, path: string, request: Request): Promise<Response> {
  const answer = await sent(method, path, request);
  return answer.status === 401 && (await renew()) ? await sent(method, path, request) : answer;
}

async function opened(method: string, path: string, request: Request): Promise<Response> {
  const answer = await answered(method, path, request);
  if (answer.ok) {
    return answer;
  }
  const error = await refusal(answer);
  if (answer.status === 401) {
    signedOut(error.message);
  }
  throw error;
}

async function sent(
  method: string,
  path: string,
  { query = {}, body, signal, headers }: Request,
): Promise<Response> {
  const token = accessToken();
  try {
    return await fetch(urlOf(path, query), {
      method,
      signal: signal ?? null,
      credentials: 'omit',
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined &&
          !(body instanceof Blob) &&
          !(body instanceof FormData) && { 'content-type': 'application/json' }),
        ...headers,
      },
      body:
        body === undefined
          ? null
          : body instanceof Blob || body instanceof FormData
            ? body
            : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) {
      throw error;
    }
    throw new ApiError(0, 'silence', text.silent);
  }
}

function urlOf(path: string, query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value)
      ? (value as readonly string[])
      : [value as string | undefined]) {
      if (one !== undefined && one !== '') {
        search.append(name, String(one));
      }
    }
  }
  const asked = search.toString();
  return `${below(path.startsWith('//') ? path.slice(1) : `/api/v1${path}`)}${asked === '' ? '' : `?${asked}`}`;
}

/** Whatever stands in between may answer with what is not JSON. */
export async function refusal(answer: Response): Promise<ApiError> {
  const body = await answer.text().catch(() => '');
  const otherwise = say(text.status, { status: answer.status });
  try {
    const { error, message, details, errorType } = JSON.parse(body) as Record<
      'error' | 'message' | 'errorType',
      string | undefined
    > &
      Pick<ApiError, 'details'>;
    if (errorType !== undefined) {
      // The stores answer in the words of the protocols they speak.
      return new ApiError(answer.status, errorType, error ?? otherwise);
    }
    return new ApiError(answer.status, error ?? 'unknown', message ?? otherwise, details);
  } catch {
    return new ApiError(
      answer.status,
      'unknown',
      body.trim() === '' || body.startsWith('<') ? otherwise : body.trim().slice(0, 500),
    );
  }
}
