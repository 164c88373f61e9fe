import type { ChannelAddress, ChannelMessage, PostedChannelType } from 'svc/contracts/notify';
import { fitted, withoutMentions } from 'svc/im';

import { withLink } from '../message/plain-text.ts';
import { isPublic, jsonHeaders, requireUrl, wrongEndpoint, wrongSecret } from './hook-address.ts';
import {
  asked,
  httpVerdict,
  jsonReply,
  platformSaid,
  strange,
  takenByHead,
} from './http-verdict.ts';

/** Texts have 4,096 characters at most, once tags are read. */
const maxBytes = 3_800;

const escaped = (text: string): string =>
  withoutMentions(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

/** Bots of Telegram. The endpoint is the chat; the secret is the bot's token. */
export const telegram: PostedChannelType = {
  title: 'Telegram',
  aliases: ['im_provider_5'],
  secret: 'required',
  // Groups take 20 a minute.
  limits: [
    { count: 1, per_ms: 1_100 },
    { count: 18, per_ms: 60_000 },
  ],
  check(address) {
    partsOf(address);
    if (!/^\d{3,20}:[\w-]{10,100}$/.test(address.secret)) {
      throw wrongSecret('must be the bot token, such as 123456:AbC…');
    }
  },
  shown: (endpoint) => (isChat(endpoint) ? endpoint : undefined),
  render({ title, lines, link, act, chart, tone }, address, { plain }) {
    const { base, chat, thread } = partsOf(address);
    const head = plain ? withoutMentions(title) : `${signs[tone]} <b>${escaped(title)}</b>`;
    const escape = plain ? withoutMentions : escaped;
    const rest = fitted(withLink(lines, link), {
      most: maxBytes - Buffer.byteLength(head) - 1,
      link,
      escape,
      escapeLink: escape,
    });
    // Buttons may lead to public names only; another link stands in the text.
    const buttons = [
      ['Open', link] as const,
      ['Acknowledge or silence', act ?? ''] as const,
    ].filter(([, url]) => isPublic(url));
    // The platform fetches it by itself, and leaves it out where it cannot.
    const preview =
      chart !== undefined && isPublic(chart.link)
        ? { url: chart.link, prefer_large_media: true }
        : { is_disabled: true };
    return {
      url: `${base}/bot${address.secret}/sendMessage`,
      headers: jsonHeaders,
      body: JSON.stringify({
        chat_id: chat,
        ...(thread !== undefined && { message_thread_id: thread }),
        text: `${head}\n${rest}`,
        ...(!plain && {
          parse_mode: 'HTML',
          ...(buttons.length > 0 && {
            reply_markup: {
              inline_keyboard: [buttons.map(([label, url]) => ({ text: label, url }))],
            },
          }),
        }),
        link_preview_options: preview,
      }),
    };
  },
  judge(reply, now) {
    const said = jsonReply(reply);
    if (said?.['ok'] === true && reply.status === 200) {
      return { result: 'sent' };
    }
    const { retry_after: after, migrate_to_chat_id: moved } = (said?.['parameters'] ??
      {}) as Record<string, unknown>;
    const description = typeof said?.['description'] === 'string' ? said['description'] : '';
    const reason =
      said === undefined
        ? undefined
        : platformSaid(said['error_code'] ?? reply.status, description);
    if (reason === undefined) {
      return httpVerdict(reply, now) ?? takenByHead(reply);
    }
    if (reply.status === 400 && typeof moved === 'number') {
      return {
        result: 'failed',
        reason: `the group has become ${moved}; enter that as the endpoint of the channel`,
        degraded: true,
      };
    }
    if (reply.status === 400 && /can't parse entities/i.test(description)) {
      return { result: 'plain' };
    }
    if (reply.status === 400 && /chat not found|group chat was upgraded/i.test(description)) {
      return { result: 'failed', reason, degraded: true };
    }
    const verdict = httpVerdict(reply, now) ?? strange(reply);
    return verdict.result === 'retry'
      ? { ...verdict, reason, ...(typeof after === 'number' && asked(after * 1000)) }
      : verdict.result === 'failed'
        ? { ...verdict, reason }
        : verdict;
  },
};

/** A chat (`-1001234567890`, `@channel`), or the address of a Bot API server that names one: `https://host?chat_id=…`. */
function partsOf(address: ChannelAddress): { base: string; chat: string; thread?: number } {
  if (isChat(address.endpoint)) {
    return { base: 'https://api.telegram.org', chat: address.endpoint };
  }
  const url = requireUrl(address, example);
  const chat = url.searchParams.get('chat_id') ?? '';
  const thread = url.searchParams.get('message_thread_id');
  if (!isChat(chat) || (thread !== null && !/^\d{1,15}$/.test(thread))) {
    throw wrongEndpoint(`must be a chat, or name one: ${example}`);
  }
  if (url.pathname.includes('/bot')) {
    throw wrongEndpoint('contains a bot token; enter that as the secret');
  }
  return {
    base: url.origin + url.pathname.replace(/\/+$/, ''),
    chat,
    ...(thread !== null && { thread: Number(thread) }),
  };
}

const signs: Readonly<Record<ChannelMessage['tone'], string>> = {
  critical: '🔴',
  warning: '🟠',
  info: '🔵',
  good: '🟢',
};

const isChat = (text: string): boolean => /^(?:-?\d{1,20}|@\w{4,64})$/.test(text);
const example = '-1001234567890, @channel or https://api.telegram.org?chat_id=-1001234567890';
