import type {
  ImApp,
  ImCallback,
  ImEvent,
  ImFile,
  ImMessage,
  ImPlatform,
  ImReceived,
  ImTarget,
} from 'svc/contracts/imbridge';
import {
  type CallAnswer,
  type CallPorts,
  type CallRefusal,
  Calls,
  type FetchedToken,
  isFresh,
  jsonObject,
  notSent,
  objectOf,
  ProofsSeen,
  sameSecret,
  sha256Hex,
  signed,
  textOf,
} from 'svc/im';

import { errors } from './errors.ts';
import { streamMode } from './stream-mode.ts';

type Json = Readonly<Record<string, unknown>>;

const usualEndpoint = 'https://api.dingtalk.com';
const refused: ImReceived = { outcome: 'refused' };
/** Codes of an access token that is over. */
const expired = /^InvalidAuthentication|^40014$|^42001$/;

/**
 * Platform for robots of DingTalk apps: app_id is the AppKey, which is also the code of the robot,
 * and the secret signs callbacks too.
 */
export function dingtalk(ports: CallPorts): ImPlatform {
  const calls = new Calls(ports);
  const seen = new ProofsSeen();
  return {
    title: 'DingTalk',
    needs: { callback: ['app_secret'], stream: ['app_secret'] },
    allow_list: false,
    max_size: 4_500,
    edits: { every_ms: 3_000, most: 5 },
    pace: { count: 18, per_ms: 60_000 },
    repeats: 'unknown',
    check({ app_id: id }) {
      if (!/^\w{6,64}$/.test(id)) {
        const message = 'is the AppKey (client id) of the app, such as dingabc123';
        throw errors.invalid_app({ message }, { details: [{ path: '/app_id', message }] });
      }
    },
    receive: (app, callback) => receive(app, callback, seen),
    async send(app, target, message) {
      // Another one for each try, so that an edit changes the message that was noted, and no other.
      const id = `${message.key.slice(0, 44)}-${Math.floor(ports.clock.now()).toString(36)}`;
      const body = {
        cardTemplateId: 'StandardCard',
        cardBizId: id,
        robotCode: app.app_id,
        cardData: cardOf(message),
        ...placeOf(target),
      };
      const answer = await asApp(
        calls,
        app,
        'POST',
        '/v1.0/im/v1.0/robot/interactiveCards/send',
        body,
      );
      return answer.result === 'ok'
        ? { result: 'sent', at: { ...target, card: id }, id, thread: target }
        : notSent(answer);
    },
    async edit(app, at, message) {
      const answer = await asApp(calls, app, 'PUT', '/v1.0/im/robots/interactiveCards', {
        cardBizId: at['card'],
        cardData: cardOf(message),
      });
      const { card, ...thread } = at;
      return answer.result === 'ok' ? { result: 'sent', at, id: card!, thread } : notSent(answer);
    },
    async fetchFile(app, { ref, media_type: type }, maxBytes) {
      const found = await asApp(calls, app, 'POST', '/v1.0/robot/messageFiles/download', {
        downloadCode: ref['code'],
        robotCode: app.app_id,
      });
      return found.result === 'ok'
        ? await calls.download({
            url: textOf(found.body['downloadUrl'], 4_000),
            maxBytes,
            mayBePage: type === '',
          })
        : { result: found.result, reason: found.reason };
    },
    personTarget: (sender) => ({ person: sender }),
    conversationTarget: (conversation) => ({ conversation }),
    listen: (app, own, listening) =>
      streamMode({
        calls,
        app,
        endpoint: app.endpoint || usualEndpoint,
        ports: own,
        listening,
        eventsOf,
      }),
  };
}

/**
 * Receives a callback. The signature covers the time alone, not the body: it is accepted for one
 * message only, so that whoever has seen one cannot attach other text to it.
 */
function receive(
  app: ImApp,
  { method, headers, body, now }: ImCallback,
  seen: ProofsSeen,
): ImReceived {
  const [at, sign] = [headers['timestamp'] ?? '', headers['sign'] ?? ''];
  const isSigned = sameSecret(sign, signed(app.app_secret, `${at}\n${app.app_secret}`, 'base64'));
  if (!isSigned || method !== 'POST' || !/^\d{10,15}$/.test(at) || !isFresh(Number(at), now)) {
    return refused;
  }
  const payload = jsonObject(body);
  if (
    textOf(payload['robotCode']) !== app.app_id ||
    !seen.isFirst(`${app.id}|${sign}`, textOf(payload['msgId']) + sha256Hex(body), now)
  ) {
    return refused;
  }
  return { outcome: 'events', events: eventsOf(payload) };
}

