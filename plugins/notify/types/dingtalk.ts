import { createHmac } from 'node:crypto';

import type { ChannelMessage, PostedChannelType } from 'svc/contracts/notify';
import { fitted, markdown, withoutMentions } from 'svc/im';

import { isPublic, jsonHeaders, requireUrl, wrongEndpoint } from './hook-address.ts';
import { errcodeVerdict, type ErrorCodes } from './http-verdict.ts';

/** The platform takes 20,000 with everything around the text, which JSON can make twice as long. */
const maxBytes = 8_500;

/** Custom bots of DingTalk. Past 20 messages in a minute the platform takes none for ten. */
export const dingtalk: PostedChannelType = {
  title: 'DingTalk',
  aliases: ['im_provider_3'],
  secret: 'optional',
  limits: [{ count: 18, per_ms: 60_000 }],
  check(address) {
    if (!requireUrl(address, example).searchParams.has('access_token')) {
      throw wrongEndpoint(`must have an access_token, as in ${example}`);
    }
  },
  render({ title, lines, link, act, chart, tone }, { endpoint, secret }, { now }) {
    const url = new URL(endpoint);
    if (secret !== '') {
      url.searchParams.set('timestamp', String(now));
      url.searchParams.set('sign', dingtalkSign(now, secret));
    }
    const head = `### <font color="${colours[tone]}">${markdown(title)}</font>`;
    const picture =
      chart !== undefined && isPublic(chart.link) ? `\n\n![the last hour](${chart.link})` : '';
    const buttons =
      act === undefined
        ? { singleTitle: 'Open', singleURL: link }
        : {
            btnOrientation: '0',
            btns: [
              { title: 'Open', actionURL: link },
              { title: 'Acknowledge or silence', actionURL: act },
            ],
          };
    const text = `${head}\n\n${fitted(lines, { most: maxBytes, link, escape: (line) => `${markdown(line)}  ` })}${picture}`;
    const body =
      link === ''
        ? {
            msgtype: 'markdown',
            markdown: { title: withoutMentions(title), text },
            at: { atMobiles: [], isAtAll: false },
          }
        : {
            msgtype: 'actionCard',
            actionCard: { title: withoutMentions(title), text, ...buttons },
          };
    return { url: url.href, headers: jsonHeaders, body: JSON.stringify(body) };
  },
  judge: (reply, now) => errcodeVerdict(reply, now, codes),
};

const colours: Readonly<Record<ChannelMessage['tone'], string>> = {
  critical: '#d32f2f',
  warning: '#ef6c00',
  info: '#1976d2',
  good: '#388e3c',
};

const example = 'https://oapi.dingtalk.com/robot/send?access_token=…';

export const dingtalkSign = (ms: number, secret: string): string =>
  createHmac('sha256', secret).update(`${ms}\n${secret}`).digest('base64');

const blockedMs = 10 * 60_000;
const codes: ErrorCodes = {
  waitMs: new Map([130101, 410100, 660026].map((code) => [code, blockedMs])),
  // Unknown token; keyword, signature or address.
  refused: new Set([300001, 300005, 310000, 400101, 400102, 400105]),
};
