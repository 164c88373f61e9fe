import { isSvcError, type SvcError } from 'svc/sdk';

import { errors } from './errors.ts';
import { Refusal } from './exchange.ts';
import { BrokenStream } from './broken-stream.ts';
import { Silence } from './wire.ts';

export interface Speaker {
  readonly provider: string;
  readonly model: string;
  /** Key; never included in errors. */
  readonly key: string;
  readonly keySetting: string;
  readonly urlSetting: string;
}

/**
 * Converts an error to one sentence about why a provider did not answer; with `retryAfterSeconds`
 * if a retry may help.
 */
export function troubleOf(error: unknown, speaker: Speaker): SvcError {
  if (error instanceof Refusal) {
    return refusalOf(error, speaker);
  }
  if (error instanceof Silence) {
    // Not retried: it would take as long again.
    return errors.silent(
      { provider: speaker.provider, model: speaker.model, seconds: error.seconds },
      { cause: error },
    );
  }
  if (error instanceof BrokenStream) {
    return errors.broken_stream(
      { provider: speaker.provider, model: speaker.model, cause: error.message },
      { retryAfterSeconds: 1, cause: error },
    );
  }
  if (
    isSvcError(error) &&
    (error.code !== 'upstream_error' || error.reason === 'outbound.reply_too_large')
  ) {
    return error;
  }
  const cause = isSvcError(error) ? error.message : 'its answer could not be read';
  const code = isSvcError(error)
    ? String((error.cause as { code?: unknown } | undefined)?.code)
    : '';
  return neverArrived.has(code)
    ? errors.not_reached(
        { provider: speaker.provider, cause },
        { retryAfterSeconds: 1, cause: error },
      )
    : errors.unanswered(
        { provider: speaker.provider, cause },
        { retryAfterSeconds: 1, cause: error },
      );
}

const neverArrived: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
]);

function refusalOf(
  { status, text, headers }: Refusal,
  { provider, model, key, keySetting, urlSetting }: Speaker,
): SvcError {
  const said = sentenceOf(text, key);
  if (status < 300) {
    return errors.no_model_there({ provider, urlSetting, said });
  }
  if (status === 401 || status === 403) {
    return errors.key_refused({ provider, status, keySetting, said });
  }
  if (status === 404) {
    return errors.unknown({ provider, model, urlSetting, said });
  }
  if (
    status === 413 ||
    /context.?length|context window|too (?:many tokens|long)|maximum.{0,20}tokens/i.test(text)
  ) {
    return errors.too_long({ provider, model, said });
  }
  if (status === 408 || status === 409 || status === 429 || status >= 500) {
    return errors.busy(
      { provider, state: status === 429 ? 'limits requests' : 'is in trouble', status, said },
      { retryAfterSeconds: secondsIn(headers['retry-after']) },
    );
  }
  return errors.refused({ provider, status, said });
}

/** Parses a delay in seconds; a date, or nothing at all, counts as one second. */
const secondsIn = (retryAfter: string | undefined): number =>
  /^\d{1,6}(?:\.\d+)?$/.test(retryAfter?.trim() ?? '') ? Number(retryAfter) : 1;

function sentenceOf(text: string, key: string): string {
  const found =
    /"message"\s*:\s*"((?:[^"\\]|\\.){1,300})/.exec(text)?.[1] ??
    (text.trimStart().startsWith('<') ? '' : text.slice(0, 300));
  const shown = (key === '' ? found : found.replaceAll(key, '…'))
    .replaceAll(/\\[nrt]|\s+/g, ' ')
    .trim();
  return shown === '' ? '' : `: ${shown}`;
}
