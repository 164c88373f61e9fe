import { createCipheriv, createHash, createHmac } from 'node:crypto';
import type { TestContext } from 'node:test';

import { FakeModel } from '../../../plugins/model/cli/fake-model/fake-model.ts';
import type { Rule } from '../../../plugins/model/cli/fake-model/script.ts';
import { directory, persona } from '../chat/stand-ins.ts';
import { type Name, type SkillHouse, skillHouse, type Somebody, tools } from '../skill/house.ts';
import {
  type FakePlatform,
  type SentFile,
  startDingtalk,
  startFeishu,
  startSlack,
  startTelegram,
  startWecom,
} from './fakes.ts';

export const providers = ['slack', 'telegram', 'feishu', 'dingtalk', 'wecom'] as const;
export type Provider = (typeof providers)[number];

/** Secrets of one app, as its administrator and its platform know them. */
export interface AppSecrets {
  readonly app_id: string;
  readonly app_secret: string;
  readonly verify_token: string;
  readonly encrypt_key: string;
}

export const secretsOf = (provider: Provider, number = 1): AppSecrets =>
  ({
    slack: {
      app_id: `A000000000${number}`,
      app_secret: `xoxb-000000000${number}`,
      verify_token: `xapp-${number}`,
      encrypt_key: `signing-${number}`,
    },
    telegram: {
      app_id: `10000${number}`,
      app_secret: `10000${number}:abcdefghijklmnop`,
      verify_token: `hook-${number}`,
      encrypt_key: '',
    },
    feishu: {
      app_id: `cli_abcdef${number}`,
      app_secret: `feishu-${number}`,
      verify_token: `verify-${number}`,
      encrypt_key: `key-${number}`,
    },
    dingtalk: {
      app_id: `dingabcdef${number}`,
      app_secret: `ding-${number}`,
      verify_token: '',
      encrypt_key: '',
    },
    wecom: {
      app_id: `ww000000000000000${number}:100000${number}`,
      app_secret: `wecom-${number}`,
      verify_token: `token-${number}`,
      encrypt_key: `${number}`.repeat(42) + 'A',
    },
  })[provider];

/** One message or button press, before a platform writes it down. */
export interface Act {
  readonly text: string;
  readonly from?: string;
  readonly to?: string;
  readonly key?: string;
  readonly direct?: boolean;
  /** A message of ours that it answers. */
  readonly above?: string;
  /** The message, by its id on the platform, of which this is a new version. */
  readonly edits?: string;
  /** Its id on the platform, for one that is edited later. */
  readonly id?: string;
  /** Files that go with it; `url` is filled in with where a platform keeps them. */
  readonly files?: readonly (SentFile & { readonly name: string; readonly url?: string })[];
  /** Said among others without naming the bot. */
  readonly unnamed?: boolean;
  /** `text` is the token of a button. */
  readonly pressed?: boolean;
}

