import type { PluginHost } from '../../core/host/index.ts';
import { currentPin } from '../../core/registry/index.ts';
import { messageOf } from '../../core/sdk/index.ts';

/** A manager or an agent, as far as its process has to know it. */
export interface Running {
  readonly host: Pick<PluginHost, 'strike'>;
  stop(reason: string): Promise<void>;
}

type Stop = (reason: string, code: number) => void;

/** Runs svc until a signal ends it; resolves with the exit code, rejects when it cannot start. */
export async function runInForeground<R extends Running>(
  start: () => Promise<R>,
  opened: (running: R) => void,
): Promise<number> {
  // What svc keeps is for its user alone, also where the data folder was there before.
  process.umask(0o077);
  const starting = start();
  const ended = new Promise<number>((resolve) => {
    // Also one that is still starting is finished first, and then taken down in order.
    const stop: Stop = (reason, code) =>
      void starting
        .then((running) => running.stop(reason))
        .then(
          () => resolve(code),
          (error: unknown) => {
            process.stderr.write(`svc: shutdown was incomplete: ${messageOf(error)}\n`);
            resolve(1);
          },
        );
    stopOnSignals(stop);
    outliveReaders();
    attributeCrashes(starting, stop);
  });
  opened(await starting);
  return await ended;
}

/** One press of Ctrl-C comes twice under npm: from the terminal, and handed on by npm. */
const sameSignalMs = 500;

/** The first signal stops in order, the second one at once. */
function stopOnSignals(stop: Stop): void {
  let askedAt: number | undefined;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (askedAt === undefined) {
        askedAt = performance.now();
        stop(signal, 0);
      } else if (performance.now() - askedAt > sameSignalMs) {
        process.exit(130);
      }
    });
  }
}

/** A reader of the output may go away: that is no reason to stop, and telling it there would be the next such error, for ever. */
function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', () => undefined);
  }
}

/** Handles uncaught errors: a plugin's is charged to it, core's own ends the process in order. */
function attributeCrashes(starting: Promise<Running>, stop: Stop): void {
  const onError = (error: unknown): void => {
    const owner = currentPin()?.owner;
    if (owner) {
      void starting.then(
        (running) => running.host.strike(owner, 'uncaught error', error),
        () => undefined,
      );
      return;
    }
    process.stderr.write(
      `svc: uncaught error; stopping. ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    stop('uncaught error', 1);
  };
  process.on('uncaughtException', onError);
  process.on('unhandledRejection', onError);
}
