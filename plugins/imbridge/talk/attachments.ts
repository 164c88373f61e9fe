import type { Enclosure } from 'svc/contracts/chat';
import type { ImFile, ImPorts } from 'svc/contracts/imbridge';
import type { Clock } from 'svc/sdk';

import type { Apps } from '../apps/apps.ts';
import type { Said } from './commands.ts';
import type { HeldEvent } from '../store/tables.ts';
import { SendDeferred } from '../messages/messenger.ts';
import { filled, wordsOf } from '../messages/words.ts';

export interface AttachmentParts {
  readonly apps: Apps;
  readonly ports: ImPorts;
  readonly clock: Clock;
}

/** Bytes of all files of a message together. */
const maxBytes = 64 * 1024;
const maxFiles = 3;
const longestName = 100;
/** Begins the colours of a terminal, which logs are full of. */
const colours = '\u001b';
/** Time for which a file is fetched again before the question is answered without it. */
const patienceMs = 60_000;

/** Files that people send: text is read into the question, and anything else is named in the answer. */
export class Attachments {
  readonly #parts: AttachmentParts;

  constructor(parts: AttachmentParts) {
    this.#parts = parts;
  }

  /** Reads the files of a message, once: afterwards its row has what they say. */
  async read(said: Said): Promise<Said> {
    const { files = [] } = said.event;
    if (files.length === 0) {
      return said;
    }
    const enclosures: Enclosure[] = [];
    const unread: string[] = [];
    let room = maxBytes;
    for (const file of files) {
      const bytes =
        enclosures.length < maxFiles && mayBeText(file) && (file.size ?? 0) <= room
          ? await this.#fetch(said, file, room)
          : undefined;
      const text = bytes === undefined ? undefined : textIn(bytes);
      if (text === undefined) {
        unread.push(nameOf(file));
      } else {
        enclosures.push({ title: `file ${nameOf(file)}`, text });
        room -= bytes!.length;
      }
    }
    return await this.#hold(said, enclosures, unread);
  }

  /** Says that the files of a message are not read. */
  refusal({ app, event: { files = [] } }: Said): string {
    return this.#refusal(app.locale, files.map(nameOf));
  }

  async #hold(
    said: Said,
    enclosures: readonly Enclosure[],
    unread: readonly string[],
  ): Promise<Said> {
    const { files: _files, ...event } = said.event;
    const held: HeldEvent = {
      ...event,
      enclosures,
      ...(unread.length > 0 && { unread: this.#refusal(said.app.locale, unread) }),
    };
    await said.message.keep({ payload: JSON.stringify(held) });
    return { ...said, event: held };
  }

  #refusal(locale: string, names: readonly string[]): string {
    return filled(wordsOf(locale).unread, {
      names: names.join(', '),
      count: maxFiles,
      size: maxBytes / 1024,
    });
  }

  async #fetch(
    { app, message }: Said,
    file: ImFile,
    room: number,
  ): Promise<Uint8Array | undefined> {
    const { apps, ports, clock } = this.#parts;
    const fetched = await apps
      .platform(app.provider)
      ?.fetchFile?.(apps.open(app), file, room, ports);
    if (fetched?.result === 'retry' && clock.now() - message.row.created_at < patienceMs) {
      throw new SendDeferred(fetched.reason, true);
    }
    return fetched?.result === 'file' ? fetched.bytes : undefined;
  }
}

const mayBeText = ({ media_type: type }: ImFile): boolean =>
  !/^(?:image|audio|video|font|photo|sticker|voice|animation|media|location|link)\//.test(type);

/** Returns the text of a file in UTF-8; undefined for anything else. */
function textIn(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return /[^\P{Cc}\n\r\t\f]/u.test(text.replaceAll(colours, '')) ? undefined : text;
  } catch {
    return undefined;
  }
}

const nameOf = ({ name }: ImFile): string =>
  name
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, longestName) || 'a file';
