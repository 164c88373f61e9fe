import type {
  ImApp,
  ImCallback,
  ImEvent,
  ImListening,
  ImMessage,
  ImPlatform,
  ImReceived,
  ImSent,
  ImTarget,
} from 'svc/contracts/imbridge';
import {
  type CallAnswer,
  type CallPorts,
  Calls,
  jsonObject,
  notSent,
  objectOf,
  sameSecret,
  textOf,
} from 'svc/im';
import type { SvcError } from 'svc/sdk';

import { type Api, openApi, standing } from './api.ts';
import { errors } from './errors.ts';
import { fetchFile, filesOf, sendFile, sendPicture } from './files.ts';
import { telegramHtml } from './html.ts';

type Json = Readonly<Record<string, unknown>>;
/** 4,096 characters, once entities are read; links of buttons that may not be buttons follow the text. */
const maxText = 3_600;
const pollSeconds = 25;
const maxUpdates = 100;
const taken = ['message', 'edited_message', 'callback_query'];

/** Bots of Telegram: the secret is the bot's token, the verify token the one that the webhook was set with. */
export function telegram(ports: CallPorts): ImPlatform {
  const calls = new Calls(ports);
  const api = openApi(calls);
  return {
    title: 'Telegram',
    needs: { callback: ['app_secret', 'verify_token'], stream: ['app_secret'] },
    allow_list: true,
    max_size: maxText,
    sizeOf: (text) => text.length,
    // Groups take 20 messages a minute, edits with them.
    edits: { every_ms: 4_000, most: 6 },
    pace: { count: 18, per_ms: 60_000 },
    repeats: 'unknown',
    check({ app_id: id, app_secret: secret, verify_token: token }) {
      if (!/^\d{3,20}:[\w-]{10,100}$/.test(secret) || !secret.startsWith(`${id}:`)) {
        throw wrong(
          'app_secret',
          'must be the bot token, such as 123456:AbC…, with app_id as the number before the colon',
        );
      }
      if (token !== '' && !/^[\w-]{1,256}$/.test(token)) {
        throw wrong('verify_token', 'may have letters, digits, _ and - only, as Telegram requires');
      }
    },
    receive,
    send: (app, target, message) => sent(api, app, target, message),
    async edit(app, at, message) {
      const { chat_id, message_id } = at;
      const answer = await formatted((isPlain) =>
        api(app, 'editMessageText', {
          chat_id,
          message_id: Number(message_id),
          ...bodyOf(message, isPlain),
        }),
      );
      const isSame = answer.result === 'failed' && /message is not modified/i.test(answer.reason);
      return answer.result === 'ok' || isSame ? standing(at) : notSent(answer);
    },
    max_messages: 4,
    fetchFile: (app, file, maxBytes) => fetchFile({ calls, api }, app, file, maxBytes),
    sendFile: (app, target, document) => sendFile(calls, app, target, document),
    sendPicture: (app, target, picture) => sendPicture(calls, app, target, picture),
    personTarget: (sender) => ({ chat_id: sender }),
    conversationTarget: (conversation) => ({ chat_id: conversation }),
    listen: (app, _ports, listening) => poll(api, app, listening),
  };
}

function receive(
  { app_id: bot, verify_token: own }: ImApp,
  { method, headers, body }: ImCallback,
): ImReceived {
  const isOurs = sameSecret(headers['x-telegram-bot-api-secret-token'] ?? '', own) && own !== '';
  return isOurs && method === 'POST'
    ? { outcome: 'events', events: eventsOf(bot, [jsonObject(body)]) }
    : { outcome: 'refused' };
}

/** Updates since the last that is on disk, until the signal. One that is asked for with a higher offset is gone at Telegram. */
async function poll(
  api: Api,
  app: ImApp,
  { signal, take, connected, cursor }: ImListening,
): Promise<void> {
  while (!signal.aborted) {
    const offset = Number(cursor.get() || '0');
    const answer = await api(
      app,
      'getUpdates',
      { offset, limit: maxUpdates, timeout: pollSeconds, allowed_updates: taken },
      (pollSeconds + 10) * 1_000,
      signal,
    );
    if (answer.result !== 'ok') {
      throw errors.no_updates({ reason: answer.reason });
    }
    connected();
    const updates = (Array.isArray(answer.body['result']) ? answer.body['result'] : []).map(
      objectOf,
    );
    const last = Math.max(
      offset - 1,
      ...updates.map((update) => Number(update['update_id'])).filter(Number.isSafeInteger),
    );
    if (last >= offset) {
      cursor.set(String(last + 1));
      await take(eventsOf(app.app_id, updates));
    }
  }
}

const eventsOf = (bot: string, updates: readonly Json[]): readonly ImEvent[] =>
  updates.flatMap((update) => {
    const id = textOf(update['update_id']);
    const found =
      update['callback_query'] === undefined
        ? written(bot, id, objectOf(update['message'] ?? update['edited_message']))
        : pressed(id, objectOf(update['callback_query']));
    return found === undefined || id === '' || found.sender === '' || found.conversation === ''
      ? []
      : [found];
  });

