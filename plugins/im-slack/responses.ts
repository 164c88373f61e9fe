import type { ImApp, ImMessage, ImSent, ImTarget } from 'svc/contracts/imbridge';
import { type Calls, notSent } from 'svc/im';

import { type Api, isAddressOf } from './api.ts';
import { bodyOf } from './message-body.ts';

const responseHosts = new Set(['hooks.slack.com', 'hooks.slack-gov.com']);

/**
 * Answers a slash command where only its sender sees it, also where the bot is no member. Such answers cannot be changed.
 * After five of them, or half an hour, Slack takes no more, and the rest goes to the sender directly.
 */
export async function respond(
  { calls, api }: { readonly calls: Calls; readonly api: Api },
  app: ImApp,
  target: ImTarget,
  message: ImMessage,
): Promise<ImSent> {
  const { response_url: url = '', user } = target;
  const body = bodyOf(message);
  const answer = isAddressOf(app, responseHosts, url)
    ? await calls.call({
        url,
        json: { response_type: 'ephemeral', replace_original: false, ...body },
        // Its answer is a word.
        judge: (_body, status) =>
          status === 200 ? undefined : { code: String(status), words: '', again: status >= 500 },
      })
    : undefined;
  const sent =
    answer === undefined || answer.result === 'failed'
      ? await api(app, 'chat.postMessage', { channel: user, ...body })
      : answer;
  return sent.result === 'ok'
    ? { result: 'sent', at: target, id: message.key, thread: target, fixed: true }
    : notSent(sent);
}
