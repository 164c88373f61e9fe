import type { ChannelType } from '../contract.ts';
import { fitted, withLink, withoutMentions } from '../plain-text.ts';
import { jsonHeaders, requireUrl } from './hook-address.ts';
import { excerpt, httpVerdict, strange } from './http-verdict.ts';

/** Longer texts are cut by the platform in the middle of a word. */
const mostBytes = 3_900;

const escaped = (text: string): string => withoutMentions(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Incoming webhooks of Slack. */
export const slack: ChannelType = {
  title: 'Slack',
  aliases: ['im_provider_2'],
  secret: 'none',
  limits: [
    { count: 1, per_ms: 1_100 },
    { count: 50, per_ms: 60_000 },
  ],
  check: (address) => void requireUrl(address, 'https://hooks.slack.com/services/T…/B…/…'),
  render: ({ title, lines, link }, { endpoint }) => ({
    url: endpoint,
    headers: jsonHeaders,
    body: JSON.stringify({
      text: `*${escaped(title)}*\n${fitted(withLink(lines, link), mostBytes, link, escaped)}`,
      link_names: false,
      unfurl_links: false,
      unfurl_media: false,
    }),
  }),
  judge(reply, now) {
    const verdict = httpVerdict(reply, now);
    if (verdict !== undefined) {
      return verdict;
    }
    const said = reply.body.trim();
    if (said === 'ok') {
      return { result: 'sent' };
    }
    return /^[a-z_]{3,60}$/.test(said) ? { result: 'failed', reason: `the platform answered 200${excerpt(reply)}`, degraded: gone.has(said) } : strange(reply);
  },
};

const gone = new Set(['no_service', 'no_team', 'invalid_token', 'action_prohibited', 'channel_not_found', 'channel_is_archived', 'team_disabled']);
