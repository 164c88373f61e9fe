import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message as people on a platform see it at the end. */
export interface Standing {
  readonly id: string;
  readonly to: string;
  text: string;
  edits: number;
  readonly raw: Readonly<Record<string, unknown>>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- JSON as a platform reads it
type Json = any;

export interface FakePlatform {
  readonly url: string;
  readonly standing: Standing[];
  /** Requests, as `POST /path`. */
  readonly asked: string[];
  /** Conversations that the bot is no member of. */
  readonly closed: Set<string>;
  /** What else it shows: pages by person, forms and previews. */
  readonly shown: { readonly kind: 'page' | 'form' | 'preview'; readonly body: Json }[];
  /** Files that people have sent, by name. */
  readonly files: Map<string, SentFile>;
  /** Faults of the next requests: each occurs once. */
  readonly mischief: Mischief[];
  close(): Promise<void>;
}

export interface SentFile {
  readonly type: string;
  readonly bytes: Uint8Array;
}

export type Mischief =
  | 'limited'
  | 'down'
  | 'reset'
  | 'lost-answer'
  | 'expired'
  | 'redirect'
  | 'huge';

interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, text or a buffer. */
  readonly body: Json;
}

interface Rules {
  readonly limited: Reply;
  readonly expired?: Reply;
  handle(
    request: {
      readonly path: string;
      readonly query: URLSearchParams;
      readonly headers: IncomingMessage['headers'];
      readonly body: Json;
      /** Body of a request that is no JSON. */
      readonly raw: Buffer;
    },
    on: Fake,
  ): Reply | Promise<Reply>;
}

class Fake implements FakePlatform {
  url = '';
  readonly standing: Standing[] = [];
  readonly asked: string[] = [];
  readonly mischief: Mischief[] = [];
  readonly files = new Map<string, SentFile>();
  readonly closed = new Set<string>();
  readonly shown: FakePlatform['shown'] = [];
  readonly server: Server;
  #count = 0;

  constructor(rules: Rules) {
    this.server = createServer((req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        void (async () => {
          const url = new URL(req.url!, 'http://platform');
          this.asked.push(`${req.method} ${url.pathname}`);
          const raw = Buffer.concat(chunks);
          const isJson = /json/.test(req.headers['content-type'] ?? '');
          const isToken = /token|gettoken|open$|endpoint$/i.test(url.pathname);
          const trick = isToken ? undefined : this.mischief.shift();
          if (trick === 'reset') {
            req.socket.destroy();
            return;
          }
          const early: Reply | undefined =
            trick === 'limited'
              ? rules.limited
              : trick === 'down'
                ? { status: 502, body: '<html>bad gateway</html>' }
                : trick === 'expired'
                  ? rules.expired
                  : trick === 'redirect'
                    ? { status: 302, headers: { location: 'http://169.254.169.254/' }, body: '' }
                    : trick === 'huge'
                      ? { body: 'x'.repeat(5_000_000) }
                      : undefined;
          const {
            status = 200,
            headers = {},
            body,
          } = early ??
          (await rules.handle(
            {
              path: url.pathname,
              query: url.searchParams,
              headers: req.headers,
              body: isJson && raw.length > 0 ? JSON.parse(raw.toString('utf8')) : {},
              raw,
            },
            this,
          ));
          if (trick === 'lost-answer') {
            req.socket.destroy();
            return;
          }
          res.writeHead(status, { 'content-type': 'application/json', ...headers });
          res.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
        })();
      });
    });
  }

  post(to: string, text: string, raw: Standing['raw'], id = `m${++this.#count}`): Standing {
    const message: Standing = { id, to, text, edits: 0, raw };
    this.standing.push(message);
    return message;
  }

  /** A file that a person has sent, as the platform hands it out. */
  fileReply(path: string): Reply {
    const file = this.files.get(decodeURIComponent(path.split('/').at(-1)!));
    return file === undefined
      ? { status: 404, body: { error: 'no file' } }
      : { headers: { 'content-type': file.type }, body: Buffer.from(file.bytes) };
  }

  find(id: string): Standing | undefined {
    return this.standing.find((each) => each.id === id);
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}

