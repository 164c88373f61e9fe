import { byteRoute, type RouteDeclaration } from 'svc/sdk';

import { errors } from './heartbeat/errors.ts';
import { ByToken, ByTokenAndSignal } from './heartbeat/heartbeat-schema.ts';
import type { Reports, Signal } from './reports.ts';

const path = '/hb/{token}';
const maxBodyBytes = 1024 * 1024;
const keptBytes = 100 * 1024;

/** Routes that jobs report to: whoever knows the address may, so that one line of a script is enough. */
export const pingRoutes = (reports: Reports): readonly RouteDeclaration[] =>
  (['GET', 'POST'] as const).flatMap((method) => [
    byteRoute({
      ...shared(method),
      path,
      summary: 'Report that a job has succeeded',
      params: ByToken,
      handle: ({ params, body, ip }) =>
        taken(reports, params.token, { kind: 'success', exitCode: null }, body, ip),
    }),
    byteRoute({
      ...shared(method),
      path: `${path}/{signal}`,
      summary: 'Report the start, the failure or the exit code of a job',
      params: ByTokenAndSignal,
      handle: ({ params, body, ip }) =>
        taken(reports, params.token, signalOf(params.signal), body, ip),
    }),
  ]);

const shared = (method: 'GET' | 'POST') =>
  ({
    method,
    access: 'public',
    produces: 'text/plain',
    audited: false,
    errors: ['not_found', 'unavailable'],
    description: 'The address is the secret. The body, if any, is kept as the log of the run.',
    ...(method === 'POST' && { consumes: ['*/*'], maxBodyBytes }),
  }) as const;

type Kind = Pick<Signal, 'kind' | 'exitCode'>;

async function taken(
  reports: Reports,
  token: string,
  kind: Kind,
  body: Uint8Array | undefined,
  source: string | undefined,
): Promise<string> {
  await reports.ping(token, { ...kind, source: source ?? null, log: logOf(body) });
  return 'OK\n';
}

function signalOf(text: string): Kind {
  if (text === 'start' || text === 'fail') {
    return { kind: text, exitCode: null };
  }
  const code = /^\d{1,3}$/.test(text) ? Number(text) : NaN;
  if (!(code <= 255)) {
    throw errors.unknown_signal({ signal: text });
  }
  return { kind: code === 0 ? 'success' : 'fail', exitCode: code };
}

/** The end of a body, as text without what a terminal would obey. */
function logOf(body: Uint8Array | undefined): string | null {
  if (body === undefined || body.length === 0) {
    return null;
  }
  const text = Buffer.from(body.subarray(-keptBytes)).toString('utf8');
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, '');
}
