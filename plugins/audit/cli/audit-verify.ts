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
    'Checks the hash chain from its first row to its last against every signed checkpoint, on a copy of a data folder that no svc uses. Exits with 1 when a row was altered.',
  example: 'svc audit verify',

  async run(call, shell) {
    const ask = (client: ApiClient): Promise<Verdict> =>
      client.get<Verdict>('/api/v1/admin/audit-logs/verify', withinMs);
    const verdict = await shell.progress('Verifying the audit log', async () =>
      (await isIdleFolder(call, shell))
        ? await shell.askCopy('audit', ask)
        : await ask(await openClient(call, shell)),
    );
    return { data: verdict, text: (paint) => page(verdict, paint), code: verdict.ok ? 0 : 1 };
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
