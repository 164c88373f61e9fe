import {
  type Command,
  clientOptions,
  isIdleFolder,
  openClient,
  type ApiClient,
  printable,
  type Paint,
} from 'svc/cli';

interface Verdict {
  readonly ok: boolean;
  readonly rows: number;
  readonly first_bad_seq?: number;
  readonly reason?: string;
  readonly checkpoints: number;
  readonly anchors: number;
}

/** The server's own deadline, and a little more. */
const withinMs = 610_000;

export const command: Command = {
  operands: [],
  options: clientOptions,
  about:
    'Follows the chain from its first row to its last and holds it against every signed checkpoint, of a data folder that no svc serves on a copy. Exit code 1 when a row is not as it was written.',
  example: 'svc audit verify',

  async run(call, shell) {
    const ask = (client: ApiClient): Promise<Verdict> =>
      client.get<Verdict>('/api/v1/admin/audit-logs/verify', withinMs);
    const verdict = await shell.progress('Verifying the audit trail', async () =>
      (await isIdleFolder(call, shell))
        ? await shell.askCopy('audit', ask)
        : await ask(await openClient(call, shell)),
    );
    return { data: verdict, text: (paint) => page(verdict, paint), code: verdict.ok ? 0 : 1 };
  },
};

function page(
  { ok, rows, first_bad_seq, reason = 'no cause known', checkpoints, anchors }: Verdict,
  paint: Paint,
): string {
  if (ok) {
    return `${paint.good('ok')} rows that are as they were written: ${rows}, held against checkpoints: ${checkpoints}, anchors: ${anchors}`;
  }
  const where = first_bad_seq === undefined ? '' : ` first bad row ${first_bad_seq}:`;
  return `${paint.bad('broken')}${where} ${printable(reason)}\nrows that are as they were written: ${rows}`;
}
