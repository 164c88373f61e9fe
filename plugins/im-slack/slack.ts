import type {
  ImApp,
  ImCallback,
  ImEvent,
  ImMessage,
  ImPlatform,
  ImReceived,
  ImSent,
  ImTarget,
} from 'svc/contracts/imbridge';
import {
  type CallPorts,
  Calls,
  cutToBytes,
  formFields,
  inParts,
  isFresh,
  jsonObject,
  objectOf,
  sameSecret,
  signed,
  textOf,
} from 'svc/im';
import type { SvcError } from 'svc/sdk';

import { errors } from './errors.ts';
import { socketMode } from './socket-mode.ts';

type Json = Readonly<Record<string, unknown>>;

const usualEndpoint = 'https://slack.com/api';
const refused: ImReceived = { outcome: 'refused' };
const maxSection = 2_900;
const passing = new Set([
  'ratelimited',
  'service_unavailable',
  'internal_error',
  'fatal_error',
  'request_timeout',
  'team_added_to_org',
]);
/** Max messages searched for one that may have been sent before a crash. */
const lookedThrough = 50;

/** Apps of Slack: the secret is the bot's token, the key the signing secret, the verify token the one of the app's sockets. */
export function slack(ports: CallPorts): ImPlatform {
  const calls = new Calls(ports);
  const api: Api = async (app, method, args) =>
    await calls.call({
      ...(reading.has(method)
        ? { method: 'GET', url: `${endpointOf(app)}/${method}?${queryOf(args)}` }
        : { url: `${endpointOf(app)}/${method}`, json: args }),
      headers: { authorization: `Bearer ${app.app_secret}` },
      judge: objection,
    });
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
    edit: (app, at, message) => edited(api, app, at, message),
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

type Api = (app: ImApp, method: string, args: object) => ReturnType<Calls['call']>;

/** Methods that take no JSON: they would see no arguments in it. */
const reading = new Set(['users.info', 'conversations.history', 'conversations.replies']);

const queryOf = (args: object): string =>
  new URLSearchParams(
    Object.entries(args).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();

const endpointOf = ({ endpoint }: ImApp): string => endpoint || usualEndpoint;

function receive(app: ImApp, { method, headers, body, now }: ImCallback): ImReceived {
  const at = headers['x-slack-request-timestamp'] ?? '';
  const own = `v0=${signed(app.encrypt_key, Buffer.concat([Buffer.from(`v0:${at}:`), body]), 'hex')}`;
  const isSigned = sameSecret(headers['x-slack-signature'] ?? '', own);
  if (
    !isSigned ||
    !/^\d{1,12}$/.test(at) ||
    !isFresh(Number(at) * 1_000, now) ||
    method !== 'POST'
  ) {
    return refused;
  }
  if (
    (headers['content-type'] ?? '').toLowerCase().startsWith('application/x-www-form-urlencoded')
  ) {
    const form = formFields(body);
    const isPayload = form['payload'] !== undefined;
    const payload = isPayload ? jsonObject(form['payload']!) : form;
    return ofApp(payload, app)
      ? {
          outcome: 'events',
          events: eventsOf(app, payload, isPayload ? 'interactive' : 'slash_commands'),
          body: '',
          type: 'text/plain',
        }
      : refused;
  }
  const payload = jsonObject(body);
  if (payload['type'] === 'url_verification') {
    return {
      outcome: 'answer',
      body: JSON.stringify({ challenge: textOf(payload['challenge'], 2_000) }),
      type: 'application/json',
    };
  }
  return ofApp(payload, app)
    ? { outcome: 'events', events: eventsOf(app, payload, 'events_api') }
    : refused;
}

const ofApp = (payload: Json, { app_id: id }: ImApp): boolean =>
  textOf(payload['api_app_id']) === id;

/** Returns the events of a callback, or of a socket's envelope. */
function eventsOf(app: ImApp, payload: Json, kind: string): readonly ImEvent[] {
  if (!ofApp(payload, app)) {
    return [];
  }
  const found =
    kind === 'interactive'
      ? pressed(payload)
      : kind === 'slash_commands'
        ? slashed(payload)
        : kind === 'events_api'
          ? written(payload)
          : undefined;
  return found === undefined || found.sender === '' || found.conversation === '' ? [] : [found];
}

/**
 * Messages of people to the bot: mentions of it, and direct ones, as they are written and as they are edited. Other bots and
 * itself are passed over.
 */
function written(payload: Json): ImEvent | undefined {
  const event = currentVersion(objectOf(payload['event']));
  const [type, channel, ts, root, subtype] = ['type', 'channel', 'ts', 'thread_ts', 'subtype'].map(
    (name) => textOf(event[name]),
  ) as [string, string, string, string, string];
  const direct = textOf(event['channel_type']) === 'im';
  const own = (Array.isArray(payload['authorizations']) ? payload['authorizations'] : []).map(
    (each) => textOf(objectOf(each)['user_id']),
  );
  const sender = textOf(event['user']);
  const isForUs =
    payload['type'] === 'event_callback' &&
    (type === 'app_mention' || (type === 'message' && direct)) &&
    (subtype === '' || subtype === 'file_share');
  if (!isForUs || event['bot_id'] !== undefined || own.includes(sender)) {
    return undefined;
  }
  const thread = root || (direct ? '' : ts);
  return {
    kind: 'message',
    key: `${textOf(payload['team_id'])}:${textOf(payload['event_id'])}`,
    sender,
    sender_name: sender,
    conversation: channel,
    direct,
    thread: `${channel}:${thread}`,
    replies_to: root === '' ? [] : [root],
    text: plainText(textOf(event['text'], 40_000)),
    has_media: Array.isArray(event['files']),
    reply: { channel, ...(thread !== '' && { thread_ts: thread }) },
    message: `${channel}:${ts}`,
    ...(event['edited'] !== undefined && { edited: true }),
  };
}

/** Returns the message as it is now; links that Slack has looked up change it without an edit. */
function currentVersion(event: Json): Json {
  const [now, before] = [objectOf(event['message']), objectOf(event['previous_message'])];
  return event['subtype'] === 'message_changed' &&
    now['edited'] !== undefined &&
    now['text'] !== before['text']
    ? { ...now, type: 'message', channel: event['channel'], channel_type: event['channel_type'] }
    : event;
}

function slashed(form: Json): ImEvent {
  const [command, text, channel, sender] = ['command', 'text', 'channel_id', 'user_id'].map(
    (name) => textOf(form[name], 4_000),
  ) as [string, string, string, string];
  const said = /^\/svc\b/.test(command)
    ? text.startsWith('/')
      ? text
      : /^(?:help|incidents|ack|silence|new|link|unlink|approve|deny)\b/.test(text)
        ? `/${text}`
        : text
    : `${command} ${text}`;
  const direct = channel.startsWith('D');
  return {
    kind: 'message',
    key: textOf(form['trigger_id']),
    sender,
    sender_name: textOf(form['user_name']) || sender,
    conversation: channel,
    direct,
    thread: `${channel}:`,
    replies_to: [],
    text: said,
    has_media: false,
    reply: { channel },
  };
}

function pressed(payload: Json): ImEvent | undefined {
  const [action] = (Array.isArray(payload['actions']) ? payload['actions'] : []).map(objectOf);
  const [user, message, container] = [
    objectOf(payload['user']),
    objectOf(payload['message']),
    objectOf(payload['container']),
  ];
  const channel = textOf(objectOf(payload['channel'])['id']) || textOf(container['channel_id']);
  const ts = textOf(message['ts']) || textOf(container['message_ts']);
  const root = textOf(message['thread_ts']) || ts;
  const token = textOf(action?.['value']);
  if (payload['type'] !== 'block_actions' || token === '' || root === '') {
    return undefined;
  }
  return {
    kind: 'action',
    key: `${textOf(payload['trigger_id'])}:${textOf(action?.['action_ts'])}`,
    sender: textOf(user['id']),
    sender_name: textOf(user['username']) || textOf(user['id']),
    conversation: channel,
    direct: channel.startsWith('D'),
    thread: `${channel}:${root}`,
    replies_to: [...new Set([root, ts])],
    text: token,
    has_media: false,
    reply: { channel, thread_ts: root },
  };
}

/** Removes a leading mention of the bot; `!ack` becomes `/ack`, which Slack reserves. */
const plainText = (text: string): string =>
  text
    .replace(/^\s*<@[A-Z0-9]+(?:\|[^>]*)?>\s*[,:]?\s*/, '')
    .replaceAll(/<(https?:[^|>]+)\|?[^>]*>/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replace(/^!(?=[a-z])/, '/');

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Converts the simple markdown of models to that of Slack. */
const mrkdwn = (text: string): string =>
  escaped(text)
    .replaceAll(/\*\*([^*\n]+)\*\*/g, '*$1*')
    .replaceAll(/^#{1,6} +(.+)$/gm, '*$1*')
    .replaceAll(/\[([^\]\n]{1,200})\]\((https?:[^)\s]+)\)/g, '$1 ($2)');

function bodyOf({ text, buttons }: ImMessage): object {
  const shown = mrkdwn(text);
  const elements = buttons.slice(0, 10).map(({ label, token, url, style }) => ({
    type: 'button',
    text: { type: 'plain_text', text: cutToBytes(label, 70) },
    ...(style !== undefined && { style }),
    ...(url === undefined
      ? { value: token, action_id: `act_${token}` }
      : { url, action_id: 'open' }),
  }));
  const blocks =
    elements.length === 0
      ? {}
      : {
          blocks: [
            ...inParts(shown, (part) => part.length <= maxSection, 3).map((part) => ({
              type: 'section',
              text: { type: 'mrkdwn', text: part, verbatim: true },
            })),
            { type: 'actions', elements },
          ],
        };
  return {
    text: shown,
    mrkdwn: true,
    link_names: false,
    unfurl_links: false,
    unfurl_media: false,
    parse: 'none',
    ...blocks,
  };
}

function objection(body: Json, status: number) {
  if (status === 200 && body['ok'] === true) {
    return undefined;
  }
  const code = textOf(body['error']);
  return code === ''
    ? { code: String(status), words: '' }
    : { code, words: '', again: passing.has(code) || status >= 500 || status === 429 };
}

/** A message that a call before a crash may have left there, by the key that it carries. */
async function sentBefore(
  api: Api,
  app: ImApp,
  { channel, thread_ts: root }: ImTarget,
  key: string,
): Promise<ImTarget | undefined> {
  const method = root === undefined ? 'conversations.history' : 'conversations.replies';
  const answer = await api(app, method, {
    channel,
    ...(root !== undefined && { ts: root }),
    limit: lookedThrough,
    include_all_metadata: true,
  });
  const messages =
    answer.result === 'ok' && Array.isArray(answer.body['messages'])
      ? answer.body['messages'].map(objectOf)
      : [];
  const found = messages.find(
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
