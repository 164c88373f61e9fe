import { type ErrorExtras, isSvcError, SvcError } from 'svc/sdk';

import { errors } from './errors.ts';
import { Refusal } from './exchange.ts';
import { BrokenStream, Silence } from './wire.ts';

export interface Speaker {
  readonly provider: string;
  readonly model: string;
  /** Never repeated in what is thrown. */
  readonly key: string;
  readonly keySetting: string;
  readonly urlSetting: string;
}

/** What kept a provider from answering, as one sentence; with `retryAfterSeconds` where another try may help. */
export function troubleOf(error: unknown, speaker: Speaker): SvcError {
  if (error instanceof Refusal) {
    const { what, extras } = refusalOf(error, speaker);
    return new SvcError('upstream_error', what + sentenceOf(error.text, speaker.key), extras);
  }
  if (error instanceof Silence) {
    // Not asked again: it would be waited for as long once more.
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
  { provider, model, keySetting, urlSetting }: Speaker,
): { what: string; extras: ErrorExtras } {
  if (status < 300) {
    return {
      what: `${provider} answers with a page of the web, not as a model does; check ${urlSetting}`,
      extras: { reason: 'model.no_model_there' },
    };
  }
  if (status === 401 || status === 403) {
    return {
      what: `${provider} refuses the key (HTTP ${status}); check ${keySetting}`,
      extras: { reason: 'model.key_refused' },
    };
  }
  if (status === 404) {
    return {
      what: `${provider} has no model ${model} (HTTP 404); check its name and ${urlSetting}`,
      extras: { reason: 'model.unknown' },
    };
  }
  if (
    status === 413 ||
    /context.?length|context window|too (?:many tokens|long)|maximum.{0,20}tokens/i.test(text)
  ) {
    return {
      what: `the conversation is too long for ${provider}/${model}`,
      extras: { reason: 'model.too_long' },
    };
  }
  if (status === 408 || status === 409 || status === 429 || status >= 500) {
    const state = status === 429 ? 'limits requests' : 'is in trouble';
    return {
      what: `${provider} ${state} (HTTP ${status})`,
      extras: { reason: 'model.busy', retryAfterSeconds: secondsIn(headers['retry-after']) },
    };
  }
  return {
    what: `${provider} refuses the request (HTTP ${status})`,
    extras: { reason: 'model.refused' },
  };
}

/** A date, or nothing at all, counts as one second. */
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
