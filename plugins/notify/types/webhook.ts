import { createHmac } from 'node:crypto';

import type { ChannelMessage, MessageEntry, PostedChannelType } from 'svc/contracts/notify';

import { jsonHeaders, requireUrl } from './hook-address.ts';
import { httpVerdict } from './http-verdict.ts';

/** Channel type for programs: JSON with a signature over time and body. */
export const webhook: PostedChannelType = {
  title: 'Webhook',
  secret: 'optional',
  limits: [{ count: 5, per_ms: 1_000 }],
  check: (address) => void requireUrl(address, 'https://example.org/hooks/alerts'),
  render(message, { endpoint, secret }, { now }) {
    const body = bodyOf(message, now);
    return {
      url: endpoint,
      headers: {
        ...jsonHeaders,
        'idempotency-key': message.delivery_id,
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

/** Entries of a digest beyond this are counted only. */
const maxBytes = 200 * 1024;

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
  } = message;
  const frame = { version: '1', event: kind, sent_at: new Date(now).toISOString() };
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
  const notices = fitting(entries);
  return JSON.stringify({
    ...frame,
    ...none,
    count,
    omitted: (count ?? entries.length) - notices.length,
    notices,
  });
}

function fitting(entries: readonly MessageEntry[]): object[] {
  const taken: object[] = [];
  let bytes = 0;
  for (const { kind, incident } of entries) {
    const notice = { event: kind, ...aboutIncident(incident) };
    bytes += Buffer.byteLength(JSON.stringify(notice)) + 1;
    if (bytes > maxBytes) {
      break;
    }
    taken.push(notice);
  }
  return taken;
}

function aboutIncident(incident: MessageEntry['incident']): object {
  const { rule_key, rule_name, severity, runbook_url, dedupe_key } = incident;
  return {
    incident,
    rule: { rule_key, name: rule_name, severity, runbook_url: runbook_url ?? '' },
    group_key: dedupe_key,
  };
}