async function start(rules: Rules): Promise<FakePlatform> {
  const fake = new Fake(rules);
  await new Promise<void>((resolve) => fake.server.listen(0, '127.0.0.1', resolve));
  fake.url = `http://127.0.0.1:${(fake.server.address() as AddressInfo).port}`;
  return fake;
}

/** Name, fields and content of a form with one file, read as strictly as servers do. */
function formOf(headers: IncomingMessage['headers'], raw: Buffer) {
  const boundary = /^multipart\/form-data; boundary=(\S+)$/.exec(
    headers['content-type'] ?? '',
  )?.[1];
  // One character to a byte, as a file need not be text.
  const parts = raw.toString('latin1').split(`--${boundary}`);
  assert.ok(boundary !== undefined && parts[0] === '' && parts.at(-1) === '--\r\n', 'a form');
  const fields: Record<string, string> = {};
  let name: string | undefined;
  for (const part of parts.slice(1, -1)) {
    const [, head, content] = /^\r\n([^]*?)\r\n\r\n([^]*)\r\n$/.exec(part)!;
    const field = / name="([^"]+)"/.exec(head!)![1]!;
    name ??= / filename="([^"]+)"/.exec(head!)?.[1];
    fields[field] = textIn(Buffer.from(content!, 'latin1'));
  }
  return { fields, name };
}

/** What people see of a file: its text, or that it is a picture. Throws for a picture that is none. */
function textIn(bytes: Buffer): string {
  if (bytes.subarray(1, 4).toString('latin1') !== 'PNG') {
    return bytes.toString('utf8');
  }
  assert.equal(bytes.readUInt32BE(0), 0x89504e47);
  assert.ok(bytes.readUInt32BE(16) === 480 && bytes.readUInt32BE(20) === 160, 'of its size');
  return 'PNG';
}

const onlyKeys = (body: Json, ...known: string[]): boolean =>
  Object.keys(body).every((key) => known.includes(key));

