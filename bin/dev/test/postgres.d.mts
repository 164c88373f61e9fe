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

export interface TestPostgres {
  readonly env: Readonly<Record<string, string>>;
  end(): void;
}
/** Starts what `SVC_TEST_DATABASE=postgres` asks for in `folder`; returns what tests find it by, and its end. */
export function postgresFor(
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<TestPostgres>;
