import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';

import type { Call, Command } from 'svc/cli';
import { archivedPack } from '../packaging/pack-archive.ts';
import { signPack } from '../packaging/pack-signature.ts';
import { errors } from './errors.ts';

interface Version {
  readonly version: string;
  readonly url: string;
  readonly sha256: string;
  readonly signature?: string;
  readonly engines: string;
}

/** Statement of the publisher about the whole list, which a copy kept from before cannot renew. */
interface SignedList {
  readonly signed_at: string;
  readonly valid_until: string;
  /** Of the sha256 of `{"packs", "signed_at", "valid_until"}` as JSON, written as text. */
  readonly signature: string;
}

interface Index {
  readonly version: 1;
  readonly name: string;
  readonly list?: SignedList;
  readonly packs: readonly {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly publisher?: string;
    readonly versions: readonly Version[];
  }[];
}

export const command: Command = {
  operands: ['<archive>', '<registry>'],
  options: {
    url: { value: 'url', about: 'base URL of the archives; default: next to the index' },
    publisher: { value: 'name', about: 'publisher name shown to users' },
    name: { value: 'name', about: 'name of the registry, if it is new' },
    key: {
      value: 'file',
      about:
        'private key created by "svc pack sign"; also signs the list, so that clients can detect an outdated one',
    },
    days: {
      value: 'days',
      about: 'number of days that a signed list stays valid; default: 90',
    },
  },
  about:
    'Adds an archive and its signature to a registry folder. The folder holds index.json and the archives, and any web server can serve it.',
  example: 'svc pack publish ~/packs/greeter/dist/greeter-0.1.0.tgz ~/registry',

  async run(call) {
    const archive = resolve(call.operand(0));
    const folder = resolve(call.operand(1));
    const { id, version, title, description, engines, sha256 } = archivedPack(
      readFileSync(archive),
    );
    const signature = existsSync(`${archive}.sig`)
      ? readFileSync(`${archive}.sig`, 'utf8').trim()
      : undefined;
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 'index.json');
    const index = indexIn(file, call.value('name') ?? basename(folder));
    const before = index.packs.find((pack) => pack.id === id);
    const same = before?.versions.find((one) => one.version === version);
    if (same !== undefined && same.sha256 !== sha256) {
      throw errors.version_taken({ id, version });
    }
    const entry: Version = {
      version,
      url: `${call.value('url')?.replace(/\/*$/, '/') ?? ''}${basename(archive)}`,
      sha256,
      ...(signature !== undefined && { signature }),
      engines: engines.host,
    };
    const publisher = call.value('publisher') ?? before?.publisher;
    const pack = {
      id,
      name: title,
      description,
      ...(publisher !== undefined && { publisher }),
      versions: [entry, ...(before?.versions ?? []).filter((one) => one.version !== version)],
    };
    const packs = [...index.packs.filter((one) => one.id !== id), pack].toSorted((a, b) =>
      a.id < b.id ? -1 : 1,
    );
    const keyFile = call.value('key');
    if (keyFile === undefined && index.list !== undefined) {
      throw errors.list_needs_key({ file });
    }
    const list = keyFile === undefined ? undefined : signedList(packs, keyFile, daysOf(call));
    copyFileSync(archive, join(folder, basename(archive)));
    // Readers find the old index or the new one.
    const whole = { ...index, packs, ...(list && { list }) };
    writeFileSync(`${file}.new`, `${JSON.stringify(whole, undefined, 2)}\n`);
    renameSync(`${file}.new`, file);
    return {
      data: {
        id,
        version,
        registry: folder,
        sha256,
        signed: signature !== undefined,
        valid_until: list?.valid_until ?? null,
      },
      text: () =>
        `${file} now lists ${id} ${version}, ${signature === undefined ? 'unsigned: sign it first with "svc pack sign"' : 'signed'}`,
    };
  },
};

function indexIn(file: string, name: string): Index {
  if (!existsSync(file)) {
    return { version: 1, name, packs: [] };
  }
  const index = JSON.parse(readFileSync(file, 'utf8')) as Index;
  if (index.version !== 1 || !Array.isArray(index.packs)) {
    throw errors.no_index({ file });
  }
  return index;
}

const dayMs = 24 * 60 * 60_000;
const usualDays = 90;

function daysOf(call: Pick<Call, 'value'>): number {
  const days = Number(call.value('days') ?? usualDays);
  if (!Number.isInteger(days) || days < 1 || days > 3_650) {
    throw errors.days_form();
  }
  return days;
}

function signedList(packs: Index['packs'], keyFile: string, days: number): SignedList {
  const now = Date.now();
  const signed_at = new Date(now).toISOString();
  const valid_until = new Date(now + days * dayMs).toISOString();
  const statement = JSON.stringify({ packs, signed_at, valid_until });
  const { signature } = signPack(
    createHash('sha256').update(statement).digest('hex'),
    resolve(keyFile),
  );
  return { signed_at, valid_until, signature };
}
