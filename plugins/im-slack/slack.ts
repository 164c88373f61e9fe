import type { ImApp, ImMessage, ImPlatform, ImSent, ImTarget } from 'svc/contracts/imbridge';
import { type CallPorts, Calls, objectOf, textOf } from 'svc/im';
import type { SvcError } from 'svc/sdk';

import { type Api, endpointOf, latestOf, openApi } from './api.ts';
import { errors } from './errors.ts';
import { eventsOf, receive } from './events.ts';
import { fetchFile, sendFile, sendPicture } from './files.ts';
import { bodyOf, mrkdwn } from './message-body.ts';
import { preview } from './previews.ts';
import { respond } from './responses.ts';
import { socketMode } from './socket-mode.ts';
import { openForm, showPage } from './views.ts';

/** Apps of Slack: the secret is the bot's token, the key the signing secret, the verify token the one of the app's sockets. */
export function slack(ports: CallPorts): ImPlatform {
  const calls = new Calls(ports);
  const api = openApi(calls);
  return {
    title: 'Slack',
    needs: { callback: ['app_secret', 'encrypt_key'], stream: ['app_secret', 'verify_token'] },
    allow_list: false,
    // chat.update refuses a text of more than 4,000 bytes, which chat.postMessage takes.
    max_size: 3_900,
    sizeOf: (text) => Buffer.byteLength(mrkdwn(text)),
    edits: { every_ms: 1_500, most: 40 },
    pace: { count: 45, per_ms: 60_000 },
    repeats: 'known',
    check({ app_id: id, app_secret: secret }) {
      if (!/^A[A-Z0-9]{5,30}$/.test(id)) {
        throw wrong('app_id', 'is the id of the app, such as A0123456789');
      }
      if (!/^xoxb-[\w-]{10,300}$/.test(secret)) {
        throw wrong('app_secret', 'must be the bot token, which begins with xoxb-');
      }
    },
    receive,
    async send(app, target, message) {
      if (target['response_url'] !== undefined) {
        return await respond({ calls, api }, app, target, message);
      }
      const earlier = message.again ? await sentBefore(api, app, target, message.key) : undefined;
      if (earlier !== undefined) {
        return await edited(api, app, earlier, message);
      }
      const body = {
        ...target,
        ...bodyOf(message),
        metadata: { event_type: 'svc_answer', event_payload: { key: message.key } },
      };
      return sentOf(await api(app, 'chat.postMessage', body), target);
    },
    edit: (app, at, message) =>
      at['response_url'] === undefined
        ? edited(api, app, at, message)
        : respond({ calls, api }, app, at, message),
    max_messages: 4,
    fetchFile: (app, file, maxBytes) => fetchFile(calls, app, file, maxBytes),
    sendFile: (app, target, document) => sendFile({ calls, api }, app, target, document),
    sendPicture: (app, target, picture) => sendPicture({ calls, api }, app, target, picture),
    openForm: (app, at, form) => openForm(api, app, at, form),
    showPage: (app, sender, page) => showPage(api, app, sender, page),
    preview: (app, at, previews) => preview(api, app, at, previews),
    async nameOf(app, sender) {
      const answer = await api(app, 'users.info', { user: sender });
      const user = answer.result === 'ok' ? objectOf(answer.body['user']) : {};
      const profile = objectOf(user['profile']);
      return textOf(profile['display_name']) || textOf(user['real_name']) || textOf(user['name']);
    },
    personTarget: (sender) => ({ channel: sender }),
    conversationTarget: (conversation) => ({ channel: conversation }),
    listen: (app, own, listening) =>
      socketMode({
        calls,
        app,
        endpoint: endpointOf(app),
        ports: own,
        listening,
        eventsOf: (payload, kind) => eventsOf(app, payload, kind),
      }),
  };
}

/** A message that a call before a crash may have left there, by the key that it carries. */
async function sentBefore(
  api: Api,
  app: ImApp,
  target: ImTarget,
  key: string,
): Promise<ImTarget | undefined> {
  const { channel, thread_ts: root } = target;
  const found = (await latestOf(api, app, target)).find(
    (message) => objectOf(objectOf(message['metadata'])['event_payload'])['key'] === key,
  );
  return (
    found && {
      channel: channel!,
      ts: textOf(found['ts']),
      ...(root !== undefined && { thread_ts: root }),
    }
  );
}

async function edited(api: Api, app: ImApp, at: ImTarget, message: ImMessage): Promise<ImSent> {
  const { channel, ts } = at;
  const sent = await api(app, 'chat.update', { channel, ts, blocks: [], ...bodyOf(message) });
  return sent.result === 'ok'
    ? {
        result: 'sent',
        at,
        id: ts!,
        thread: { channel: channel!, thread_ts: at['thread_ts'] ?? ts! },
      }
    : sent;
}

function sentOf(answer: Awaited<ReturnType<Api>>, target: ImTarget): ImSent {
  if (answer.result !== 'ok') {
    return answer.result === 'retry' ? answer : { result: 'failed', reason: answer.reason };
  }
  const ts = textOf(answer.body['ts']);
  const channel = textOf(answer.body['channel']) || target['channel']!;
  const root = target['thread_ts'];
  return {
    result: 'sent',
    at: { channel, ts, ...(root !== undefined && { thread_ts: root }) },
    id: ts,
    thread: { channel, thread_ts: root ?? ts },
  };
}

const wrong = (field: string, message: string): SvcError =>
  errors.invalid_app({ field, message }, { details: [{ path: `/${field}`, message }] });
