import { createHmac } from 'node:crypto';

import type { ChannelMessage, PostedChannelType } from 'svc/contracts/notify';
import { fitted, withoutMentions } from 'svc/im';

import { jsonHeaders, requireUrl } from './hook-address.ts';
import { httpVerdict, jsonReply, platformSaid, strange } from './http-verdict.ts';

/** The platform takes 20 KB with everything around the text, which JSON can make longer. */
const maxBytes = 8_000;

const colours: Readonly<Record<ChannelMessage['tone'], string>> = {
  critical: 'red',
  warning: 'orange',
  info: 'blue',
  good: 'green',
};

/** Custom bots of Feishu and Lark. The texts of a card are plain, so that nothing in them is read as a tag. */
export const feishu: PostedChannelType = {
  title: 'Feishu / Lark',
  aliases: ['im_provider_1', 'lark'],
  secret: 'optional',
  limits: [
    { count: 4, per_ms: 1_000 },
    { count: 90, per_ms: 60_000 },
  ],
  check: (address) => void requireUrl(address, 'https://open.feishu.cn/open-apis/bot/v2/hook/…'),
  render({ title, lines, link, act, tone }, { endpoint, secret }, { now }) {
    const plain = (content: string) => ({ tag: 'plain_text', content });
    const button = {
      tag: 'button',
      text: plain('Open'),
      url: link,
      type: tone === 'critical' ? 'danger' : 'primary',
    };
    const second =
      act === undefined
        ? []
        : [{ tag: 'button', text: plain('Acknowledge or silence'), url: act, type: 'default' }];
    const timestamp = String(Math.floor(now / 1000));
    return {
      url: endpoint,
      headers: jsonHeaders,
      body: JSON.stringify({
        ...(secret !== '' && { timestamp, sign: feishuSign(timestamp, secret) }),
        msg_type: 'interactive',
        card: {
          config: { wide_screen_mode: true },
          header: { template: colours[tone], title: plain(withoutMentions(title)) },
          elements: [
            {
              tag: 'div',
              text: plain(fitted(lines, { most: maxBytes, link, escape: withoutMentions })),
            },
            ...(link === '' ? [] : [{ tag: 'action', actions: [button, ...second] }]),
          ],
        },
      }),
    };
  },
  judge(reply, now) {
    const said = jsonReply(reply);
    const code = said?.['code'] ?? said?.['StatusCode'];
    if (typeof code === 'number' && code !== 0) {
      const reason = platformSaid(code, said?.['msg'] ?? said?.['StatusMessage']);
      return busy.has(code)
        ? { result: 'retry', reason, afterMs: busyMs }
        : { result: 'failed', reason, degraded: refused.has(code) };
    }
    return httpVerdict(reply, now) ?? (code === 0 ? { result: 'sent' } : strange(reply));
  },
};

/** Odd but true: the text to sign is the key, and the message is empty. */
export const feishuSign = (timestamp: string, secret: string): string =>
  createHmac('sha256', `${timestamp}\n${secret}`).digest('base64');

/** Too much at once: of this bot, or of all bots on the full minute. */
const busy = new Set([9499, 11232]);
const busyMs = 20_000;
/** Signature or time, address, keyword, unknown bot. */
const refused = new Set([19001, 19002, 19021, 19022, 19024]);
