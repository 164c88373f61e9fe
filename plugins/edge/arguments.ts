import { covers, type Principal } from 'svc/sdk';

/** Command lines carry secrets that no table of programs knows. */
export const readsArguments = ({ grants }: Pick<Principal, 'grants'>): boolean =>
  grants.some((grant) => covers(grant, 'edge:arguments'));

/** A row of a list of processes with the name of the program and nothing of what it was called with. */
export const withoutArguments = <T extends { readonly name: string; readonly cmdline: string }>(
  row: T,
): T => ({ ...row, cmdline: row.name });

/** The same for what an edge has answered as a tool: an outsider's word, of any shape. */
export function namesOnly(result: unknown): unknown {
  if (Array.isArray(result)) {
    return result.map(namesOnly);
  }
  if (typeof result !== 'object' || result === null) {
    return result;
  }
  const kept = Object.entries(result).map(([key, value]) => [
    key,
    key === 'cmdline' ? ((result as { name?: unknown }).name ?? '') : namesOnly(value),
  ]);
  return Object.fromEntries(kept) as unknown;
}
