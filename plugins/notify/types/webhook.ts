import { createHash, createHmac } from 'node:crypto';

import type { ChannelMessage, MessageEntry, PostedChannelType } from 'svc/contracts/notify';

import { jsonHeaders, requireUrl } from './hook-address.ts';
import { httpVerdict } from './http-verdict.ts';

/** Channel type for programs: JSON with a signature over time and body. */
export const webhook: PostedChannelType = {
  title: 'Webhook',
  secret: 'optional',
  paged: true,
  limits: [{ count: 5, per_ms: 1_000 }],
  check: (address) => void requireUrl(address, 'https://example.org/hooks/alerts'),
  render(message, { endpoint, secret }, { now }) {
    const body = bodyOf(message, now);
    return {
      url: endpoint,
      headers: {
        ...jsonHeaders,
        'idempotency-key': keyOf(message),
        ...(secret !== '' && {
          'x-svc-signature': signatureOf(secret, Math.floor(now / 1000), body),
        }),
      },
      body,
    };
  },
  judge: (reply, now) => httpVerdict(reply, now) ?? { result: 'sent' },
};

export const signatureOf = (secret: string, unixSeconds: number, body: string): string =>
  `t=${unixSeconds},v1=${createHmac('sha256', secret).update(`${unixSeconds}.${body}`).digest('hex')}`;

/**
 * Returns what a receiver knows a repeated request by. A list may have grown since the try before:
 * then it is another request, or who drops repeated ones would miss what is new.
 */
function keyOf({ delivery_id: id, page, entries, incident }: ChannelMessage): string {
  const list = entries ?? (page && incident?.instances);
  return list === undefined
    ? id
    : `${id}.${page?.number ?? 1}.${createHash('sha256').update(JSON.stringify(list)).digest('base64url').slice(0, 22)}`;
}

function bodyOf(message: ChannelMessage, now: number): string {
  const {
    kind,
    incident,
    entries,
    count,
    templated,
    lines,
    title,
    link,
    act,
    chart,
    facts,
    steps,
    group_key: group = kind,
    page,
  } = message;
  const frame = {
    version: '1',
    event: kind,
    sent_at: new Date(now).toISOString(),
    ...(page !== undefined && { page }),
  };
  if (incident !== undefined) {
    return JSON.stringify({
      ...frame,
      ...aboutIncident(incident),
      title,
      link,
      ...(act !== undefined && { act_link: act }),
      ...(chart !== undefined && { chart_link: chart.link }),
      facts,
      steps,
      ...(templated && { text: lines.join('\n') }),
    });
  }
  const none = { incident: null, rule: null, group_key: group, title, link };
  if (entries === undefined) {
    return JSON.stringify({ ...frame, ...none, text: lines.join('\n') });
  }
  return JSON.stringify({
    ...frame,
    ...none,
    count,
    omitted: (count ?? entries.length) - entries.length,
    notices: entries.map(({ kind: event, incident: one }) => ({ event, ...aboutIncident(one) })),
  });
}

function aboutIncident(incident: MessageEntry['incident']): object {
  const { rule_key, rule_name, severity, runbook_url, dedupe_key } = incident;
  return {
    incident,
    rule: { rule_key, name: rule_name, severity, runbook_url: runbook_url ?? '' },
    group_key: dedupe_key,
  };
}
