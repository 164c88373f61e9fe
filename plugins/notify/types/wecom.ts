import type { ChannelMessage, PostedChannelType } from '../contract.ts';
import { fitted, markdown } from '../plain-text.ts';
import { jsonHeaders, requireUrl, wrongEndpoint } from './hook-address.ts';
import { errcodeVerdict, type ErrorCodes } from './http-verdict.ts';

/** Markdown has 4,096 bytes at most, with the title and the link. */
const mostBytes = 2_500;

/** The platform knows three colours. */
const colours: Readonly<Record<ChannelMessage['tone'], string>> = { critical: 'warning', warning: 'warning', info: 'comment', good: 'info' };

/** Group bots of WeCom. */
export const wecom: PostedChannelType = {
  title: 'WeCom',
  aliases: ['im_provider_4'],
  secret: 'none',
  limits: [{ count: 18, per_ms: 60_000 }],
  check(address) {
    if (!requireUrl(address, example).searchParams.has('key')) {
      throw wrongEndpoint(`has a key, as in ${example}`);
    }
  },
  render({ title, lines, link, act, tone }, { endpoint }) {
    const head = `**<font color="${colours[tone]}">${markdown(title)}</font>**`;
    const content = [
      head,
      fitted(lines, mostBytes, link, (line) => `> ${markdown(line)}`),
      ...(link === '' ? [] : [`[Open](${link})`]),
      ...(act === undefined ? [] : [`[Acknowledge or silence](${act})`]),
    ].join('\n');
    return { url: endpoint, headers: jsonHeaders, body: JSON.stringify({ msgtype: 'markdown', markdown: { content } }) };
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
