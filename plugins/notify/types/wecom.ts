import { createHash } from 'node:crypto';

import type { ChannelMessage, PostedChannelType } from 'svc/contracts/notify';
import { fitted, markdown } from 'svc/im';

import { jsonHeaders, requireUrl, wrongEndpoint } from './hook-address.ts';
import { errcodeVerdict, type ErrorCodes } from './http-verdict.ts';

/** Max size of a message; the platform accepts 4,096. */
const maxBytes = 4_000;
const maxTitle = 900;

/** The platform knows three colours. */
const colours: Readonly<Record<ChannelMessage['tone'], string>> = {
  critical: 'warning',
  warning: 'warning',
  info: 'comment',
  good: 'info',
};

/** Group bots of WeCom. */
export const wecom: PostedChannelType = {
  title: 'WeCom',
  aliases: ['im_provider_4'],
  secret: 'none',
  limits: [{ count: 18, per_ms: 60_000 }],
  check(address) {
    if (!requireUrl(address, example).searchParams.has('key')) {
      throw wrongEndpoint(`must have a key, as in ${example}`);
    }
  },
  render({ title, lines, link, act, tone }, { endpoint }) {
    const head = `**<font color="${colours[tone]}">${fitted([title], { most: maxTitle, link: '', escape: markdown })}</font>**`;
    const links = [
      ...(link === '' ? [] : [`[Open](${link})`]),
      ...(act === undefined ? [] : [`[Acknowledge or silence](${act})`]),
    ];
    const most = maxBytes - Buffer.byteLength([head, ...links].join('\n'));
    const content = [
      head,
      fitted(lines, { most, link, escape: (line) => `> ${markdown(line)}` }),
      ...links,
    ].join('\n');
    return {
      url: endpoint,
      headers: jsonHeaders,
      body: JSON.stringify({ msgtype: 'markdown', markdown: { content } }),
    };
  },
  judge: (reply, now) => errcodeVerdict(reply, now, codes),
  /** Returns the picture as a separate message: at most 2 MB, of which ours has a few kilobytes. */
  enclosure({ chart }, { endpoint }) {
    const picture = chart?.png();
    const md5 = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex');
    return (
      picture && {
        url: endpoint,
        headers: jsonHeaders,
        body: JSON.stringify({
          msgtype: 'image',
          image: { base64: Buffer.from(picture).toString('base64'), md5: md5(picture) },
        }),
      }
    );
  },
};

const example = 'https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=…';

const codes: ErrorCodes = {
  // Too many messages.
  waitMs: new Map([[45009, 60_000]]),
  // Unknown key, robot taken out of its group.
  refused: new Set([93000, 93004, 93008, 40014]),
};
