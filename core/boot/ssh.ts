// Type checking a single area compiles this file, and not the folder around it.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./ssh2.d.ts" />
export type { Client, ClientChannel } from 'ssh2';

/** The client of SSH, loaded by the first shell: it costs more than any other package, and most days nobody opens one. */
export const loadSsh = async (): Promise<typeof import('ssh2').default> =>
  (await import('ssh2')).default;