function written(bot: string, key: string, message: Json): ImEvent | undefined {
  const from = objectOf(message['from']);
  if (from['is_bot'] !== false || message['via_bot'] !== undefined) {
    return undefined;
  }
  const text = textOf(message['text'], 8_000) || textOf(message['caption'], 8_000);
  if (objectOf(message['chat'])['type'] !== 'private' && !isForBot(bot, text, message)) {
    return undefined;
  }
  const files = filesOf(message);
  return text === '' && files.length === 0
    ? undefined
    : {
        kind: 'message',
        key,
        ...placeOf(message),
        sender: textOf(from['id']),
        sender_name: nameOf(from),
        text: spoken(text),
        has_media: files.length > 0,
        files,
        message: `${textOf(objectOf(message['chat'])['id'])}:${textOf(message['message_id'])}`,
        ...(message['edit_date'] !== undefined && { edited: true }),
      };
}

/**
 * Returns whether a message in a group is meant for the bot: a bot that is an administrator gets all
 * of them. The names of bots end with "bot".
 */
const isForBot = (bot: string, text: string, message: Json): boolean =>
  /^\/[a-z_]+(?:@\w+bot)?(?:\s|$)/i.test(text) ||
  /(?:^|[^\w@])@\w+bot\b/i.test(text) ||
  textOf(objectOf(objectOf(message['reply_to_message'])['from'])['id']) === bot;

function pressed(key: string, query: Json): ImEvent | undefined {
  const [from, message] = [objectOf(query['from']), objectOf(query['message'])];
  const place = placeOf(message);
  const own = textOf(message['message_id']);
  return {
    kind: 'action',
    key,
    ...place,
    sender: textOf(from['id']),
    sender_name: nameOf(from),
    text: textOf(query['data']),
    has_media: false,
    replies_to: [own],
    reply: { ...place.reply, reply_to: own, callback: textOf(query['id']) },
  };
}

function placeOf(
  message: Json,
): Pick<ImEvent, 'conversation' | 'direct' | 'thread' | 'replies_to' | 'reply'> {
  const chat = objectOf(message['chat']);
  const conversation = textOf(chat['id']);
  const topic = message['is_topic_message'] === true ? textOf(message['message_thread_id']) : '';
  const above = textOf(objectOf(message['reply_to_message'])['message_id']);
  const own = textOf(message['message_id']);
  const direct = chat['type'] === 'private';
  return {
    conversation,
    direct,
    thread: `${conversation}:${topic}`,
    replies_to: above === '' ? [] : [above],
    reply: {
      chat_id: conversation,
      ...(topic !== '' && { message_thread_id: topic }),
      ...(!direct && { reply_to: own }),
    },
  };
}

const nameOf = (from: Json): string =>
  textOf(from['username']) || textOf(from['first_name']) || textOf(from['id']);

/** Removes the bot named in a leading command or mention. */
const spoken = (text: string): string =>
  text.replace(/^(\/[a-z_]+)@\w+/i, '$1').replace(/^@\w+bot\b[,:]?\s*/i, '');

/** `isPlain`: without formatting. */
function bodyOf({ text, buttons }: ImMessage, isPlain: boolean): object {
  const rows = buttons.map(({ label, token, url }) =>
    token !== undefined
      ? { text: label, callback_data: token }
      : isPublic(url!)
        ? { text: label, url }
        : undefined,
  );
  const leads = buttons.flatMap(({ url }) => (url === undefined || isPublic(url) ? [] : [url]));
  const shown = rows.filter((row) => row !== undefined);
  return {
    text: [isPlain ? text : telegramHtml(text), ...leads].join('\n'),
    ...(!isPlain && { parse_mode: 'HTML' }),
    link_preview_options: { is_disabled: true },
    reply_markup: {
      inline_keyboard:
        shown.length === 0
          ? []
          : [shown.slice(0, 4), ...(shown.length > 4 ? [shown.slice(4, 8)] : [])],
    },
  };
}

/** Buttons may lead to public names only. */
const isPublic = (link: string): boolean =>
  URL.canParse(link) &&
  new URL(link).protocol === 'https:' &&
  /\.[a-z]{2,}$/i.test(new URL(link).hostname);

/** Sends with formatting, or without where Telegram cannot read it. */
async function formatted(send: (isPlain: boolean) => Promise<CallAnswer>): Promise<CallAnswer> {
  const answer = await send(false);
  return answer.result === 'failed' && /can't parse entities/i.test(answer.reason)
    ? await send(true)
    : answer;
}

async function sent(
  api: Api,
  app: ImApp,
  target: ImTarget,
  message: ImMessage,
  isRepeat = false,
): Promise<ImSent> {
  const { chat_id: chat, message_thread_id: topic, reply_to: above, callback } = target;
  if (callback !== undefined && message.text === '…') {
    // Ends the waiting that the button shows; nothing depends on it.
    await api(app, 'answerCallbackQuery', { callback_query_id: callback });
  }
  const answer = await formatted((isPlain) =>
    api(app, 'sendMessage', {
      chat_id: chat,
      ...bodyOf(message, isPlain),
      ...(topic !== undefined && { message_thread_id: Number(topic) }),
      ...(above !== undefined && {
        reply_parameters: { message_id: Number(above), allow_sending_without_reply: true },
      }),
    }),
  );
  if (answer.result === 'ok') {
    const id = textOf(objectOf(answer.body['result'])['message_id']);
    return standing({
      chat_id: chat!,
      message_id: id,
      ...(topic !== undefined && { message_thread_id: topic }),
    });
  }
  const moved = /migrated to (-?\d+)/.exec(answer.reason)?.[1];
  return moved !== undefined && !isRepeat
    ? await sent(api, app, { ...target, chat_id: moved }, message, true)
    : notSent(answer);
}

const wrong = (field: string, message: string): SvcError =>
  errors.invalid_app({ field, message }, { details: [{ path: `/${field}`, message }] });
