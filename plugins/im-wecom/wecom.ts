import type {
  ImApp,
  ImCallback,
  ImEvent,
  ImMessage,
  ImPicture,
  ImPlatform,
  ImReceived,
  ImSent,
  ImTarget,
} from 'svc/contracts/imbridge';
import {
  type CallPorts,
  type CallRefusal,
  Calls,
  type FetchedToken,
  cutToBytes,
  isFresh,
  multipart,
  notSent,
  opened,
  sameSecret,
  sha1Hex,
  sha256Hex,
  textOf,
} from 'svc/im';
import type { SvcError } from 'svc/sdk';

import { elementsOf } from './elements.ts';
import { errors } from './errors.ts';

type Json = Readonly<Record<string, unknown>>;

const usualEndpoint = 'https://qyapi.weixin.qq.com';
const refused: ImReceived = { outcome: 'refused' };
const maxText = 2_000;
const expired = new Set(['40014', '42001', '41001']);
/** Four hours: a repeat of the same words to the same person within them is not shown. */
const repeatSeconds = 14_400;

/** Apps of WeCom: app_id is corporation and agent (`ww…:1000002`), the verify token and the key those of its callback. */
export function wecom(ports: CallPorts): ImPlatform {
  const calls = new Calls(ports);
  return {
    title: 'WeCom',
    needs: { callback: ['app_secret', 'verify_token', 'encrypt_key'] },
    allow_list: false,
    max_size: maxText,
    pace: { count: 18, per_ms: 60_000 },
    repeats: 'known',
    check({ app_id: id, encrypt_key: key }) {
      if (!/^\w{6,64}:\d{1,12}$/.test(id)) {
        throw wrong(
          'app_id',
          'is the corporation and the agent, such as ww1234567890abcdef:1000002',
        );
      }
      if (!/^[A-Za-z0-9+/]{43}$/.test(key)) {
        throw wrong('encrypt_key', 'is the EncodingAESKey, which has 43 characters');
      }
    },
    receive,
    send: (app, target, message) => sent(calls, app, target, message),
    max_messages: 8,
    sendFile: (app, target, { name, text }) =>
      sentMedia(calls, app, target, 'file', { name, bytes: Buffer.from(text) }),
    sendPicture: (app, target, picture) => sentMedia(calls, app, target, 'image', picture),
    personTarget: (sender) => ({ touser: sender }),
    conversationTarget: (conversation) =>
      conversation.startsWith('party:')
        ? { toparty: conversation.slice(6) }
        : { touser: conversation },
  };
}

function receive(app: ImApp, { method, query, body, now }: ImCallback): ImReceived {
  const { msg_signature: given = '', timestamp: at = '', nonce = '', echostr } = query;
  const outer = method === 'POST' ? elementsOf(Buffer.from(body).toString('utf8')) : undefined;
  const sealed = (method === 'GET' ? echostr : outer?.['Encrypt']) ?? '';
  const own = sha1Hex([app.verify_token, at, nonce, sealed].toSorted().join(''));
  if (
    !sameSecret(given, own) ||
    app.verify_token === '' ||
    !/^\d{1,11}$/.test(at) ||
    !isFresh(Number(at) * 1_000, now)
  ) {
    return refused;
  }
  const plain = unsealed(app, sealed);
  if (plain === undefined) {
    return refused;
  }
  if (method === 'GET') {
    return { outcome: 'answer', body: plain, type: 'text/plain' };
  }
  const fields = elementsOf(plain);
  const isOurs =
    fields !== undefined &&
    fields['ToUserName'] === corpOf(app) &&
    (fields['AgentID'] ?? agentOf(app)) === agentOf(app);
  return isOurs
    ? { outcome: 'events', events: eventsOf(fields), body: '', type: 'text/plain' }
    : refused;
}

/**
 * Decrypts 16 random bytes, the length, the message, and its recipient; undefined for one of
 * another corporation.
 */
function unsealed(app: ImApp, sealed: string): string | undefined {
  const key = Buffer.from(`${app.encrypt_key}=`, 'base64');
  const plain = opened(key, key.subarray(0, 16), Buffer.from(sealed, 'base64'), 32);
  const length = plain !== undefined && plain.length >= 20 ? plain.readUInt32BE(16) : -1;
  if (plain === undefined || length < 0 || 20 + length > plain.length) {
    return undefined;
  }
  return sameSecret(plain.subarray(20 + length).toString('utf8'), corpOf(app))
    ? plain.subarray(20, 20 + length).toString('utf8')
    : undefined;
}

const corpOf = ({ app_id: id }: ImApp): string => id.split(':')[0]!;
const agentOf = ({ app_id: id }: ImApp): string => id.split(':')[1] ?? '';

