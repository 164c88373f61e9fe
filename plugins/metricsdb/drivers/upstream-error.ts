import { type OutboundReply, SvcError } from 'svc/sdk';
import { queryError, type QueryErrorKind } from 'svc/query';

const longest = 1_000;
const kinds: Readonly<Record<string, QueryErrorKind>> = { bad_data: 'bad_data', execution: 'execution', timeout: 'timeout', canceled: 'canceled' };
const kindOfStatus: Readonly<Record<number, QueryErrorKind>> = { 400: 'bad_data', 422: 'execution' };

/** What another server's refusal means here: its words about the query are the asker's, all else is trouble between servers. */
export function refusalOf({ status, body }: Pick<OutboundReply, 'status' | 'body'>, url: string): SvcError {
  if (status === 401 || status === 403) {
    return new SvcError(
      'upstream_error',
      `${url} does not accept the credentials of this service (status ${status}): look at metricsdb.token, metricsdb.user and metricsdb.tenant`,
    );
  }
  if (status === 404) {
    return new SvcError('upstream_error', `${url} does not know this part of the Prometheus API (status 404): is it the address before /api/v1?`);
  }
  const told = toldBy(body);
  const kind = told && (Object.hasOwn(kinds, told.errorType) ? kinds[told.errorType] : kindOfStatus[status]);
  if (told !== undefined && kind !== undefined) {
    return queryError(kind, told.error);
  }
  return new SvcError('upstream_error', `${url} answered with status ${status}${told === undefined ? '' : `: ${told.error}`}`);
}

function toldBy(body: Uint8Array): { readonly errorType: string; readonly error: string } | undefined {
  try {
    const { errorType, error } = JSON.parse(Buffer.from(body.subarray(0, 64 * 1024)).toString('utf8')) as { errorType?: unknown; error?: unknown };
    return typeof errorType === 'string' && typeof error === 'string' ? { errorType, error: error.slice(0, longest) } : undefined;
  } catch {
    // A page of a proxy, most likely: its status says enough.
    return undefined;
  }
}
