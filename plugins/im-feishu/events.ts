import type { ImEvent, ImFile } from 'svc/contracts/imbridge';
import { jsonObject, objectOf, textOf } from 'svc/im';

type Json = Readonly<Record<string, unknown>>;

/** Returns the events of a payload of either version; undefined if it is for another app. */
export function eventsOf(appId: string, payload: Json): readonly ImEvent[] | undefined {
  const [header, event] = [objectOf(payload['header']), objectOf(payload['event'])];
  const isSecond = payload['schema'] === '2.0';
  if ((isSecond ? textOf(header['app_id']) : textOf(event['app_id'])) !== appId) {
    return undefined;
  }
  const key = isSecond ? textOf(header['event_id']) : textOf(payload['uuid']);
  const type = isSecond ? textOf(header['event_type']) : textOf(event['type']);
  const found =
    type === 'im.message.receive_v1'
      ? written(key, event)
      : type === 'card.action.trigger'
        ? pressed(key, event)
        : type === 'message'
          ? writtenOnce(key, event)
          : undefined;
  return found === undefined || key === '' || found.sender === '' || found.conversation === ''
    ? []
    : [found];
}

/** Returns a message by a person, never by an app; in groups only if the bot is mentioned. */
function written(key: string, event: Json): ImEvent | undefined {
  const [sender, message] = [objectOf(event['sender']), objectOf(event['message'])];
  const [chat, id, root] = ['chat_id', 'message_id', 'root_id'].map((name) =>
    textOf(message[name]),
  ) as [string, string, string];
  const direct = message['chat_type'] === 'p2p';
  const mentions = (Array.isArray(message['mentions']) ? message['mentions'] : []).map(objectOf);
  if (sender['sender_type'] !== 'user' || (!direct && mentions.length === 0)) {
    return undefined;
  }
  const kind = textOf(message['message_type']);
  const content = jsonObject(textOf(message['content'], 100_000));
  const names = mentions.map((each) => [textOf(each['key']), textOf(each['name'])] as const);
  const open = textOf(objectOf(sender['sender_id'])['open_id']);
  return {
    kind: 'message',
    key,
    sender: open,
    sender_name: open,
    conversation: chat,
    direct,
    thread: `${chat}:${root || (direct ? '' : id)}`,
    replies_to: [...new Set([root, textOf(message['parent_id'])])].filter((each) => each !== ''),
    reply: { message_id: root || id },
    text: unmentioned(kind === 'text' ? textOf(content['text'], 40_000) : postText(content), names),
    has_media: kind !== 'text' && kind !== 'post',
    files: filesOf(id, kind, content),
  };
}

/** Returns the file of a message; what else is no text is named by its kind. */
const filesOf = (message: string, kind: string, content: Json): readonly ImFile[] =>
  kind === 'text' || kind === 'post'
    ? []
    : [
        {
          name: textOf(content['file_name']) || kind,
          media_type: kind === 'file' ? '' : `${kind}/*`,
          ref: { message_id: message, file_key: textOf(content['file_key']) },
        },
      ];

/** The first version of events, which older apps still get. */
function writtenOnce(key: string, event: Json): ImEvent | undefined {
  const [chat, id, root] = ['open_chat_id', 'open_message_id', 'root_id'].map((name) =>
    textOf(event[name]),
  ) as [string, string, string];
  const direct = event['chat_type'] === 'private';
  const sender = textOf(event['open_id']);
  return direct || event['is_mention'] === true
    ? {
        kind: 'message',
        key,
        sender,
        sender_name: sender,
        conversation: chat,
        direct,
        thread: `${chat}:${root || (direct ? '' : id)}`,
        replies_to: root === '' ? [] : [root],
        text: textOf(event['text_without_at_bot'], 40_000).trim(),
        has_media: event['msg_type'] !== 'text',
        reply: { message_id: root || id },
      }
    : undefined;
}

function pressed(key: string, event: Json): ImEvent {
  const [operator, context] = [objectOf(event['operator']), objectOf(event['context'])];
  const [chat, id] = [textOf(context['open_chat_id']), textOf(context['open_message_id'])];
  const sender = textOf(operator['open_id']);
  return {
    kind: 'action',
    key,
    sender,
    sender_name: sender,
    conversation: chat,
    direct: false,
    thread: `${chat}:${id}`,
    replies_to: [id],
    text: textOf(objectOf(objectOf(event['action'])['value'])['token']),
    has_media: false,
    reply: { message_id: id },
  };
}

/** Removes a leading mention of the bot, and replaces other mentions by names. */
function unmentioned(text: string, names: readonly (readonly [string, string])[]): string {
  const [first] = names;
  const rest =
    first !== undefined && text.trimStart().startsWith(first[0])
      ? text.trimStart().slice(first[0].length)
      : text;
  return names
    .reduce((all, [key, name]) => (key === '' ? all : all.replaceAll(key, name)), rest)
    .trim();
}

/** Rich text, by its words. */
function postText(content: Json): string {
  const lines = Array.isArray(content['content']) ? content['content'] : [];
  const words = lines.map((line) =>
    (Array.isArray(line) ? line : [])
      .map((part) => textOf(objectOf(part)['text'], 10_000))
      .join(''),
  );
  return [textOf(content['title'], 1_000), ...words]
    .filter((line) => line.trim() !== '')
    .join('\n')
    .slice(0, 40_000);
}