function eventsOf(fields: Readonly<Record<string, string>>): readonly ImEvent[] {
  const {
    FromUserName: sender = '',
    CreateTime: at = '',
    MsgType: type = '',
    Event: event = '',
    EventKey: button = '',
  } = fields;
  const isPressed = type === 'event' && (event === 'click' || event === 'template_card_event');
  if (sender === '' || (type === 'event' && !isPressed)) {
    return [];
  }
  return [
    {
      kind: isPressed ? 'action' : 'message',
      key: fields['MsgId'] ?? `${sender}:${at}:${button}`,
      sender,
      sender_name: sender,
      conversation: sender,
      direct: true,
      thread: sender,
      replies_to: [],
      text: isPressed ? button : (fields['Content'] ?? ''),
      has_media: type !== 'text' && !isPressed,
      files:
        type === 'text' || isPressed
          ? []
          : [{ name: fields['Title'] || type, media_type: `${type}/*`, ref: {} }],
      reply: { touser: sender },
    },
  ];
}

/** Commands stand where other platforms have buttons: cards of this one hold too little text for what is approved with them. */
function textFor({ text, buttons }: ImMessage): string {
  const lines = buttons.map(
    ({ label, token, url }) => `${label}: ${token === undefined ? url : `/do ${token}`}`,
  );
  const rest = lines.length === 0 ? '' : `\n${lines.join('\n')}`;
  return cutToBytes(text, maxText - Buffer.byteLength(rest)) + rest;
}

async function sent(
  calls: Calls,
  app: ImApp,
  target: ImTarget,
  message: ImMessage,
): Promise<ImSent> {
  const repeats = message.again
    ? { enable_duplicate_check: 1, duplicate_check_interval: repeatSeconds }
    : {};
  return await delivered(calls, app, target, {
    msgtype: 'text',
    text: { content: textFor(message) },
    safe: 0,
    ...repeats,
  });
}

/** A file or picture is uploaded first; what it is sent by lives three days. */
async function sentMedia(
  calls: Calls,
  app: ImApp,
  target: ImTarget,
  kind: 'file' | 'image',
  { name, bytes }: Pick<ImPicture, 'name' | 'bytes'>,
): Promise<ImSent> {
  const base = app.endpoint || usualEndpoint;
  const answer = await calls.callAs(tokenSource(calls, base, app), (token) => ({
    url: `${base}/cgi-bin/media/upload?access_token=${encodeURIComponent(token)}&type=${kind}`,
    content: multipart(
      {},
      {
        field: 'media',
        name,
        type: kind === 'image' ? 'image/png' : 'application/octet-stream',
        bytes,
      },
    ),
    judge: objection,
  }));
  return answer.result === 'ok'
    ? await delivered(calls, app, target, {
        msgtype: kind,
        [kind]: { media_id: textOf(answer.body['media_id'], 500) },
      })
    : notSent(answer);
}

async function delivered(
  calls: Calls,
  app: ImApp,
  target: ImTarget,
  message: object,
): Promise<ImSent> {
  const base = app.endpoint || usualEndpoint;
  const answer = await calls.callAs(tokenSource(calls, base, app), (token) => ({
    url: `${base}/cgi-bin/message/send?access_token=${encodeURIComponent(token)}`,
    json: { ...target, agentid: Number(agentOf(app)), ...message },
    judge: objection,
  }));
  return answer.result === 'ok'
    ? { result: 'sent', at: target, id: textOf(answer.body['msgid']), thread: target }
    : notSent(answer);
}

const tokenSource = (calls: Calls, base: string, app: ImApp) => ({
  key: `${base}|${app.app_id}|${sha256Hex(app.app_secret)}`,
  fetchToken: () => accessToken(calls, base, app),
  isExpired: (code: string) => expired.has(code),
});

async function accessToken(
  calls: Calls,
  base: string,
  app: ImApp,
): Promise<FetchedToken | CallRefusal> {
  const url = `${base}/cgi-bin/gettoken?corpid=${encodeURIComponent(corpOf(app))}&corpsecret=${encodeURIComponent(app.app_secret)}`;
  const answer = await calls.call({ url, method: 'GET', judge: objection });
  return answer.result === 'ok'
    ? {
        token: textOf(answer.body['access_token'], 1_000),
        lives_ms: Number(answer.body['expires_in'] ?? 0) * 1_000,
      }
    : { ...answer, unclear: false };
}

function objection(body: Json, status: number) {
  const code = textOf(body['errcode']);
  return status === 200 && code === '0'
    ? undefined
    : {
        code: code || String(status),
        words: textOf(body['errmsg']),
        ...(/^(?:-1|45009|45033|50001)$/.test(code) && { again: true }),
      };
}

const wrong = (field: string, message: string): SvcError =>
  errors.invalid_app({ field, message }, { details: [{ path: `/${field}`, message }] });
