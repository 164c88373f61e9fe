import type { ChannelType } from '../contract.ts';
import { fitted, withLink, withoutMentions } from '../plain-text.ts';
import { jsonHeaders, requireUrl, wrongEndpoint } from './hook-address.ts';
import { errcodeVerdict, type ErrorCodes } from './http-verdict.ts';

/** Texts have 2,048 bytes at most. */
const mostBytes = 2_000;

/** Group bots of WeCom. */
export const wecom: ChannelType = {
  title: 'WeCom',
  aliases: ['im_provider_4'],
  secret: 'none',
  limits: [{ count: 18, per_ms: 60_000 }],
  check(address) {
    if (!requireUrl(address, example).searchParams.has('key')) {
      throw wrongEndpoint(`has a key, as in ${example}`);
    }
  },
  render({ title, lines, link }, { endpoint }) {
    const content = fitted(withLink([title, ...lines], link), mostBytes, link, withoutMentions);
    return { url: endpoint, headers: jsonHeaders, body: JSON.stringify({ msgtype: 'text', text: { content, mentioned_list: [], mentioned_mobile_list: [] } }) };
  },
  judge: (reply, now) => errcodeVerdict(reply, now, codes),
};

const example = 'https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=…';

const codes: ErrorCodes = {
  // Too many messages.
  waitMs: new Map([[45009, 60_000]]),
  // Unknown key, robot taken out of its group.
  refused: new Set([93000, 93004, 93008, 40014]),
};
