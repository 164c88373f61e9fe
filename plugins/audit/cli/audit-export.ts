import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { type Command, clientOptions, openClient } from 'svc/cli';

import { filters, queryOf } from './filters.ts';

export const command: Command = {
  operands: [],
  options: {
    format: {
      value: 'jsonl|csv',
      about: 'output format: jsonl (one JSON document per line, the default) or csv',
    },
    out: {
      value: 'file',
      about: 'write to this file, readable only by you, instead of standard output',
    },
    ...filters,
    ...clientOptions,
  },
  about: 'Exports the oldest entries first. The export itself is recorded in the audit log.',
  example:
    "svc audit export --format csv --out audit.csv --action 'edge:*' --from 2026-11-01T00:00:00Z",

  async run(call, shell) {
    const client = await openClient(call, shell);
    const query = queryOf(call);
    const format = call.value('format');
    if (format !== undefined) {
      query.set('format', format);
    }
    const path = `/api/v1/admin/audit-logs/export?${query.toString()}`;
    const out = call.value('out');
    if (out === undefined) {
      await pipeline(await client.download(path), process.stdout, { end: false });
      return { data: undefined, text: () => '' };
    }
    const file = resolve(out);
    await shell.progress('Exporting the audit log', async () =>
      save(await client.download(path), file),
    );
    return { data: { file }, text: () => file };
  },
};

/** The file gets its name when it is whole: half a trail must not pass for all of it. */
async function save(body: Readable, file: string): Promise<void> {
  const draft = `${file}.partial`;
  try {
    await rm(draft, { force: true });
    await pipeline(body, createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true }));
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
