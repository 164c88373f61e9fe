import type { ChildProcess } from 'node:child_process';

/** The user that a server runs as. */
type User = { readonly uid?: number; readonly gid?: number };

export function asUser(folder: string): User;
export function freePort(): Promise<number>;
export function startServer(folder: string, port: number, user: User): Promise<ChildProcess>;
export function startPooler(
  folder: string,
  port: number,
  pooled: number,
  user: User,
): Promise<ChildProcess>;
