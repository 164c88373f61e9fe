import { createHmac } from 'node:crypto';

import type { ChannelType } from '../contract.ts';
import { fitted, withLink, withoutMentions } from '../plain-text.ts';
import { jsonHeaders, requireUrl, wrongEndpoint } from './hook-address.ts';
import { errcodeVerdict, type ErrorCodes } from './http-verdict.ts';

const mostBytes = 12_000;

/** Custom bots of DingTalk. Past 20 messages in a minute the platform takes none for ten. */
export const dingtalk: ChannelType = {
  title: 'DingTalk',
  aliases: ['im_provider_3'],
  secret: 'optional',
  limits: [{ count: 18, per_ms: 60_000 }],
  check(address) {
    if (!requireUrl(address, example).searchParams.has('access_token')) {
      throw wrongEndpoint(`has an access_token, as in ${example}`);
    }
  },
  render({ title, lines, link }, { endpoint, secret }, { now }) {
    const url = new URL(endpoint);
    if (secret !== '') {
      url.searchParams.set('timestamp', String(now));
      url.searchParams.set('sign', dingtalkSign(now, secret));
    }
    const content = fitted(withLink([title, ...lines], link), mostBytes, link, withoutMentions);
    return { url: url.href, headers: jsonHeaders, body: JSON.stringify({ msgtype: 'text', text: { content }, at: { atMobiles: [], isAtAll: false } }) };
  },
  judge: (reply, now) => errcodeVerdict(reply, now, codes),
};

const example = 'https://oapi.dingtalk.com/robot/send?access_token=…';

export const dingtalkSign = (ms: number, secret: string): string => createHmac('sha256', secret).update(`${ms}\n${secret}`).digest('base64');

const blockedMs = 10 * 60_000;
const codes: ErrorCodes = {
  waitMs: new Map([130101, 410100, 660026].map((code) => [code, blockedMs])),
  // Unknown token; keyword, signature or address.
  refused: new Set([300001, 300005, 310000, 400101, 400102, 400105]),
};
