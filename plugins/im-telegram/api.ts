import type { ImApp, ImSent, ImTarget } from 'svc/contracts/imbridge';
import { type CallAnswer, type Calls, objectOf, textOf } from 'svc/im';

/** Calls a method of the Bot API as the bot of an app. */
export type Api = (
  app: ImApp,
  method: string,
  json: object,
  timeoutMs?: number,
  signal?: AbortSignal,
) => Promise<CallAnswer>;

const usualEndpoint = 'https://api.telegram.org';

export const addressOf = ({ endpoint }: ImApp, path: string): string =>
  `${endpoint || usualEndpoint}/${path}`;

export const openApi =
  (calls: Calls): Api =>
  (app, method, json, timeoutMs = 10_000, signal) =>
    calls.call({
      url: addressOf(app, `bot${app.app_secret}/${method}`),
      json,
      timeoutMs,
      judge: objection,
      ...(signal !== undefined && { signal }),
    });

/** Returns where a message of ours stands. */
export function standing(at: ImTarget): ImSent {
  const { chat_id: chat, message_id: id, message_thread_id: topic } = at;
  return {
    result: 'sent',
    at,
    id: id!,
    thread: {
      chat_id: chat!,
      reply_to: id!,
      ...(topic !== undefined && { message_thread_id: topic }),
    },
  };
}

/** Returns why a method was refused. */
export function objection(body: Readonly<Record<string, unknown>>, status: number) {
  if (status === 200 && body['ok'] === true) {
    return undefined;
  }
  const { retry_after: after, migrate_to_chat_id: moved } = objectOf(body['parameters']);
  const words = typeof moved === 'number' ? `migrated to ${moved}` : textOf(body['description']);
  return {
    code: textOf(body['error_code']) || String(status),
    words,
    ...(typeof after === 'number' && { again: true, after_ms: after * 1_000 }),
  };
}
