import type { ImApp, ImCallback, ImEvent, ImReceived } from 'svc/contracts/imbridge';
import { formFields, isFresh, jsonObject, objectOf, sameSecret, signed, textOf } from 'svc/im';

import { filesOf } from './files.ts';
import { submittedOf } from './views.ts';

type Json = Readonly<Record<string, unknown>>;

const maxLinks = 5;
const refused: ImReceived = { outcome: 'refused' };

/** Receives a callback, which Slack signs with the time and the bytes of its body. */
export function receive(app: ImApp, { method, headers, body, now }: ImCallback): ImReceived {
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
export function eventsOf(app: ImApp, payload: Json, kind: string): readonly ImEvent[] {
  if (!ofApp(payload, app)) {
    return [];
  }
  const found =
    kind === 'interactive'
      ? (pressed(payload) ?? submitted(payload))
      : kind === 'slash_commands'
        ? slashed(payload)
        : kind === 'events_api'
          ? (written(payload) ?? opened(payload) ?? linked(payload))
          : undefined;
  return found === undefined || found.sender === '' || found.conversation === '' ? [] : [found];
}

/**
 * Messages of people to the bot: mentions of it, and direct ones, as they are written and as they are edited, and what may
 * continue a thread, for apps that get the messages of channels. Other bots and itself are passed over.
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
  // A mention of the bot comes as such as well.
  const continues =
    type === 'message' &&
    !direct &&
    root !== '' &&
    root !== ts &&
    event['edited'] === undefined &&
    !/<[@!]/.test(textOf(event['text'], 40_000));
  const isForUs =
    payload['type'] === 'event_callback' &&
    (type === 'app_mention' || (type === 'message' && direct) || continues) &&
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
    files: filesOf(event),
    reply: { channel, ...(thread !== '' && { thread_ts: thread }) },
    message: `${channel}:${ts}`,
    ...(continues && { continues }),
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
  const [command, text, channel, sender, url] = [
    'command',
    'text',
    'channel_id',
    'user_id',
    'response_url',
  ].map((name) => textOf(form[name], 4_000)) as [string, string, string, string, string];
  const said = /^\/svc\b/.test(command)
    ? text.startsWith('/')
      ? text
      : /^(?:help|incidents|ack|silence|note|new|link|unlink|approve|deny)\b/.test(text)
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
    hidden: true,
    thread: `${channel}:@${sender}`,
    replies_to: [],
    text: said,
    has_media: false,
    reply: { channel, user: sender, ...(url !== '' && { response_url: url }) },
  };
}

function pressed(payload: Json): ImEvent | undefined {
  const [action] = (Array.isArray(payload['actions']) ? payload['actions'] : []).map(objectOf);
  const [user, message, container] = [
    objectOf(payload['user']),
    objectOf(payload['message']),
    objectOf(payload['container']),
  ];
  const atHome = container['type'] === 'view';
  // What only one person sees has no thread: they are answered in the same way.
  const hidden = container['is_ephemeral'] === true;
  const channel = atHome
    ? textOf(user['id'])
    : textOf(objectOf(payload['channel'])['id']) || textOf(container['channel_id']);
  const ts = textOf(message['ts']) || textOf(container['message_ts']);
  const root = textOf(message['thread_ts']) || ts;
  const token = textOf(action?.['value']);
  if (payload['type'] !== 'block_actions' || token === '' || (root === '' && !atHome)) {
    return undefined;
  }
  return {
    kind: 'action',
    key: `${textOf(payload['trigger_id'])}:${textOf(action?.['action_ts'])}`,
    sender: textOf(user['id']),
    sender_name: textOf(user['username']) || textOf(user['id']),
    conversation: channel,
    direct: atHome || channel.startsWith('D'),
    thread: `${channel}:${root}`,
    replies_to: atHome ? [] : [...new Set([root, ts])],
    text: token,
    has_media: false,
    reply: hidden
      ? { channel, user: textOf(user['id']), response_url: textOf(payload['response_url'], 2_000) }
      : { channel, ...(!atHome && { thread_ts: root }) },
    ...(hidden && { hidden }),
    form: { trigger: textOf(payload['trigger_id']) },
    ...(atHome && { at_home: true }),
  };
}

/** Returns a form that was sent; where it belongs is in it as it was opened, and nobody but Slack can have changed that. */
function submitted(payload: Json): ImEvent | undefined {
  const [user, view] = [objectOf(payload['user']), objectOf(payload['view'])];
  const { token, reply, fields } = submittedOf(view);
  const { channel = '', thread_ts: root = '' } = reply;
  if (payload['type'] !== 'view_submission' || token === '' || channel === '') {
    return undefined;
  }
  return {
    kind: 'action',
    key: `${textOf(view['id'])}:${textOf(view['hash'])}`,
    sender: textOf(user['id']),
    sender_name: textOf(user['username']) || textOf(user['name']) || textOf(user['id']),
    conversation: channel,
    direct: /^[DUW]/.test(channel),
    thread: `${channel}:${root}`,
    replies_to: root === '' ? [] : [root],
    text: token,
    has_media: false,
    reply,
    fields,
  };
}

/** Somebody opens the home page of the app; its tab of messages is none. */
function opened(payload: Json): ImEvent | undefined {
  const event = objectOf(payload['event']);
  const sender = textOf(event['user']);
  return payload['type'] === 'event_callback' &&
    event['type'] === 'app_home_opened' &&
    event['tab'] === 'home'
    ? {
        kind: 'home',
        key: `${textOf(payload['team_id'])}:${textOf(payload['event_id'])}`,
        sender,
        sender_name: sender,
        conversation: sender,
        direct: true,
        thread: `home:${sender}`,
        replies_to: [],
        text: '',
        has_media: false,
        reply: { channel: sender },
      }
    : undefined;
}

/** Addresses of svc in a message, which the manifest names the host of. */
function linked(payload: Json): ImEvent | undefined {
  const event = objectOf(payload['event']);
  const [sender, channel, ts, unfurl, source] = [
    'user',
    'channel',
    'message_ts',
    'unfurl_id',
    'source',
  ].map((name) => textOf(event[name])) as [string, string, string, string, string];
  const links = (Array.isArray(event['links']) ? event['links'] : [])
    .slice(0, maxLinks)
    .map((link) => textOf(objectOf(link)['url'], 2_000));
  const key = `${textOf(payload['team_id'])}:${textOf(payload['event_id'])}`;
  return payload['type'] === 'event_callback' && event['type'] === 'link_shared' && links.length > 0
    ? {
        kind: 'links',
        key,
        sender,
        sender_name: sender,
        conversation: channel,
        direct: false,
        thread: `links:${key}`,
        replies_to: [],
        text: links.join('\n'),
        has_media: false,
        reply: unfurl === '' || source === '' ? { channel, ts } : { unfurl_id: unfurl, source },
      }
    : undefined;
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