/** Returns the events of a payload; the robot gets direct messages and those that mention it. */
function eventsOf(payload: Json): readonly ImEvent[] {
  const [key, conversation, staff] = ['msgId', 'conversationId', 'senderStaffId'].map((name) =>
    textOf(payload[name]),
  ) as [string, string, string];
  const sender = staff || textOf(payload['senderId']);
  const direct = textOf(payload['conversationType']) === '1';
  if (key === '' || conversation === '' || sender === '') {
    return [];
  }
  const kind = textOf(payload['msgtype']);
  return [
    {
      kind: 'message',
      key,
      sender,
      sender_name: textOf(payload['senderNick']) || sender,
      conversation,
      direct,
      thread: `${conversation}:`,
      replies_to: [],
      text: textOf(objectOf(payload['text'])['content'], 40_000).trim(),
      has_media: kind !== 'text',
      files: filesOf(kind, objectOf(payload['content'])),
      reply: direct ? { person: sender } : { conversation },
    },
  ];
}

/** Returns the file of a message, which the robot gets in direct messages only; what else is no text is named by its kind. */
const filesOf = (kind: string, content: Json): readonly ImFile[] =>
  kind === 'text'
    ? []
    : [
        {
          name: textOf(content['fileName']) || kind,
          media_type: kind === 'file' ? '' : `${kind}/*`,
          ref: { code: textOf(content['downloadCode'], 4_000) },
        },
      ];

const placeOf = ({ person, conversation }: ImTarget): object =>
  person === undefined
    ? { openConversationId: conversation }
    : { singleChatReceiver: JSON.stringify({ userId: person }) };

/** Buttons are links by which the client itself sends the command. */
function cardOf({ text, buttons }: ImMessage): string {
  const links = buttons.map(({ label, token, url }) => {
    const to =
      token === undefined
        ? url!
        : `dtmd://dingtalkclient/sendMessage?content=${encodeURIComponent(`/do ${token}`)}`;
    return `[${label.replaceAll(/[[\]]/g, '')}](${to.replaceAll(')', '%29')})`;
  });
  const content = [
    text.replaceAll('<', '＜').replaceAll('>', '＞').replaceAll('dtmd:', 'dtmd\u200b:'),
    ...(links.length === 0 ? [] : [links.join('　')]),
  ].join('\n\n');
  return JSON.stringify({
    config: { autoLayout: true, enableForward: true },
    contents: [{ type: 'markdown', id: 'text', text: content }],
  });
}

function asApp(
  calls: Calls,
  app: ImApp,
  method: 'POST' | 'PUT',
  path: string,
  json: object,
): Promise<CallAnswer> {
  const base = app.endpoint || usualEndpoint;
  return calls.callAs(
    {
      key: `${base}|${app.app_id}|${sha256Hex(app.app_secret)}`,
      fetchToken: () => accessToken(calls, base, app),
      isExpired: (code) => expired.test(code),
    },
    (token) => ({
      url: `${base}${path}`,
      method,
      json,
      headers: { 'x-acs-dingtalk-access-token': token },
      judge: objection,
    }),
  );
}

async function accessToken(
  calls: Calls,
  base: string,
  { app_id: appKey, app_secret: appSecret }: ImApp,
): Promise<FetchedToken | CallRefusal> {
  const answer = await calls.call({
    url: `${base}/v1.0/oauth2/accessToken`,
    json: { appKey, appSecret },
    judge: objection,
  });
  return answer.result === 'ok'
    ? {
        token: textOf(answer.body['accessToken'], 1_000),
        lives_ms: Number(answer.body['expireIn'] ?? 0) * 1_000,
      }
    : { ...answer, unclear: false };
}

/** Success has no code; some gateways answer 200 with an errcode all the same. */
function objection(body: Json, status: number) {
  const code =
    textOf(body['code']) || (textOf(body['errcode']) === '0' ? '' : textOf(body['errcode']));
  return status < 300 && code === ''
    ? undefined
    : {
        code: code || String(status),
        words: textOf(body['message']) || textOf(body['errmsg']),
        ...(/^Throttling|^ServiceUnavailable|^SystemError|^-1$/.test(code) && { again: true }),
      };
}
