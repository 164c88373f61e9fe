import {
  type Command,
  clientOptions,
  isIdleFolder,
  openClient,
  type ApiClient,
  printable,
  type Paint,
} from 'svc/cli';

import { compare, type Comparison } from './against.ts';

interface Verdict {
  readonly ok: boolean;
  readonly rows: number;
  readonly first_bad_seq?: number;
  readonly reason?: string;
  readonly checkpoints: number;
  readonly anchors: number;
  readonly against?: Comparison;
}

/** The server's own deadline, and a little more. */
const withinMs = 610_000;

export const command: Command = {
  operands: [],
  options: {
    against: {
      value: 'path',
      about:
        'compare with the copy kept by a sink: a syslog file, a JSON Lines file, or a folder of these files',
    },
    ...clientOptions,
  },
  about:
    'Checks the whole hash chain, from the first row to the last, against every signed checkpoint. Run it on a copy of the data folder, or while svc is stopped. With --against, also detects rows that someone with the keys has removed or rewritten. Exits with 1 if a row was altered or is missing.',
  example: 'svc audit verify --against /var/log/svc-audit.log',

  async run(call, shell) {
    const path = call.value('against');
    const ask = async (client: ApiClient): Promise<Verdict> => {
      const verdict = await client.get<Verdict>('/api/v1/admin/audit-logs/verify', withinMs);
      return path === undefined
        ? verdict
        : {
            ...verdict,
            against: await compare(path, () => client.download('/api/v1/admin/audit-logs/export')),
          };
    };
    const verdict = await shell.progress('Verifying the audit log', async () =>
      (await isIdleFolder(call, shell))
        ? await shell.askCopy('audit', ask)
        : await ask(await openClient(call, shell)),
    );
    const { against } = verdict;
    return {
      data: verdict,
      text: (paint) =>
        [page(verdict, paint), ...(against ? [comparison(against, paint)] : [])].join('\n'),
      code: verdict.ok && (against?.ok ?? true) ? 0 : 1,
    };
  },
};

function page(
  { ok, rows, first_bad_seq, reason = 'no reason known', checkpoints, anchors }: Verdict,
  paint: Paint,
): string {
  if (ok) {
    return `${paint.good('ok')} unaltered rows: ${rows}, verified checkpoints: ${checkpoints}, anchors: ${anchors}`;
  }
  const where = first_bad_seq === undefined ? '' : ` first bad row ${first_bad_seq}:`;
  return `${paint.bad('broken')}${where} ${printable(reason)}\nunaltered rows: ${rows}`;
}

function comparison(
  { ok, same, archived, missing, first_bad_seq, reason = 'no reason known' }: Comparison,
  paint: Paint,
): string {
  const lacks =
    missing === 0 ? '' : `\n${paint.warn('warning')} the file lacks ${missing} rows in between`;
  if (ok) {
    return `${paint.good('ok')} the same in the file: ${same}, older than the log: ${archived}${lacks}`;
  }
  const where = first_bad_seq === undefined ? '' : ` first bad row ${first_bad_seq}:`;
  return `${paint.bad('broken')}${where} ${reason}\nthe same in the file: ${same}${lacks}`;
}
