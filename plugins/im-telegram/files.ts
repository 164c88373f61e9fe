import type {
  ImApp,
  ImDocument,
  ImFetched,
  ImFile,
  ImPicture,
  ImSent,
  ImTarget,
} from 'svc/contracts/imbridge';
import { type Calls, multipart, type MultipartFile, notSent, objectOf, textOf } from 'svc/im';

import { addressOf, type Api, objection, standing } from './api.ts';

type Json = Readonly<Record<string, unknown>>;

const mediaKinds = [
  'photo',
  'document',
  'audio',
  'voice',
  'video',
  'video_note',
  'animation',
  'sticker',
];

/** Returns what a message carries; pictures and the like are named by their kind, and a picture comes in several sizes. */
export const filesOf = (message: Json): readonly ImFile[] =>
  // An animation is told as a document as well.
  (message['animation'] === undefined ? mediaKinds : ['animation']).flatMap((kind) => {
    const found = message[kind];
    const file = objectOf(Array.isArray(found) ? found.at(-1) : found);
    const { file_size: size } = file;
    return found === undefined
      ? []
      : [
          {
            name: textOf(file['file_name']) || kind.replace('_', ' '),
            media_type: textOf(file['mime_type']) || (kind === 'document' ? '' : `${kind}/*`),
            ...(typeof size === 'number' && { size }),
            ref: { file_id: textOf(file['file_id']) },
          },
        ];
  });

export async function fetchFile(
  { calls, api }: { readonly calls: Calls; readonly api: Api },
  app: ImApp,
  { ref, media_type: type }: ImFile,
  maxBytes: number,
): Promise<ImFetched> {
  const found = await api(app, 'getFile', { file_id: ref['file_id'] });
  if (found.result !== 'ok') {
    return { result: found.result, reason: found.reason };
  }
  const path = textOf(objectOf(found.body['result'])['file_path'], 1_000);
  return /^[\w./-]{1,500}$/.test(path) && !path.includes('..')
    ? await calls.download({
        url: addressOf(app, `file/bot${app.app_secret}/${path}`),
        maxBytes,
        mayBePage: type === 'text/html',
      })
    : { result: 'failed', reason: 'Telegram names no file' };
}

/** Sends a text as a document. */
export const sendFile = (
  calls: Calls,
  app: ImApp,
  target: ImTarget,
  { name, text }: ImDocument,
): Promise<ImSent> =>
  sent(calls, app, target, {
    method: 'sendDocument',
    file: { field: 'document', name, type: 'text/markdown', bytes: Buffer.from(text) },
  });

export const sendPicture = (
  calls: Calls,
  app: ImApp,
  target: ImTarget,
  { name, caption, bytes }: ImPicture,
): Promise<ImSent> =>
  sent(calls, app, target, {
    method: 'sendPhoto',
    caption,
    file: { field: 'photo', name, type: 'image/png', bytes },
  });

async function sent(
  calls: Calls,
  app: ImApp,
  { chat_id: chat, message_thread_id: topic, reply_to: above }: ImTarget,
  {
    method,
    file,
    caption,
  }: { readonly method: string; readonly file: MultipartFile; readonly caption?: string },
): Promise<ImSent> {
  const answer = await calls.call({
    url: addressOf(app, `bot${app.app_secret}/${method}`),
    content: multipart(
      {
        chat_id: chat!,
        ...(caption !== undefined && { caption }),
        ...(topic !== undefined && { message_thread_id: topic }),
        ...(above !== undefined && {
          reply_parameters: JSON.stringify({
            message_id: Number(above),
            allow_sending_without_reply: true,
          }),
        }),
      },
      file,
    ),
    judge: objection,
  });
  return answer.result === 'ok'
    ? standing({
        chat_id: chat!,
        message_id: textOf(objectOf(answer.body['result'])['message_id']),
        ...(topic !== undefined && { message_thread_id: topic }),
      })
    : notSent(answer);
}