/** 200 for everything, `ok: false` with a word for what it refuses, 429 with a header. */
export const startSlack = (secret: string): Promise<FakePlatform> => {
  const uploads = new Map<string, { readonly text: string; readonly alt: string | null }>();
  const responses = new Map<string, number>();
  const triggers = new Set<string>();
  return start({
    limited: {
      status: 429,
      headers: { 'retry-after': '1' },
      body: { ok: false, error: 'ratelimited' },
    },
    expired: { body: { ok: false, error: 'token_expired' } },
    handle({ path, query, headers, body, raw }, on) {
      if (path === '/upload') {
        const { alt } = uploads.get(query.get('id')!)!;
        uploads.set(query.get('id')!, { text: textIn(raw), alt });
        return { headers: { 'content-type': 'text/plain' }, body: `OK - ${raw.length}` };
      }
      // docs.slack.dev/interactivity/handling-user-interaction#message_responses, read in November 2026: five times
      // within half an hour. What a command was answered with is never replaced (github.com/slackapi/bolt-js/issues/2287).
      if (path.startsWith('/commands/')) {
        const uses = (responses.get(path) ?? 0) + 1;
        responses.set(path, uses);
        if (uses > 5 || path.includes('expired')) {
          return { status: 404, body: { ok: false, error: uses > 5 ? 'used_url' : 'expired_url' } };
        }
        assert.equal(headers.authorization, undefined, 'the token is of no use there');
        on.post(`${body.response_type}:${path.split('/').at(-1)}`, body.text, body);
        return { headers: { 'content-type': 'text/plain' }, body: 'ok' };
      }
      if (headers.authorization !== `Bearer ${secret}`) {
        return { body: { ok: false, error: 'invalid_auth' } };
      }
      // Methods that read take a query or a form and see nothing in JSON: docs.slack.dev/reference/methods
      // names the content types of each (read in November 2026).
      if (path === '/users.info') {
        const id = query.get('user') ?? '';
        return /^[UW]\w+$/.test(id)
          ? { body: { ok: true, user: { id, profile: { display_name: `name of ${id}` } } } }
          : { body: { ok: false, error: 'user_not_found' } };
      }
      // chat.update refuses from about 4,000 bytes on, whatever the page of chat.postMessage says of
      // 40,000 (github.com/seratch/ChatGPT-in-Slack/issues/102, read in November 2026).
      const tooLong =
        typeof body.text === 'string' &&
        (path === '/chat.update'
          ? Buffer.byteLength(body.text) > 4_000
          : body.text.length > 40_000);
      // docs.slack.dev/reference/block-kit/blocks/section-block, read in November 2026.
      const sections = (body.blocks ?? []).filter(({ type }: Json) => type === 'section');
      if (sections.some(({ text }: Json) => text.text.length > 3_000)) {
        return { body: { ok: false, error: 'invalid_blocks' } };
      }
      if (path.startsWith('/files-pri/')) {
        return on.fileReply(path);
      }
      // docs.slack.dev/reference/methods/files.getUploadURLExternal and .completeUploadExternal, read in
      // November 2026: a length that is not that of the upload, a second completion, a thread of several channels, and a
      // description for screen readers of more than 1,000 characters.
      if (path === '/files.getUploadURLExternal') {
        const [filename, length] = [query.get('filename'), Number(query.get('length'))];
        if (filename === null || !(length > 0)) {
          return { body: { ok: false, error: 'invalid_arguments' } };
        }
        const alt = query.get('alt_txt');
        if (alt !== null && alt.length > 1_000) {
          return { body: { ok: false, error: 'alt_txt_too_large' } };
        }
        const id = `F${uploads.size + 1}`;
        uploads.set(id, { text: '', alt });
        return { body: { ok: true, upload_url: `${on.url}/upload?id=${id}`, file_id: id } };
      }
      if (path === '/files.completeUploadExternal') {
        const [file] = body.files;
        const { text = '', alt = null } = uploads.get(file?.id) ?? {};
        if (text === '' || !/^[CDG]/.test(body.channel_id ?? '')) {
          return { body: { ok: false, error: text === '' ? 'file_not_found' : 'invalid_channel' } };
        }
        uploads.delete(file.id);
        on.post(body.channel_id, text, {
          ...body,
          file: file.title,
          ...(alt !== null && { caption: alt }),
        });
        return { body: { ok: true, files: body.files } };
      }
      const seen = slackView(path, body, triggers);
      if (seen !== undefined) {
        if (seen.error === undefined) {
          on.shown.push({ kind: seen.kind, body });
        }
        return { body: seen.error === undefined ? { ok: true } : { ok: false, error: seen.error } };
      }
      if (path === '/chat.postMessage' && on.closed.has(body.channel)) {
        return { body: { ok: false, error: 'not_in_channel' } };
      }
      if (path === '/chat.postMessage') {
        if (
          tooLong ||
          !onlyKeys(
            body,
            'channel',
            'thread_ts',
            'text',
            'mrkdwn',
            'link_names',
            'unfurl_links',
            'unfurl_media',
            'parse',
            'blocks',
            'metadata',
          )
        ) {
          return { body: { ok: false, error: tooLong ? 'msg_too_long' : 'invalid_arguments' } };
        }
        const { id } = on.post(body.channel, body.text, body);
        return { body: { ok: true, channel: body.channel, ts: id } };
      }
      if (path === '/chat.update') {
        const found = on.find(body.ts);
        if (found === undefined || found.to !== body.channel) {
          return { body: { ok: false, error: 'message_not_found' } };
        }
        if (tooLong) {
          return { body: { ok: false, error: 'msg_too_long' } };
        }
        found.text = body.text;
        found.edits += 1;
        Object.assign(found.raw, { blocks: body.blocks });
        return { body: { ok: true, channel: body.channel, ts: body.ts, text: body.text } };
      }
      if (path === '/conversations.replies' || path === '/conversations.history') {
        const channel = query.get('channel');
        if (channel === null) {
          return { body: { ok: false, error: 'invalid_arguments' } };
        }
        const messages = on.standing
          .filter(({ to }) => to === channel)
          .map(({ id, text, raw }) => ({
            ts: id,
            text,
            metadata: raw['metadata'],
            ...(raw['file'] !== undefined && { files: [{ title: raw['file'] }] }),
          }));
        return { body: { ok: true, messages } };
      }
      return { body: { ok: false, error: 'unknown_method' } };
    },
  });
};

