import type { ChannelMessage, PostedChannelType } from 'svc/contracts/notify';
import { fitted, unmarked, withoutMentions } from 'svc/im';

import { isPublic, jsonHeaders, requireUrl } from './hook-address.ts';
import { excerpt, httpVerdict, strange } from './http-verdict.ts';

/** A section has 3,000 characters at most. */
const maxBytes = 2_900;

const colours: Readonly<Record<ChannelMessage['tone'], string>> = {
  critical: '#d32f2f',
  warning: '#f9a825',
  info: '#1976d2',
  good: '#388e3c',
};

const entities = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A line that begins with a pointed bracket would be a quotation, escaped or not. */
const escaped = (text: string): string =>
  entities(unmarked(withoutMentions(text)).replaceAll(/^(?=>)/gm, '\u200b'));

/** Incoming webhooks of Slack. */
export const slack: PostedChannelType = {
  title: 'Slack',
  aliases: ['im_provider_2'],
  secret: 'none',
  limits: [
    { count: 1, per_ms: 1_100 },
    { count: 50, per_ms: 60_000 },
  ],
  check: (address) => void requireUrl(address, 'https://hooks.slack.com/services/T…/B…/…'),
  render: (message, { endpoint }, { plain }) => ({
    url: endpoint,
    headers: jsonHeaders,
    body: JSON.stringify({
      text: `*${escaped(message.title)}*`,
      attachments: [{ color: colours[message.tone], blocks: blocksOf(message, plain) }],
      link_names: false,
      unfurl_links: false,
      unfurl_media: false,
    }),
  }),
  judge(reply, now) {
    // Above all a chart that it cannot fetch.
    if (reply.status === 400 && /^invalid_(?:blocks|attachments)/.test(reply.body.trim())) {
      return { result: 'plain' };
    }
    const verdict = httpVerdict(reply, now);
    if (verdict !== undefined) {
      return verdict;
    }
    const said = reply.body.trim();
    // What it refuses has another status.
    if (said === 'ok' || (reply.isCut === true && 'ok'.startsWith(said))) {
      return { result: 'sent' };
    }
    return /^[a-z_]{3,60}$/.test(said)
      ? {
          result: 'failed',
          reason: `the platform answered 200${excerpt(reply)}`,
          degraded: gone.has(said),
        }
      : strange(reply);
  },
};

/** Returns blocks with the facts, the remedy, and a button that links to more. */
function blocksOf(
  { lines, link, act, chart, about, facts, steps, templated, tone }: ChannelMessage,
  plain: boolean,
): readonly object[] {
  const isPlain = templated || facts.length === 0;
  const fit = (
    what: readonly string[],
    escape: (line: string) => string,
    most = maxBytes,
  ): string => fitted(what, { most, link, escape, escapeLink: entities });
  const text = isPlain
    ? fit(lines, escaped)
    : fit([...about.map(unlike), ...facts.map(({ name, text: said }) => `${name}: ${said}`)], bold);
  const todo = isPlain ? [] : steps.map((step, index) => `${index + 1}. ${step}`);
  const section = (of: string) => ({
    type: 'section',
    text: { type: 'mrkdwn', text: of, verbatim: true },
  });
  const style =
    tone === 'critical' ? { style: 'danger' } : tone === 'good' ? { style: 'primary' } : {};
  const button = (label: string, url: string) => ({
    type: 'button',
    text: { type: 'plain_text', text: label },
    url,
  });
  const buttons = [
    ...(link === '' ? [] : [{ ...button('Open', link), ...style }]),
    ...(act === undefined ? [] : [button('Acknowledge or silence', act)]),
  ];
  return [
    ...(text === '' ? [] : [section(text)]),
    ...(todo.length === 0 ? [] : [section(`*What to do*\n${fit(todo, escaped, maxBytes - 100)}`)]),
    ...(plain || chart === undefined || !isPublic(chart.link)
      ? []
      : [{ type: 'image', image_url: chart.link, alt_text: 'the last hour' }]),
    ...(buttons.length === 0 ? [] : [{ type: 'actions', elements: buttons }]),
  ];
}

const factName = /^[A-Z][a-z ]{1,30}:/;

/**
 * Returns a line of a rule's own text, marked so that it is never taken for a fact, however it
 * begins.
 */
const unlike = (line: string): string => (factName.test(line) ? `\u200b${line}` : line);

/** The name of a fact stands out. */
function bold(line: string): string {
  const at = factName.exec(line)?.[0].length ?? 0;
  return at === 0 ? escaped(line) : `*${line.slice(0, at)}*${escaped(line.slice(at))}`;
}

const gone = new Set([
  'no_service',
  'no_team',
  'invalid_token',
  'action_prohibited',
  'channel_not_found',
  'channel_is_archived',
  'team_disabled',
]);
