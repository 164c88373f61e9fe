import type { TestContext } from 'node:test';

import { bundleThread } from '../../bin/bundler/bundle.ts';
import type { ThreadHandle, ThreadNotice } from '../../core/sdk/index.ts';
import { bundleSources } from '../../bin/bundler/sources.ts';
import { systemClock } from '../../core/boot/time.ts';
import { pluginThreads } from '../../core/boot/parts.ts';

export interface TestThread extends ThreadHandle {
  /** Why it ended last, as long as it has not opened again. */
  readonly cause: string | undefined;
  /** Log lines so far. */
  readonly lines: readonly string[];
  readonly notices: readonly ThreadNotice[];
  close(): Promise<void>;
}

/**
 * Runs a worker file in a thread without a host, for tests and benches; resolves once it is open.
 */
export async function startThreadForTest(
  t: Pick<TestContext, 'after'> | undefined,
  file: string,
  data: unknown,
  {
    heapMb = 512,
    drainMs = 5_000,
    idleMs,
  }: { heapMb?: number; drainMs?: number; idleMs?: number } = {},
): Promise<TestThread> {
  const { code, filename } = await bundleThread(file, 'test', bundleSources);
  const lines: string[] = [];
  const notices: ThreadNotice[] = [];
  const line = (_fields: object, message: string): void => void lines.push(message);
  const thread = pluginThreads({
    product: { version: '0', root: bundleSources.root },
    clock: systemClock,
    bundler: undefined,
  }).claim({
    owner: 'test',
    name: 'thread',
    code,
    filename,
    data,
    heapMb,
    drainMs,
    idleMs,
    log: { debug: line, info: line, warn: line, error: line },
    onStumble: () => undefined,
    onHeap: () => undefined,
    deliver: (work) => work(),
  });
  t?.after(() => thread.release());
  thread.onNotice((notice) => notices.push(notice));
  thread.begin();
  try {
    await thread.ready;
  } catch (error) {
    await thread.release();
    throw error;
  }
  return {
    get state() {
      return thread.state;
    },
    get cause() {
      return thread.cause;
    },
    lines,
    notices,
    call: thread.call.bind(thread),
    onNotice: thread.onNotice.bind(thread),
    close: () => thread.release(),
  };
}
