import type { TestContext } from 'node:test';

import { isJson, json, only, type Platform, startPlatform } from './platform.ts';

export const telegramToken = '123456:AAsecretTelegramTokenAA';

const refused = (status: number, description: string, parameters?: object) => ({
  ...json(
    { ok: false, error_code: status, description, ...(parameters && { parameters }) },
    status,
  ),
  taken: false,
});

/** Knows one bot and one chat; reads HTML as the real one does: only its own tags, balanced. */
export const startTelegram = (
  t: Pick<TestContext, 'after'>,
  { htmlBroken = false } = {},
): Promise<Platform> =>
  startPlatform(t, (request) => {
    if (request.url.pathname !== `/bot${telegramToken}/sendMessage`) {
      return refused(401, 'Unauthorized');
    }
    if (
      !isJson(request) ||
      !only(
        request.body,
        'chat_id',
        'message_thread_id',
        'text',
        'parse_mode',
        'link_preview_options',
        'reply_markup',
      )
    ) {
      return refused(400, 'Bad Request: wrong parameters');
    }
    const {
      chat_id: chat,
      text,
      parse_mode: mode,
    } = request.body as { chat_id: string; text: string; parse_mode?: string };
    if (chat !== '-1001234567890') {
      return refused(400, 'Bad Request: chat not found');
    }
    if (
      mode === 'HTML' &&
      (htmlBroken || /<(?!\/?(?:b|i|a|code|pre)\b)|&(?!amp;|lt;|gt;|quot;)/.test(text))
    ) {
      return refused(400, "Bad Request: can't parse entities: Unsupported start tag");
    }
    if (text.length > 4_096) {
      return refused(400, 'Bad Request: message is too long');
    }
    return { ...json({ ok: true, result: { message_id: 1 } }), taken: true };
  });

export const tooManyTelegram = (seconds: number) =>
  json(
    {
      ok: false,
      error_code: 429,
      description: `Too Many Requests: retry after ${seconds}`,
      parameters: { retry_after: seconds },
    },
    429,
  );
