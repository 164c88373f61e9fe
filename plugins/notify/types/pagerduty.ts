import { createHash } from 'node:crypto';

import type { ChannelMessage, PostedChannelType } from 'svc/contracts/notify';
import { cutToBytes } from 'svc/im';

import { oneLine } from '../message/plain-text.ts';
import { isPublic, jsonHeaders, requireUrl, wrongSecret } from './hook-address.ts';
import { httpVerdict, jsonReply, strange, takenByHead } from './http-verdict.ts';

const longest = { summary: 1_000, text: 4_000, key: 255 };

/**
 * Returns a key that is the same for everything about one incident, and different for every svc
 * that pages the same service.
 */
export function trackingKey({ incident, link, delivery_id: delivery }: ChannelMessage): string {
  if (incident === undefined) {
    return `svc-${delivery}`.slice(0, longest.key);
  }
  const origin = URL.canParse(link) ? new URL(link).origin : '';
  return `svc-${incident.id}-${createHash('sha256').update(`${origin} ${incident.dedupe_key}`).digest('hex').slice(0, 16)}`;
}

/** Returns the known facts of an incident, for a person who has nothing but the alert. */
export function trackedDetails({ incident, facts, steps }: ChannelMessage): Record<string, string> {
  const pairs = [
    ...facts.map(({ name, text }) => [name, text] as const),
    ...steps.map((step, index) => [`Step ${index + 1}`, step] as const),
    ...Object.entries(incident?.labels ?? {}).map(
      ([name, text]) => [`label ${name}`, text] as const,
    ),
  ];
  return Object.fromEntries(
    pairs
      .slice(0, 60)
      .map(([name, text]) => [oneLine(name, 200), cutToBytes(oneLine(text, 1_000), 1_000)]),
  );
}

/** Returns the stage for a platform that keeps incidents: open one, acknowledge it, or close it. */
export const stageOf = ({
  kind,
  incident,
}: ChannelMessage): 'trigger' | 'acknowledge' | 'resolve' =>
  kind === 'resolved'
    ? 'resolve'
    : kind === 'reminder' && incident?.status === 'acknowledged'
      ? 'acknowledge'
      : 'trigger';

/** Services of PagerDuty, by the Events API v2. The secret is the routing key. */
export const pagerduty: PostedChannelType = {
  title: 'PagerDuty',
  secret: 'required',
  tracks: true,
  limits: [{ count: 100, per_ms: 60_000 }],
  check(address) {
    requireUrl(address, 'https://events.pagerduty.com/v2/enqueue');
    if (!/^[A-Za-z0-9]{32}$/.test(address.secret)) {
      throw wrongSecret(
        'must be the integration key of the service, 32 letters and digits (Events API v2)',
      );
    }
  },
  render(message, { endpoint, secret }, { now }) {
    const stage = stageOf(message);
    const { title, lines, severity, link, act = '', chart, incident } = message;
    const frame = { routing_key: secret, event_action: stage, dedup_key: trackingKey(message) };
    const payload = {
      summary: cutToBytes(title, longest.summary),
      source: oneLine(incident?.labels['instance'] || incident?.scope_id || '', 300) || 'svc',
      severity,
      timestamp: incident?.fired_at ?? new Date(now).toISOString(),
      ...(incident && {
        component: incident.scope_type,
        group: incident.rule_key,
        class: oneLine(incident.rule_name, 300),
      }),
      custom_details: {
        ...trackedDetails(message),
        text: cutToBytes(lines.join('\n'), longest.text),
      },
    };
    const links = [
      { href: link, text: 'Open' },
      { href: act, text: 'Acknowledge or silence' },
      { href: incident?.runbook_url ?? '', text: 'Runbook' },
    ].filter(({ href }) => /^https?:/.test(href));
    const images =
      chart !== undefined && isPublic(chart.link)
        ? { images: [{ src: chart.link, href: link, alt: 'the last hour' }] }
        : {};
    const body =
      stage === 'trigger'
        ? {
            ...frame,
            payload,
            client: 'svc',
            ...(link !== '' && { client_url: link }),
            links,
            ...images,
          }
        : frame;
    return { url: endpoint, headers: jsonHeaders, body: JSON.stringify(body) };
  },
  judge(reply, now) {
    const said = jsonReply(reply);
    if (reply.status === 202) {
      return said?.['status'] === 'success' ? { result: 'sent' } : takenByHead(reply);
    }
    const verdict = httpVerdict(reply, now) ?? strange(reply);
    // Only an unknown routing key is refused here: everything we send has the same form.
    return verdict.result === 'failed' && reply.status === 400 && /routing[_ ]key/i.test(reply.body)
      ? { ...verdict, degraded: true }
      : verdict;
  },
};