/**
 * Forms, pages and previews of Slack, with the limits of docs.slack.dev/reference/views, /reference/methods/views.open,
 * /views.publish and /chat.unfurl, and /reference/block-kit/composition-objects (read in November 2026).
 */
function slackView(
  path: string,
  body: Json,
  triggers: Set<string>,
): { readonly kind: 'page' | 'form' | 'preview'; readonly error?: string } | undefined {
  const blocksAreFine = (blocks: Json[]): boolean =>
    blocks.length <= 100 &&
    blocks.every(
      ({ type, text, elements = [], label, element }) =>
        ['header', 'section', 'actions', 'input'].includes(type) &&
        (type !== 'header' || text.text.length <= 150) &&
        (type !== 'section' || (text.text.length > 0 && text.text.length <= 3_000)) &&
        (type !== 'actions' || (elements.length > 0 && elements.length <= 25)) &&
        new Set(elements.map((each: Json) => each.action_id)).size === elements.length &&
        (type !== 'input' ||
          (label.text.length <= 2_000 &&
            (element.options ?? []).every((option: Json) => option.text.text.length <= 75) &&
            (element.max_length ?? 1) <= 3_000)),
    );
  if (path === '/views.open') {
    const { trigger_id: trigger, view } = body;
    const isOld = trigger === undefined || trigger.startsWith('old') || triggers.has(trigger);
    triggers.add(trigger);
    const isFine =
      view.title.text.length <= 24 &&
      view.submit.text.length <= 24 &&
      view.private_metadata.length <= 3_000 &&
      blocksAreFine(view.blocks);
    const error = isOld ? 'expired_trigger_id' : isFine ? undefined : 'invalid_arguments';
    return { kind: 'form', ...(error !== undefined && { error }) };
  }
  if (path === '/views.publish') {
    const isFine = /^[UW]/.test(body.user_id) && blocksAreFine(body.view.blocks);
    return { kind: 'page', ...(!isFine && { error: 'invalid_arguments' }) };
  }
  if (path === '/chat.unfurl') {
    const isPlaced =
      (body.channel !== undefined && body.ts !== undefined) ||
      (body.unfurl_id !== undefined && ['composer', 'conversations_history'].includes(body.source));
    const isFine =
      isPlaced && Object.values<Json>(body.unfurls).every(({ blocks }) => blocksAreFine(blocks));
    return { kind: 'preview', ...(!isFine && { error: 'cannot_unfurl_url' }) };
  }
  return undefined;
}

