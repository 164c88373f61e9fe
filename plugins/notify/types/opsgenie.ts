import type { ChannelMessage, PostedChannelType } from 'svc/contracts/notify';
import { cutToBytes } from 'svc/im';

import { oneLine, withLink } from '../message/plain-text.ts';
import { jsonHeaders, requireUrl, wrongEndpoint, wrongSecret } from './hook-address.ts';
import { httpVerdict, jsonReply, strange, takenByHead } from './http-verdict.ts';
import { stageOf, trackedDetails, trackingKey } from './pagerduty.ts';

const priorities: Readonly<Record<ChannelMessage['severity'], string>> = {
  critical: 'P1',
  warning: 'P3',
  info: 'P5',
};
const example = 'https://api.opsgenie.com or https://api.eu.opsgenie.com';

/** Alerts of Opsgenie and of what speaks its API. The endpoint is the base of the API, the secret an API key. */
export const opsgenie: PostedChannelType = {
  title: 'Opsgenie',
  secret: 'required',
  tracks: true,
  limits: [
    { count: 5, per_ms: 1_000 },
    { count: 120, per_ms: 60_000 },
  ],
  check(address) {
    if (/\/v2\/?/.test(requireUrl(address, example).pathname)) {
      throw wrongEndpoint(`must be the base of the API, ${example}, without /v2/alerts`);
    }
    if (!/^[\w-]{20,100}$/.test(address.secret)) {
      throw wrongSecret('must be the key of an API integration');
    }
  },
  render(message, { endpoint, secret }) {
    const { title, lines, link, act, severity, incident } = message;
    const alerts = `${endpoint.replace(/\/+$/, '')}/v2/alerts`;
    const alias = trackingKey(message);
    const headers = { ...jsonHeaders, authorization: `GenieKey ${secret}` };
    const stage = stageOf(message);
    if (stage !== 'trigger') {
      const verb = stage === 'resolve' ? 'close' : 'acknowledge';
      const note = cutToBytes([title, ...lines].join('\n'), 5_000);
      return {
        url: `${alerts}/${encodeURIComponent(alias)}/${verb}?identifierType=alias`,
        headers,
        body: JSON.stringify({ source: 'svc', note }),
      };
    }
    const body = {
      message: cutToBytes(title, 130),
      alias,
      description: cutToBytes(
        [
          ...withLink(lines, link),
          ...(act === undefined ? [] : [`To acknowledge or silence: ${act}`]),
        ].join('\n'),
        15_000,
      ),
      details: trackedDetails(message),
      priority: priorities[severity],
      source: 'svc',
      ...(incident && {
        entity: cutToBytes(oneLine(incident.scope_id, 500), 500),
        tags: [severity, incident.rule_key].map((tag) => cutToBytes(oneLine(tag, 50), 50)),
      }),
    };
    return { url: alerts, headers, body: JSON.stringify(body) };
  },
  judge(reply, now) {
    const said = jsonReply(reply);
    if (reply.status === 202) {
      return typeof said?.['requestId'] === 'string' ? { result: 'sent' } : takenByHead(reply);
    }
    return httpVerdict(reply, now) ?? strange(reply);
  },
};
