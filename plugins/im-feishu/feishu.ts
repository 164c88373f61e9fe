import { createHash } from 'node:crypto';

import type {
  ImApp,
  ImCallback,
  ImMessage,
  ImPicture,
  ImPlatform,
  ImReceived,
  ImSent,
  ImTarget,
} from 'svc/contracts/imbridge';
import {
  type CallAnswer,
  type CallPorts,
  type CallRefusal,
  type CallRequest,
  Calls,
  type FetchedToken,
  isFresh,
  jsonObject,
  multipart,
  notSent,
  objectOf,
  opened,
  sameSecret,
  sha256Hex,
  textOf,
} from 'svc/im';

import { errors } from './errors.ts';
import { eventsOf } from './events.ts';
import { longConnection } from './long-connection.ts';

type Json = Readonly<Record<string, unknown>>;
type Content = NonNullable<CallRequest['content']>;
type Api = (
  app: ImApp,
  method: 'POST' | 'PATCH',
  path: string,
  body: object | Content,
) => Promise<CallAnswer>;

const usualEndpoint = 'https://open.feishu.cn';
const refused: ImReceived = { outcome: 'refused' };
const expired = new Set(['99991661', '99991663', '99991664', '99991668']);
const passing = new Set(['230020', '99991400', '11232', '-1', '1500', '2200', '232009']);

/**
 * Platform for apps of Feishu and, with its endpoint, of Lark. Callbacks are encrypted and signed
 * with the encrypt key, without which none is accepted.
 */
export function feishu(ports: CallPorts): ImPlatform {
  const calls = new Calls(ports);
  const api: Api = async (app, method, path, body) => await asApp(calls, app, method, path, body);
  return {
    title: 'Feishu',
    needs: { callback: ['app_secret', 'verify_token', 'encrypt_key'], stream: ['app_secret'] },
    allow_list: false,
    max_size: 20_000,
    edits: { every_ms: 1_000, most: 30 },
    pace: { count: 4, per_ms: 1_000 },
    repeats: 'known',
    check({ app_id: id }) {
      if (!/^cli_\w{6,40}$/.test(id)) {
        const message = 'is the id of the app, such as cli_a1b2c3d4e5f6';
        throw errors.invalid_app({ message }, { details: [{ path: '/app_id', message }] });
      }
    },
    receive,
    send: (app, target, message) =>
      sent(api, app, target, {
        msg_type: 'interactive',
        content: cardOf(message),
        uuid: uuidOf(message),
      }),
    sendPicture: (app, target, picture) => pictureSent(api, app, target, picture),
    async edit(app, at, message) {
      const answer = await api(
        app,
        'PATCH',
        `/open-apis/im/v1/messages/${encodeURIComponent(at['message_id']!)}`,
        { content: cardOf(message) },
      );
      return answer.result === 'ok' ? standing(at['message_id']!) : notSent(answer);
    },
    async fetchFile(app, { ref, media_type: type }, maxBytes) {
      const { message_id: message = '', file_key: file = '' } = ref;
      const base = app.endpoint || usualEndpoint;
      return await calls.downloadAs(tokenSource(calls, base, app), (token) => ({
        url: `${base}/open-apis/im/v1/messages/${encodeURIComponent(message)}/resources/${encodeURIComponent(file)}?type=file`,
        headers: { authorization: `Bearer ${token}` },
        maxBytes,
        mayBePage: type === '',
      }));
    },
    personTarget: (sender) => ({ open_id: sender }),
    conversationTarget: (conversation) => ({ chat_id: conversation }),
    listen: (app, own, listening) =>
      longConnection({
        calls,
        app,
        endpoint: app.endpoint || usualEndpoint,
        ports: own,
        listening,
      }),
  };
}

/** The proof is over the bytes as they came; what is sealed is opened only behind it, or when the seal and the token in it are the proof. */
function receive(app: ImApp, { method, headers, body, now }: ImCallback): ImReceived {
  const [at, nonce] = [
    headers['x-lark-request-timestamp'] ?? '',
    headers['x-lark-request-nonce'] ?? '',
  ];
  const own = sha256Hex(at, nonce, app.encrypt_key, body);
  const isSigned = sameSecret(headers['x-lark-signature'] ?? '', own) && isFresh(timeOf(at), now);
  const payload = unsealed(app, body);
  const isOurs =
    sameSecret(tokenOf(payload), app.verify_token) &&
    app.verify_token !== '' &&
    app.encrypt_key !== '';
  if (method !== 'POST' || !isOurs) {
    return refused;
  }
  if (payload['type'] === 'url_verification') {
    return {
      outcome: 'answer',
      body: JSON.stringify({ challenge: textOf(payload['challenge'], 2_000) }),
      type: 'application/json',
    };
  }
  const events = isSigned ? eventsOf(app.app_id, payload) : undefined;
  return events === undefined ? refused : { outcome: 'events', events };
}