/** Knows no keys: what is sent twice stands there twice. 429 says in its body how long. */
export const startTelegram = (secret: string): Promise<FakePlatform> =>
  start({
    limited: {
      status: 429,
      body: {
        ok: false,
        error_code: 429,
        description: 'Too Many Requests: retry after 1',
        parameters: { retry_after: 1 },
      },
    },
    handle({ path, headers, body, raw }, on) {
      if (path.startsWith(`/file/bot${secret}/`)) {
        return on.fileReply(path);
      }
      const refuse = (error_code: number, description: string) => ({
        status: error_code,
        body: { ok: false, error_code, description },
      });
      if (!path.startsWith(`/bot${secret}/`)) {
        return refuse(401, 'Unauthorized');
      }
      // core.telegram.org/bots/api#getfile and #sending-files, read in November 2026.
      if (path.endsWith('/getFile')) {
        return on.files.has(body.file_id)
          ? { body: { ok: true, result: { file_path: `documents/${body.file_id}` } } }
          : refuse(400, 'Bad Request: invalid file_id');
      }
      if (path.endsWith('/sendDocument')) {
        const { fields, name } = formOf(headers, raw);
        const { id } = on.post(fields['chat_id']!, fields['document']!, { file: name });
        return { body: { ok: true, result: { message_id: Number(id.slice(1)) + 10_000 } } };
      }
      // core.telegram.org/bots/api#sendphoto, read in November 2026: 10 MB, and a caption of 1,024 characters.
      if (path.endsWith('/sendPhoto')) {
        const { fields, name } = formOf(headers, raw);
        const { chat_id: chat, photo, caption = '' } = fields;
        if (photo !== 'PNG' || raw.length > 10_000_000) {
          return refuse(400, 'Bad Request: IMAGE_PROCESS_FAILED');
        }
        if (caption.length > 1_024) {
          return refuse(400, 'Bad Request: message caption is too long');
        }
        const { id } = on.post(chat!, photo, { file: name, caption });
        return { body: { ok: true, result: { message_id: Number(id.slice(1)) + 10_000 } } };
      }
      if (path.endsWith('/answerCallbackQuery')) {
        return { body: { ok: true, result: true } };
      }
      // 4,096 characters once entities are read (core.telegram.org/bots/api#sendmessage), and 64 bytes behind a button
      // (#inlinekeyboardbutton), read in November 2026.
      const text = body.parse_mode === 'HTML' ? readHtml(body.text) : body.text;
      if (text === undefined) {
        return refuse(400, "Bad Request: can't parse entities: Unsupported start tag");
      }
      if (typeof text !== 'string' || text.length === 0 || text.length > 4_096) {
        return refuse(400, 'Bad Request: message is too long');
      }
      for (const button of body.reply_markup?.inline_keyboard?.flat() ?? []) {
        if (button.callback_data !== undefined && Buffer.byteLength(button.callback_data) > 64) {
          return refuse(400, 'Bad Request: BUTTON_DATA_INVALID');
        }
      }
      if (path.endsWith('/sendMessage')) {
        const { id } = on.post(String(body.chat_id), text, body, String(on.standing.length + 1));
        return {
          body: { ok: true, result: { message_id: Number(id), chat: { id: body.chat_id } } },
        };
      }
      const found = path.endsWith('/editMessageText')
        ? on.find(String(body.message_id))
        : undefined;
      if (found === undefined || typeof body.message_id !== 'number') {
        return refuse(400, 'Bad Request: message to edit not found');
      }
      if (found.text === text) {
        return refuse(
          400,
          'Bad Request: message is not modified: specified new message content and reply markup are exactly the same',
        );
      }
      found.text = text;
      found.edits += 1;
      return { body: { ok: true, result: { message_id: body.message_id } } };
    },
  });