export interface SignedCallback {
  readonly method: 'GET' | 'POST';
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

let keys = 0;

/** A callback as the platform itself would make it, signed with these secrets at that time. */
export function callback(
  provider: Provider,
  secrets: AppSecrets,
  act: Act,
  now: number,
): SignedCallback {
  const key = act.key ?? `k${++keys}`;
  const from = act.from ?? 'U1';
  const body = {
    slack: slackBody,
    telegram: telegramBody,
    feishu: feishuBody,
    dingtalk: dingtalkBody,
    wecom: wecomBody,
  }[provider](
    { ...act, key, from, to: act.to ?? (act.direct === false ? 'C1' : from) },
    secrets,
    now,
  );
  return sign(provider, secrets, body, now);
}

type Full = Act & { readonly key: string; readonly from: string; readonly to: string };

export function sign(
  provider: Provider,
  secrets: AppSecrets,
  body: string,
  now: number,
): SignedCallback {
  const seconds = String(Math.floor(now / 1_000));
  const json = { 'content-type': 'application/json' };
  const post = (
    headers: Record<string, string>,
    text = body,
    query: Record<string, string> = {},
  ): SignedCallback => ({
    method: 'POST',
    query,
    headers,
    body: text,
  });
  const hmac = (key: string, text: string) => createHmac('sha256', key).update(text);
  switch (provider) {
    case 'slack':
      return post({
        'content-type': /^(?:payload|command)=/.test(body)
          ? 'application/x-www-form-urlencoded'
          : 'application/json',
        'x-slack-request-timestamp': seconds,
        'x-slack-signature': `v0=${hmac(secrets.encrypt_key, `v0:${seconds}:${body}`).digest('hex')}`,
      });
    case 'telegram':
      return post({ ...json, 'x-telegram-bot-api-secret-token': secrets.verify_token });
    case 'feishu': {
      const iv = Buffer.alloc(16, 7);
      const cipher = createCipheriv(
        'aes-256-cbc',
        createHash('sha256').update(secrets.encrypt_key).digest(),
        iv,
      );
      const text = JSON.stringify({
        encrypt: Buffer.concat([iv, cipher.update(body), cipher.final()]).toString('base64'),
      });
      const signature = createHash('sha256')
        .update(`${seconds}nonce${secrets.encrypt_key}${text}`)
        .digest('hex');
      return post(
        {
          ...json,
          'x-lark-request-timestamp': seconds,
          'x-lark-request-nonce': 'nonce',
          'x-lark-signature': signature,
        },
        text,
      );
    }
    case 'dingtalk': {
      const at = String(Math.floor(now) + (keys % 1_000));
      return post({
        ...json,
        timestamp: at,
        sign: hmac(secrets.app_secret, `${at}\n${secrets.app_secret}`).digest('base64'),
      });
    }
    case 'wecom': {
      const [corp] = secrets.app_id.split(':');
      const sealed = wecomSealed(secrets.encrypt_key, body, corp!);
      const msg_signature = createHash('sha1')
        .update([secrets.verify_token, seconds, 'nonce', sealed].toSorted().join(''))
        .digest('hex');
      const xml = `<xml><ToUserName><![CDATA[${corp}]]></ToUserName><Encrypt><![CDATA[${sealed}]]></Encrypt></xml>`;
      return post({ 'content-type': 'text/xml' }, xml, {
        msg_signature,
        timestamp: seconds,
        nonce: 'nonce',
      });
    }
  }
}

export function wecomSealed(encodingKey: string, text: string, receiver: string): string {
  const key = Buffer.from(`${encodingKey}=`, 'base64');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(text));
  const plain = Buffer.concat([
    Buffer.alloc(16, 9),
    length,
    Buffer.from(text),
    Buffer.from(receiver),
  ]);
  const padding = 32 - (plain.length % 32);
  const cipher = createCipheriv('aes-256-cbc', key, key.subarray(0, 16)).setAutoPadding(false);
  return Buffer.concat([
    cipher.update(Buffer.concat([plain, Buffer.alloc(padding, padding)])),
    cipher.final(),
  ]).toString('base64');
}

function slackBody(
  {
    key,
    from,
    to,
    text,
    direct = true,
    unnamed = false,
    above,
    pressed,
    id,
    edits,
    files = [],
  }: Full,
  { app_id }: AppSecrets,
): string {
  if (pressed === true) {
    const payload = {
      type: 'block_actions',
      api_app_id: app_id,
      trigger_id: key,
      user: { id: from, username: from },
      channel: { id: to },
      message: { ts: above ?? '1.1' },
      actions: [{ value: text, action_ts: '1' }],
    };
    return `payload=${encodeURIComponent(JSON.stringify(payload))}`;
  }
  const written = {
    user: from,
    ts: edits ?? id ?? `9.${key}`,
    text: direct || unnamed ? text : `<@UBOT> ${text}`,
    ...(above !== undefined && { thread_ts: above }),
    ...(files.length > 0 && {
      files: files.map(({ name, type, bytes, url }) => ({
        id: 'F1',
        name,
        mimetype: type,
        size: bytes.length,
        url_private_download: url,
      })),
    }),
  };
  const place = {
    channel: to,
    ...((direct || unnamed) && { channel_type: direct ? 'im' : 'channel' }),
  };
  const event =
    edits === undefined
      ? { type: direct || unnamed ? 'message' : 'app_mention', ...written, ...place }
      : {
          type: 'message',
          subtype: 'message_changed',
          ...place,
          message: { type: 'message', ...written, edited: { user: from, ts: key } },
          previous_message: { type: 'message', ...written, text: 'before' },
        };
  return JSON.stringify({
    type: 'event_callback',
    team_id: 'T1',
    api_app_id: app_id,
    event_id: key,
    event,
    authorizations: [{ user_id: 'UBOT' }],
  });
}

function telegramBody(
  { key, from, to, text, direct = true, above, pressed, id, edits, files = [] }: Full,
  { app_id: bot }: AppSecrets,
): string {
  const chat = { id: to, type: direct ? 'private' : 'supergroup' };
  const person = { id: from, is_bot: false, username: from };
  const message = {
    message_id: Number(edits ?? id ?? 500),
    ...(edits !== undefined && { edit_date: 1 }),
    chat,
    from: person,
    // In a group the bot is named, unless one of its messages is answered.
    [files.length > 0 ? 'caption' : 'text']:
      direct || above !== undefined || text.startsWith('/') ? text : `@svc_bot ${text}`,
    // Telegram has one file a message.
    ...(files[0] !== undefined && {
      document: {
        file_id: files[0].name,
        file_name: files[0].name,
        mime_type: files[0].type,
        file_size: files[0].bytes.length,
      },
    }),
    ...(above !== undefined &&
      (pressed === true
        ? { message_id: Number(above) }
        : { reply_to_message: { message_id: Number(above), from: { id: Number(bot) } } })),
  };
  const update =
    pressed === true
      ? { callback_query: { id: 'q1', from: person, data: text, message } }
      : edits === undefined
        ? { message }
        : { edited_message: message };
  return JSON.stringify({ update_id: key, ...update });
}

