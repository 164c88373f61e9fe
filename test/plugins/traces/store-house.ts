import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Logger } from 'svc/sdk';

import { openTraces } from '../../../plugins/traces/open-traces.ts';
import {
  openTracesStore,
  type TracesStore,
  type TracesStoreOptions,
} from '../../../plugins/traces/store/store.ts';
import type { TracesMethods } from '../../../plugins/traces/thread/contract.ts';

interface After {
  after(work: () => unknown): void;
}

const ignore = (): void => undefined;
export const quiet = {
  info: ignore,
  warn: ignore,
  error: ignore,
  debug: ignore,
  fatal: ignore,
  trace: ignore,
  child: () => quiet,
} as unknown as Logger;

export function folder(t: After): string {
  const path = mkdtempSync(join(tmpdir(), 'svc-traces-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export const noCall = { signal: new AbortController().signal };

export async function openStore(
  t: After,
  options: Partial<TracesStoreOptions> = {},
): Promise<TracesStore> {
  const store = await openTracesStore({
    folder: options.folder ?? folder(t),
    log: quiet,
    now: () => Date.now(),
    ...options,
  });
  t.after(() => store.close());
  return store;
}

export interface Service {
  readonly methods: TracesMethods;
  readonly notices: { readonly kind: string; readonly value: unknown }[];
  close(): Promise<void>;
}

export async function openService(
  t: After,
  data: Partial<{ folder: string; limits: object }> = {},
  now: () => number = () => Date.now(),
): Promise<Service> {
  const notices: { kind: string; value: unknown }[] = [];
  const service = await openTraces({
    data: { folder: data.folder ?? folder(t), ...data },
    log: quiet,
    notify: (kind, value) => void notices.push({ kind, value }),
    now,
    monotonic: now,
    every: () => ignore,
  });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= service.close());
  t.after(close);
  return { methods: service.methods, notices, close };
}

export const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
// oxlint-disable-next-line typescript/no-explicit-any -- an answer in JSON; what is not there fails the assertion that asks for it
export type Loose = any;
export const jsonOf = (bytes: Uint8Array | undefined): Loose => JSON.parse(textOf(bytes!));