/** Undefined members where the seal is not ours: an empty object has no token. */
function unsealed({ encrypt_key: key }: ImApp, body: Uint8Array): Json {
  const sealed = Buffer.from(textOf(jsonObject(body)['encrypt'], 1_500_000), 'base64');
  const plain = opened(
    createHash('sha256').update(key).digest(),
    sealed.subarray(0, 16),
    sealed.subarray(16),
  );
  return plain === undefined ? {} : jsonObject(plain.toString('utf8'));
}

const tokenOf = (payload: Json): string =>
  textOf(objectOf(payload['header'])['token']) || textOf(payload['token']);

/** Seconds; cards have been seen with the time as Go prints it. */
function timeOf(text: string): number {
  if (/^\d{1,11}$/.test(text)) {
    return Number(text) * 1_000;
  }
  const [, day, time, zone] =
    /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,9})?) ([+-]\d{4})\b/.exec(text) ?? [];
  return day === undefined
    ? Number.NaN
    : Date.parse(`${day}T${time!.slice(0, 12)}${zone!.slice(0, 3)}:${zone!.slice(3)}`);
}

function asApp(
  calls: Calls,
  app: ImApp,
  method: 'POST' | 'PATCH',
  path: string,
  body: object | Content,
): Promise<CallAnswer> {
  const base = app.endpoint || usualEndpoint;
  return calls.callAs(tokenSource(calls, base, app), (token) => ({
    url: `${base}${path}`,
    method,
    ...('bytes' in body ? { content: body } : { json: body }),
    headers: { authorization: `Bearer ${token}` },
    judge: objection,
  }));
}

const tokenSource = (calls: Calls, base: string, app: ImApp) => ({
  key: `${base}|${app.app_id}|${sha256Hex(app.app_secret)}`,
  fetchToken: () => tenantToken(calls, base, app),
  isExpired: (code: string) => expired.has(code),
});

async function tenantToken(
  calls: Calls,
  base: string,
  { app_id, app_secret }: ImApp,
): Promise<FetchedToken | CallRefusal> {
  const answer = await calls.call({
    url: `${base}/open-apis/auth/v3/tenant_access_token/internal`,
    json: { app_id, app_secret },
    judge: objection,
  });
  return answer.result === 'ok'
    ? {
        token: textOf(answer.body['tenant_access_token'], 1_000),
        lives_ms: Number(answer.body['expire'] ?? 0) * 1_000,
      }
    : { ...answer, unclear: false };
}

function objection(body: Json, status: number) {
  const code = textOf(body['code']);
  return status < 500 && code === '0'
    ? undefined
    : {
        code: code || String(status),
        words: textOf(body['msg']),
        ...(passing.has(code) && { again: true }),
      };
}

/** A key makes a repeat within the hour the same message. */
async function sent(api: Api, app: ImApp, target: ImTarget, body: object): Promise<ImSent> {
  const { message_id: above, chat_id: chat, open_id: person } = target;
  const answer =
    above !== undefined
      ? await api(app, 'POST', `/open-apis/im/v1/messages/${encodeURIComponent(above)}/reply`, body)
      : await api(
          app,
          'POST',
          `/open-apis/im/v1/messages?receive_id_type=${person === undefined ? 'chat_id' : 'open_id'}`,
          {
            ...body,
            receive_id: person ?? chat,
          },
        );
  return answer.result === 'ok'
    ? standing(textOf(objectOf(answer.body['data'])['message_id']))
    : notSent(answer);
}

async function pictureSent(
  api: Api,
  app: ImApp,
  target: ImTarget,
  picture: ImPicture,
): Promise<ImSent> {
  const uploaded = await api(
    app,
    'POST',
    '/open-apis/im/v1/images',
    multipart(
      { image_type: 'message' },
      { field: 'image', name: picture.name, type: 'image/png', bytes: picture.bytes },
    ),
  );
  return uploaded.result === 'ok'
    ? await sent(api, app, target, {
        msg_type: 'image',
        content: JSON.stringify({
          image_key: textOf(objectOf(uploaded.body['data'])['image_key']),
        }),
        uuid: uuidOf(picture),
      })
    : notSent(uploaded);
}

const uuidOf = ({ key }: Pick<ImMessage, 'key'>): string => key.slice(0, 50);

const standing = (id: string): ImSent => ({
  result: 'sent',
  at: { message_id: id },
  id,
  thread: { message_id: id },
});

function cardOf({ text, buttons }: ImMessage): string {
  const actions = buttons.map(({ label, token, url, style }) => ({
    tag: 'button',
    text: { tag: 'plain_text', content: label },
    type: style ?? 'default',
    ...(url === undefined ? { value: { token } } : { url }),
  }));
  const content = text.replaceAll('<', '&lt;').replaceAll(/^#{1,6} +(.+)$/gm, '**$1**');
  const elements = [
    { tag: 'markdown', content },
    ...(actions.length === 0 ? [] : [{ tag: 'action', actions }]),
  ];
  return JSON.stringify({ config: { wide_screen_mode: true, update_multi: true }, elements });
}