function feishuBody(
  { key, from, to, text, direct = true, above, pressed, files: [file] = [] }: Full,
  { app_id, verify_token: token }: AppSecrets,
): string {
  const header = {
    event_id: key,
    token,
    app_id,
    tenant_key: 'x',
    event_type: pressed === true ? 'card.action.trigger' : 'im.message.receive_v1',
  };
  const event =
    pressed === true
      ? {
          operator: { open_id: from },
          action: { value: { token: text } },
          context: { open_chat_id: to, open_message_id: above ?? 'm0' },
        }
      : {
          sender: { sender_type: 'user', sender_id: { open_id: from } },
          message: {
            message_id: `om_${key}`,
            chat_id: to,
            chat_type: direct ? 'p2p' : 'group',
            message_type: file === undefined ? 'text' : 'file',
            ...(above !== undefined && { root_id: above, parent_id: above }),
            content: JSON.stringify(
              file === undefined
                ? { text: direct ? text : `@_user_1 ${text}` }
                : { file_key: file.name, file_name: file.name },
            ),
            ...(!direct && {
              mentions: [{ key: '@_user_1', id: { open_id: 'ou_bot' }, name: 'svc' }],
            }),
          },
        };
  return JSON.stringify({ schema: '2.0', header, event });
}

const dingtalkBody = (
  { key, from, to, text, direct = true, pressed, files: [file] = [] }: Full,
  { app_id }: AppSecrets,
): string =>
  JSON.stringify({
    msgId: key,
    conversationId: to,
    conversationType: direct ? '1' : '2',
    senderStaffId: from,
    senderNick: from,
    robotCode: app_id,
    ...(file === undefined
      ? { msgtype: 'text', text: { content: pressed === true ? `/do ${text}` : ` ${text}` } }
      : { msgtype: 'file', content: { downloadCode: file.name, fileName: file.name } }),
  });

const wecomBody = (
  { key, from, text, pressed }: Full,
  { app_id }: AppSecrets,
  now: number,
): string => {
  const [corp, agent] = app_id.split(':');
  const content = pressed === true ? `/do ${text}` : text;
  return `<xml><ToUserName><![CDATA[${corp}]]></ToUserName><FromUserName><![CDATA[${from}]]></FromUserName><CreateTime>${Math.floor(now / 1_000)}</CreateTime><MsgType><![CDATA[text]]></MsgType><Content><![CDATA[${content}]]></Content><MsgId>${key}</MsgId><AgentID>${agent}</AgentID></xml>`;
};

export const startFake = (
  provider: Provider,
  { app_id, app_secret }: AppSecrets,
): Promise<FakePlatform> =>
  ({
    slack: () => startSlack(app_secret),
    telegram: () => startTelegram(app_secret),
    feishu: () => startFeishu(app_id, app_secret),
    dingtalk: () => startDingtalk(app_id, app_secret),
    wecom: () => startWecom(app_id.split(':')[0]!, app_secret),
  })[provider]();

export interface ImApp {
  readonly provider: Provider;
  readonly id: string;
  readonly fake: FakePlatform;
  readonly secrets: AppSecrets;
}

export interface ImOffice extends SkillHouse {
  readonly model: FakeModel;
  readonly clock: { ahead: number };
  connect(provider: Provider, more?: object, number?: number): Promise<ImApp>;
  /** Sends a callback as it is. */
  call(
    app: Pick<ImApp, 'provider' | 'id'>,
    signed: SignedCallback,
  ): Promise<{ readonly status: number; readonly text: string }>;
  say(app: ImApp, act: Act): Promise<void>;
  link(app: ImApp, who: Name, sender: string): Promise<void>;
  now(): number;
}

/**
 * Starts the plugins of chat platforms with agents and approvals as shipped; people and the model's
 * answers are the caller's.
 */