/** Text of a message in the HTML of core.telegram.org/bots/api#html-style (read in November 2026); undefined for what it refuses. */
function readHtml(html: string): string | undefined {
  const open: string[] = [];
  const text = html.replaceAll(/<(\/?)([a-z-]*)([^>]*)>?/g, (all, close: string, tag: string) => {
    if (close === '/' ? open.pop() !== tag : !telegramTags.includes(tag) || !all.endsWith('>')) {
      open.push('wrong');
    } else if (close === '') {
      open.push(tag);
    }
    return '';
  });
  return open.length > 0 || /&(?!(?:lt|gt|amp|quot);)/.test(text)
    ? undefined
    : text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

const telegramTags = ['b', 'i', 'u', 's', 'code', 'pre', 'a', 'blockquote', 'tg-spoiler'];

/** 200 with a code; a `uuid` that was seen within the hour is the same message. */
export const startFeishu = (appId: string, secret: string): Promise<FakePlatform> => {
  const keys = new Map<string, string>();
  const images = new Set<string>();
  const textOf = (content: string): string => JSON.parse(content).elements[0].content;
  return start({
    limited: { status: 400, body: { code: 99991400, msg: 'request trigger frequency limit' } },
    expired: {
      status: 400,
      body: { code: 99991663, msg: 'Invalid access token for authorization' },
    },
    handle({ path, headers, body, query, raw }, on) {
      if (path === '/open-apis/auth/v3/tenant_access_token/internal') {
        const isGood = body.app_id === appId && body.app_secret === secret;
        return {
          body: isGood
            ? { code: 0, msg: 'ok', tenant_access_token: 't-1', expire: 7_200 }
            : { code: 10014, msg: 'app secret invalid' },
        };
      }
      if (headers.authorization !== 'Bearer t-1') {
        return { status: 400, body: { code: 99991663, msg: 'Invalid access token' } };
      }
      // open.larksuite.com/document/server-docs/im-v1/message/get-2, read in November 2026.
      const [, resource] =
        /^\/open-apis\/im\/v1\/messages\/om_\w+\/resources\/([^/]+)$/.exec(path) ?? [];
      if (resource !== undefined) {
        return query.get('type') === 'file'
          ? on.fileReply(path)
          : { status: 400, body: { code: 234001, msg: 'Invalid request param.' } };
      }
      // open.larksuite.com/document/server-docs/im-v1/image/create, read in November 2026: of 10 MB at most, and not empty.
      if (path === '/open-apis/im/v1/images') {
        const { fields } = formOf(headers, raw);
        if (fields['image_type'] !== 'message' || fields['image'] === undefined) {
          return { status: 400, body: { code: 234001, msg: 'Invalid request param.' } };
        }
        if (fields['image'] !== 'PNG' || raw.length > 10 * 1024 * 1024) {
          return { status: 400, body: { code: 234011, msg: "Can't recognize the image format." } };
        }
        const key = `img_v3_${images.size + 1}`;
        images.add(key);
        return { body: { code: 0, msg: 'success', data: { image_key: key } } };
      }
      const [, id, verb] =
        /^\/open-apis\/im\/v1\/messages(?:\/([^/]+)(?:\/(\w+))?)?$/.exec(path) ?? [];
      if (id !== undefined && verb === undefined) {
        if (Buffer.byteLength(body.content) > 30 * 1024) {
          return { status: 400, body: { code: 230025, msg: 'the content exceeds its limit' } };
        }
        const found = on.find(id);
        if (found === undefined) {
          return { body: { code: 230001, msg: 'message not found' } };
        }
        found.text = textOf(body.content);
        found.edits += 1;
        return { body: { code: 0, msg: 'success', data: {} } };
      }
      // A card has 30 KB, and a uuid 50 characters: open.feishu.cn/document/server-docs/im-v1/message/create, read in
      // November 2026.
      if (Buffer.byteLength(body.content ?? '') > 30 * 1024) {
        return { status: 400, body: { code: 230025, msg: 'the content exceeds its limit' } };
      }
      const isPicture = body.msg_type === 'image' && images.has(JSON.parse(body.content).image_key);
      if (
        (body.msg_type !== 'interactive' && !isPicture) ||
        typeof body.uuid !== 'string' ||
        body.uuid.length > 50 ||
        (id === undefined && query.get('receive_id_type') === null)
      ) {
        return { body: { code: 230001, msg: 'invalid param' } };
      }
      const known = keys.get(body.uuid);
      const message =
        known === undefined
          ? on.post(id ?? body.receive_id, isPicture ? 'PNG' : textOf(body.content), body)
          : on.find(known)!;
      keys.set(body.uuid, message.id);
      return { body: { code: 0, msg: 'success', data: { message_id: message.id } } };
    },
  });
};

/** Cards by an id of ours (open.dingtalk.com/document/orgapp/robots-send-interactive-cards, read in November 2026); what is sent again under one id stands there twice, and an edit changes both. */
export const startDingtalk = (appKey: string, secret: string): Promise<FakePlatform> => {
  const textOf = (data: string): string => JSON.parse(data).contents[0].text;
  return start({
    limited: { status: 403, body: { code: 'Throttling.Api', message: 'too fast' } },
    expired: { status: 401, body: { code: 'InvalidAuthentication', message: 'token invalid' } },
    handle({ path, headers, body }, on) {
      if (path === '/v1.0/oauth2/accessToken') {
        const isGood = body.appKey === appKey && body.appSecret === secret;
        return isGood
          ? { body: { accessToken: 'd-1', expireIn: 7_200 } }
          : { status: 400, body: { code: 'invalidClientIdOrSecret', message: 'no' } };
      }
      if (path.startsWith('/oss/')) {
        return on.fileReply(path);
      }
      if (headers['x-acs-dingtalk-access-token'] !== 'd-1') {
        return { status: 401, body: { code: 'InvalidAuthentication', message: 'token invalid' } };
      }
      // help.dingtalk.io/open/development/download-the-file-content-of-the-robot-receiving-message, read in November 2026.
      if (path === '/v1.0/robot/messageFiles/download') {
        return body.robotCode === appKey && on.files.has(body.downloadCode)
          ? { body: { downloadUrl: `${on.url}/oss/${encodeURIComponent(body.downloadCode)}` } }
          : { status: 400, body: { code: 'invalidParameter', message: 'downloadCode' } };
      }
      if (path === '/v1.0/im/v1.0/robot/interactiveCards/send') {
        const to = body.openConversationId ?? JSON.parse(body.singleChatReceiver).userId;
        on.post(to, textOf(body.cardData), body, body.cardBizId);
        return { body: { processQueryKey: 'x' } };
      }
      const same = on.standing.filter(({ id }) => id === body.cardBizId);
      if (path !== '/v1.0/im/robots/interactiveCards' || same.length === 0) {
        return { status: 400, body: { code: 'param.error', message: 'card not found' } };
      }
      same.forEach((each) => {
        each.text = textOf(body.cardData);
        each.edits += 1;
      });
      return { body: { processQueryKey: 'x' } };
    },
  });
};

/**
 * 200 with an errcode; texts of 2,048 bytes; a repeat is known only where it is asked for
 * (developer.work.weixin.qq.com/document/path/90236, read in November 2026).
 */
export const startWecom = (corp: string, secret: string): Promise<FakePlatform> => {
  const media: { readonly name: string; readonly text: string }[] = [];
  return start({
    limited: { body: { errcode: 45009, errmsg: 'api freq out of limit' } },
    expired: { body: { errcode: 42001, errmsg: 'access_token expired' } },
    handle({ path, query, headers, body, raw }, on) {
      if (path === '/cgi-bin/gettoken') {
        const isGood = query.get('corpid') === corp && query.get('corpsecret') === secret;
        return {
          body: isGood
            ? { errcode: 0, errmsg: 'ok', access_token: 'w-1', expires_in: 7_200 }
            : { errcode: 40001, errmsg: 'invalid credential' },
        };
      }
      if (query.get('access_token') !== 'w-1') {
        return { body: { errcode: 40014, errmsg: 'invalid access_token' } };
      }
      // developer.work.weixin.qq.com/document/path/90253 (uploads of more than 5 bytes, pictures of at most 10 MB) and
      // /90236 (messages), read in November 2026.
      if (path === '/cgi-bin/media/upload') {
        const { fields, name } = formOf(headers, raw);
        const isPicture = fields['media'] === 'PNG';
        if (
          query.get('type') !== (isPicture ? 'image' : 'file') ||
          (!isPicture && fields['media']!.length <= 5) ||
          (isPicture && raw.length > 10 * 1024 * 1024)
        ) {
          return { body: { errcode: 40006, errmsg: 'invalid meida size' } };
        }
        media.push({ name: name!, text: fields['media']! });
        return { body: { errcode: 0, errmsg: '', type: 'file', media_id: `media${media.length}` } };
      }
      const file = /^media(\d+)$/.exec((body.file ?? body.image)?.media_id ?? '')?.[1];
      if (
        path === '/cgi-bin/message/send' &&
        ['file', 'image'].includes(body.msgtype) &&
        body[body.msgtype] !== undefined &&
        file !== undefined
      ) {
        const { name, text: content } = media[Number(file) - 1]!;
        const { id } = on.post(body.touser ?? body.toparty, content, { ...body, file: name });
        return { body: { errcode: 0, errmsg: 'ok', msgid: id } };
      }
      const text = body.text?.content;
      if (
        path !== '/cgi-bin/message/send' ||
        typeof text !== 'string' ||
        Buffer.byteLength(text) > 2_048 ||
        !Number.isInteger(body.agentid)
      ) {
        return { body: { errcode: 40058, errmsg: 'invalid request parameter' } };
      }
      const known =
        body.enable_duplicate_check === 1
          ? on.standing.find((each) => each.to === body.touser && each.text === text)
          : undefined;
      const { id } = known ?? on.post(body.touser ?? body.toparty, text, body);
      return { body: { errcode: 0, errmsg: 'ok', msgid: id } };
    },
  });
};
