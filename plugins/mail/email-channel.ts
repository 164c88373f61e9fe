import type { MailSender } from 'svc/contracts/mail';
import type { ChannelMessage, DeliveringChannelType } from 'svc/contracts/notify';
import { isSvcError, type Logger } from 'svc/sdk';

import { errors } from './errors.ts';
import { htmlOf } from './mail-text.ts';
import { addressForm } from './mailer.ts';

const mostRecipients = 50;
const longestText = 100_000;

/**
 * Kind of channel for e-mail addresses. The server is that of the settings, so it has no secret.
 */
export const emailChannel = (sender: MailSender, log: Logger): DeliveringChannelType => ({
  title: 'E-mail',
  aliases: ['smtp', 'mail'],
  secret: 'none',
  limits: [
    { count: 2, per_ms: 1_000 },
    { count: 60, per_ms: 60_000 },
  ],
  check({ endpoint }) {
    const wrong = recipientsOf(endpoint).find((address) => !addressForm.test(address));
    if (wrong !== undefined || recipientsOf(endpoint).length > mostRecipients) {
      const message = `must be one or several e-mail addresses separated by commas, at most ${mostRecipients}: ann@example.org, ops@example.org`;
      throw errors.endpoint({ message }, { details: [{ path: '/endpoint', message }] });
    }
  },
  shown: (endpoint) => endpoint,
  async deliver(message, { endpoint }, { timeoutMs }) {
    try {
      const { refused } = await sender.send(mailOf(message, recipientsOf(endpoint)), { timeoutMs });
      refused.forEach(({ to, reason }) =>
        log.warn(
          { event: 'mail.recipient_refused', to, reason },
          "a channel's recipient was rejected; remove the address",
        ),
      );
      return { result: 'sent' };
    } catch (error) {
      if (isSvcError(error) && error.code === 'conflict') {
        return { result: 'failed', reason: error.message, degraded: true };
      }
      throw error;
    }
  },
});

const recipientsOf = (endpoint: string): readonly string[] =>
  endpoint
    .replace(/^mailto:/i, '')
    .split(',')
    .map((address) => address.trim());

function mailOf(
  { delivery_id: id, title, lines, link, act, chart, incident }: ChannelMessage,
  to: readonly string[],
) {
  const links = [
    ...(link === '' ? [] : ['', link]),
    ...(act === undefined ? [] : [`To acknowledge or silence: ${act}`]),
  ];
  const text = [...lines, ...links].join('\n').slice(0, longestText);
  const picture = chart?.png();
  return {
    id,
    to,
    subject: title,
    text,
    html: htmlOf(text, [link, act ?? '', incident?.runbook_url ?? '']),
    ...(picture && { picture }),
    ...(incident && { thread: `incident-${incident.id}-${incident.dedupe_key}` }),
  };
}
