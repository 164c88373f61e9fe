import type {
  ImApp,
  ImDocument,
  ImFetched,
  ImFile,
  ImPicture,
  ImSent,
  ImTarget,
} from 'svc/contracts/imbridge';
import { type Calls, notSent, objectOf, textOf } from 'svc/im';

import { type Api, isAddressOf, latestOf } from './api.ts';
import { mrkdwn } from './message-body.ts';

type Json = Readonly<Record<string, unknown>>;

/** Hosts that get the token of the bot with a request for a file. */
const fileHosts = new Set(['files.slack.com', 'files.slack-gov.com']);
const maxFiles = 10;

/** Returns the files of a message. Those of another workspace have no address, and are refused when they are fetched. */
export const filesOf = (event: Json): readonly ImFile[] =>
  (Array.isArray(event['files']) ? event['files'] : [])
    .slice(0, maxFiles)
    .map(objectOf)
    .map((file) => ({
      name: textOf(file['name']) || textOf(file['id']),
      media_type: textOf(file['mimetype']),
      ...(typeof file['size'] === 'number' && { size: file['size'] }),
      ref: {
        url: textOf(file['url_private_download'], 2_000) || textOf(file['url_private'], 2_000),
      },
    }));

export async function fetchFile(
  calls: Calls,
  app: ImApp,
  { ref, media_type: type }: ImFile,
  maxBytes: number,
): Promise<ImFetched> {
  const url = ref['url'] ?? '';
  return isAddressOf(app, fileHosts, url)
    ? await calls.download({
        url,
        headers: { authorization: `Bearer ${app.app_secret}` },
        maxBytes,
        // Without the scope files:read, Slack answers with its page to sign in at.
        mayBePage: type === 'text/html',
      })
    : { result: 'failed', reason: 'the file has no address of Slack' };
}

interface Upload {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly again: boolean;
  /** Words for what a picture shows. */
  readonly caption?: string;
}

type Parts = { readonly calls: Calls; readonly api: Api };

export const sendFile = (
  parts: Parts,
  app: ImApp,
  target: ImTarget,
  { name, text, again }: ImDocument,
): Promise<ImSent> => share(parts, app, target, { name, again, bytes: Buffer.from(text) });

export const sendPicture = (
  parts: Parts,
  app: ImApp,
  target: ImTarget,
  picture: ImPicture,
): Promise<ImSent> => share(parts, app, target, picture);

/** Uploads a file and shares it in the thread, unless an earlier try has. */
async function share(
  { calls, api }: Parts,
  app: ImApp,
  target: ImTarget,
  { name, bytes, again, caption }: Upload,
): Promise<ImSent> {
  const { channel, thread_ts: root } = target;
  if (channel === undefined || !/^[CDG]/.test(channel) || target['response_url'] !== undefined) {
    return { result: 'failed', reason: 'a file needs a conversation' };
  }
  const known = again
    ? (await latestOf(api, app, target)).some(({ files }) =>
        (Array.isArray(files) ? files : []).some((file) => objectOf(file)['title'] === name),
      )
    : false;
  if (known) {
    return { result: 'sent', at: target, id: name, thread: target };
  }
  const slot = await api(app, 'files.getUploadURLExternal', {
    filename: name,
    length: bytes.length,
    ...(caption !== undefined && { alt_txt: caption }),
  });
  if (slot.result !== 'ok') {
    return notSent(slot);
  }
  const [url, id] = [textOf(slot.body['upload_url'], 2_000), textOf(slot.body['file_id'])];
  if (!isAddressOf(app, fileHosts, url)) {
    return { result: 'failed', reason: 'the upload has no address of Slack' };
  }
  const uploaded = await calls.call({
    url,
    content: { type: 'application/octet-stream', bytes },
    // What it answers is no JSON.
    judge: (_body, status) =>
      status === 200 ? undefined : { code: String(status), words: '', again: status >= 500 },
  });
  if (uploaded.result !== 'ok') {
    return notSent(uploaded);
  }
  const shared = await api(app, 'files.completeUploadExternal', {
    files: [{ id, title: name }],
    channel_id: channel,
    ...(root !== undefined && { thread_ts: root }),
    ...(caption !== undefined && { initial_comment: mrkdwn(caption) }),
  });
  return shared.result === 'ok'
    ? { result: 'sent', at: target, id, thread: target }
    : notSent(shared);
}