export async function imHouse(
  t: Pick<TestContext, 'after'>,
  options: {
    readonly model: string;
    readonly now?: () => number;
    readonly plugins?: readonly string[];
    readonly dataDir?: string;
    readonly environment?: Readonly<Record<string, string>>;
  },
): Promise<SkillHouse> {
  const { model, now = Date.now, plugins = [], dataDir, environment = {} } = options;
  const kit: SkillHouse = await skillHouse(t, {
    plugins: [
      'gate',
      'approval',
      'skill',
      'setting',
      'model',
      'chat',
      'imbridge',
      ...providers.map((provider) => `im-${provider}`),
      tools,
      ...plugins,
    ],
    clock: { now, monotonic: () => performance.now() + now() - Date.now() },
    ...(dataDir !== undefined && { dataDir }),
    services: {
      'persona.directory': directory(
        persona({ name: 'sre', permission_mode: 'dual-sign-required' }),
      ),
      'device.scopes': { of: async () => ({ ids: new Set<number>(), enforce: [] }) },
      'iam.directory': {
        live: (id: number) => {
          const found = Object.entries(kit.people).find(
            ([, one]: [string, Somebody]) => one.id === id && one.status === 'active',
          );
          return (
            found && {
              ...found[1],
              email: `${found[0]}@example.org`,
              display_name: found[0],
              orgs: undefined,
            }
          );
        },
        narrows: () => Object.values(kit.people).some(({ selectors }) => selectors !== undefined),
        grantsOf: (role: string) => ({ admin: ['*'], user: ['device:*'] })[role] ?? [],
      },
    },
    environment: {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
      SVC_LLM_COMPATIBLE_BASE_URL: model,
      SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
      SVC_IM_PER_MINUTE: '1000',
      ...environment,
    },
  });
  return kit;
}

export const draftOf = (provider: Provider, endpoint: string, number = 1): object => ({
  provider,
  name: `${provider} ${number}`,
  endpoint,
  allow_from: ['U1', 'U2', 'U3', 'C1'],
  ...Object.fromEntries(
    Object.entries(secretsOf(provider, number)).filter(([, value]) => value !== ''),
  ),
});

/** Sends a callback as it is. */
export async function deliver(
  url: string,
  { provider, id }: Pick<ImApp, 'provider' | 'id'>,
  { method, query, headers, body }: SignedCallback,
): Promise<{ readonly status: number; readonly text: string }> {
  const search = new URLSearchParams({ ...query, app: id }).toString();
  const answer = await fetch(`${url}/api/v1/im/${provider}/events?${search}`, {
    method,
    headers,
    ...(method === 'POST' && { body }),
  });
  return { status: answer.status, text: await answer.text() };
}

/** The same with one strict fake for each platform that a test connects, and a scripted model. */
export async function imOffice(
  t: Pick<TestContext, 'after'>,
  rules: readonly Rule[] = [],
  options: {
    readonly plugins?: readonly string[];
    readonly environment?: Readonly<Record<string, string>>;
  } = {},
): Promise<ImOffice> {
  const model = await FakeModel.start({ rules: [...rules, { reply: { text: 'All is well.' } }] });
  t.after(() => model.close());
  const clock = { ahead: 0 };
  const now = (): number => Date.now() + clock.ahead;
  const kit = await imHouse(t, { model: model.url, now, ...options });
  const office: ImOffice = Object.assign(kit, {
    model,
    clock,
    now,
    call: (app: Pick<ImApp, 'provider' | 'id'>, signed: SignedCallback) =>
      deliver(kit.house.url, app, signed),
    async connect(provider: Provider, more: object = {}, number = 1): Promise<ImApp> {
      const secrets = secretsOf(provider, number);
      const fake = await startFake(provider, secrets);
      t.after(() => fake.close());
      const { status, body } = await kit.ask('bob', 'POST', '/im/apps', {
        ...draftOf(provider, fake.url, number),
        ...more,
      });
      if (status !== 201) {
        throw new Error(JSON.stringify(body));
      }
      return { provider, id: body.id, fake, secrets };
    },
    async say(app: ImApp, { files = [], ...said }: Act) {
      files.forEach((file) => app.fake.files.set(file.name, file));
      const kept = files.map((file) => ({
        ...file,
        url: `${app.fake.url}/files-pri/${encodeURIComponent(file.name)}`,
      }));
      const act = { ...said, files: kept };
      const { status, text } = await office.call(
        app,
        callback(app.provider, app.secrets, act, now()),
      );
      if (status !== 200) {
        throw new Error(`${app.provider} was answered ${status} ${text}`);
      }
    },
    async link(app: ImApp, who: Name, sender: string) {
      const { body } = await kit.ask(who, 'POST', '/im/links');
      const before = app.fake.standing.length;
      await office.say(app, { text: `/link ${body.code}`, from: sender });
      await settled(() =>
        app.fake.standing.slice(before).some(({ text }) => text.includes('linked to')),
      );
    },
  });
  return office;
}

/** Waits until it is so. */
export async function settled(
  isSo: () => boolean | Promise<boolean>,
  say: () => unknown = () => '',
): Promise<void> {
  for (let waited = 0; !(await isSo()); waited += 10) {
    if (waited > 20_000) {
      throw new Error(`it did not come to that: ${JSON.stringify(say())}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
